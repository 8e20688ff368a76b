import CLinux
import Glibc

/// The signals of a service, as something one can wait for.
///
/// Created before any other thread is: threads take over what is blocked. `SIGPIPE` is ignored from
/// then on; who writes to a closed socket gets `EPIPE`.
public struct SignalWatch: ~Copyable {
  /// What a signal asks for.
  public enum Wish: Equatable, Sendable {
    /// End in order: `SIGTERM`, `SIGINT`.
    case stop
    /// Read the profile anew: `SIGHUP`.
    case reload
  }

  /// Readable when a signal has come; to be added to an ``EventWait``.
  public let descriptor: Int32

  /// Blocks the signals and begins to watch for them.
  public init() throws(SystemError) {
    let signals = [SIGTERM, SIGINT, SIGHUP]
    let opened = unsafe signals.withUnsafeBufferPointer { signals in
      unsafe clinux_signals_open(signals.baseAddress, Int32(signals.count))
    }
    descriptor = try SystemError.check(opened, "signals cannot be watched")
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// The signals stay blocked: the service is about to end, and a second `SIGTERM` shall not spoil it.
  deinit { close(descriptor) }

  /// The next wish; nil when no signal has come. One system call.
  public mutating func next() -> Wish? {
    switch clinux_signals_next(descriptor) {
    case SIGTERM, SIGINT: .stop
    case SIGHUP: .reload
    default: nil
    }
  }
}
