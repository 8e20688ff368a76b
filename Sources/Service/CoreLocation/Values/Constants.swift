import Foundation

// Apple's constants, with Apple's values.

/// Best accuracy, with data of other sensors where a board has them. Allows deferred updates (DEF-2).
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// Best accuracy of the receiver; the default of a location manager (STD-2). Allows deferred updates (DEF-2).
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Within ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// Within a hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// Within a kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1_000
/// Within three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3_000
/// Accuracy of a program without authorization for full accuracy.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 6_380_000

/// No distance filter: every fix is delivered (STD-2).
public let kCLDistanceFilterNone: CLLocationDistance = -1
/// No heading filter: every change of the heading is delivered.
public let kCLHeadingFilterNone: CLLocationDegrees = -1
/// An unlimited distance, for deferred updates (DEF-22).
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude
/// An unlimited time, for deferred updates (DEF-22).
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// A coordinate that is not valid (LOC-10).
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Domain of ``CLError``.
public let kCLErrorDomain = "kCLErrorDomain"
/// Key of the `userInfo` of a ``CLError`` for a region that can be monitored instead.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"
