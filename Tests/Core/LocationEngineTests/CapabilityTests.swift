import LocationPolicy
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Capabilities of board and receiver") struct CapabilityTests {
  @Test("the setup determines whether board and receiver can sleep")
  func capabilities() {
    let plain = EngineBench()
    #expect(!plain.engine.canSuspend && !plain.canReceiverSleep)
    let sleeping = EngineBench {
      $0.parameters.deep = SleepParameters(
        state: .suspended, resumeTime: .milliseconds(300), alarmResolution: .seconds(1),
        minimumDuration: .seconds(2), wakesOnPin: true, wakesOnBytes: false)
      $0.parameters.canStandby = true
    }
    #expect(sleeping.engine.canSuspend && sleeping.canReceiverSleep)
    let switched = EngineBench { $0.parameters.canSwitchOff = true }
    #expect(switched.canReceiverSleep && !switched.engine.canSuspend)
  }
}
