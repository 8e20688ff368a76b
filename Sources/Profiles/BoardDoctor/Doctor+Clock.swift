import BoardProfiles
import Glibc
import LinuxHAL

// Check of the system clock: whether the service feeds it, or could.

extension Doctor {
  /// The feed of the system clock, as the running service reports it.
  public struct ClockReport: Equatable, Sendable {
    /// Whether samples are sent.
    public let isFeeding: Bool
    /// When last and with which offset, in one line.
    public let text: String

    /// Creates a report.
    public init(isFeeding: Bool, text: String) {
      self.isFeeding = isFeeding
      self.text = text
    }
  }

  /// chronyd's socket that the package's unit uses.
  static let clockSocket = "/run/chrony.torpor.sock"

  mutating func examineClock() {
    if let report = options.clock {
      let hint = "the package has an example in /usr/share/doc/torpor/chrony.conf"
      return report.isFeeding
        ? pass("clock", report.text) : skip("clock", report.text, hint: hint)
    }
    let path = Doctor.clockSocket
    var status = stat()
    guard unsafe stat(files.fullPath(path), &status) == 0, status.st_mode & S_IFMT == S_IFSOCK
    else {
      return skip(
        "clock", "chronyd has no socket '\(path)', so the service does not feed the system clock",
        hint:
          "to set the clock by the receiver: install chrony, and add 'refclock SOCK \(path)' to "
          + "its configuration")
    }
    let isShared = status.st_gid != 0 && status.st_mode & S_IWGRP != 0
    guard isShared || status.st_mode & S_IWOTH != 0 else {
      return fail(
        "clock", "only root may write to chronyd's socket '\(path)'",
        suggestion:
          "sudo chgrp torpor-clock \(path) && sudo chmod g+w \(path); the package's drop-in for "
          + "chrony.service does this at each start")
    }
    pass("clock", "chronyd's socket '\(path)' exists, and the service may write to it")
  }
}
