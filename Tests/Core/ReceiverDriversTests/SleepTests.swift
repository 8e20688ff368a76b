import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let configuration = "inUBX=1 outUBX=1 nmea=0 pvt=1 rate=1000 power=0"

@Suite("Standby and supply") struct SleepTests {
  @Test("PWR-4: standby is settled when silence proves it, and its configuration written again")
  func standbyAndBack() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.run(3)
    bench.forget()
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect(bench.told == [.reached(.standby)])
    #expect(bench.commands() == ["standby"])
    #expect(bench.driver.deadline == nil)
    bench.run(60)
    bench.forget()
    bench.reach(.tracking)
    #expect(bench.commands() == ["probe", configuration])
    bench.run(5)
    #expect(bench.taken.count == 5)
    bench.expectClean()
  }

  @Test("The wake pin is pulsed, and both edges come")
  func wakePin() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.standby)
    bench.forget()
    bench.step(.goal(.tracking))
    #expect(bench.pins == [PinCommand(.receiverWake, .active)])
    bench.settle()
    #expect(bench.pins.suffix(1) == [PinCommand(.receiverWake, .inactive)])
    #expect(bench.told == [.reached(.tracking)])
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

  @Test("PWR-4: a standby that is not followed is asked for again", arguments: [1, 2])
  func standbyRepeated(_ ignored: Int) {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = ignored
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect(bench.commands().filter { $0 == "standby" }.count == ignored + 1)
    #expect(bench.driver.counters.failedStandbys == UInt32(ignored))
    #expect(bench.told == [.reached(.standby)])
    bench.expectClean()
  }

  @Test("PWR-4: a standby that is never followed is told, and tried again")
  func standbyFails() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = 4
    #expect(bench.reach(.standby))
    #expect(bench.told == [.lost, .recovered, .reached(.standby)])
    #expect(bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test("PWR-4: a receiver that wakes by itself is sent back to sleep")
  func wakesByItself() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.standby)
    bench.run(100)
    bench.forget()
    bench.receiver.reset(at: bench.now, keepsBackup: true)
    bench.run(10)
    #expect(bench.receiver.isAsleep)
    #expect(bench.driver.state == .standby)
    #expect(bench.driver.counters.failedStandbys == 1)
    #expect(bench.told.isEmpty)
    bench.expectClean()
  }

  @Test("A receiver that wakes all the time is told and backed off from")
  func wakesTooOften() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.standby)
    for _ in 0..<4 {
      while !bench.receiver.isAsleep || bench.driver.state != .standby { bench.run(0.1) }
      bench.receiver.reset(at: bench.now, keepsBackup: true)
      bench.run(2)
    }
    #expect(bench.told.contains(.lost))
    bench.settle()
    #expect(bench.receiver.isAsleep)
  }

  @Test("PWR-5: the supply is cut after standby was asked for and waited for")
  func cutAfterStandby() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    #expect(bench.pins.first == PinCommand(.receiverSupply, .active))
    bench.run(3)
    bench.forget()
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands() == ["standby"])
    #expect(bench.told == [.reached(.off)])
    #expect(bench.pins == [PinCommand(.receiverSupply, .inactive)])
    bench.run(5)
    bench.reach(.tracking)
    bench.run(3)
    #expect(bench.told.suffix(1) == [.reached(.tracking)])
    bench.expectClean()
  }

  @Test("PWR-5: from standby the supply may go at once")
  func cutFromStandby() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    bench.forget()
    bench.step(.goal(.off))
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands().isEmpty)
    bench.expectClean()
  }

  @Test("PWR-5: an unresponsive receiver is cut after the wait")
  func cutSilent() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    bench.expectClean()
  }

  @Test("PWR-5: one that ignores standby is cut after three times")
  func cutStubborn() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = 100
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands() == ["standby", "standby", "standby"])
    #expect(bench.told == [.reached(.off)])
    bench.expectClean()
  }

  @Test("A lost receiver can be switched off")
  func cutLost() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    while bench.driver.state != .lost { bench.run(0.1) }
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.told.suffix(1) == [.reached(.off)])
    #expect(!bench.told.contains(.recovered))
    bench.expectClean()
  }

  @Test("Off and on again: the supply rests a second")
  func rest() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.reach(.off)
    bench.forget()
    let cut = bench.now
    bench.step(.goal(.tracking))
    #expect(bench.pins.isEmpty)
    #expect(!bench.driver.isQuiescent)
    while bench.pins.isEmpty { bench.run(0.01) }
    #expect((bench.now - cut) > .milliseconds(800))
    bench.settle()
    #expect(bench.told == [.reached(.tracking)])
  }

  @Test(
    "PWR-4, PWR-5: a switch that does not switch on: told, no pin or byte goes out, tried again")
  func switchOnFails() {
    let bench = DriverBench(Setups.switched)
    bench.failingSwitches = 6
    bench.step(.goal(.tracking))
    bench.run(30)
    #expect(bench.failingSwitches == 1)
    #expect(bench.told == [.lost])
    #expect(bench.pins == Array(repeating: PinCommand(.receiverSupply, .active), count: 5))
    #expect(bench.commands().isEmpty)
    bench.settle()
    #expect(bench.told == [.lost, .recovered, .reached(.tracking)])
    // 1, 2, 4, 8, 16 and 32 s.
    #expect(bench.now > Instant(seconds: 63) && bench.now < Instant(seconds: 70))
    bench.reach(.standby)
    #expect(bench.receiver.hasSupply && bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test("PWR-4, PWR-5: cut already and told to cut again by a switch that sticks, it stays cut")
  func stuckWhileCut() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.reach(.off)
    bench.run(2)
    bench.failingSwitches = 2
    bench.step(.goal(.tracking))
    bench.run(0.05)
    bench.step(.goal(.off))
    #expect(bench.failingSwitches == 0)
    bench.settle()
    #expect(bench.driver.state == .unpowered)
    #expect(bench.reach(.tracking))
    bench.expectClean()
  }

  @Test("PWR-4: a switch that does not switch off: told, never taken for cut, tried again")
  func switchOffFails() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.forget()
    bench.failingSwitches = 3
    bench.step(.goal(.off))
    bench.run(2)
    #expect(bench.told == [.lost] && bench.receiver.hasSupply)
    bench.run(30)
    #expect(bench.told == [.lost, .reached(.off)] && !bench.receiver.hasSupply)
    #expect(bench.failingSwitches == 0)
    // A new loss is told anew.
    bench.receiver.isSilent = true
    bench.step(.goal(.tracking))
    bench.run(30)
    #expect(bench.told.dropFirst(2) == [.lost])
    bench.expectClean()
  }

  @Test("A receiver that hangs is started anew by its supply, after the fourth failed try")
  func powerCycle() {
    let bench = DriverBench(Setups.switched)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.isSilent = true
    while bench.receiver.hasSupply { bench.run(0.1) }
    #expect(bench.driver.counters.losses == 4)
    bench.receiver.isSilent = false
    #expect(bench.settle())
    #expect(bench.told == [.lost, .recovered, .reached(.tracking)])
    // That is over then: standby keeps the supply.
    #expect(bench.reach(.standby))
    #expect(bench.receiver.hasSupply && bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test("Tracking again while it falls asleep: it is woken when it sleeps")
  func changeOfMind() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.forget()
    bench.step(.goal(.standby))
    bench.run(0.2)
    bench.step(.goal(.tracking))
    bench.settle()
    #expect(bench.told == [.reached(.tracking)])
    bench.run(3)
    #expect(!bench.taken.isEmpty)
    bench.expectClean()
  }

  @Test("Tracking again while standby is not followed: it goes on awake")
  func changeOfMindAwake() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = 1
    bench.step(.goal(.standby))
    bench.run(0.2)
    bench.step(.goal(.tracking))
    bench.settle()
    #expect(bench.commands() == ["standby", "probe", configuration])
    #expect(bench.told == [.reached(.tracking)])
    bench.expectClean()
  }

  @Test("Off without a supply switch is standby")
  func offWithoutSwitch() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.off)
    #expect(bench.receiver.isAsleep)
    #expect(bench.told == [.reached(.off)])
    #expect(bench.pins.isEmpty)
  }

  @Test("A goal is answered each time it is given")
  func answeredAgain() {
    let bench = DriverBench(Setups.wired)
    for goal in [ReceiverGoal.tracking, .standby, .batching(watermark: 250)] {
      bench.reach(goal)
      bench.forget()
      bench.step(.goal(goal))
      #expect(bench.told == [.reached(goal)])
      #expect(bench.commands().isEmpty)
    }
  }
}
