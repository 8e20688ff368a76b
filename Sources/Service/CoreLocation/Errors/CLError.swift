import Foundation
import LocationTypes

/// An error of Core Location.
///
/// Every error that this module hands out has this type. Source: Apple's documentation of `CLError`.
public struct CLError: _BridgedStoredNSError {
  /// The error as an `NSError`.
  public let _nsError: NSError

  /// Wraps an error, and describes it if it has no description.
  ///
  /// - Precondition: Its domain is ``kCLErrorDomain``.
  public init(_nsError error: NSError) {
    precondition(error.domain == kCLErrorDomain, "the error must have Core Location's domain")
    guard error.userInfo[NSLocalizedDescriptionKey] == nil, let code = Code(rawValue: error.code)
    else {
      _nsError = error
      return
    }
    var userInfo = error.userInfo
    userInfo[NSLocalizedDescriptionKey] = code.text
    _nsError = NSError(domain: error.domain, code: error.code, userInfo: userInfo)
  }

  /// Core Location's domain.
  public static var _nsErrorDomain: String { kCLErrorDomain }

  /// Hashes the code: errors that differ only in their user info have the same hash.
  public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

  /// Hash of the code. Foundation's own implementation for errors of this kind stops the program.
  public var hashValue: Int {
    var hasher = Hasher()
    hash(into: &hasher)
    return hasher.finalize()
  }

  /// Error codes, with Apple's raw values.
  @nonexhaustive(warn) public enum Code: Int, _ErrorCodeProtocol, Sendable {
    /// The error of the codes.
    public typealias _ErrorType = CLError

    /// The location is unknown at present; the service keeps trying (STD-10).
    case locationUnknown = 0
    /// The program may not use location (AUT-10).
    case denied = 1
    /// No network; every request to a ``CLGeocoder`` ends with it.
    case network = 2
    /// The heading cannot be determined.
    case headingFailure = 3
    /// The program may not monitor regions (AUT-10).
    case regionMonitoringDenied = 4
    /// A region cannot be monitored (REG-2, REG-3).
    case regionMonitoringFailure = 5
    /// The monitoring of a region starts later.
    case regionMonitoringSetupDelayed = 6
    /// Events of a region may be late.
    case regionMonitoringResponseDelayed = 7
    /// A geocoding request has no result.
    case geocodeFoundNoResult = 8
    /// A geocoding request has only a partial result.
    case geocodeFoundPartialResult = 9
    /// A geocoding request was cancelled.
    case geocodeCanceled = 10
    /// The receiver is missing, unusable or has failed (DEF-1, DEF-43).
    case deferredFailed = 11
    /// Location updates are stopped or paused (DEF-4).
    case deferredNotUpdatingLocation = 12
    /// The desired accuracy is neither Best nor BestForNavigation (DEF-2).
    case deferredAccuracyTooLow = 13
    /// A distance filter is set (DEF-3).
    case deferredDistanceFiltered = 14
    /// A request of the program ended the deferral (DEF-13, DEF-15, DEF-37).
    case deferredCanceled = 15
    /// Beacons cannot be ranged (REG-14).
    case rangingUnavailable = 16
    /// Ranging failed.
    case rangingFailure = 17
    /// The user declined a prompt.
    case promptDeclined = 18
    /// A location of the past cannot be determined.
    case historicalLocationError = 19
  }
}

extension CLError {
  /// A region that can be monitored instead of the one that failed.
  public var alternateRegion: CLRegion? {
    userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion
  }

  /// Converts from the socket's code.
  init(_ code: LocationErrorCode) {
    // Both enumerations have Apple's raw values; a test compares them.
    self.init(Code(rawValue: code.rawValue) ?? .locationUnknown)
  }
}

extension CLError {
  /// ``Code/locationUnknown``
  public static var locationUnknown: Code { .locationUnknown }
  /// ``Code/denied``
  public static var denied: Code { .denied }
  /// ``Code/network``
  public static var network: Code { .network }
  /// ``Code/headingFailure``
  public static var headingFailure: Code { .headingFailure }
  /// ``Code/regionMonitoringDenied``
  public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
  /// ``Code/regionMonitoringFailure``
  public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
  /// ``Code/regionMonitoringSetupDelayed``
  public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
  /// ``Code/regionMonitoringResponseDelayed``
  public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
  /// ``Code/geocodeFoundNoResult``
  public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
  /// ``Code/geocodeFoundPartialResult``
  public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
  /// ``Code/geocodeCanceled``
  public static var geocodeCanceled: Code { .geocodeCanceled }
  /// ``Code/deferredFailed``
  public static var deferredFailed: Code { .deferredFailed }
  /// ``Code/deferredNotUpdatingLocation``
  public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
  /// ``Code/deferredAccuracyTooLow``
  public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
  /// ``Code/deferredDistanceFiltered``
  public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
  /// ``Code/deferredCanceled``
  public static var deferredCanceled: Code { .deferredCanceled }
  /// ``Code/rangingUnavailable``
  public static var rangingUnavailable: Code { .rangingUnavailable }
  /// ``Code/rangingFailure``
  public static var rangingFailure: Code { .rangingFailure }
  /// ``Code/promptDeclined``
  public static var promptDeclined: Code { .promptDeclined }
  /// ``Code/historicalLocationError``
  public static var historicalLocationError: Code { .historicalLocationError }
}

extension Error {
  /// Code of the error if it is a ``CLError``; else nil.
  ///
  /// Apple's listings for visits and significant change compare `error.code` without a conversion. A property of this
  /// name in the program has priority.
  @_disfavoredOverload public var code: CLError.Code? { (self as? CLError)?.code }
}
