import Foundation
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import CoreLocation

@Suite("Values of the service as Core Location's")
struct ServiceConversionTests {
  static let utc = UTCTime(microseconds: 1_764_000_000_250_000)
  static let date = Date(timeIntervalSince1970: 1_764_000_000.25)
  static let place = Coordinate(latitude_e9: 52_516_300_000, longitude_e9: 13_377_700_000)

  static func stored(_ change: (inout Fix) -> Void = { _ in }) -> StoredFix {
    var fix = Fix(acquired: Instant(seconds: 100), coordinate: place)
    fix.utc = utc
    change(&fix)
    return StoredFix(name: FixName(generation: 1, sequence: 2), fix: fix)
  }

  @Test("LOC-3, LOC-5: a fix keeps its values")
  func fullFix() throws {
    let location = CLLocation(
      Self.stored {
        $0.altitude_mm = 34_500
        $0.ellipsoidalAltitude_mm = 74_250
        $0.horizontalAccuracy_mm = 4_250
        $0.verticalAccuracy_mm = 6_500
        $0.course_e4 = 2_715_000
        $0.courseAccuracy_e2 = 125
        $0.speed_mmps = 1_500
        $0.speedAccuracy_mmps = 250
        $0.isFromAccessory = true
      })
    #expect(location.coordinate.latitude == 52.5163 && location.coordinate.longitude == 13.3777)
    #expect(location.altitude == 34.5 && location.ellipsoidalAltitude == 74.25)
    #expect(location.horizontalAccuracy == 4.25 && location.verticalAccuracy == 6.5)
    #expect(location.course == 271.5 && location.courseAccuracy == 1.25)
    #expect(location.speed == 1.5 && location.speedAccuracy == 0.25)
    #expect(location.timestamp == Self.date)
    let source = try #require(location.sourceInformation)
    #expect(source.isProducedByAccessory && !source.isSimulatedBySoftware)
  }

  @Test("LOC-1, LOC-2, LOC-3: unknown values of a fix are not valid, its coordinate is")
  func bareFix() {
    let location = CLLocation(Self.stored())
    #expect(location.horizontalAccuracy == 10)
    #expect(location.verticalAccuracy == -1)
    #expect(location.course == -1 && location.courseAccuracy == -1)
    #expect(location.speed == -1 && location.speedAccuracy == -1)
    #expect(location.floor == nil)
  }

  @Test("LOC-8: a simulated fix is marked")
  func simulated() {
    let location = CLLocation(Self.stored { $0.isSimulated = true })
    #expect(location.sourceInformation?.isSimulatedBySoftware == true)
  }

  @Test("STD-13: without UTC, the timestamp is the system's time at the acquisition, never 1970")
  func withoutUTC() {
    let location = CLLocation(
      Self.stored {
        $0.utc = nil
        $0.acquired = Instant.boot
      })
    let boot = Date(timeIntervalSinceNow: -ProcessInfo.processInfo.systemUptime)
    #expect(location.timestamp <= boot.addingTimeInterval(1))
    #expect(location.timestamp > Date(timeIntervalSince1970: 1_000_000_000))
  }

  @Test("VIS-4: unknown dates of a visit are distant")
  func visits() {
    let time = FixTime(acquired: .boot, utc: Self.utc)
    let arrival = CLVisit(
      Visit(coordinate: Self.place, horizontalAccuracy: 20, arrival: time))
    #expect(arrival.arrivalDate == Self.date && arrival.departureDate == .distantFuture)
    #expect(arrival.coordinate.latitude == 52.5163 && arrival.horizontalAccuracy == 20)
    let departure = CLVisit(
      Visit(coordinate: Self.place, horizontalAccuracy: 20, arrival: nil, departure: time))
    #expect(departure.arrivalDate == .distantPast && departure.departureDate == Self.date)
  }

  @Test("REG-3: only a circle with a valid centre is a circle of the service")
  func circles() throws {
    let valid = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777), radius: 150,
      identifier: "home")
    #expect(WireRegion(valid)?.circle == Circle(center: Self.place, radius: 150))
    let invalid = CLCircularRegion(
      center: kCLLocationCoordinate2DInvalid, radius: 150, identifier: "home")
    #expect(WireRegion(invalid) == nil)
  }

  // The pairs are named: equal raw values alone would not show two that are exchanged.

  @Test(
    "AUT-1: every authorization of the service has Apple's raw value",
    arguments: [
      (.notDetermined, .notDetermined), (.restricted, .restricted), (.denied, .denied),
      (.always, .authorizedAlways), (.whenInUse, .authorizedWhenInUse),
    ] as [(Authorization, CLAuthorizationStatus)])
  func authorizations(_ authorization: Authorization, _ status: CLAuthorizationStatus) {
    #expect(CLAuthorizationStatus(authorization) == status)
    #expect(Int32(authorization.rawValue) == status.rawValue)
  }

  @Test(
    "every activity has the same raw value in the service",
    arguments: [
      (.other, .other), (.automotiveNavigation, .automotiveNavigation), (.fitness, .fitness),
      (.otherNavigation, .otherNavigation), (.airborne, .airborne),
    ] as [(CLActivityType, ActivityType)])
  func activities(_ activity: CLActivityType, _ expected: ActivityType) {
    #expect(ActivityType(activity) == expected)
    #expect(Int(expected.rawValue) == activity.rawValue)
  }

  @Test(
    "every state of a region has the same raw value in the service",
    arguments: [(.unknown, .unknown), (.inside, .inside), (.outside, .outside)]
      as [(RegionState, CLRegionState)])
  func regionStates(_ state: RegionState, _ expected: CLRegionState) {
    #expect(CLRegionState(state) == expected)
    #expect(Int(state.rawValue) == expected.rawValue)
  }

  @Test(
    "every state of a condition has the same raw value in the service",
    arguments: [
      (.unknown, .unknown), (.satisfied, .satisfied), (.unsatisfied, .unsatisfied),
      (.unmonitored, .unmonitored),
    ] as [(MonitorState, CLMonitor.Event.State)])
  func monitorStates(_ state: MonitorState, _ expected: CLMonitor.Event.State) {
    #expect(CLMonitor.Event.State(state) == expected)
    #expect(MonitorState(expected) == state)
    #expect(Int(state.rawValue) == Int(expected.rawValue))
  }

  @Test("every error code of the service is one of CLError")
  func codes() {
    for value in 0...19 {
      #expect(LocationErrorCode(rawValue: value).map { CLError($0).code.rawValue } == value)
    }
  }
}
