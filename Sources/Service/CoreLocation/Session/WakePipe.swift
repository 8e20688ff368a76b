import Glibc

/// A pipe by which any thread wakes a thread that polls.
@safe final class WakePipe: Sendable {
  private let readEnd: Int32
  private let writeEnd: Int32

  /// Creates a pipe; nil if the process has no free descriptors.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Wakes the thread; a full pipe wakes it as well.
  func wake() {
    var byte: UInt8 = 1
    _ = unsafe write(writeEnd, &byte, 1)
  }

  /// Waits for a wake or for input.
  ///
  /// - Parameters:
  ///   - descriptor: Another descriptor to wait for; negative for none.
  ///   - milliseconds: Maximum time to wait; negative for no limit.
  func wait(or descriptor: Int32, milliseconds: Int32) {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&entries, 2, milliseconds)
    guard entries[1].revents != 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 64)
    while unsafe read(readEnd, &bytes, bytes.count) > 0 {}
  }
}
