/// The locks of systemd's login manager, as it keeps them in files that everybody may read
/// (`systemd-inhibit`, `org.freedesktop.login1.Manager.Inhibit`).
///
/// The folder is read when somebody wants to sleep, and never watched: one system call where there is no
/// such folder, five where it is empty.
struct SleepInhibitors {
  /// What is to be done and may be forbidden.
  enum Action {
    /// The board suspends by itself, because nobody does anything.
    case suspend
    /// It switches itself off.
    case powerOff

    /// The words of a lock that forbid it.
    fileprivate var words: [Substring] {
      switch self {
      case .suspend: ["sleep", "idle"]
      case .powerOff: ["shutdown", "idle"]
      }
    }
  }

  private static let folder = "/run/systemd/inhibit"

  private let files: KernelFiles

  init(_ files: KernelFiles) { self.files = files }

  /// Who forbids it; nil where nobody does. Locks that only want to be told before are passed over: who
  /// asks the kernel itself cannot serve them.
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
      if action.words.contains(where: what.contains) {
        return value("WHO").map(String.init) ?? name
      }
    }
    return nil
  }
}
