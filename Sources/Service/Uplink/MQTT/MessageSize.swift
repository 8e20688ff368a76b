import LocationTypes
import UplinkPayload

/// How many fixes a message to a broker may have.
///
/// # Problem
///
/// A broker may refuse large messages. With MQTT 5 it gives that reason; with MQTT 3.1.1 it ends the connection, or drops
/// the message, which also happens for other reasons. The number of fixes must then become smaller until the messages are
/// accepted, but one lost connection must not make it small for long.
///
/// # Invariants
///
/// - 1 ≤ ``limit`` ≤ ``largest`` ≤ ``UplinkLimits/fixes``.
/// - A refusal halves both; a loss without reason halves the limit only, until a smaller message on a new connection has
///   shown that the size was the reason. Each confirmed message doubles the limit, up to ``largest``.
struct MessageSize: Equatable {
  /// Largest number of fixes of the next message.
  private(set) var limit = PendingFixes.limit
  /// Number of fixes that messages can have, as far as is known.
  private(set) var largest = PendingFixes.limit
  /// Number of fixes of the message with which the last connection of this upload was lost; nil for none.
  private var lost: Int?

  /// The broker refused a message because of its size. Returns whether a smaller one is possible.
  mutating func refuse(_ count: Int) -> Bool {
    guard count > 1 else { return false }
    largest = min(largest, count / 2)
    limit = min(limit, largest)
    lost = nil
    return true
  }

  /// The connection was lost while a message was published. Returns whether a smaller one is possible.
  mutating func lose(_ count: Int) -> Bool {
    guard count > 1 else { return false }
    limit = min(limit, count / 2)
    lost = count
    return true
  }

  /// A message was not confirmed: a broker with MQTT 3.1.1 may have dropped it because of its size.
  mutating func miss(_ count: Int) { limit = max(1, min(limit, count / 2)) }

  /// A message was confirmed.
  mutating func confirm(_ count: Int) {
    if let lost, count < lost { largest = max(1, min(largest, lost / 2)) }
    lost = nil
    limit = min(largest, limit * 2)
  }

  /// An upload begins.
  mutating func begin() { lost = nil }
}

/// What the program remembers of a broker between uploads, at most for ``lifetime``, because the broker may be changed.
struct BrokerMemory {
  /// Longest time for which it is remembered.
  static let lifetime = Interval.seconds(86_400)

  /// Whether the broker does not support MQTT 5, so that an upload needs one connection.
  private(set) var isOld = false
  /// Whether an address of the host did not answer, and one of IPv4 did.
  private(set) var usesIPv4 = false
  /// How many fixes a message may have.
  var size = MessageSize()
  /// Whether the smaller size was logged.
  private(set) var hasLoggedSize = false
  private var start: Instant?

  /// An upload begins at `now`.
  mutating func begin(at now: Instant) {
    if let start, now - start >= BrokerMemory.lifetime { self = BrokerMemory() }
    if start == nil { start = now }
    size.begin()
  }

  /// A connection with MQTT 3.1.1 works, after one with MQTT 5 was refused; or it does not work any more.
  mutating func setOld(_ isOld: Bool) { self.isOld = isOld }

  /// The connection uses IPv4, because other addresses did not answer; or IPv4 does not answer either.
  mutating func setIPv4(_ usesIPv4: Bool) { self.usesIPv4 = usesIPv4 }

  /// Returns whether the smaller size must be logged: once.
  mutating func mustLogSize() -> Bool {
    defer { hasLoggedSize = true }
    return !hasLoggedSize
  }
}
