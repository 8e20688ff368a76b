import BoardProfiles
import Glibc
import LinuxHAL

// Checks of the serial line: whether it exists, can be opened, and is used by others.

extension Doctor {
  /// Prefixes of the names of devices that may be a receiver: first names that an administrator assigned, then USB,
  /// which is most common, then ports of the board.
  private static let prefixes = [
    "gps", "serial", "ttyACM", "ttyUSB", "ttyAMA", "ttyS", "ttymxc", "ttyO", "ttySC", "ttyTHS",
    "ttyPS", "ttyMSM",
  ]
  /// Maximum number of lines that are scanned if none is specified; each needs about twenty seconds.
  static let maxScannedLines = 4

  /// Serial lines that may have a receiver, most likely first; each once, by its preferred name.
  var candidateLines: [String] {
    var realPaths: Set<String> = []
    return files.names("/dev").compactMap { name in Doctor.priority(of: name).map { ($0, name) } }
      .sorted { ($0.0, $0.1.utf8.count, $0.1) < ($1.0, $1.1.utf8.count, $1.1) }
      .map { "/dev/\($0.1)" }
      .filter { [files] path in
        guard files.isDevice(path), let real = files.realPath(path) else { return false }
        // Type 0 is a port without hardware; the kernel of a PC lists about thirty.
        let isEmpty = files.deviceNames(path).contains {
          files.text("/sys/class/tty/\($0)/type") == "0"
        }
        return !isEmpty && realPaths.insert(real).inserted
      }
  }

  /// Priority of a device name, 0 is the most likely receiver; nil if the name is not a serial line.
  private static func priority(of name: String) -> Int? {
    prefixes.firstIndex { prefix in
      guard name.hasPrefix(prefix) else { return false }
      return name.dropFirst(prefix.count).allSatisfy(\.isNumber)
    }
  }

  /// The line from the options or the profile. If nil, lines are scanned, and a query is sent only on a line that sent
  /// fixes.
  var specifiedLine: String? { options.line ?? options.profile?.receiver?.device }
  var isLineSpecified: Bool { specifiedLine != nil }

  /// Reports a line that others use: a failure if the line was specified, otherwise a skipped check.
  private mutating func reportInUse(_ name: String, _ found: String, suggestion: String) {
    if isLineSpecified {
      fail(name, found, suggestion: suggestion)
    } else {
      lineInUseSuggestion = lineInUseSuggestion ?? suggestion
      skip(name, found, hint: suggestion)
    }
  }

  /// Checks a line.
  ///
  /// - Returns: Whether it exists and no other program uses it.
  mutating func examineLine(_ path: String) -> Bool {
    guard isSerialLine(path) else { return false }
    let holders = LineHolders(of: path, files)
    var isFree = true
    if let console = holders.console {
      isFree = false
      reportInUse(
        "console", "the kernel writes its messages to \(path) (\(console))",
        suggestion: "remove \(console) from the kernel's command line (cmdline.txt on a "
          + "Raspberry Pi, or with `raspi-config`), and reboot")
    }
    if let login = holders.login {
      isFree = false
      reportInUse(
        "login", "\(login) offers a login on \(path)",
        suggestion: "sudo systemctl disable --now \(login)")
    }
    for process in holders.processes {
      isFree = false
      if process.name == "torpord" {
        skip("holder", "\(process.text) has \(path) open, as it should")
      } else {
        reportInUse(
          "holder", "\(process.text) has \(path) open",
          suggestion: process.stopCommand(device: holders.device))
      }
    }
    return isFree
  }

  private mutating func isSerialLine(_ path: String) -> Bool {
    let candidates = candidateLines
    let candidatesText =
      candidates.isEmpty
      ? ""
      : "; serial lines found: \(candidates.joined(separator: ", "))"
    guard files.exists(path) else {
      fail(
        "serial line", "'\(path)' does not exist\(candidatesText)",
        suggestion: "enable the port (on a Raspberry Pi `enable_uart=1` in config.txt), "
          + "connect the "
          + "receiver, or specify its line with --line")
      return false
    }
    if let kind = files.kindIfNotSerialLine(path) {
      fail(
        "serial line", "'\(path)' is \(kind) and not a serial line\(candidatesText)",
        suggestion: "specify the receiver's serial device with --line or as device in [receiver]")
      return false
    }
    return true
  }

  /// Opens a line; nil, with a finding, if that fails.
  mutating func open(_ path: String, speed: UInt32) -> ReceiverLine? {
    do throws(LineOpenError) {
      let line = try ReceiverLine(files.fullPath(path), speed: speed)
      pass("serial line", freeLineText(path))
      return line
    } catch {
      var suggestion = error.description
      if case .busy = error, geteuid() != 0 {
        suggestion = "run sudo torpor doctor to see which program uses it"
      }
      reportInUse("serial line", "'\(path)' cannot be opened", suggestion: suggestion)
      return nil
    }
  }

  /// Description of a line that is free.
  private func freeLineText(_ path: String) -> String {
    let name = LineHolders(of: path, files).device
    let real = path.hasSuffix("/\(name)") ? path : "\(path) (\(name))"
    var status = stat()
    guard unsafe stat(files.fullPath(path), &status) == 0,
      let entry = unsafe getgrgid(status.st_gid), let group = unsafe entry.pointee.gr_name
    else { return "\(real) exists and is free" }
    let groupName = unsafe String(cString: group)
    return "\(real) exists and is free; its group is \(groupName)"
      + (groupName == "dialout" ? "" : ", but the service's unit runs with the group dialout")
  }
}
