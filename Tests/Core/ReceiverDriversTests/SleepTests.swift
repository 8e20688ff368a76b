import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let configuration = "inUBX=1 outUBX=1 nmea=0 pvt=1 rate=1000 power=0"

@Suite("Standby and supply") struct SleepTests {
  @Test(
    "PWR-4, PWR-6: standby is reached when silence proves it; on waking the configuration is verified"
  )
  func standbyAndBack() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.run(3)
    bench.clearRecords()
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect(bench.reported == [.reached(.standby)])
    #expect(bench.commands() == ["standby"])
    #expect(bench.driver.deadline == nil)
    bench.run(60)
    bench.clearRecords()
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll"])
    bench.run(5)
    #expect(bench.emitted.count == 5)
    bench.expectClean()
  }

  @Test("The wake pin is pulsed with both edges")
  func wakePin() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.standby)
    bench.clearRecords()
    bench.step(.goal(.tracking))
    #expect(bench.pins == [PinCommand(.receiverWake, .active)])
    bench.runUntilIdle()
    #expect(bench.pins.suffix(1) == [PinCommand(.receiverWake, .inactive)])
    #expect(bench.reported == [.reached(.tracking)])
    bench.expectClean()
  }

  @Test("A line fault during the pulse ends the pulse")
  func pulseEnds() {
    let bench = DriverBench(Setups.wired)
    bench.step(.goal(.tracking))
    #expect(bench.driver.state == .pulsing)
    bench.step(.lineFault)
    #expect(bench.pins.last == PinCommand(.receiverWake, .inactive))
  }

  @Test("PWR-4: an ignored standby command is repeated", arguments: [1, 2])
  func standbyRepeated(_ ignored: Int) {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.receiver.ignoredStandbys = ignored
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect(bench.commands().filter { $0 == "standby" }.count == ignored + 1)
    #expect(bench.driver.counters.failedStandbys == UInt32(ignored))
    #expect(bench.reported == [.reached(.standby)])
    bench.expectClean()
  }

  @Test("PWR-4: if standby is always ignored, the loss is reported and standby is retried")
  func standbyFails() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.receiver.ignoredStandbys = 4
    #expect(bench.reach(.standby))
    #expect(bench.reported == [.lost, .recovered, .reached(.standby)])
    #expect(bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test("PWR-4: a receiver that wakes by itself is sent back to sleep")
  func wakesByItself() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.standby)
    bench.run(100)
    bench.clearRecords()
    bench.receiver.reset(at: bench.now, keepsBackup: true)
    bench.run(10)
    #expect(bench.receiver.isAsleep)
    #expect(bench.driver.state == .standby)
    #expect(bench.driver.counters.failedStandbys == 1)
    #expect(bench.reported.isEmpty)
    bench.expectClean()
  }

  @Test("A receiver that keeps waking is reported, and retried with back-off")
  func wakesTooOften() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.standby)
    for _ in 0..<4 {
      while !bench.receiver.isAsleep || bench.driver.state != .standby { bench.run(0.1) }
      bench.receiver.reset(at: bench.now, keepsBackup: true)
      bench.run(2)
    }
    #expect(bench.reported.contains(.lost))
    bench.runUntilIdle()
    #expect(bench.receiver.isAsleep)
  }

  @Test("PWR-5: the supply is switched off after standby was requested and awaited")
  func powerOffAfterStandby() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    #expect(bench.pins.first == PinCommand(.receiverSupply, .active))
    bench.run(3)
    bench.clearRecords()
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands() == ["standby"])
    #expect(bench.reported == [.reached(.off)])
    #expect(bench.pins == [PinCommand(.receiverSupply, .inactive)])
    bench.run(5)
    bench.reach(.tracking)
    bench.run(3)
    #expect(bench.reported.suffix(1) == [.reached(.tracking)])
    bench.expectClean()
  }

  @Test("PWR-5: from standby the supply may be switched off immediately")
  func powerOffFromStandby() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    bench.clearRecords()
    bench.step(.goal(.off))
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands().isEmpty)
    bench.expectClean()
  }

  @Test("PWR-5: an unresponsive receiver is powered off after the wait")
  func powerOffSilent() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    bench.expectClean()
  }

  @Test("PWR-5: a receiver that ignores standby is powered off after three attempts")
  func powerOffIgnoredStandby() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.receiver.ignoredStandbys = 100
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands() == ["standby", "standby", "standby"])
    #expect(bench.reported == [.reached(.off)])
    bench.expectClean()
  }

  @Test("A lost receiver can be switched off")
  func powerOffLost() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    while bench.driver.state != .lost { bench.run(0.1) }
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.reported.suffix(1) == [.reached(.off)])
    #expect(!bench.reported.contains(.recovered))
    bench.expectClean()
  }

  @Test("After a power-off the supply stays off for at least a second")
  func minimumOffTime() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.reach(.off)
    bench.clearRecords()
    let powerOff = bench.now
    bench.step(.goal(.tracking))
    #expect(bench.pins.isEmpty)
    #expect(!bench.driver.isQuiescent)
    while bench.pins.isEmpty { bench.run(0.01) }
    #expect((bench.now - powerOff) > .milliseconds(800))
    bench.runUntilIdle()
    #expect(bench.reported == [.reached(.tracking)])
  }

  @Test(
    "PWR-4, PWR-5: a switch fault at power-on is reported and retried; no pin or byte is written")
  func switchOnFails() {
    let bench = DriverBench(Setups.switched)
    bench.failingSwitches = 6
    bench.step(.goal(.tracking))
    bench.run(30)
    #expect(bench.failingSwitches == 1)
    #expect(bench.reported == [.lost])
    #expect(bench.pins == Array(repeating: PinCommand(.receiverSupply, .active), count: 5))
    #expect(bench.commands().isEmpty)
    bench.runUntilIdle()
    #expect(bench.reported == [.lost, .recovered, .reached(.tracking)])
    // 1, 2, 4, 8, 16 and 32 s.
    #expect(bench.now > Instant(seconds: 63) && bench.now < Instant(seconds: 70))
    bench.reach(.standby)
    #expect(bench.receiver.hasSupply && bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test(
    "PWR-4, PWR-5: a powered-off receiver stays off if a sticking switch is commanded off again")
  func stuckWhileOff() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.reach(.off)
    bench.run(2)
    bench.failingSwitches = 2
    bench.step(.goal(.tracking))
    bench.run(0.05)
    bench.step(.goal(.off))
    #expect(bench.failingSwitches == 0)
    bench.runUntilIdle()
    #expect(bench.driver.state == .unpowered)
    #expect(bench.reach(.tracking))
    bench.expectClean()
  }

  @Test("PWR-4: a switch fault at power-off is reported and retried; the receiver counts as on")
  func switchOffFails() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.failingSwitches = 3
    bench.step(.goal(.off))
    bench.run(2)
    #expect(bench.reported == [.lost] && bench.receiver.hasSupply)
    bench.run(30)
    #expect(bench.reported == [.lost, .reached(.off)] && !bench.receiver.hasSupply)
    #expect(bench.failingSwitches == 0)
    // A new loss is reported again.
    bench.receiver.isSilent = true
    bench.step(.goal(.tracking))
    bench.run(30)
    #expect(bench.reported.dropFirst(2) == [.lost])
    bench.expectClean()
  }

  @Test("A hanging receiver is restarted by its supply after the fourth failed attempt")
  func powerCycle() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.receiver.isSilent = true
    while bench.receiver.hasSupply { bench.run(0.1) }
    #expect(bench.driver.counters.losses == 4)
    bench.receiver.isSilent = false
    #expect(bench.runUntilIdle())
    #expect(bench.reported == [.lost, .recovered, .reached(.tracking)])
    // Afterwards the restart is over: standby keeps the supply on.
    #expect(bench.reach(.standby))
    #expect(bench.receiver.hasSupply && bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test(
    "PWR-5: a power cycle waits for standby, also if the goal changes meanwhile",
    arguments: [ReceiverMode.tracking, .powersave, .batching(watermark: 250)])
  func powerCycleUnderNewGoal(_ goal: ReceiverMode) throws {
    var setup = Setups.switched
    setup.hasPowerSave = true
    let bench = DriverBench(setup)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    while bench.driver.state != .fallingAsleep { bench.run(0.05) }
    let end = try #require(bench.driver.deadline)
    bench.step(.goal(.standby))
    bench.run(0.1)
    bench.step(.goal(goal))
    #expect(bench.driver.state == .fallingAsleep && bench.driver.deadline == end)
    bench.run((end - bench.now).seconds - 0.01)
    #expect(bench.receiver.hasSupply)
    bench.run(0.02)
    #expect(!bench.receiver.hasSupply)
    bench.receiver.isSilent = false
    bench.clearRecords()
    #expect(bench.runUntilIdle() && bench.reported == [.recovered, .reached(goal)])
    bench.expectClean()
  }

  @Test("a power cycle that a loss prevents is decided again by the next attempt")
  func powerCyclePrevented() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    while bench.driver.state != .fallingAsleep { bench.run(0.05) }
    bench.step(.lineFault)
    bench.receiver.isSilent = false
    #expect(bench.driver.state == .lost)
    // The goal off needs no power cycle, and tracking ends it.
    bench.step(.goal(.off))
    #expect(bench.driver.state == .fallingAsleep)
    bench.step(.goal(.tracking))
    #expect(bench.runUntilIdle() && bench.driver.state == .tracking)
    #expect(!bench.pins.contains(PinCommand(.receiverSupply, .inactive)))
    bench.expectClean()
  }

  @Test("Tracking requested while falling asleep: the receiver is woken once it sleeps")
  func trackingWhileFallingAsleep() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.step(.goal(.standby))
    bench.run(0.2)
    bench.step(.goal(.tracking))
    bench.runUntilIdle()
    #expect(bench.reported == [.reached(.tracking)])
    bench.run(3)
    #expect(!bench.emitted.isEmpty)
    bench.expectClean()
  }

  @Test("Tracking requested while standby is ignored: the receiver continues awake")
  func trackingWhileStandbyIgnored() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.receiver.ignoredStandbys = 1
    bench.step(.goal(.standby))
    bench.run(0.2)
    bench.step(.goal(.tracking))
    bench.runUntilIdle()
    #expect(bench.commands() == ["standby", "poll"])
    #expect(bench.reported == [.reached(.tracking)])
    bench.expectClean()
  }

  @Test("Off without a supply switch is standby")
  func offWithoutSwitch() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.off)
    #expect(bench.receiver.isAsleep)
    #expect(bench.reported == [.reached(.off)])
    #expect(bench.pins.isEmpty)
  }

  @Test("A goal is answered each time it is set")
  func answeredAgain() {
    let bench = DriverBench(Setups.wired)
    for goal in [ReceiverMode.tracking, .standby, .batching(watermark: 250)] {
      bench.reach(goal)
      bench.clearRecords()
      bench.step(.goal(goal))
      #expect(bench.reported == [.reached(goal)])
      #expect(bench.commands().isEmpty)
    }
  }
}
