import BoardProfiles
import CLinux
import Glibc
import LinuxHAL

// Check of the system clock: whether the service feeds it, or could.

extension Doctor {
  /// The feed of the system clock, as the running service reports it.
  public struct ClockReport: Equatable, Sendable {
    /// Whether samples are sent.
    public let isFeeding: Bool
    /// Whether chronyd's socket refuses them.
    public let isRefused: Bool
    /// When last and with which offset, in one line.
    public let text: String

    /// Creates a report.
    public init(isFeeding: Bool, isRefused: Bool, text: String) {
      self.isFeeding = isFeeding
      self.isRefused = isRefused
      self.text = text
    }
  }

  /// chronyd's socket that the package's unit uses.
  static let clockSocket = "/run/chrony.torpor.sock"

  mutating func examineClock() {
    if let report = options.clock {
      if report.isFeeding { return pass("clock", report.text) }
      if report.isRefused {
        return fail("clock", report.text, suggestion: Doctor.groupSuggestion)
      }
      return skip("clock", report.text, hint: clockHint)
    }
    if options.servesWithoutClock {
      return skip(
        "clock", "torpord runs without --clock, so it does not feed the system clock",
        hint:
          "to feed it: remove '--clock none' from TORPORD_OPTIONS in /etc/default/torpord, and restart torpord"
      )
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
    guard hasReceiver(files.fullPath(path)) else {
      return skip(
        "clock", "no program receives on chronyd's socket '\(path)'", hint: Doctor.chronyHint)
    }
    let isShared = status.st_gid == clockGroup && status.st_mode & S_IWGRP != 0
    guard isShared || status.st_mode & S_IWOTH != 0 else {
      return fail(
        "clock", "the group 'torpor-clock' may not write to chronyd's socket '\(path)'",
        suggestion: Doctor.groupSuggestion)
    }
    pass("clock", "chronyd's socket '\(path)' exists, and the service may write to it")
  }

  private static let chronyHint =
    "chronyd does not run, or its configuration no longer names the socket: see 'systemctl status chrony' and "
    + "'journalctl -u chrony'"

  /// What is missing for a first sample: chronyd's socket, or fixes.
  private var clockHint: String {
    let path = files.fullPath(Doctor.clockSocket)
    guard unsafe access(path, F_OK) == 0 else {
      return
        "the package has an example of chrony's configuration in /usr/share/doc/torpor/chrony.conf"
    }
    return hasReceiver(path)
      ? "chronyd is ready: start a client that needs fixes" : Doctor.chronyHint
  }

  private static let groupSuggestion =
    "sudo chgrp torpor-clock \(clockSocket) && sudo chmod g+w \(clockSocket); the package's drop-in for "
    + "chrony.service does this at each start"

  /// Whether a program receives on a socket; true if this user may not find out.
  private func hasReceiver(_ path: String) -> Bool {
    let descriptor = unsafe clinux_datagram_connect(path, path.utf8.count)
    if descriptor >= 0 { close(descriptor) }
    return descriptor != -ECONNREFUSED
  }

  /// Number of the group that the package's drop-in gives to the socket; nil if it does not exist.
  private var clockGroup: gid_t? {
    let lines = files.text("/etc/group")?.split(separator: "\n") ?? []
    let fields = lines.first { $0.hasPrefix("torpor-clock:") }?.split(
      separator: ":", omittingEmptySubsequences: false)
    return fields.flatMap { $0.count > 2 ? gid_t($0[2]) : nil }
  }
}
