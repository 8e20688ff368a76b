import Glibc

/// Tells when something happens to a file or to what bears its name, without asking again and again.
///
/// inotify(7): a file system of another machine (NFS) tells only of what is done here.
final class FileWatch {
  /// Becomes readable when something happened.
  let descriptor: Int32
  private let path: String?
  private var file: Int32 = -1

  /// Begins to watch for what is made under the name `path`; nil where there is only an open file.
  init(path: String?) throws(CommandError) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    self.path = path
    guard descriptor >= 0 else { throw FileWatch.failed(errno) }
    watchFolder()
  }

  deinit { close(descriptor) }

  /// Watches the file that is open as `opened` now, and no other.
  func follow(_ opened: Int32) throws(CommandError) {
    if file >= 0 { inotify_rm_watch(descriptor, file) }
    // The file itself, whatever its name is by now.
    file = unsafe inotify_add_watch(
      descriptor, "/proc/self/fd/\(opened)", UInt32(IN_MODIFY | IN_ATTRIB))
    guard file >= 0 else { throw FileWatch.failed(errno) }
  }

  /// Forgets what has happened so far.
  func drain() {
    var block = [UInt8](repeating: 0, count: 4_096)
    while unsafe block.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
    watchFolder()
  }

  /// Watches the folder of the file, or the nearest one above it that is there: udev removes
  /// `/dev/serial/by-id` with the last device in it. Again and again is as once.
  private func watchFolder() {
    guard let path else { return }
    var folder = path
    repeat {
      folder = FileWatch.parent(of: folder)
      let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)
      if unsafe inotify_add_watch(descriptor, folder, mask) >= 0 { return }
    } while folder != "/" && folder != "."
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
  }

  private static func failed(_ code: Int32) -> CommandError {
    CommandError(
      .io,
      """
      cannot be told of changes: \(POSIX.reason(code)); \
      /proc/sys/fs/inotify has the limits of this system
      """)
  }
}
