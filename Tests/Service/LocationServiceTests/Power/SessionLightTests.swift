import Testing

@testable import LocationService

@Suite("The light of background sessions") struct SessionLightTests {
  @Test("BKG-11: a failed switch keeps the state, and is logged once until it succeeds")
  func failures() {
    var light = SessionLight()
    #expect(!light.isOn)
    let first = (light.record(true, isSwitched: false), light.record(true, isSwitched: false))
    #expect(first == (true, false) && !light.isOn)
    let success = light.record(true, isSwitched: true)
    #expect(!success && light.isOn)
    let again = light.record(false, isSwitched: false)
    #expect(again && light.isOn)
  }
}
