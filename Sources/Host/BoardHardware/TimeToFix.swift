import LocationTypes

/// Time to first fix (TTFF) as a function of the time since the last fix.
public struct TimeToFix: Equatable, Sendable {
  /// One point of ``afterOff``.
  public struct Point: Equatable, Sendable {
    /// Time since the last fix.
    public var off: Interval
    /// Median time to the next fix.
    public var fix: Interval

    /// Creates a point.
    public init(off: Interval, fix: Interval) {
      self.off = off
      self.fix = fix
    }
  }

  /// Median time to first fix by time off, in ascending order; linear between two points, constant before the first
  /// and after the last one.
  ///
  /// Two points with the same time off form a step; at exactly that time the first point applies.
  public var afterOff: [Point]
  /// Median time to first fix of a cold start: without an ephemeris, or with one older than ``ephemerisLifetime``.
  public var coldStart: Interval
  /// Maximum age of a usable ephemeris.
  public var ephemerisLifetime: Interval
  /// Tracking time until the receiver has a new ephemeris.
  public var ephemerisDownload: Interval
  /// The 90th percentile as a multiple of the median, at least 1. The simulation applies it only if it samples times
  /// to first fix.
  public var p90Ratio: Double

  /// Creates a model; the defaults are those of the simulated receiver.
  public init(
    afterOff: [Point] = [
      Point(off: .zero, fix: .seconds(1)), Point(off: .seconds(60), fix: .seconds(3)),
      Point(off: .seconds(600), fix: .seconds(10)),
    ],
    coldStart: Interval = .seconds(29), ephemerisLifetime: Interval = .seconds(14_400),
    ephemerisDownload: Interval = .seconds(20), p90Ratio: Double = 2.7
  ) {
    self.afterOff = afterOff
    self.coldStart = coldStart
    self.ephemerisLifetime = ephemerisLifetime
    self.ephemerisDownload = ephemerisDownload
    self.p90Ratio = p90Ratio
  }

  /// Returns the median time to first fix, seconds.
  ///
  /// - Parameters:
  ///   - off: Time since the last fix; nil for none.
  ///   - ephemerisAge: Age of the ephemeris; nil for none.
  public func median_s(off: Interval?, ephemerisAge: Interval?) -> Double {
    guard let off, let ephemerisAge, ephemerisAge <= ephemerisLifetime,
      let first = afterOff.first, let last = afterOff.last
    else { return coldStart.seconds }
    if off <= first.off { return first.fix.seconds }
    for (a, b) in zip(afterOff, afterOff.dropFirst()) where off <= b.off {
      let fix_s = a.fix.seconds
      let width = b.off.seconds - a.off.seconds
      return width > 0
        ? fix_s + (b.fix.seconds - fix_s) * (off.seconds - a.off.seconds) / width : b.fix.seconds
    }
    return last.fix.seconds
  }
}
