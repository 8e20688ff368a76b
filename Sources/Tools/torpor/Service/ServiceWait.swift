import Glibc
import LocationTypes

/// Waits with poll(2) until input or a signal arrives, or the reader of the output pipe closes it.
enum ServiceWait {
  /// Reason why a wait ended.
  enum End: Equatable {
    /// The descriptor with this index is readable.
    case ready(Int)
    /// The timeout expired, or the terminal was resized.
    case timeout
    /// SIGINT, SIGTERM or SIGHUP arrived; the value is the signal number.
    case stopped(Int32)
    /// The reader of the output pipe has closed it.
    case outputClosed
  }

  /// Waits for an event. Call ``StopSignals/install()`` before the first wait.
  ///
  /// - Parameters:
  ///   - descriptors: Descriptors to wait for; negative ones are ignored.
  ///   - output: Standard output if it is a pipe, to detect that its reader closes it; else -1.
  ///   - length: Timeout; nil for none.
  /// - Throws: ``CommandError`` if poll(2) fails.
  static func wait(
    for descriptors: [Int32], output: Int32 = -1, timeout length: Interval?
  ) throws(CommandError) -> End {
    var waiting = [
      pollfd(fd: unsafe StopSignals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: output, events: 0, revents: 0),
    ]
    waiting += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let timeout = length.map { Int32(clamping: ($0.microseconds + 999) / 1_000) } ?? -1
    let count = unsafe poll(&waiting, nfds_t(waiting.count), timeout)
    if let number = StopSignals.consume() { return .stopped(number) }
    // EINTR without a stop signal is SIGWINCH: the terminal was resized.
    if count == 0 || (count < 0 && errno == EINTR) { return .timeout }
    if count < 0 { throw CommandError(.io, "waiting failed: \(POSIX.reason(errno))") }
    if waiting[1].revents != 0 { return .outputClosed }
    guard let index = waiting.dropFirst(2).firstIndex(where: { $0.revents != 0 }) else {
      return .timeout
    }
    return .ready(index - 2)
  }
}
