import CoreLocation
import CoreLocation.CLLocation
import CoreLocation.CLLocationManager
import CoreLocation.CLVisit
import Testing

import class CoreLocation.CLRegion
import func CoreLocation.CLLocationCoordinate2DMake
import struct CoreLocation.CLLocationCoordinate2D

// Every public symbol of the values, used as Apple documents it. CoreLocationAPITests compiles this file in Swift 6
// mode, CoreLocationAPISwift5Tests a copy in Swift 5 mode. It does not import Foundation: Core Location exports it.

// Packages declare these conformances themselves (with `@retroactive`, which is for other packages than this one).
extension CLLocationCoordinate2D: Equatable {
  /// Compares latitude and longitude.
  public static func == (a: CLLocationCoordinate2D, b: CLLocationCoordinate2D) -> Bool {
    a.latitude == b.latitude && a.longitude == b.longitude
  }
}

extension CLLocationCoordinate2D: Hashable {
  /// Hashes latitude and longitude.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(latitude)
    hasher.combine(longitude)
  }
}

extension CLLocationCoordinate2D: Codable {
  enum CodingKeys: CodingKey {
    case latitude, longitude
  }
  /// Decodes latitude and longitude.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      latitude: try values.decode(Double.self, forKey: .latitude),
      longitude: try values.decode(Double.self, forKey: .longitude))
  }
  /// Encodes latitude and longitude.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(latitude, forKey: .latitude)
    try values.encode(longitude, forKey: .longitude)
  }
}

extension CLAuthorizationStatus: CustomStringConvertible {
  /// The program's own description.
  public var description: String {
    switch self {
    case .notDetermined: "not determined"
    case .restricted: "restricted"
    case .denied: "denied"
    case .authorizedAlways: "always"
    case .authorizedWhenInUse: "when in use"
    @unknown default: "unknown"
    }
  }
}

extension CLActivityType: CustomStringConvertible {
  /// The program's own description.
  public var description: String { "activity \(rawValue)" }
}

extension CLProximity: CustomStringConvertible {
  /// The program's own description.
  public var description: String { "proximity \(rawValue)" }
}

extension CLRegionState: CustomStringConvertible {
  /// The program's own description.
  public var description: String { "state \(rawValue)" }
}

extension CLError.Code: CustomStringConvertible {
  /// The program's own description.
  public var description: String { "code \(rawValue)" }
}

/// Subclasses, as programs declare them for their tests.
private class FixedLocation: CLLocation, @unchecked Sendable {
  override var coordinate: CLLocationCoordinate2D { kCLLocationCoordinate2DInvalid }
  override var altitude: CLLocationDistance { 1 }
  override var ellipsoidalAltitude: CLLocationDistance { 2 }
  override var horizontalAccuracy: CLLocationAccuracy { 3 }
  override var verticalAccuracy: CLLocationAccuracy { 4 }
  override var course: CLLocationDirection { 5 }
  override var courseAccuracy: CLLocationDirectionAccuracy { 6 }
  override var speed: CLLocationSpeed { 7 }
  override var speedAccuracy: CLLocationSpeedAccuracy { 8 }
  override var timestamp: Date { .distantPast }
  override var floor: CLFloor? { FixedFloor() }
  override var sourceInformation: CLLocationSourceInformation? { nil }
  override func distance(from location: CLLocation) -> CLLocationDistance { 9 }
}

private class FixedFloor: CLFloor, @unchecked Sendable {
  override var level: Int { 2 }
}

private class FixedVisit: CLVisit, @unchecked Sendable {
  override var arrivalDate: Date { .distantPast }
  override var departureDate: Date { .distantFuture }
  override var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D() }
  override var horizontalAccuracy: CLLocationAccuracy { 1 }
}

private class FixedHeading: CLHeading, @unchecked Sendable {
  override var magneticHeading: CLLocationDirection { 1 }
  override var trueHeading: CLLocationDirection { 2 }
  override var headingAccuracy: CLLocationDirection { 3 }
  override var x: CLHeadingComponentValue { 4 }
  override var y: CLHeadingComponentValue { 5 }
  override var z: CLHeadingComponentValue { 6 }
  override var timestamp: Date { .distantPast }
}

private class FixedBeacon: CLBeacon {
  override var uuid: UUID { UUID() }
  override var major: NSNumber { 1 }
  override var minor: NSNumber { 2 }
  override var proximity: CLProximity { .near }
  override var accuracy: CLLocationAccuracy { 3 }
  override var rssi: Int { -60 }
  override var timestamp: Date { .distantPast }
}

private class FixedPlacemark: CLPlacemark, @unchecked Sendable {
  override var location: CLLocation? { CLLocation(latitude: 1, longitude: 2) }
  override var name: String? { "Brandenburg Gate" }
  override var locality: String? { "Berlin" }
}

private class FixedGeocoder: CLGeocoder {
  override var isGeocoding: Bool { true }
  override func reverseGeocodeLocation(
    _ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    completionHandler([FixedPlacemark()], nil)
  }
  override func reverseGeocodeLocation(_ location: CLLocation) async throws -> [CLPlacemark] {
    [FixedPlacemark()]
  }
  override func cancelGeocode() {}
}

private func requireSendable<T: Sendable>(_ type: T.Type) {}

@Suite("Core Location's values as Apple documents them")
struct ValueUses {
  @Test("coordinates")
  func coordinates() {
    var coordinate = CLLocationCoordinate2D()
    coordinate.latitude = 52.5163
    coordinate.longitude = 13.3777 as CLLocationDegrees
    #expect(coordinate == CLLocationCoordinate2DMake(52.5163, 13.3777))
    #expect(coordinate == CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777))
    #expect(CLLocationCoordinate2DIsValid(coordinate))
    #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
    #expect(Set([coordinate, coordinate]).count == 1)
  }

  @Test("constants have Apple's values")
  func constants() {
    #expect(kCLLocationAccuracyBestForNavigation == -2)
    #expect(kCLLocationAccuracyBest == -1)
    #expect(kCLLocationAccuracyNearestTenMeters == 10)
    #expect(kCLLocationAccuracyHundredMeters == 100)
    #expect(kCLLocationAccuracyKilometer == 1_000)
    #expect(kCLLocationAccuracyThreeKilometers == 3_000)
    #expect(kCLLocationAccuracyReduced == 6_380_000)
    #expect(kCLDistanceFilterNone == -1)
    #expect(kCLHeadingFilterNone == -1)
    #expect(CLLocationDistanceMax == .greatestFiniteMagnitude)
    #expect(CLTimeIntervalMax == .greatestFiniteMagnitude)
    #expect(kCLErrorDomain == "kCLErrorDomain")
    #expect(kCLErrorUserInfoAlternateRegionKey == "kCLErrorUserInfoAlternateRegionKey")
  }

  @Test("enumerations have Apple's raw values")
  func enumerations() {
    let statuses: [CLAuthorizationStatus] = [
      .notDetermined, .restricted, .denied, .authorizedAlways, .authorizedWhenInUse,
    ]
    #expect(statuses.map(\.rawValue) == [0, 1, 2, 3, 4] as [Int32])
    #expect(CLAuthorizationStatus.authorized == .authorizedAlways)
    #expect(statuses.map(\.description).last == "when in use")
    let accuracies: [CLAccuracyAuthorization] = [.fullAccuracy, .reducedAccuracy]
    #expect(accuracies.map(\.rawValue) == [0, 1])
    let activities: [CLActivityType] = [
      .other, .automotiveNavigation, .fitness, .otherNavigation, .airborne,
    ]
    #expect(activities.map(\.rawValue) == [1, 2, 3, 4, 5])
    let orientations: [CLDeviceOrientation] = [
      .unknown, .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight, .faceUp,
      .faceDown,
    ]
    #expect(orientations.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6] as [Int32])
    let states: [CLRegionState] = [.unknown, .inside, .outside]
    #expect(states.map(\.rawValue) == [0, 1, 2])
    let proximities: [CLProximity] = [.unknown, .immediate, .near, .far]
    #expect(proximities.map(\.rawValue) == [0, 1, 2, 3])
  }

  @Test("locations")
  func locations() {
    let location = CLLocation(latitude: 52.5163, longitude: 13.3777)
    let source = CLLocationSourceInformation(
      softwareSimulationState: false, andExternalAccessoryState: true)
    let other = CLLocation(
      coordinate: location.coordinate, altitude: location.altitude,
      horizontalAccuracy: location.horizontalAccuracy,
      verticalAccuracy: location.verticalAccuracy, course: location.course,
      courseAccuracy: location.courseAccuracy, speed: location.speed,
      speedAccuracy: location.speedAccuracy, timestamp: location.timestamp, sourceInfo: source)
    let distance: CLLocationDistance = location.distance(from: other)
    #expect(distance == 0)
    #expect(location.timestamp.timeIntervalSinceNow < 1)
    #expect(location.floor?.level == nil)
    #expect(location.ellipsoidalAltitude == 0)
    #expect(other.sourceInformation?.isProducedByAccessory == true)
    #expect(other.sourceInformation?.isSimulatedBySoftware == false)
    #expect(CLFloor().level == 0)

    let replaced: CLLocation = FixedLocation(latitude: 1, longitude: 2)
    #expect(replaced.distance(from: location) == 9)
    #expect(replaced.floor?.level == 2)
  }

  @Test("visits")
  func visits() {
    let visit: CLVisit = FixedVisit()
    #expect(visit.arrivalDate == .distantPast && visit.departureDate == .distantFuture)
    #expect(visit.coordinate == CLLocationCoordinate2D() && visit.horizontalAccuracy == 1)
  }

  @Test("regions")
  func regions() {
    let region = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777), radius: 150,
      identifier: "gate")
    region.notifyOnEntry = true
    region.notifyOnExit = false
    #expect(region.contains(region.center) && region.radius == 150)
    let regions: Set<CLRegion> = [region]
    for case let circle as CLCircularRegion in regions { #expect(circle.identifier == "gate") }
  }

  @Test("headings")
  func headings() {
    let heading: CLHeading = FixedHeading()
    let direction = heading.headingAccuracy < 0 ? heading.magneticHeading : heading.trueHeading
    #expect(direction == 2)
    #expect(heading.x + heading.y + heading.z == 15 && heading.timestamp == .distantPast)
    #expect(CLHeading().headingAccuracy < 0)
  }

  @Test("REG-14: beacons and their regions")
  func beacons() {
    let uuid = UUID()
    let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 2)
    #expect(constraint.uuid == uuid && constraint.major == 1 && constraint.minor == 2)
    #expect(CLBeaconIdentityConstraint(uuid: uuid).major == nil)
    #expect(CLBeaconIdentityConstraint(uuid: uuid, major: 3).minor == nil)
    let base: CLBeaconIdentityCondition = constraint
    #expect(base.minor == 2)
    let region = CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: "desk")
    region.notifyEntryStateOnDisplay = true
    #expect(region.beaconIdentityConstraint == constraint)
    #expect(region.uuid == uuid && region.major == 1 && region.minor?.intValue == 2)
    #expect(CLBeaconRegion(uuid: uuid, identifier: "a").major == nil)
    #expect(CLBeaconRegion(uuid: uuid, major: 1, identifier: "a").minor == nil)
    #expect(CLBeaconRegion(uuid: uuid, major: 1, minor: 2, identifier: "a").minor == 2)
    #expect(region.peripheralData(withMeasuredPower: nil).count == 0)
    let beacon: CLBeacon = FixedBeacon()
    #expect(beacon.proximity == .near && beacon.rssi == -60 && beacon.accuracy == 3)
    #expect(beacon.major == 1 && beacon.minor == 2 && beacon.timestamp == .distantPast)
  }

  @Test("errors")
  func errors() {
    // As in Apple's "Using the Significant-Change Location Service".
    let error: any Error = CLError(.denied)
    var isDenied = false
    if let error = error as? CLError, error.code == .denied { isDenied = true }
    #expect(isDenied)
    do {
      throw CLError(CLError.Code.geocodeCanceled)
    } catch CLError.geocodeCanceled {
    } catch {
      Issue.record("the code was not selected")
    }
    let codes: [CLError.Code] = [
      CLError.locationUnknown, CLError.denied, CLError.network, CLError.headingFailure,
      CLError.regionMonitoringDenied, CLError.regionMonitoringFailure,
      CLError.regionMonitoringSetupDelayed, CLError.regionMonitoringResponseDelayed,
      CLError.geocodeFoundNoResult, CLError.geocodeFoundPartialResult, CLError.geocodeCanceled,
      CLError.deferredFailed, CLError.deferredNotUpdatingLocation,
      CLError.deferredAccuracyTooLow, CLError.deferredDistanceFiltered, CLError.deferredCanceled,
      CLError.rangingUnavailable, CLError.rangingFailure, CLError.promptDeclined,
      CLError.historicalLocationError,
    ]
    #expect(codes.map(\.rawValue) == Array(0...19))
    let regionError = CLError(.regionMonitoringFailure, userInfo: [:])
    #expect(regionError.alternateRegion == nil && regionError.errorCode == 5)
    #expect(CLError.errorDomain == kCLErrorDomain)
    #expect(!regionError.localizedDescription.isEmpty)
  }

  @Test("placemarks")
  func placemarks() {
    let placemark: CLPlacemark = FixedPlacemark()
    #expect(placemark.location?.coordinate.latitude == 1 && placemark.name == "Brandenburg Gate")
    let values: [String?] = [
      placemark.thoroughfare, placemark.subThoroughfare, placemark.subLocality,
      placemark.administrativeArea, placemark.subAdministrativeArea, placemark.postalCode,
      placemark.isoCountryCode, placemark.country, placemark.inlandWater, placemark.ocean,
    ]
    #expect(values.allSatisfy { $0 == nil })
    #expect(placemark.areasOfInterest == nil && placemark.timeZone == nil)
    #expect(placemark.region == nil)
    #expect(CLPlacemark(placemark: placemark).location?.coordinate.longitude == 2)
  }

  @Test("a geocoder's requests end with the error of a missing network")
  func geocoding() async {
    let geocoder = CLGeocoder()
    let location = CLLocation(latitude: 52.5163, longitude: 13.3777)
    let region = CLCircularRegion(center: location.coordinate, radius: 1, identifier: "a")
    await #expect(throws: CLError(.network)) {
      _ = try await geocoder.reverseGeocodeLocation(location)
    }
    await #expect(throws: CLError(.network)) {
      _ = try await geocoder.reverseGeocodeLocation(location, preferredLocale: nil)
    }
    await #expect(throws: CLError(.network)) {
      _ = try await geocoder.geocodeAddressString("Pariser Platz")
    }
    await #expect(throws: CLError(.network)) {
      _ = try await geocoder.geocodeAddressString("Pariser Platz", in: region)
    }
    await #expect(throws: CLError(.network)) {
      _ = try await geocoder.geocodeAddressString(
        "Pariser Platz", in: region, preferredLocale: Locale(identifier: "de_DE"))
    }
    let replaced: CLGeocoder = FixedGeocoder()
    #expect(replaced.isGeocoding)
    #expect((try? await replaced.reverseGeocodeLocation(location))?.first?.locality == "Berlin")
  }

  @Test("a geocoder's handler is called later, once, on the main queue", arguments: 0..<5)
  @MainActor func handlers(_ request: Int) async {
    let geocoder = CLGeocoder()
    let location = CLLocation(latitude: 52.5163, longitude: 13.3777)
    let code = await withCheckedContinuation { continuation in
      let handler: CLGeocodeCompletionHandler = { placemarks, error in
        dispatchPrecondition(condition: .onQueue(.main))
        #expect(placemarks == nil && !geocoder.isGeocoding)
        continuation.resume(returning: (error as? CLError)?.code)
      }
      switch request {
      case 0: geocoder.reverseGeocodeLocation(location, completionHandler: handler)
      case 1:
        geocoder.reverseGeocodeLocation(
          location, preferredLocale: .current, completionHandler: handler)
      case 2: geocoder.geocodeAddressString("Berlin", completionHandler: handler)
      case 3: geocoder.geocodeAddressString("Berlin", in: nil, completionHandler: handler)
      default:
        geocoder.geocodeAddressString(
          "Berlin", in: nil, preferredLocale: nil, completionHandler: handler)
      }
      #expect(geocoder.isGeocoding)
      if request == 4 { geocoder.cancelGeocode() }
    }
    #expect(code == (request == 4 ? .geocodeCanceled : .network))
  }

  @Test("values can be sent to other threads, regions cannot")
  func sendable() {
    requireSendable(CLLocationCoordinate2D.self)
    requireSendable(CLLocation.self)
    requireSendable(CLFloor.self)
    requireSendable(CLLocationSourceInformation.self)
    requireSendable(CLVisit.self)
    requireSendable(CLHeading.self)
    requireSendable(CLPlacemark.self)
    requireSendable(CLBeaconIdentityConstraint.self)
    requireSendable(CLError.self)
    requireSendable(CLError.Code.self)
    requireSendable(CLAuthorizationStatus.self)
    requireSendable(CLAccuracyAuthorization.self)
    requireSendable(CLActivityType.self)
    requireSendable(CLDeviceOrientation.self)
    requireSendable(CLRegionState.self)
    requireSendable(CLProximity.self)
  }

  @Test("values are copied and archived as Foundation's objects")
  func objects() throws {
    let objects: [NSObject & NSCopying & NSSecureCoding] = [
      CLLocation(latitude: 1, longitude: 2), CLVisit(), CLFloor(), CLHeading(), CLPlacemark(),
      CLBeacon(), CLBeaconIdentityConstraint(uuid: UUID()),
      CLLocationSourceInformation(
        softwareSimulationState: true, andExternalAccessoryState: true),
      CLCircularRegion(center: CLLocationCoordinate2D(), radius: 1, identifier: "a"),
      CLBeaconRegion(uuid: UUID(), identifier: "b"),
    ]
    for object in objects { try expectRoundTrip(object) }
  }

  private func expectRoundTrip<T: NSObject & NSCopying & NSSecureCoding>(_ object: T) throws {
    #expect(T.supportsSecureCoding)
    #expect((object.copy() as? T) == object)
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
    #expect(read.map { type(of: $0) == T.self } == true, "\(T.self)")
  }

  @Test("autoreleasepool, which Foundation on Linux lacks, calls its body")
  func pool() {
    #expect(autoreleasepool { 5 } == 5)
    do throws(CLError) {
      try autoreleasepool { () throws(CLError) in throw CLError(.denied) }
      Issue.record("no error")
    } catch {
      #expect(error.code == .denied)
    }
  }

  @Test("former names still exist")
  func formerNames() { (DeprecatedUses() as any Uses).use() }
}

private protocol Uses {
  func use()
}

private struct DeprecatedUses: Uses {
  @available(*, deprecated)
  func use() {
    let uuid = UUID()
    let region = CLBeaconRegion(proximityUUID: uuid, identifier: "a")
    #expect(region.proximityUUID == uuid)
    #expect(CLBeaconRegion(proximityUUID: uuid, major: 1, identifier: "a").major == 1)
    #expect(CLBeaconRegion(proximityUUID: uuid, major: 1, minor: 2, identifier: "a").minor == 2)
    #expect(CLBeacon().proximityUUID == CLBeacon().uuid)
    #expect(CLPlacemark().addressDictionary == nil)
  }
}
