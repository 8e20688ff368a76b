import Glibc

/// Watches whether the control group of a process is frozen: a suspended program (BKG-1).
///
/// The kernel tells of a change by itself; nothing is asked again and again. For control groups of
/// version 2. A process that is moved to another group later is not followed.
public struct FreezeWatch: ~Copyable {
  /// The file that tells of changes; what is waited for is ``EventWait/Conditions/changed``.
  public let descriptor: Int32

  /// Where version 2 is mounted, alone or beside version 1.
  static let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]

  /// A watch over the group of a process; nil where it has none that could be frozen, or it is not to be
  /// seen from here.
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

  /// Whether the group is frozen now; notes that it was asked, so that the next change is told.
  ///
  /// - Returns: nil where the group is gone: the file tells of that without end, and is to be removed
  ///   from the wait.
  public func isFrozen() -> Bool? {
    guard let text = FreezeWatch.text(descriptor) else { return nil }
    return text.split(separator: "\n").contains("frozen 1")
  }

  /// The path of a process's group, as `0::/path` in its file has it.
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
