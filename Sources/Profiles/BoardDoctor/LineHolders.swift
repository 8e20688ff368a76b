import Glibc
import LinuxHAL

/// The other users of a serial line: the kernel's console, a login, other programs. For ``Doctor`` and `torpor decode`.
public struct LineHolders {
  /// A process that has the line open.
  public struct Process: Equatable {
    /// Process ID.
    public var processID: Int32
    /// Name of the process in the kernel (`comm`).
    public var name: String

    /// Name and process ID for display.
    public var text: String { "\(name) (process \(processID))" }

    /// Command that stops the process and keeps it from starting again.
    func stopCommand(device: String) -> String {
      switch name {
      case "gpsd": "sudo systemctl disable --now gpsd.socket gpsd.service"
      case "torpord": "sudo systemctl stop torpord"
      case "ModemManager": "sudo systemctl disable --now ModemManager"
      case "agetty", "getty", "login":
        "sudo systemctl disable --now serial-getty@\(device).service"
      case "chronyd", "ntpd": "remove the receiver from the configuration of \(name)"
      default: "stop \(name): sudo kill \(processID)"
      }
    }
  }

  /// Folders in which systemd lists the units that it starts for logins.
  private static let loginUnitFolders = [
    "/etc/systemd/system/getty.target.wants", "/run/systemd/generator/getty.target.wants",
    "/run/systemd/system/getty.target.wants",
  ]

  private let files: BoardFiles
  /// All names of the device along its symbolic links.
  let names: [String]
  private let realPath: String?

  /// Finds the holders of the device at `path`.
  ///
  /// - Parameter files: Files of the system.
  public init(of path: String, _ files: BoardFiles = BoardFiles()) {
    self.files = files
    names = files.deviceNames(path)
    realPath = files.realPath(path)
  }

  /// Name of the device in the kernel.
  var device: String { names.last ?? "" }

  /// Kernel parameter that makes the line the console; nil if it is not the console.
  var console: String? {
    let active = files.words("/sys/class/tty/console/active")
    if let name = names.first(where: { active.contains($0) }) { return "console=\(name)" }
    return files.words("/proc/cmdline").first { word in
      guard word.hasPrefix("console=") else { return false }
      let name = word.dropFirst(8).prefix { $0 != "," }
      return names.contains(String(name))
    }
  }

  /// Unit that offers a login on the line; nil if none does.
  var login: String? {
    for name in names {
      let unit = "serial-getty@\(name).service"
      if LineHolders.loginUnitFolders.contains(where: { files.entryExists("\($0)/\(unit)") }) {
        return unit
      }
    }
    return nil
  }

  /// Processes that have the line open, as far as this user may see them.
  public var processes: [Process] {
    guard let realPath else { return [] }
    return LineHolders.processes(opening: [realPath], files)
  }

  /// Processes that have one of `targets` open, as the links in `/proc/PID/fd` name it.
  static func processes(opening targets: Set<String>, _ files: BoardFiles) -> [Process] {
    allProcesses(files).filter { process in
      let folder = "/proc/\(process.processID)/fd"
      return files.names(folder).contains {
        SystemFiles.linkTarget(files.fullPath("\(folder)/\($0)")).map(targets.contains) ?? false
      }
    }
  }

  /// All processes except this one.
  static func allProcesses(_ files: BoardFiles) -> [Process] {
    files.names("/proc").compactMap { name in
      guard let number = Int32(name), number != getpid() else { return nil }
      return Process(processID: number, name: files.text("/proc/\(name)/comm") ?? "a program")
    }
  }
}
