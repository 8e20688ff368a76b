import Glibc
import LocationTypes

/// Waits for the service, and for whoever wants this command to end.
enum ServiceWait {
  /// What ended a wait.
  enum End: Equatable {
    /// The descriptor of that place has something.
    case ready(Int)
    /// Nothing, for as long as was asked.
    case pause
    /// An interrupt, or another signal that ends a command.
    case stopped(Int32)
    /// Nobody reads what is written any more.
    case readerGone
  }

  /// Waits; ``StopSignals/install()`` comes first.
  ///
  /// - Parameters:
  ///   - descriptors: What is waited for; negative ones are passed over.
  ///   - reader: Where results go, if that is a pipe whose reader may go; else -1.
  ///   - length: How long at most; nil for as long as it takes.
  static func wait(
    for descriptors: [Int32], reader: Int32 = -1, atMost length: Interval?
  ) throws(CommandError) -> End {
    var waiting = [
      pollfd(fd: unsafe StopSignals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: reader, events: 0, revents: 0),
    ]
    waiting += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let timeout = length.map { Int32(clamping: ($0.microseconds + 999) / 1_000) } ?? -1
    let count = unsafe poll(&waiting, nfds_t(waiting.count), timeout)
    if let number = StopSignals.taken() { return .stopped(number) }
    // Another size of the terminal comes as a signal, too.
    if count == 0 || (count < 0 && errno == EINTR) { return .pause }
    if count < 0 { throw CommandError(.io, "waiting failed: \(POSIX.reason(errno))") }
    if waiting[1].revents != 0 { return .readerGone }
    guard let place = waiting.dropFirst(2).firstIndex(where: { $0.revents != 0 }) else {
      return .pause
    }
    return .ready(place - 2)
  }
}
