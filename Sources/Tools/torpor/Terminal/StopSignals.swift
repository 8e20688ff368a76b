import Glibc

/// Turns an interrupt into something one can wait for, so that what is being written can be ended.
///
/// The first SIGINT, SIGTERM or SIGHUP is told through ``descriptor``; a second one ends the process
/// at once, for it may hang in writing to somebody who does not read.
enum StopSignals {
  /// Becomes readable at the first signal; -1 before ``install()``.
  nonisolated(unsafe) private(set) static var descriptor: Int32 = -1
  nonisolated(unsafe) private static var writing: Int32 = -1
  nonisolated(unsafe) private static var wasAsked = false

  /// Begins to listen. What was ignored (nohup) stays ignored.
  static func install() throws(CommandError) {
    Interrupts.prepare()
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw CommandError(.io, "no pipe can be made: \(POSIX.reason(errno))")
    }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    unsafe descriptor = ends[0]
    unsafe writing = ends[1]
    for number in [SIGINT, SIGTERM, SIGHUP] {
      Interrupts.handle(number) { StopSignals.ask($0) }
    }
  }

  /// Which signal it was.
  static func taken() -> Int32? {
    var number: UInt8 = 0
    let count = unsafe read(descriptor, &number, 1)
    return count == 1 ? Int32(number) : nil
  }

  /// Only calls that a signal handler may make.
  private static func ask(_ number: Int32) {
    if unsafe wasAsked { Interrupts.end(number) }
    unsafe wasAsked = true
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(writing, &byte, 1)
    errno = before
  }
}

/// Whether the process was asked to end, for what looks now and then.
final class StopFlag {
  /// The signal, once it was seen.
  private(set) var number: Int32?

  /// Looks; ``StopSignals/install()`` comes first.
  var isAsked: Bool {
    if number == nil { number = StopSignals.taken() }
    return number != nil
  }
}
