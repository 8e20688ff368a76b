import CLinux
import Glibc
import LocationTypes

/// The socket on which chronyd receives samples of a reference clock (`refclock SOCK` in its configuration).
///
/// **Problem.** chronyd creates the socket, as root, and replaces it at each start. It may start after this service, end
/// at any time, or not exist at all. Samples are worthless when they are late, so none waits for chronyd: a sample that
/// cannot be sent is lost, and the next one tries again.
///
/// **States.**
///
/// ```
/// CLOSED  -- send: connected ----------------------------------------> OPEN
///         -- send: no socket, nobody receives, no permission --------> CLOSED, after the back-off the next attempt
/// OPEN    -- send: receiver is gone: connect once more --------------> OPEN or CLOSED
///         -- send: buffer full --------------------------------------> OPEN
/// ```
///
/// No descriptor is waited for, and there is no timer: the socket acts only when a sample is sent. No call blocks.
/// **Bounds.** One descriptor; at most two attempts to connect for a sample.
public final class RefclockSocket {
  /// Why a sample was not sent.
  public enum Failure: Error, Equatable, Sendable {
    /// There is no socket: chronyd does not run, or its configuration does not name it.
    case missing
    /// No program receives on the socket: chronyd has ended.
    case abandoned
    /// The user of this service may not write to the socket.
    case forbidden
    /// chronyd does not read its samples.
    case full
    /// The path cannot be the address of a socket.
    case invalidPath
    /// Another error number.
    case other(Int32)
  }

  /// Delay between two attempts to connect; doubled up to the longest. Each attempt costs one system call.
  static let initialDelay = Interval.seconds(1)
  static let longestDelay = Interval.seconds(16)

  /// Path of the socket.
  public let path: String
  /// Negative while CLOSED.
  private var descriptor: Int32 = -1
  private var backoff = RetryBackoff(initial: initialDelay, longest: longestDelay)
  /// Why the last attempt to connect failed.
  private var refusal = Failure.missing

  /// Creates a socket that connects with its first sample.
  public init(path: String) { self.path = path }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Sends a sample.
  ///
  /// - Throws: ``Failure``; the sample is lost. Within the back-off after a failed attempt, the reason of that attempt.
  public func send(_ sample: RefclockSample, at now: Instant) throws(Failure) {
    let message = sample.message
    if descriptor >= 0 {
      switch transmit(message) {
      case 0: return
      case EAGAIN, ENOBUFS: throw .full
      // chronyd has ended, and may already have created a new socket.
      default: close()
      }
    }
    try connect(at: now)
    let code = transmit(message)
    if code == 0 { return }
    if code == EAGAIN || code == ENOBUFS { throw .full }
    close()
    throw refuse(RefclockSocket.failure(code), at: now)
  }

  private func connect(at now: Instant) throws(Failure) {
    guard !backoff.isWaiting(at: now) else { throw refusal }
    let opened = unsafe clinux_datagram_connect(path, path.utf8.count)
    guard opened >= 0 else { throw refuse(RefclockSocket.failure(-opened), at: now) }
    descriptor = opened
    backoff.reset()
  }

  private func refuse(_ failure: Failure, at now: Instant) -> Failure {
    backoff.recordFailure(at: now)
    refusal = failure
    return failure
  }

  private func close() {
    Glibc.close(descriptor)
    descriptor = -1
  }

  /// Returns 0, or the error number.
  private func transmit(_ message: [UInt8]) -> Int32 {
    let count = unsafe message.withUnsafeBytes {
      unsafe Glibc.send(
        descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
    return count == message.count ? 0 : errno
  }

  private static func failure(_ code: Int32) -> Failure {
    switch code {
    case ENOENT, ENOTDIR: .missing
    case ECONNREFUSED, ENOTCONN, ECONNRESET: .abandoned
    case EACCES, EPERM: .forbidden
    case EAGAIN, ENOBUFS: .full
    case EINVAL, ENAMETOOLONG: .invalidPath
    default: .other(code)
    }
  }
}

extension RefclockSocket.Failure: CustomStringConvertible {
  /// The reason and what to do, in one line.
  public var description: String {
    switch self {
    case .missing:
      "the socket does not exist: name it in chrony's configuration with 'refclock SOCK', and restart chronyd"
    case .abandoned:
      "nobody reads the socket: chronyd does not run, or its configuration no longer names it"
    case .forbidden:
      "torpord may not write to the socket: the socket's group must be one of torpord's, with write permission"
    case .full: "chronyd does not read its samples: restart it"
    case .invalidPath:
      "the path is not absolute or longer than 107 bytes: choose another with --clock"
    case .other(let code): SystemError.reason(code)
    }
  }
}
