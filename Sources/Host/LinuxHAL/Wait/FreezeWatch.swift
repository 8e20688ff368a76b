import Glibc

/// Monitors whether the control group of a process is frozen. The program then counts as suspended, whatever execution
/// state it reported (BKG-1).
///
/// The kernel signals changes, so nothing is polled. Control groups of version 2 only. A process that later moves to
/// another group is not followed.
public final class FreezeWatch {
  /// The file `cgroup.events`; wait for ``EventWait/Conditions/changed``.
  public let descriptor: Int32

  /// Mount points of version 2, alone or in addition to version 1.
  static let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]

  /// Monitors the group of a process; nil if the process has no group that can be frozen, or the group is not visible
  /// from here.
  public init?(process: Int32) {
    guard let group = FreezeWatch.group(of: process) else { return nil }
    for mount in FreezeWatch.mounts {
      let path = "\(mount)\(group)/cgroup.events"
      let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
      if opened >= 0 {
        descriptor = opened
        return
      }
    }
    return nil
  }

  deinit { close(descriptor) }

  /// Whether the group is frozen now. Reading re-arms the notification of the next change.
  ///
  /// - Returns: nil if the group is gone. Remove the descriptor from the wait then: it stays ready forever.
  public func isFrozen() -> Bool? {
    guard let text = FreezeWatch.text(descriptor) else { return nil }
    return text.split(separator: "\n").contains("frozen 1")
  }

  /// Path of a process's group, from the line `0::/path` of `/proc/PID/cgroup`.
  static func group(of process: Int32) -> String? {
    let text = SystemFiles.text(of: "/proc/\(process)/cgroup") ?? ""
    for line in text.split(separator: "\n") where line.hasPrefix("0::/") {
      return String(line.dropFirst("0::".count))
    }
    return nil
  }

  private static func text(_ descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
    }
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
