import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let configuration = "inUBX=1 outUBX=1 nmea=0 pvt=1 rate=1000"
private let cyclic = "on=0 search=1 eph=1 power=2"

@Suite("The receiver's own duty cycle") struct PowerSaveTests {
  /// Tracking at full power, with earlier records cleared.
  private func tracking() -> DriverBench {
    let bench = DriverBench(Setups.saving)
    bench.reach(.tracking)
    bench.run(3)
    bench.clearRecords()
    return bench
  }

  @Test("PWR-6: the configuration at each start sets the duty cycle, without an extra command")
  func atStart() {
    let bench = tracking()
    #expect(bench.receiver.value(M10Key.pmOperateMode) == 0)
    bench.reach(.standby)
    bench.clearRecords()
    bench.reach(.powersave)
    #expect(bench.reported == [.reached(.powersave)])
    #expect(bench.commands() == ["poll", configuration + " " + cyclic])
    #expect(bench.driver.state == .tracking)
    bench.reach(.standby)
    bench.clearRecords()
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll", configuration + " power=0"])
    bench.expectClean()
  }

  @Test("PWR-1: while awake, one command changes the power mode, and no fix is lost")
  func awake() {
    let bench = tracking()
    bench.reach(.powersave)
    #expect(bench.commands() == [cyclic])
    bench.run(3)
    bench.reach(.powersave)
    #expect(bench.commands().isEmpty, "the mode is already set")
    bench.step(.goal(.tracking))
    #expect(bench.driver.state == .changingPower && !bench.driver.isQuiescent)
    bench.runUntilIdle()
    #expect(bench.commands() == ["power=0"])
    bench.run(3)
    #expect(bench.reported == [.reached(.powersave), .reached(.powersave), .reached(.tracking)])
    #expect(bench.emitted.count >= 6)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("PWR-1: a fix received during a power mode change counts")
  func fixMeanwhile() {
    let bench = tracking()
    bench.receiver.answerDelay = .milliseconds(400)
    for goal in [ReceiverMode.powersave, .tracking, .powersave, .tracking] {
      bench.reach(goal)
      bench.run(0.3)
    }
    #expect(bench.driver.counters.unconfiguredEpochs <= 1)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("Batching runs at full power, and switching to the duty cycle loses nothing")
  func batching() {
    let bench = tracking()
    bench.reach(.powersave)
    bench.clearRecords()
    bench.reach(.batching(watermark: 250))
    #expect(bench.commands().first == "power=0")
    #expect(bench.receiver.isBatching && bench.receiver.value(M10Key.pmOperateMode) == 0)
    bench.run(20)
    bench.reach(.powersave)
    #expect(bench.commands().last == cyclic)
    #expect(!bench.receiver.isBatching && bench.receiver.value(M10Key.pmOperateMode) == 2)
    bench.run(3)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test(
    "PWR-6: a receiver without the key tracks, is configured without it, and is retried at a goal")
  func refused() {
    let bench = DriverBench(Setups.saving)
    bench.receiver.supportsPowerSave = false
    bench.reach(.powersave)
    #expect(bench.reported == [.refused(.powersave)])
    #expect(bench.driver.state == .tracking && bench.driver.counters.refusals == 2)
    let commands = bench.commands()
    #expect(commands.contains(configuration + " " + cyclic) && commands.contains(configuration))
    // Rejected keys are not sent again, even after other state is invalidated.
    bench.reach(.standby)
    bench.clearRecords()
    bench.reach(.tracking)
    #expect(
      bench.reported == [.reached(.tracking)] && bench.commands() == ["poll"])
    bench.receiver.supportsPowerSave = true
    bench.reach(.powersave)
    #expect(bench.reported.last == .reached(.powersave) && bench.commands() == [cyclic])
    bench.expectClean()
  }

  @Test("A rejection while awake keeps it tracking; a loss clears it, as the receiver may differ")
  func refusedAwake() {
    let bench = tracking()
    bench.receiver.supportsPowerSave = false
    bench.reach(.powersave)
    #expect(bench.reported == [.refused(.powersave)] && bench.commands() == [cyclic])
    bench.run(3)
    bench.expectWhole()
    bench.receiver.supportsPowerSave = true
    bench.step(.lineFault)
    bench.runUntilIdle()
    #expect(bench.reported.last == .reached(.powersave))
    #expect(bench.receiver.value(M10Key.pmOperateMode) == 2)
  }

  @Test("A receiver that saves power has the key: a rejected full power command is repeated")
  func fullPowerRefused() {
    let bench = tracking()
    bench.reach(.powersave)
    bench.clearRecords()
    bench.receiver.rejections = 2
    bench.reach(.tracking)
    #expect(bench.commands() == ["power=0", "power=0", "power=0"])
    #expect(bench.reported == [.reached(.tracking)])
    #expect(bench.receiver.value(M10Key.pmOperateMode) == 0)
  }

  @Test("A late answer to a rejected configuration does not count for the next command")
  func lateRefusal() {
    let bench = tracking()
    bench.reach(.standby)
    bench.clearRecords()
    bench.receiver.supportsPowerSave = false
    bench.receiver.answerDelay = .milliseconds(600)
    bench.reach(.powersave)
    #expect(bench.reported == [.refused(.powersave)])
    // The poll is rejected once. The configuration was sent twice before its answer arrived; the second rejection
    // belongs to the repetition.
    #expect(bench.driver.counters.refusals == 2)
    bench.expectClean()
  }

  @Test("A receiver without duty cycle in its profile is set to full power, and no other power key")
  func without() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.powersave)
    #expect(bench.reported == [.refused(.powersave)])
    #expect(bench.commands().last == configuration + " power=0")
    #expect(bench.driver.counters.refusals == 0)
  }

  @Test(
    "PWR-6: the duty cycle of an earlier run with another profile ends, in any kind of memory",
    arguments: [nil, true, false] as [Bool?])
  func earlierRun(_ keepsBackup: Bool?) {
    let bench = DriverBench(Setups.saving)
    bench.reach(.powersave)
    #expect(bench.receiver.value(M10Key.pmOperateMode) == 2)
    if let keepsBackup { bench.receiver.reset(at: bench.now, keepsBackup: keepsBackup) }
    bench.run(1)
    bench.driver = UBloxDriver(Setups.wired)
    bench.reach(.tracking)
    #expect(bench.receiver.value(M10Key.pmOperateMode) == 0)
    bench.receiver.reset(at: bench.now, keepsBackup: true)
    #expect(bench.receiver.value(M10Key.pmOperateMode) == 0, "not after the next start either")
  }

  @Test("PWR-6: full power rejected once after a start is retried, not omitted")
  func fullPowerRefusedAtStart() {
    let bench = tracking()
    bench.reach(.powersave)
    bench.reach(.standby)
    bench.step(.goal(.tracking))
    while bench.driver.state != .configuring { bench.run(0.005) }
    bench.receiver.rejections = 1
    bench.runUntilIdle()
    #expect(bench.receiver.value(M10Key.pmOperateMode) == 0)
    #expect(bench.driver.counters.refusals == 1)
  }

  @Test("PWR-6: after three rejections of full power the key is omitted")
  func replaced() {
    let bench = tracking()
    bench.reach(.powersave)
    bench.reach(.standby)
    bench.clearRecords()
    bench.receiver.supportsPowerSave = false
    bench.reach(.tracking)
    #expect(bench.reported == [.reached(.tracking)])
    #expect(bench.driver.counters.refusals == 4, "the poll, and three times the configuration")
  }

  @Test(
    "Cyclic tracking supports half a second and whole seconds up to ten",
    arguments: [
      (500, true), (1_000, true), (2_000, true), (10_000, true), (100, false), (1_500, false),
      (250, false), (11_000, false),
    ] as [(UInt16, Bool)])
  func periods(_ interval_ms: UInt16, _ can: Bool) {
    #expect(ReceiverSetup(interval_ms: interval_ms, hasPowerSave: true).canSavePower == can)
    #expect(!ReceiverSetup(interval_ms: interval_ms).canSavePower)
    let passive = ReceiverSetup(family: .passive, interval_ms: interval_ms, hasPowerSave: true)
    #expect(!passive.canSavePower)
  }

  @Test("The power mode keys, the mode last: on time 0, search on, keep the ephemeris, cyclic")
  func frame() {
    let frame = bytes(of: UBloxCommand.powerMode(.cyclic).frame(part: 0, for: Setups.saving))
    let payload: [UInt8] = [
      0x00, 0x03, 0x00, 0x00, 0x05, 0x00, 0xD0, 0x30, 0x00, 0x00, 0x08, 0x00, 0xD0, 0x10, 0x01,
      0x0A, 0x00, 0xD0, 0x10, 0x01, 0x01, 0x00, 0xD0, 0x20, 0x02,
    ]
    #expect(Array(frame.dropFirst(6).dropLast(2)) == payload)
  }
}
