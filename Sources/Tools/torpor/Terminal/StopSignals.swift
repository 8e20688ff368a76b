import Glibc

/// Makes stop signals available as a readable descriptor (self-pipe), so that a command can finish its output.
///
/// The first SIGINT, SIGTERM or SIGHUP is reported through ``descriptor``; the second one ends the process immediately,
/// because the process can be blocked in a write to a pipe that is not read.
enum StopSignals {
  /// Read end of the pipe, readable after the first signal; -1 before ``install()``.
  nonisolated(unsafe) private(set) static var descriptor: Int32 = -1
  nonisolated(unsafe) private static var writeEnd: Int32 = -1
  nonisolated(unsafe) private static var hasArrived = false

  /// Installs the signal handlers. A signal that is ignored (nohup(1)) stays ignored.
  ///
  /// - Throws: ``CommandError`` if the pipe cannot be created.
  static func install() throws(CommandError) {
    SignalCleanup.allocate()
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw CommandError(.io, "cannot create a pipe: \(POSIX.reason(errno))")
    }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    unsafe descriptor = ends[0]
    unsafe writeEnd = ends[1]
    for number in [SIGINT, SIGTERM, SIGHUP] {
      SignalCleanup.setHandler(number) { StopSignals.handle($0) }
    }
  }

  /// Returns the number of the signal that arrived, once; nil if none did.
  static func consume() -> Int32? {
    var number: UInt8 = 0
    let count = unsafe read(descriptor, &number, 1)
    return count == 1 ? Int32(number) : nil
  }

  /// The signal handler. Async-signal-safe.
  private static func handle(_ number: Int32) {
    if unsafe hasArrived { SignalCleanup.removeAllAndRaise(number) }
    unsafe hasArrived = true
    let savedErrno = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(writeEnd, &byte, 1)
    errno = savedErrno
  }
}

/// Whether a stop signal has arrived, for loops that poll it.
final class StopFlag {
  /// Number of the signal, once it was read.
  private(set) var number: Int32?

  /// Whether a stop signal has arrived. Call ``StopSignals/install()`` before.
  var isSet: Bool {
    if number == nil { number = StopSignals.consume() }
    return number != nil
  }
}
