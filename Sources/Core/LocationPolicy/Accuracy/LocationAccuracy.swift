// Settings of the standard service: accuracies, limits, and the two settings of a client.

/// Core Location's accuracy constants (STD-1), and the accuracy bound that ``Client`` derives from each of them.
public enum LocationAccuracy {
  /// Best accuracy, with data of other sensors (`kCLLocationAccuracyBestForNavigation`).
  public static let bestForNavigation = -2.0
  /// Best accuracy of the receiver (`kCLLocationAccuracyBest`).
  public static let best = -1.0
  /// Within ten metres.
  public static let nearestTenMeters = 10.0
  /// Within a hundred metres.
  public static let hundredMeters = 100.0
  /// Within a kilometre.
  public static let kilometer = 1000.0
  /// Within three kilometres.
  public static let threeKilometers = 3000.0

  /// Whether the accuracy is Best or BestForNavigation, which deferral requires (DEF-2).
  ///
  /// False for any number of metres, however small, and for NaN.
  @inlinable public static func isBest(_ accuracy: Double) -> Bool {
    accuracy == best || accuracy == bestForNavigation
  }
}

extension LocationAccuracy {
  /// Smallest accuracy, metres, for which the receiver may be off between fixes.
  ///
  /// For a smaller one the error of the fixes themselves is too large a part of the bound, so the receiver stays on.
  public static let leastBound = 20.0

  /// Greatest allowed distance between the last reported position and the true one, metres. Nil where the client needs
  /// every fix: for the best accuracies, for values below ``leastBound``, and for NaN.
  @inlinable public static func bound(of accuracy: Double) -> Double? {
    accuracy >= leastBound ? accuracy : nil
  }
}

/// Core Location's limits of distance and time (STD-1).
public enum LocationLimits {
  /// No distance filter (`kCLDistanceFilterNone`).
  public static let distanceFilterNone = -1.0
  /// `CLLocationDistanceMax`: an unlimited distance (DEF-22).
  public static let distanceMax = Double.greatestFiniteMagnitude
  /// `CLTimeIntervalMax`: an unlimited time, seconds (DEF-22).
  public static let timeIntervalMax = Double.greatestFiniteMagnitude
}

/// A client's settings of the standard location service; the defaults are Core Location's (STD-2).
public struct ClientSettings: Equatable, Sendable {
  /// Desired accuracy: metres, or a constant of ``LocationAccuracy``.
  public var desiredAccuracy = LocationAccuracy.best
  /// Metres between deliveries; ``LocationLimits/distanceFilterNone`` for every fix.
  public var distanceFilter = LocationLimits.distanceFilterNone

  /// Creates Core Location's defaults: best accuracy, no filter.
  public init() {}

  /// Whether a distance filter is set (DEF-3). A value of 0 m or less lets every fix pass, but only
  /// ``LocationLimits/distanceFilterNone`` counts as no filter.
  public var hasDistanceFilter: Bool { distanceFilter != LocationLimits.distanceFilterNone }
}
