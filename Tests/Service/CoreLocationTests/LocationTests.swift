import Foundation
import Testing

@testable import CoreLocation

@Suite struct LocationTests {
  @Test("LOC-3: course and speed of a new location are not valid")
  func courseAndSpeed() {
    let location = CLLocation(latitude: 52.5163, longitude: 13.3777)
    #expect(location.course == -1)
    #expect(location.speed == -1)
  }
}
