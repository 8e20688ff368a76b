/// Inhibitor locks of systemd-logind, which keeps them in world-readable files (`systemd-inhibit`,
/// `org.freedesktop.login1.Manager.Inhibit`).
///
/// The folder is read before each sleep and not monitored: one system call if it does not exist, five if it is empty.
struct SleepInhibitors {
  /// An action that a lock can forbid.
  enum Action {
    /// The board suspends because it is idle.
    case suspend
    /// The board switches itself off.
    case powerOff

    /// Lock types (`WHAT=`) that forbid the action.
    fileprivate var lockTypes: [Substring] {
      switch self {
      case .suspend: ["sleep", "idle"]
      case .powerOff: ["shutdown", "idle"]
      }
    }
  }

  private static let folder = "/run/systemd/inhibit"

  private let files: KernelFiles

  init(_ files: KernelFiles) { self.files = files }

  /// Holder of a lock that forbids the action; nil if none exists. Skips delay locks, which only request notice before
  /// the action: this program writes to the kernel directly and cannot give notice.
  func holder(of action: Action) -> String? {
    for name in files.names(in: SleepInhibitors.folder) where !name.hasSuffix(".ref") {
      guard let text = files.read("\(SleepInhibitors.folder)/\(name)") else { continue }
      let lines = text.split(separator: "\n")
      func value(_ key: String) -> Substring? {
        lines.first { $0.hasPrefix("\(key)=") }?.dropFirst(key.utf8.count + 1)
      }
      guard let what = value("WHAT")?.split(separator: ":"), value("MODE") != "delay" else {
        continue
      }
      if action.lockTypes.contains(where: what.contains) {
        return value("WHO").map(String.init) ?? name
      }
    }
    return nil
  }
}
