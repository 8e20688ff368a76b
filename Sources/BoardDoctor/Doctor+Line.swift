import BoardProfiles
import Glibc
import LinuxHAL

// The serial line: is it there, may it be used, and who uses it.

extension Doctor {
  /// How names of devices begin that a receiver may be behind.
  private static let prefixes = [
    "ttyAMA", "ttyS", "ttymxc", "ttyUSB", "ttyACM", "ttyO", "ttySC", "ttyTHS", "ttyPS", "ttyMSM",
  ]
  /// Lines that are looked at where none is named.
  private static let linesLimit = 4

  /// The lines that a receiver may be on.
  var candidates: [String] {
    let names = files.names("/dev").filter { [files] name in
      guard Doctor.prefixes.contains(where: name.hasPrefix) else { return false }
      // A port without a chip behind it: of those a PC's kernel names thirty.
      return files.text("/sys/class/tty/\(name)/type") != "0"
    }
    return names.map { "/dev/\($0)" }
  }

  /// Whether somebody said which line it is; else others are only looked into.
  var isLineNamed: Bool { (options.line ?? options.profile?.receiver?.device) != nil }

  /// A line that others use: wrong where it is the receiver's, and else worth knowing.
  private mutating func taken(_ name: String, _ found: String, remedy: String) {
    if isLineNamed { fail(name, found, remedy: remedy) } else { skip(name, found, hint: remedy) }
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
    guard files.exists(path) else {
      let there = candidates.isEmpty ? "" : "; there are \(candidates.joined(separator: ", "))"
      fail(
        "serial line", "'\(path)' is not there\(there)",
        remedy: "enable the port (on a Raspberry Pi `enable_uart=1` in config.txt), connect the "
          + "receiver, or name its line with --line")
      return false
    }
    var status = stat()
    if unsafe stat(files.place(path), &status) == 0, status.st_mode & S_IFMT != S_IFCHR {
      fail("serial line", "'\(path)' is no device", remedy: "name its line with --line")
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
      fail("serial line", "'\(path)' cannot be opened", remedy: remedy)
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

  /// The lines to be looked at: the one that is named, or some that there are.
  var lines: [String] {
    if let line = options.line ?? options.profile?.receiver?.device { return [line] }
    return Array(candidates.prefix(Doctor.linesLimit))
  }
}
