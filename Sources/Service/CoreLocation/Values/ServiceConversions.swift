import CLinux
import Foundation
import LocationPolicy
import LocationTypes

// Conversions of the service's values to Core Location's.

extension CLLocation {
  /// Converts a fix; unknown values become 0 or −1 as in contract section LOC.
  convenience init(_ fix: StoredFix) { self.init(LocationValues(fix.fix)) }
}

extension LocationValues {
  /// Horizontal accuracy of a fix that reports none, metres: the service's own assumption. A negative value would
  /// declare the coordinate invalid (LOC-1), which that of a fix never is.
  private static let assumedAccuracy: CLLocationAccuracy = 10

  /// Converts a fix; unknown values become 0 or −1 as in contract section LOC.
  init(_ fix: Fix) {
    coordinate = CLLocationCoordinate2D(fix.coordinate)
    altitude = fix.altitude_mm.map { Double($0) / 1e3 } ?? 0
    ellipsoidalAltitude = fix.ellipsoidalAltitude_mm.map { Double($0) / 1e3 } ?? 0
    horizontalAccuracy = fix.horizontalAccuracy ?? LocationValues.assumedAccuracy
    verticalAccuracy = fix.verticalAccuracy_mm.map { Double($0) / 1e3 } ?? -1
    course = fix.course ?? -1
    courseAccuracy = fix.courseAccuracy_e2.map { Double($0) / 1e2 } ?? -1
    speed = fix.speed ?? -1
    speedAccuracy = fix.speedAccuracy_mmps.map { Double($0) / 1e3 } ?? -1
    timestamp = Date(FixTime(acquired: fix.acquired, utc: fix.utc))
    source = CLLocationSourceInformation(
      softwareSimulationState: fix.isSimulated, andExternalAccessoryState: fix.isFromAccessory)
  }
}

extension CLVisit {
  /// Converts a visit (VIS-4).
  convenience init(_ visit: Visit) {
    self.init(
      arrivalDate: visit.arrival.map { Date($0) } ?? .distantPast,
      departureDate: visit.departure.map { Date($0) } ?? .distantFuture,
      coordinate: CLLocationCoordinate2D(visit.coordinate),
      horizontalAccuracy: visit.horizontalAccuracy)
  }
}

extension Date {
  /// Converts a time: UTC, or if the service did not know it, the system's clock at that time after boot (STD-13).
  init(_ time: FixTime) {
    if let utc = time.utc {
      self.init(timeIntervalSince1970: utc.seconds)
    } else {
      self.init(timeIntervalSinceNow: -(Instant.now - time.acquired).seconds)
    }
  }
}

extension Instant {
  /// The current time on the boot clock.
  static var now: Instant { Instant(microseconds: clinux_boot_us()) }
}
