import LocationTypes

/// Times of the newest live fix, to compare UTC with a system clock. Made by ``Engine``, read by `LocationServer`.
public struct EpochTime: Equatable, Sendable {
  /// A pulse per second.
  public struct Pulse: Equatable, Sendable {
    /// Time of its edge.
    public let time: Instant
    /// The whole second that it marks.
    public let utc: UTCTime
  }

  /// Number of the fix since the start of the engine, from 1 on.
  public var number: UInt64
  /// UTC of the fix.
  public var utc: UTCTime
  /// Whether ``utc`` must not set a clock: the date was repaired, was not resolved by the receiver, or jumped (STD-13), or
  /// the fix is simulated or comes from dead reckoning.
  public var isDateUncertain = false
  /// Arrival of the first byte of its epoch; nil if unknown, because the bytes were buffered, or some were lost.
  public var arrival: Instant?
  /// The pulse per second at the whole second that is nearest to ``utc``; nil without one.
  public var pulse: Pulse?
  /// Change of leap seconds at the end of the present day, as announced by the receiver: +1, 0 or −1 s.
  public var leapChange: Int8 = 0
}
