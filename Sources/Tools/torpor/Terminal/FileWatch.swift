import Glibc

/// Watches a file and its name for changes with inotify(7), without polling.
///
/// On a network file system (NFS), inotify reports only changes made on this machine.
final class FileWatch {
  /// inotify descriptor, readable after a change.
  let descriptor: Int32
  private let path: String?
  private var file: Int32 = -1

  /// Starts watching the folder of `path`, in which a file of that name may be created; nil for an open file without a
  /// name.
  ///
  /// - Throws: ``CommandError`` if inotify fails, for example at its limits.
  init(path: String?) throws(CommandError) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    self.path = path
    guard descriptor >= 0 else { throw FileWatch.error(errno) }
    watchFolder()
  }

  deinit { close(descriptor) }

  /// Watches the file open as descriptor `opened`, instead of the previous one.
  func watch(_ opened: Int32) throws(CommandError) {
    if file >= 0 { inotify_rm_watch(descriptor, file) }
    // Watch the open file itself, because it may have been renamed.
    file = unsafe inotify_add_watch(
      descriptor, "/proc/self/fd/\(opened)", UInt32(IN_MODIFY | IN_ATTRIB))
    guard file >= 0 else { throw FileWatch.error(errno) }
  }

  /// Discards the pending events, and watches the folder of the file, which may have been created since.
  func drain() {
    var block = [UInt8](repeating: 0, count: 4_096)
    while unsafe block.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
    watchFolder()
  }

  /// Watches the folder of the file, or its nearest existing ancestor: udev removes `/dev/serial/by-id` together with
  /// the last device in it. Repeated calls for the same folder have no further effect.
  private func watchFolder() {
    guard let path else { return }
    var folder = path
    repeat {
      folder = POSIX.parent(of: folder)
      let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)
      if unsafe inotify_add_watch(descriptor, folder, mask) >= 0 { return }
    } while folder != "/" && folder != "."
  }

  private static func error(_ code: Int32) -> CommandError {
    CommandError(
      .io,
      """
      cannot watch files for changes: \(POSIX.reason(code)); \
      the limits of this system are in /proc/sys/fs/inotify
      """)
  }
}
