import Foundation
import LocationTypes
import Testing

@testable import CoreLocation

@Suite("Locations, coordinates and visits")
struct LocationTests {
  static let date = Date(timeIntervalSince1970: 1_764_000_000.25)

  /// A location with a different number in each value.
  static let full = CLLocation(
    coordinate: CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777), altitude: 34.5,
    horizontalAccuracy: 4.25, verticalAccuracy: 6.5, course: 271.5, courseAccuracy: 1.25,
    speed: 1.5, speedAccuracy: 0.25, timestamp: date,
    sourceInfo: CLLocationSourceInformation(
      softwareSimulationState: true, andExternalAccessoryState: false))

  @Test("LOC-2, LOC-3: values that an initializer does not have are not valid")
  func initializers() {
    let here = CLLocationCoordinate2D(latitude: 1, longitude: 2)
    let before = Date()
    let short = CLLocation(latitude: 1, longitude: 2)
    #expect(short.coordinate.latitude == 1 && short.coordinate.longitude == 2)
    #expect(short.altitude == 0 && short.horizontalAccuracy == 0 && short.verticalAccuracy == -1)
    #expect(short.course == -1 && short.courseAccuracy == -1)
    #expect(short.speed == -1 && short.speedAccuracy == -1)
    #expect(short.timestamp >= before && short.timestamp <= Date())
    #expect(short.sourceInformation == nil)

    let still = CLLocation(
      coordinate: here, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5,
      timestamp: Self.date)
    #expect(still.altitude == 3 && still.horizontalAccuracy == 4 && still.verticalAccuracy == 5)
    #expect(still.timestamp == Self.date && still.speed == -1 && still.course == -1)

    let moving = CLLocation(
      coordinate: here, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6,
      speed: 7, timestamp: Self.date)
    #expect(moving.course == 6 && moving.speed == 7)
    #expect(moving.courseAccuracy == -1 && moving.speedAccuracy == -1)

    let accurate = CLLocation(
      coordinate: here, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6,
      courseAccuracy: 8, speed: 7, speedAccuracy: 9, timestamp: Self.date)
    #expect(accurate.courseAccuracy == 8 && accurate.speedAccuracy == 9)
    #expect(accurate.sourceInformation == nil)
  }

  @Test("LOC-8, LOC-9: a location has the given source and no floor")
  func source() throws {
    let source = try #require(Self.full.sourceInformation)
    #expect(source.isSimulatedBySoftware && !source.isProducedByAccessory)
    #expect(Self.full.floor == nil)
  }

  @Test("LOC-6: the distance is that on the ellipsoid, not on a sphere")
  func ellipsoid() {
    // A quarter of the equator is π/2 × 6,378,137 m; the meridian from the equator to a pole 10,001,965.729 m.
    let origin = CLLocation(latitude: 0, longitude: 0)
    let east = CLLocation(latitude: 0, longitude: 90)
    let pole = CLLocation(latitude: 90, longitude: 0)
    #expect(abs(origin.distance(from: east) - 10_018_754.171_394_622) < 1e-3)
    #expect(abs(origin.distance(from: pole) - 10_001_965.729_312_72) < 1e-3)
    #expect(east.distance(from: origin) == origin.distance(from: east))
    #expect(origin.distance(from: origin) == 0)
  }

  @Test("LOC-7: any finite coordinates have a distance")
  func anyCoordinates() {
    let west = CLLocation(latitude: 10, longitude: -179.5)
    let east = CLLocation(latitude: 10, longitude: 179.5)
    #expect(abs(west.distance(from: east) - 109_640) < 20)
    let far = CLLocation(latitude: 1e300, longitude: 1e300)
    #expect(far.distance(from: west).isFinite)
    let turned = CLLocation(latitude: 10, longitude: 180.5)
    #expect(turned.distance(from: west) < 1e-3)
    let invalid = CLLocation(latitude: .nan, longitude: 0)
    #expect(invalid.distance(from: west).isNaN)
  }

  @Test(
    "LOC-10: a coordinate is valid if it is finite and in range",
    arguments: [
      (0, 0, true), (90, 180, true), (-90, -180, true), (90.1, 0, false), (0, -180.1, false),
      (.nan, 0, false), (0, .infinity, false), (-180, -180, false),
    ] as [(Double, Double, Bool)])
  func validity(_ latitude: Double, _ longitude: Double, _ isValid: Bool) {
    #expect(
      CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(latitude, longitude)) == isValid)
  }

  @Test("a location is equal to itself and to its copy only, as in Apple's framework")
  func equality() throws {
    let copy = try #require(Self.full.copy() as? CLLocation)
    #expect(copy == Self.full)
    #expect(CLLocation(latitude: 1, longitude: 1) != CLLocation(latitude: 1, longitude: 1))
  }

  @Test("an archive keeps every value of a location")
  func archive() throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: Self.full, requiringSecureCoding: true)
    let read = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: data))
    #expect(read.coordinate.latitude == 52.5163 && read.coordinate.longitude == 13.3777)
    #expect(read.altitude == 34.5 && read.ellipsoidalAltitude == 0)
    #expect(read.horizontalAccuracy == 4.25 && read.verticalAccuracy == 6.5)
    #expect(read.course == 271.5 && read.courseAccuracy == 1.25)
    #expect(read.speed == 1.5 && read.speedAccuracy == 0.25)
    #expect(read.timestamp == Self.date)
    #expect(read.sourceInformation?.isSimulatedBySoftware == true)
  }

  @Test("an archive of Apple's framework can be read")
  func archiveOfApple() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.setClassName("CLLocation", for: CLLocation.self)
    archiver.encode(Self.full, forKey: NSKeyedArchiveRootObjectKey)
    let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    reader.setClass(CLLocation.self, forClassName: "CLLocation")
    let read = reader.decodeObject(of: CLLocation.self, forKey: NSKeyedArchiveRootObjectKey)
    #expect(read?.horizontalAccuracy == 4.25 && read?.timestamp == Self.date)
  }

  @Test("the description has coordinate, accuracy, speed, course and time")
  func descriptions() {
    let text = Self.full.description
    #expect(
      text.hasPrefix("<+52.51630000,+13.37770000> +/- 4.25m (speed 1.50 mps / course 271.50) @ "))
    #expect(CLVisit().description.hasPrefix("<-180.00000000,-180.00000000> +/- -1.00m ("))
  }

  @Test("VIS-4: a visit without dates is of unknown arrival and lasts")
  func emptyVisit() throws {
    let visit = CLVisit()
    #expect(visit.arrivalDate == .distantPast && visit.departureDate == .distantFuture)
    #expect(visit.horizontalAccuracy < 0)
    #expect(!CLLocationCoordinate2DIsValid(visit.coordinate))
    #expect(visit.copy() as? CLVisit === visit)
  }

  @Test("subclasses replace values, and a distance uses them")
  func subclass() {
    final class Fixed: CLLocation, @unchecked Sendable {
      override var coordinate: CLLocationCoordinate2D {
        CLLocationCoordinate2D(latitude: 10, longitude: 20)
      }
      override var horizontalAccuracy: CLLocationAccuracy { 3 }
    }
    let location = Fixed()
    #expect(location.horizontalAccuracy == 3)
    #expect(location.distance(from: CLLocation(latitude: 10, longitude: 20)) == 0)
  }
}
