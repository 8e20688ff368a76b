/// A length of time, in whole microseconds.
///
/// Range ±292,000 years; arithmetic that leaves it traps, ``init(seconds:)`` clamps.
@frozen public struct Interval: Hashable, Comparable, Sendable {
  /// The length in microseconds.
  public var microseconds: Int64

  /// No time at all.
  @inlinable public static var zero: Interval { Interval(microseconds: 0) }
  /// Longer than any board lives; stands for "never" where one must be written.
  @inlinable public static var unlimited: Interval { Interval(microseconds: Int64.max / 4) }

  /// Creates an interval of that many microseconds.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Creates an interval from seconds, rounded to the nearest microsecond.
  ///
  /// Never traps (DEF-22): not a number gives zero, what is out of range gives ±``unlimited``.
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

  /// The length in seconds.
  @inlinable public var seconds: Double { Double(microseconds) / 1e6 }

  /// Whether `a` comes before `b`.
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
  /// `a` taken `b` times.
  @inlinable public static func * (a: Interval, b: Int64) -> Interval {
    Interval(microseconds: a.microseconds * b)
  }
  /// A part of so many equal ones, rounded towards zero.
  @inlinable public static func / (a: Interval, b: Int64) -> Interval {
    Interval(microseconds: a.microseconds / b)
  }
}

/// A moment on the board's boot clock, which counts sleep and takes no steps (DEF-17).
///
/// Microseconds since boot (`CLOCK_BOOTTIME`); in simulation, since the start of the run. Two
/// instants compare only within one boot of the board.
@frozen public struct Instant: Hashable, Comparable, Sendable {
  /// Microseconds since boot.
  public var microseconds: Int64

  /// The moment of boot.
  @inlinable public static var boot: Instant { Instant(microseconds: 0) }
  /// Later than every moment that will come; stands for "never".
  @inlinable public static var distantFuture: Instant { Instant(microseconds: Int64.max / 2) }

  /// Creates the moment that many microseconds after boot.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Creates the moment that many seconds after boot; clamps as ``Interval/init(seconds:)``.
  @inlinable public init(seconds: Double) {
    microseconds = Interval(seconds: seconds).microseconds
  }

  /// Seconds since boot.
  @inlinable public var seconds: Double { Double(microseconds) / 1e6 }

  /// Whether `a` comes before `b`.
  @inlinable public static func < (a: Instant, b: Instant) -> Bool {
    a.microseconds < b.microseconds
  }
  /// The moment `b` after `a`, at most ``distantFuture``.
  @inlinable public static func + (a: Instant, b: Interval) -> Instant {
    let (sum, over) = a.microseconds.addingReportingOverflow(b.microseconds)
    if over { return b.microseconds > 0 ? distantFuture : Instant(microseconds: Int64.min / 2) }
    return Instant(microseconds: Swift.min(sum, distantFuture.microseconds))
  }
  /// The difference.
  @inlinable public static func - (a: Instant, b: Interval) -> Instant {
    a + Interval(microseconds: -b.microseconds)
  }
  /// The time from `b` to `a`; negative when `a` is earlier.
  @inlinable public static func - (a: Instant, b: Instant) -> Interval {
    Interval(microseconds: a.microseconds - b.microseconds)
  }
}
