import CLinux
import Glibc

/// The signals of a service as a descriptor.
///
/// Create it before any other thread, because threads inherit the signal mask. `SIGPIPE` is ignored from then on;
/// writing to a closed socket gives `EPIPE`.
public struct SignalWatch: ~Copyable {
  /// What a signal requests.
  public enum Request: Equatable, Sendable {
    /// Orderly stop: `SIGTERM`, `SIGINT`.
    case stop
    /// Read the profile again: `SIGHUP`.
    case reload
  }

  /// Readable when a signal has arrived; add it to an ``EventWait``.
  public let descriptor: Int32

  /// Blocks the signals and opens the descriptor.
  public init() throws(SystemError) {
    let signals = [SIGTERM, SIGINT, SIGHUP]
    let opened = unsafe signals.withUnsafeBufferPointer { signals in
      unsafe clinux_signals_open(signals.baseAddress, Int32(signals.count))
    }
    descriptor = try SystemError.check(opened, "opening a descriptor for signals failed")
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// The signals stay blocked: the service is about to end, and a second `SIGTERM` must not interrupt that.
  deinit { close(descriptor) }

  /// The next request; nil if no signal has arrived. One system call.
  public mutating func next() -> Request? {
    switch clinux_signals_next(descriptor) {
    case SIGTERM, SIGINT: .stop
    case SIGHUP: .reload
    default: nil
    }
  }
}
