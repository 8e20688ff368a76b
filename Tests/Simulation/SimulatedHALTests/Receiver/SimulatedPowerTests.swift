import GNSSProtocols
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Power phases of the simulated receiver") struct SimulatedPowerTests {
  private var power = SimulatedPower()

  /// Switched on, booted and running.
  private mutating func start() {
    #expect(power.setSwitch(true) == .applied)
    power.boot(until: seconds(1))
    power.run()
  }

  @Test("power is applied and removed by the switch and by the device")
  mutating func supply() {
    start()
    #expect(power.isSupplied && power.isRunning)
    #expect(power.setSwitch(true) == nil, "already supplied")
    #expect(power.setDevice(isPresent: false) == .removed)
    power.losePower()
    #expect(power.isDeviceAbsent && !power.isSupplied)
    #expect(power.setSwitch(false) == nil, "without a device the switch has no effect")
    #expect(power.setDevice(isPresent: true) == nil, "the switch is off")
    #expect(power.setSwitch(true) == .applied)
  }

  @Test("each phase with an end has a due time")
  mutating func due() {
    #expect(power.due == .distantFuture)
    power.boot(until: seconds(1))
    #expect(power.due == seconds(1) && !power.isRunning)
    power.run()
    #expect(power.due == .distantFuture)
    power.requestStandby(.init(duration_ms: 5_000), at: seconds(2))
    #expect(power.due == seconds(2) && power.isRunning && power.isStopping)
    power.enterStandby(at: seconds(2))
    #expect(power.due == seconds(7) && power.isStandby && !power.isRunning)
  }

  @Test("standby without a duration has no end; a second request replaces the first")
  mutating func unlimited() {
    start()
    power.requestStandby(.init(duration_ms: 5_000), at: seconds(2))
    power.requestStandby(.init(duration_ms: 0), at: seconds(3))
    #expect(power.due == seconds(3))
    power.enterStandby(at: seconds(3))
    #expect(power.due == .distantFuture)
  }

  @Test(
    "only listed sources end the standby; no listed source means all",
    arguments: [
      (0, true, true), (UBXPowerRequest.wakesByUART, true, false),
      (UBXPowerRequest.wakesByEXTINT0, false, true),
    ])
  mutating func sources(listed: UInt32, uart: Bool, pin: Bool) {
    start()
    #expect(!power.wakes(by: UBXPowerRequest.wakesByUART), "not in standby")
    power.requestStandby(.init(duration_ms: 0, wakeupSources: listed), at: seconds(2))
    power.enterStandby(at: seconds(2))
    #expect(power.wakes(by: UBXPowerRequest.wakesByUART) == uart)
    #expect(power.wakes(by: UBXPowerRequest.wakesByEXTINT0) == pin)
  }
}
