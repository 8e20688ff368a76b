import Glibc
import LinuxHAL

/// Who else uses a serial line: the kernel's console, a login, other programs.
public struct LineHolders {
  /// A process that has the line open.
  public struct Process: Equatable {
    /// Its number.
    public var number: Int32
    /// What the kernel calls it.
    public var name: String

    /// As people are told of it.
    public var text: String { "\(name) (process \(number))" }

    /// What ends it, and keeps it from coming back.
    func remedy(device: String) -> String {
      switch name {
      case "gpsd": "sudo systemctl disable --now gpsd.socket gpsd.service"
      case "torpord": "sudo systemctl stop torpord"
      case "ModemManager": "sudo systemctl disable --now ModemManager"
      case "agetty", "getty", "login":
        "sudo systemctl disable --now serial-getty@\(device).service"
      case "chronyd", "ntpd": "take the receiver out of the configuration of \(name)"
      default: "end \(name): sudo kill \(number)"
      }
    }
  }

  /// Where systemd has the units that it starts for logins.
  private static let logins = [
    "/etc/systemd/system/getty.target.wants", "/run/systemd/generator/getty.target.wants",
    "/run/systemd/system/getty.target.wants",
  ]

  private let files: BoardFiles
  /// All names of the device.
  let names: [String]
  private let real: String?

  /// The holders of the device at `path`.
  ///
  /// - Parameter files: Where the system is.
  public init(of path: String, _ files: BoardFiles = BoardFiles()) {
    self.files = files
    names = files.deviceNames(path)
    real = files.real(path)
  }

  /// The name under which the kernel has the device.
  var device: String { names.last ?? "" }

  /// How the kernel was told to use the line as its console; nil if it does not.
  var console: String? {
    let active = files.words("/sys/class/tty/console/active")
    if let name = names.first(where: { active.contains($0) }) { return "console=\(name)" }
    return files.words("/proc/cmdline").first { word in
      guard word.hasPrefix("console=") else { return false }
      let name = word.dropFirst(8).prefix { $0 != "," }
      return names.contains(String(name))
    }
  }

  /// The unit that offers a login on the line; nil where none does.
  var login: String? {
    for name in names {
      let unit = "serial-getty@\(name).service"
      if LineHolders.logins.contains(where: { files.isNamed("\($0)/\(unit)") }) { return unit }
    }
    return nil
  }

  /// Processes that have it open, as far as this user may see them.
  public var processes: [Process] {
    guard let real else { return [] }
    return LineHolders.all(files).filter { process in
      let folder = "/proc/\(process.number)/fd"
      return files.names(folder).contains {
        SystemFiles.link(files.place("\(folder)/\($0)")) == real
      }
    }
  }

  /// Every process but this one.
  static func all(_ files: BoardFiles) -> [Process] {
    files.names("/proc").compactMap { name in
      guard let number = Int32(name), number != getpid() else { return nil }
      return Process(number: number, name: files.text("/proc/\(name)/comm") ?? "a program")
    }
  }
}
