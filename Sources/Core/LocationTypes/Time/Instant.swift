/// A duration in whole microseconds, the difference of two ``Instant``s or ``UTCTime``s.
///
/// Range ±292,000 years. Arithmetic that overflows traps; ``init(seconds:)`` clamps.
@frozen public struct Interval: Hashable, Comparable, Sendable {
  /// Duration in microseconds.
  public var microseconds: Int64

  /// The duration 0.
  @inlinable public static var zero: Interval { Interval(microseconds: 0) }
  /// A duration of 73,000 years, which stands for "unlimited".
  @inlinable public static var unlimited: Interval { Interval(microseconds: Int64.max / 4) }

  /// Creates an interval from microseconds.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Creates an interval from seconds, rounded to the nearest microsecond.
  ///
  /// Never traps (DEF-22): NaN yields zero, and values out of range yield ±``unlimited``.
  @inlinable public init(seconds: Double) {
    let limit = Double(Interval.unlimited.microseconds)
    let scaled = (seconds * 1e6).rounded()
    if scaled.isNaN {
      microseconds = 0
    } else if scaled >= limit {
      microseconds = Interval.unlimited.microseconds
    } else if scaled <= -limit {
      microseconds = -Interval.unlimited.microseconds
    } else {
      microseconds = Int64(scaled)
    }
  }

  /// Creates an interval of whole seconds.
  @inlinable public static func seconds(_ count: Int64) -> Interval {
    Interval(microseconds: count * 1_000_000)
  }

  /// Creates an interval of whole milliseconds.
  @inlinable public static func milliseconds(_ count: Int64) -> Interval {
    Interval(microseconds: count * 1_000)
  }

  /// Duration in seconds.
  @inlinable public var seconds: Double { Double(microseconds) / 1e6 }

  /// Whether `a` is shorter than `b`.
  @inlinable public static func < (a: Interval, b: Interval) -> Bool {
    a.microseconds < b.microseconds
  }
  /// The sum.
  @inlinable public static func + (a: Interval, b: Interval) -> Interval {
    Interval(microseconds: a.microseconds + b.microseconds)
  }
  /// The difference.
  @inlinable public static func - (a: Interval, b: Interval) -> Interval {
    Interval(microseconds: a.microseconds - b.microseconds)
  }
  /// The product of a duration and a number.
  @inlinable public static func * (a: Interval, b: Int64) -> Interval {
    Interval(microseconds: a.microseconds * b)
  }
  /// The quotient of a duration and a number, rounded towards zero.
  @inlinable public static func / (a: Interval, b: Int64) -> Interval {
    Interval(microseconds: a.microseconds / b)
  }
}

/// A point in time on the board's boot clock, which includes suspended time and never steps (DEF-17).
///
/// Microseconds since boot (`CLOCK_BOOTTIME`); in simulation, since the start of the run. Two instants are
/// comparable only within one boot of the board.
@frozen public struct Instant: Hashable, Comparable, Sendable {
  /// Microseconds since boot.
  public var microseconds: Int64

  /// Time of boot.
  @inlinable public static var boot: Instant { Instant(microseconds: 0) }
  /// A time later than every reachable time, 146,000 years after boot; stands for "never".
  @inlinable public static var distantFuture: Instant { Instant(microseconds: Int64.max / 2) }

  /// Creates an instant from microseconds since boot.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Creates an instant from seconds since boot; clamps as ``Interval/init(seconds:)``.
  @inlinable public init(seconds: Double) {
    microseconds = Interval(seconds: seconds).microseconds
  }

  /// Seconds since boot.
  @inlinable public var seconds: Double { Double(microseconds) / 1e6 }

  /// Whether `a` is earlier than `b`.
  @inlinable public static func < (a: Instant, b: Instant) -> Bool {
    a.microseconds < b.microseconds
  }
  /// The instant `b` after `a`, at most ``distantFuture``; never traps.
  @inlinable public static func + (a: Instant, b: Interval) -> Instant {
    let (sum, over) = a.microseconds.addingReportingOverflow(b.microseconds)
    if over { return b.microseconds > 0 ? distantFuture : Instant(microseconds: Int64.min / 2) }
    return Instant(microseconds: Swift.min(sum, distantFuture.microseconds))
  }
  /// The instant `b` before `a`, at most ``distantFuture``.
  @inlinable public static func - (a: Instant, b: Interval) -> Instant {
    a + Interval(microseconds: -b.microseconds)
  }
  /// The duration from `b` to `a`; negative if `a` is earlier.
  @inlinable public static func - (a: Instant, b: Instant) -> Interval {
    Interval(microseconds: a.microseconds - b.microseconds)
  }
}
