import Foundation
import Testing

@testable import CoreLocation

@Suite("Regions")
struct RegionTests {
  static let center = CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777)

  @Test("REG-1: regions of one kind are equal if their identifiers are")
  func equality() {
    let home = CLCircularRegion(center: Self.center, radius: 100, identifier: "home")
    let moved = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 1, longitude: 1), radius: 50, identifier: "home")
    let work = CLCircularRegion(center: Self.center, radius: 100, identifier: "work")
    let beacon = CLBeaconRegion(uuid: UUID(), identifier: "home")
    #expect(home == moved && home.hash == moved.hash)
    #expect(home != work)
    #expect(home != beacon && beacon != home)
    #expect(Set<CLRegion>([home, moved, work, beacon]).count == 3)
  }

  @Test("a circle contains the coordinates up to its radius, also across the antimeridian")
  func contains() {
    let circle = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 0, longitude: 179.9995), radius: 120,
      identifier: "a")
    // 0.001° of the equator are 111.32 m.
    #expect(circle.contains(circle.center))
    #expect(circle.contains(CLLocationCoordinate2D(latitude: 0, longitude: -179.9995)))
    #expect(!circle.contains(CLLocationCoordinate2D(latitude: 0, longitude: -179.9993)))
    #expect(!circle.contains(kCLLocationCoordinate2DInvalid))
  }

  @Test("a copy is another object with the same values")
  func copies() throws {
    let circle = CLCircularRegion(center: Self.center, radius: 100, identifier: "home")
    circle.notifyOnEntry = false
    let copy = try #require(circle.copy() as? CLCircularRegion)
    #expect(copy !== circle && copy == circle)
    #expect(copy.radius == 100 && copy.center.latitude == 52.5163)
    #expect(!copy.notifyOnEntry && copy.notifyOnExit)
    let beacon = CLBeaconRegion(uuid: UUID(), major: 1, minor: 2, identifier: "b")
    beacon.notifyEntryStateOnDisplay = true
    let other = try #require(beacon.copy() as? CLBeaconRegion)
    #expect(other.uuid == beacon.uuid && other.major == 1 && other.minor == 2)
    #expect(other.notifyEntryStateOnDisplay)
  }

  @Test("an archive keeps a circle and the identity of beacons")
  func archives() throws {
    let circle = CLCircularRegion(center: Self.center, radius: 100, identifier: "home")
    circle.notifyOnExit = false
    let read = try #require(try archived(circle))
    #expect(read.identifier == "home" && read.radius == 100 && read.center.longitude == 13.3777)
    #expect(read.notifyOnEntry && !read.notifyOnExit)
    let beacon = CLBeaconRegion(uuid: UUID(), major: 65_535, identifier: "b")
    let readBeacon = try #require(try archived(beacon))
    #expect(readBeacon.uuid == beacon.uuid && readBeacon.major == 65_535)
    #expect(readBeacon.minor == nil)
    let constraint = CLBeaconIdentityConstraint(uuid: UUID(), major: 3, minor: 4)
    #expect(try archived(constraint) == constraint)
  }

  /// The object after it was written and read.
  private func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
  }
}
