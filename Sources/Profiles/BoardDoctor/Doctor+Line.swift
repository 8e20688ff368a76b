import BoardProfiles
import Glibc
import LinuxHAL

// The serial line: is it there, may it be used, and who uses it.

extension Doctor {
  /// How names of devices begin that a receiver may be behind: first those that somebody gave the
  /// receiver's line, then USB, on which receivers are found most, then ports of the board.
  private static let prefixes = [
    "gps", "serial", "ttyACM", "ttyUSB", "ttyAMA", "ttyS", "ttymxc", "ttyO", "ttySC", "ttyTHS",
    "ttyPS", "ttyMSM",
  ]
  /// Lines that are listened to where none is named: twenty seconds each.
  static let linesLimit = 4

  /// The lines that a receiver may be on, the likeliest first; each once, by its best name.
  var candidates: [String] {
    var known: Set<String> = []
    return files.names("/dev").compactMap { name in Doctor.rank(name).map { ($0, name) } }
      .sorted { ($0.0, $0.1.utf8.count, $0.1) < ($1.0, $1.1.utf8.count, $1.1) }
      .map { "/dev/\($0.1)" }
      .filter { [files] path in
        guard files.isDevice(path), let real = files.real(path) else { return false }
        // A port without a chip behind it: of those a PC's kernel names thirty.
        let isEmpty = files.deviceNames(path).contains {
          files.text("/sys/class/tty/\($0)/type") == "0"
        }
        return !isEmpty && known.insert(real).inserted
      }
  }

  /// How likely a receiver is behind a device of that name, 0 the likeliest; nil where it is none.
  private static func rank(_ name: String) -> Int? {
    prefixes.firstIndex { prefix in
      guard name.hasPrefix(prefix) else { return false }
      return name.dropFirst(prefix.count).allSatisfy(\.isNumber)
    }
  }

  /// The line that somebody named; where none is, others are looked into, and only listened to.
  var namedLine: String? { options.line ?? options.profile?.receiver?.device }
  var isLineNamed: Bool { namedLine != nil }

  /// A line that others use: wrong where it is the receiver's, and else worth knowing.
  private mutating func taken(_ name: String, _ found: String, remedy: String) {
    if isLineNamed {
      fail(name, found, remedy: remedy)
    } else {
      takenRemedy = takenRemedy ?? remedy
      skip(name, found, hint: remedy)
    }
  }

  /// Looks at a line; says whether it is free for us.
  mutating func examineLine(_ path: String) -> Bool {
    guard isThere(path) else { return false }
    let holders = LineHolders(of: path, files)
    var isFree = true
    if let console = holders.console {
      isFree = false
      taken(
        "console", "the kernel writes its messages to \(path) (\(console))",
        remedy: "take \(console) out of the kernel's command line (cmdline.txt on a Raspberry Pi; "
          + "`raspi-config` does it), and boot again")
    }
    if let login = holders.login {
      isFree = false
      taken(
        "login", "\(login) offers a login on \(path)",
        remedy: "sudo systemctl disable --now \(login)")
    }
    for process in holders.processes {
      isFree = false
      if process.name == "torpord" {
        skip("holder", "\(process.text) has \(path), as it should")
      } else {
        taken(
          "holder", "\(process.text) has \(path) open",
          remedy: process.remedy(device: holders.device))
      }
    }
    return isFree
  }

  private mutating func isThere(_ path: String) -> Bool {
    let candidates = candidates
    let there = candidates.isEmpty ? "" : "; there are \(candidates.joined(separator: ", "))"
    guard files.exists(path) else {
      fail(
        "serial line", "'\(path)' is not there\(there)",
        remedy: "enable the port (on a Raspberry Pi `enable_uart=1` in config.txt), connect the "
          + "receiver, or name its line with --line")
      return false
    }
    if let kind = files.notALine(path) {
      fail(
        "serial line", "'\(path)' is \(kind), and no serial line\(there)",
        remedy: "name the device that the receiver is on, with --line or as device in [receiver]")
      return false
    }
    return true
  }

  /// Opens a line that is free; nil where it could not.
  mutating func open(_ path: String, speed: UInt32) -> ReceiverLine? {
    do throws(LineOpenError) {
      let line = try ReceiverLine(files.place(path), speed: speed)
      pass("serial line", lineText(path))
      return line
    } catch {
      var remedy = error.description
      if case .busy = error, geteuid() != 0 {
        remedy = "run it as root to see who: sudo torpor doctor"
      }
      taken("serial line", "'\(path)' cannot be opened", remedy: remedy)
      return nil
    }
  }

  /// A line that is free, in words.
  private func lineText(_ path: String) -> String {
    let name = LineHolders(of: path, files).device
    let real = path.hasSuffix("/\(name)") ? path : "\(path) (\(name))"
    var status = stat()
    guard unsafe stat(files.place(path), &status) == 0,
      let entry = unsafe getgrgid(status.st_gid), let group = unsafe entry.pointee.gr_name
    else { return "\(real) is there, and free" }
    let word = unsafe String(cString: group)
    return "\(real) is there, and free; its group is \(word)"
      + (word == "dialout" ? "" : ", and not dialout, which the service's unit has")
  }
}
