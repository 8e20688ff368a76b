import Foundation

/// Latitude or longitude, degrees on the WGS 84 ellipsoid.
public typealias CLLocationDegrees = Double
/// Accuracy of a position, metres; negative if the position is invalid.
public typealias CLLocationAccuracy = Double
/// Speed over ground, m/s; negative if invalid.
public typealias CLLocationSpeed = Double
/// Accuracy of a speed, m/s; negative if the speed is invalid.
public typealias CLLocationSpeedAccuracy = Double
/// Direction, degrees clockwise from true north, 0 ≤ direction < 360; negative if invalid.
public typealias CLLocationDirection = Double
/// Accuracy of a direction, degrees; negative if the direction is invalid.
public typealias CLLocationDirectionAccuracy = Double
/// Distance, metres.
public typealias CLLocationDistance = Double
/// Component of a geomagnetic field, microtesla.
public typealias CLHeadingComponentValue = Double
/// Most significant part of a beacon's identity.
public typealias CLBeaconMajorValue = UInt16
/// Least significant part of a beacon's identity.
public typealias CLBeaconMinorValue = UInt16
/// Receives the result of a request to a ``CLGeocoder``: placemarks or an error, never both.
public typealias CLGeocodeCompletionHandler = ([CLPlacemark]?, (any Error)?) -> Void
