import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine
@testable import LocationPolicy

@Suite("Setup and status of the engine")
struct EngineSetupTests {
  @Test("PWR-8: a store for the navigation database is used only where a power-off loses it")
  func aidingStore() {
    func setup(_ change: (inout EngineSetup) -> Void = { _ in }) -> EngineSetup {
      var setup = EngineBench.setup()
      setup.receiver = ReceiverSetup(family: .ubloxM10, hasSupplySwitch: true)
      setup.parameters.canSwitchOff = true
      change(&setup)
      return setup
    }
    var useful = setup()
    let isUseful = useful.enableAidingStore(entries: 8)
    #expect(isUseful)
    #expect(useful.receiver?.aiding?.capacity == 8)
    #expect(useful.parameters.receiver.keepsDataWhenOff)
    #expect(useful.parameters.receiver.saveTime > .zero)
    #expect(useful.parameters.receiver.restoreTime > .zero)
    #expect(
      useful.parameters.receiver.restoreTime == setup().receiver?.aidingRestoreTime(entries: 8))
    let others = [
      setup { $0.parameters.receiver.keepsDataWhenOff = true },
      setup { $0.parameters.canSwitchOff = false },
      setup { $0.receiver = ReceiverSetup(family: .ubloxM10) },
      setup { $0.receiver = ReceiverSetup(family: .mtk, hasSupplySwitch: true) },
      setup { $0.receiver = nil },
    ]
    for var other in others {
      let isUseful = other.enableAidingStore(entries: 8)
      #expect(!isUseful)
      #expect(other.receiver?.aiding == nil && other.parameters.receiver.saveTime == .zero)
    }
  }

  @Test("a receiver that is off is quiet, one that tracks is not")
  func quiet() {
    let bench = EngineBench {
      $0.receiver = ReceiverSetup(family: .passive, hasSupplySwitch: true)
      $0.parameters.canSwitchOff = true
    }
    bench.fixes(count: 2)
    var isQuiet = bench.engine.isReceiverQuiet
    #expect(!isQuiet)
    bench.client.stop()
    bench.run(300)
    isQuiet = bench.engine.isReceiverQuiet
    #expect(isQuiet)
    #expect(bench.engine.receiverMode == .off)
  }

  @Test("RNG-8: a delivery keeps the board awake before its deadline, not from it on")
  func hold() {
    let bench = EngineBench()
    bench.client.acknowledges = false
    bench.fixes(count: 1)
    let end = bench.now + bench.setup.deliveryHold
    let before = end - .milliseconds(1)
    #expect(bench.engine.clients.acknowledgementDeadline(at: before) == end)
    #expect(bench.engine.clients.acknowledgementDeadline(at: end) == nil)
  }

  @Test("SLC-6, PWR-7: after a failed search the services wait before they need a fix again")
  func failedSearch() {
    let bench = EngineBench(connects: false) {
      $0.receiver = ReceiverSetup(family: .passive, hasSupplySwitch: true)
      $0.parameters.canSwitchOff = true
    }
    bench.client.connect()
    bench.client.request(.startSignificantChange)
    for _ in 0..<600 where bench.engine.receiver.schedule.state != .backedOff { bench.run(1) }
    #expect(bench.engine.receiver.schedule.state == .backedOff)
    let due = bench.engine.usage(of: bench.client.id, at: bench.now).due
    #expect(due > bench.now + .seconds(200) && due < bench.now + .seconds(400))
  }

  @Test("the estimate of the speed follows the fixes, stored or not")
  func speed() {
    let bench = EngineBench()
    func exitTime() -> Double {
      bench.engine.fixes.plausibleSpeed.shortestTime(toTravel: 260, after: bench.now).seconds
    }
    #expect(exitTime() == 52, "5 m/s")
    bench.fixes(count: 3, east: 20)
    #expect(abs(exitTime() - 10.3) < 0.2, "26 m/s, which decay meanwhile")
  }

  @Test(
    "a tracking receiver is unneeded if no client needs a fix, sleep is allowed and the service runs"
  )
  func unneeded() {
    let bench = EngineBench()
    bench.fixes(count: 2)
    var isUnneeded = bench.engine.isReceiverUnneeded
    #expect(!isUnneeded, "the client needs every fix")
    bench.client.stop()
    bench.run(300)  // longer than the ephemeris takes
    isUnneeded = bench.engine.isReceiverUnneeded
    #expect(isUnneeded)
    bench.perform(.sleepInhibitor(true))
    isUnneeded = bench.engine.isReceiverUnneeded
    #expect(!isUnneeded)
    bench.perform(.sleepInhibitor(false))
    bench.perform(.end)
    isUnneeded = bench.engine.isReceiverUnneeded
    #expect(!isUnneeded)
  }

  @Test(
    "PWR-14: a board that may be switched off is planned with the energies of off, any other is not"
  )
  func powerOff() throws {
    let off = try #require(
      BoardParameters().whenUnattended(
        saved_mW: 595, boot_mJ: 14_925, startupTime: .seconds(16), shortest: .seconds(120)))
    for unattended in [off, nil] {
      let bench = EngineBench { $0.parameters.unattendedBoard = unattended }
      func board() -> BoardParameters { bench.engine.planner.parameters.receiver.board }
      let attended = board()
      #expect(attended.off == nil)
      bench.perform(.powerOff(isAllowed: true))
      #expect(board() == unattended ?? attended)
      bench.fixes(count: 2)
      #expect(board() == unattended ?? attended, "a plan keeps it")
      bench.perform(.powerOff(isAllowed: false))
      #expect(board() == attended)
    }
  }
}
