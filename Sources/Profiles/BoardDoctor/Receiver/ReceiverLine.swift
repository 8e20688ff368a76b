import CLinux
import Glibc
import LinuxHAL
import LocationTypes

/// A receiver's serial line in raw mode, opened exclusively for the duration of the checks.
final class ReceiverLine {
  /// Maximum number of bytes per read.
  private static let readSize = 4_096

  private let descriptor: Int32
  private(set) var speed: UInt32
  /// Whether the device was disconnected.
  private(set) var isDisconnected = false

  /// Settings of the line before it was opened, and whether another process had claimed it.
  private let savedState: clinux_line_state

  /// Opens and claims the line.
  ///
  /// - Throws: ``LineOpenError``; settings and claim are then unchanged.
  init(_ path: String, speed: UInt32) throws(LineOpenError) {
    let opened = unsafe open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { throw LineOpenError(errno, path: path, baud: speed) }
    var state = clinux_line_state()
    var result = unsafe clinux_line_get_state(opened, &state)
    if result == 0 { result = clinux_line_claim(opened, speed) }
    guard result == 0 else {
      close(opened)
      throw LineOpenError(-result, path: path, baud: speed)
    }
    descriptor = opened
    savedState = state
    self.speed = speed
  }

  /// Restores the settings and the claim.
  deinit {
    _ = unsafe withUnsafePointer(to: savedState) {
      unsafe clinux_line_restore_state(descriptor, $0)
    }
    close(descriptor)
  }

  /// Sets the speed in baud; returns false if the port does not support it.
  func setSpeed(_ baud: UInt32) -> Bool {
    guard baud != speed else { return true }
    guard clinux_line_set_speed(descriptor, baud, speed) == 0 else { return false }
    speed = baud
    return true
  }

  /// Discards buffered input unread.
  func discardInput() { clinux_line_discard_input(descriptor) }

  /// Returns buffered input or waits for the first bytes; empty after the timeout or if the device was disconnected.
  func read(within time: Interval) -> [UInt8] {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let timeout = Int32(clamping: max(0, (time.microseconds + 999) / 1_000))
    guard !isDisconnected, unsafe poll(&waiting, 1, timeout) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: ReceiverLine.readSize)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    if count > 0 { return Array(bytes[..<count]) }
    if count == 0 || (errno != EAGAIN && errno != EINTR) { isDisconnected = true }
    return []
  }

  /// Writes bytes; bytes that the line does not accept within a second are dropped.
  func write(_ bytes: [UInt8]) {
    var remaining = bytes[...]
    let end = SystemClock().now + .seconds(1)
    while !remaining.isEmpty, !isDisconnected {
      let count = unsafe remaining.withUnsafeBytes { part in
        unsafe Glibc.write(descriptor, part.baseAddress, part.count)
      }
      if count > 0 { remaining = remaining.dropFirst(count) }
      if count < 0, errno != EAGAIN, errno != EINTR { isDisconnected = true }
      let remainingTime = end - SystemClock().now
      guard !remaining.isEmpty, remainingTime > .zero else { return }
      var pollRequest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&pollRequest, 1, Int32(clamping: remainingTime.microseconds / 1_000 + 1))
    }
  }
}
