/// Core Location's constants of accuracy and distance (STD-1), and what they mean to the policy.
public enum LocationAccuracy {
  /// The best there is, with other sensors' help.
  public static let bestForNavigation = -2.0
  /// The best the receiver has.
  public static let best = -1.0
  /// Within ten metres.
  public static let nearestTenMeters = 10.0
  /// Within a hundred metres.
  public static let hundredMeters = 100.0
  /// Within a kilometre.
  public static let kilometer = 1000.0
  /// Within three kilometres.
  public static let threeKilometers = 3000.0

  /// Whether every fix is wanted with the receiver's full accuracy: what deferral asks (DEF-2).
  ///
  /// A number of metres never is, however small; nor is not a number.
  @inlinable public static func isBest(_ accuracy: Double) -> Bool {
    accuracy == best || accuracy == bestForNavigation
  }
}

extension LocationAccuracy {
  /// The least accuracy, metres, for which the receiver may rest between fixes.
  ///
  /// Nearer than this the errors of the fixes themselves are too large a part of the promise, and a
  /// receiver that stays on is the best that can be had.
  public static let leastBound = 20.0

  /// How far the last reported position may be from the true one, metres; nil where every fix that
  /// the receiver makes is wanted: the best accuracies, and what is finer than ``leastBound``.
  @inlinable public static func bound(of accuracy: Double) -> Double? {
    accuracy >= leastBound ? accuracy : nil
  }
}

/// Core Location's limits of distance and time (STD-1).
public enum LocationLimits {
  /// No distance filter.
  public static let distanceFilterNone = -1.0
  /// `CLLocationDistanceMax`: an unlimited distance (DEF-22).
  public static let distanceMax = Double.greatestFiniteMagnitude
  /// `CLTimeIntervalMax`: an unlimited time, seconds (DEF-22).
  public static let timeIntervalMax = Double.greatestFiniteMagnitude
}

/// What a client asked of the standard service; the defaults are Core Location's (STD-2).
public struct ClientSettings: Equatable, Sendable {
  /// Metres, or one of the constants of ``LocationAccuracy``.
  public var desiredAccuracy = LocationAccuracy.best
  /// Metres between deliveries; ``LocationLimits/distanceFilterNone`` for every fix.
  public var distanceFilter = LocationLimits.distanceFilterNone

  /// Core Location's defaults: best accuracy, no filter.
  public init() {}

  /// Whether fixes are filtered by distance (DEF-3). A filter of 0 m or less, or that is not a
  /// number, lets every fix pass, but only ``LocationLimits/distanceFilterNone`` means none.
  public var hasDistanceFilter: Bool { distanceFilter != LocationLimits.distanceFilterNone }
}
