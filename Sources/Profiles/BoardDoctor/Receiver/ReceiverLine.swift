import CLinux
import Glibc
import LinuxHAL
import LocationTypes

/// A receiver's serial line while it is looked at: for this process alone, raw.
final class ReceiverLine {
  /// Bytes read at once.
  private static let capacity = 4_096

  private let descriptor: Int32
  private(set) var speed: UInt32
  /// The device went away.
  private(set) var isGone = false

  /// How the line was set before, and whether another process had claimed it.
  private let before: clinux_line_state

  /// Opens it.
  ///
  /// - Throws: ``LineOpenError``; the line is then as it was, and whose it was.
  init(_ path: String, speed: UInt32) throws(LineOpenError) {
    let opened = unsafe open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { throw LineOpenError(errno, path: path, baud: speed) }
    var before = clinux_line_state()
    var result = unsafe clinux_line_get_state(opened, &before)
    if result == 0 { result = clinux_line_take(opened, speed) }
    guard result == 0 else {
      close(opened)
      throw LineOpenError(-result, path: path, baud: speed)
    }
    descriptor = opened
    self.before = before
    self.speed = speed
  }

  /// Gives it back as it was.
  deinit {
    _ = unsafe withUnsafePointer(to: before) { unsafe clinux_line_put_state(descriptor, $0) }
    close(descriptor)
  }

  /// Sets the speed; false where the port cannot do it.
  func setSpeed(_ baud: UInt32) -> Bool {
    guard baud != speed else { return true }
    guard clinux_line_set_speed(descriptor, baud, speed) == 0 else { return false }
    speed = baud
    return true
  }

  /// Throws away what has come.
  func forget() { clinux_line_forget_input(descriptor) }

  /// What has come, and else what comes first; nothing at the end of `time`, or where the device went away.
  func read(within time: Interval) -> [UInt8] {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let timeout = Int32(clamping: max(0, (time.microseconds + 999) / 1_000))
    guard !isGone, unsafe poll(&waiting, 1, timeout) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: ReceiverLine.capacity)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    if count > 0 { return Array(bytes[..<count]) }
    if count == 0 || (errno != EAGAIN && errno != EINTR) { isGone = true }
    return []
  }

  /// Says something; what the line does not take within a second is not said.
  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    let end = SystemClock().now + .seconds(1)
    while !rest.isEmpty, !isGone {
      let count = unsafe rest.withUnsafeBytes { part in
        unsafe Glibc.write(descriptor, part.baseAddress, part.count)
      }
      if count > 0 { rest = rest.dropFirst(count) }
      if count < 0, errno != EAGAIN, errno != EINTR { isGone = true }
      let left = end - SystemClock().now
      guard !rest.isEmpty, left > .zero else { return }
      var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&room, 1, Int32(clamping: left.microseconds / 1_000 + 1))
    }
  }
}
