import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let configuration = "inUBX=1 outUBX=1 nmea=0 pvt=1 rate=1000"
private let enabling =
  "max=300 warn=250 extra=1 odo=0 pio=1 pioid=6 low=0 batch=1"

@Suite("Configuration and tracking") struct TrackingTests {
  @Test("PWR-6: fixes count from the acknowledgement of the configuration on")
  func fixesCountWhenConfigured() {
    let bench = Bench(ReceiverSetup(lineSpeed: 9_600))
    bench.receiver.answerDelay = .milliseconds(400)
    bench.reach(.tracking)
    #expect(bench.told == [.settled(.tracking)])
    #expect(bench.commands() == ["probe", configuration])
    bench.run(10)
    // The first epoch came as NMEA, before.
    #expect(bench.taken.first == 2)
    #expect(bench.taken.count >= 9)
    #expect(bench.driver.counters.unconfigured == 1)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A receiver at its default speed is found, told the line's speed and followed")
  func followsSpeed() {
    let bench = Bench(Setups.plain)
    #expect(bench.reach(.tracking))
    #expect(bench.commands() == ["probe", "baud=115200", "probe", configuration])
    #expect(bench.receiver.speed == 115_200)
    #expect(bench.states.contains(.probingDefault))
    bench.run(5)
    #expect(bench.taken.count == 5)
    bench.expectClean()
  }

  @Test("A lost acknowledgement of the speed changes nothing: the new speed is tried")
  func speedWithoutAnswer() {
    let bench = Bench(Setups.plain)
    bench.step(.goal(.tracking))
    while bench.driver.state != .changingSpeed { bench.run(0.01) }
    bench.receiver.lostAnswers = 1
    #expect(bench.settle())
    #expect(bench.told == [.settled(.tracking)])
  }

  @Test("NMEA output: sentences on, NAV-PVT off, and the epochs count")
  func nmea() {
    let bench = Bench(ReceiverSetup(output: .nmea))
    bench.reach(.tracking)
    #expect(bench.commands().last == "inUBX=1 outUBX=1 nmea=1 pvt=0 rate=1000")
    bench.run(10)
    #expect(bench.taken.count >= 8)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A lost answer is asked for again, three times in all", arguments: [1, 2])
  func repeats(_ lost: Int) {
    let bench = Bench(ReceiverSetup())
    bench.step(.goal(.tracking))
    while bench.driver.state != .configuring { bench.run(0.01) }
    bench.receiver.lostAnswers = lost
    #expect(bench.settle())
    #expect(bench.driver.counters.repeats == UInt32(lost))
    #expect(bench.told == [.settled(.tracking)])
    #expect(bench.commands().filter { $0 == configuration }.count == lost + 1)
  }

  @Test("DEF-43: three lost answers are a lost receiver, which is told once and tried again")
  func losesAfterThree() {
    let bench = Bench(ReceiverSetup())
    bench.step(.goal(.tracking))
    while bench.driver.state != .configuring { bench.run(0.01) }
    bench.receiver.lostAnswers = 3
    #expect(bench.settle())
    #expect(bench.told == [.lost, .recovered, .settled(.tracking)])
    #expect(bench.driver.counters.losses == 1)
    bench.expectClean()
  }

  @Test("A refused configuration is tried again, then told, and tried again later")
  func refusedConfiguration() {
    let bench = Bench(ReceiverSetup())
    bench.receiver.refusals = 3
    #expect(bench.reach(.tracking))
    #expect(bench.driver.counters.refusals == 3)
    #expect(bench.told == [.lost, .recovered, .settled(.tracking)])
  }

  @Test("DEF-43: a silent receiver is tried for ever, at most once a minute")
  func backOff() {
    let bench = Bench(ReceiverSetup())
    bench.receiver.isSilent = true
    bench.step(.goal(.tracking))
    bench.run(600)
    #expect(bench.told == [.lost])
    let losses = bench.driver.counters.losses
    #expect(losses >= 8)
    bench.run(600)
    let more = bench.driver.counters.losses - losses
    #expect((7...10).contains(more))
    bench.receiver.isSilent = false
    #expect(bench.settle(200))
    #expect(bench.told == [.lost, .recovered, .settled(.tracking)])
    bench.expectClean()
  }

  @Test("The back-off doubles from one second to a minute")
  func backOffDoubles() {
    let bench = Bench(ReceiverSetup())
    bench.receiver.isSilent = true
    bench.step(.goal(.tracking))
    var waits: [Int64] = []
    while waits.count < 8 {
      while bench.driver.state != .lost { bench.run(0.01) }
      bench.run(0.01)
      waits.append(((bench.driver.deadline ?? .boot) - bench.now).microseconds / 10_000 + 2)
      while bench.driver.state == .lost { bench.run(0.01) }
    }
    #expect(waits.map { ($0 + 50) / 100 } == [1, 2, 4, 8, 16, 32, 60, 60])
  }

  @Test("A reset while tracking is found by its NMEA and repaired")
  func resetWhileTracking() {
    let bench = Bench(ReceiverSetup())
    bench.reach(.tracking)
    bench.run(20)
    bench.forget()
    bench.receiver.reset(at: bench.now)
    bench.run(5)
    #expect(bench.told == [.recovered, .settled(.tracking)])
    #expect(bench.driver.counters.configurationsLost == 1)
    #expect(bench.taken.count >= 2)
    bench.expectClean()
  }

  @Test("Silence while tracking is looked into, a receiver at another speed is found again")
  func silence() {
    let bench = Bench(Setups.plain)
    bench.reach(.tracking)
    bench.run(20)
    bench.forget()
    // Its sentences come at 9600 baud now and cannot be read.
    bench.receiver.reset(at: bench.now)
    bench.run(30)
    #expect(bench.driver.state == .tracking)
    #expect(bench.receiver.speed == 115_200)
    #expect(bench.commands().contains("baud=115200"))
    bench.expectClean()
  }

  @Test("The line goes away and comes back")
  func lineFault() {
    let bench = Bench(ReceiverSetup())
    bench.reach(.tracking)
    bench.forget()
    bench.step(.lineFault)
    #expect(bench.told == [.lost])
    bench.step(.lineFault)
    #expect(bench.settle())
    #expect(bench.told == [.lost, .recovered, .settled(.tracking)])
    bench.expectClean()
  }

  @Test("Garbage between the answers does no harm")
  func garbage() {
    let bench = Bench(ReceiverSetup())
    bench.step(.goal(.tracking))
    for i in 0..<20 {
      bench.receiver.garble([0xB5, UInt8(i), 0x62, 0x24, 0xFF], at: bench.now)
      bench.run(0.1)
    }
    bench.settle()
    #expect(bench.told == [.settled(.tracking)])
    bench.expectClean()
  }

  @Test("The late answer to a repeated command does not pass for the next command's")
  func staleAnswers() {
    let bench = Bench(Setups.wired)
    bench.reach(.tracking)
    bench.forget()
    // The answers take longer than the driver waits: each command is sent twice.
    bench.receiver.answerDelay = bench.driver.answerTime + .milliseconds(100)
    bench.step(.goal(.batching(watermark: 250)))
    while bench.driver.state == .enabling { bench.run(0.01) }
    bench.receiver.answerDelay = .milliseconds(20)
    bench.receiver.refusals = 0
    #expect(bench.driver.state == .muting)
    bench.run(0.3)
    // Nothing but the answer to muting may have ended muting.
    if bench.driver.state == .batching { #expect(bench.receiver.value(M10Key.navPVTOnUART1) == 0) }
    bench.settle()
    #expect(bench.receiver.value(M10Key.navPVTOnUART1) == 0)
    bench.expectClean()
  }
}

@Suite("Standby and supply") struct SleepTests {
  @Test("PWR-4: standby is settled when silence proves it, and its configuration written again")
  func standbyAndBack() {
    let bench = Bench(Setups.plain)
    bench.reach(.tracking)
    bench.run(3)
    bench.forget()
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect(bench.told == [.settled(.standby)])
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
    let bench = Bench(Setups.wired)
    bench.reach(.standby)
    bench.forget()
    bench.step(.goal(.tracking))
    #expect(bench.pins == [PinCommand(.receiverWake, .active)])
    bench.settle()
    #expect(bench.pins.suffix(1) == [PinCommand(.receiverWake, .inactive)])
    #expect(bench.told == [.settled(.tracking)])
    bench.expectClean()
  }

  @Test("A line fault during the pulse ends the pulse")
  func pulseEnds() {
    let bench = Bench(Setups.wired)
    bench.step(.goal(.tracking))
    #expect(bench.driver.state == .pulsing)
    bench.step(.lineFault)
    #expect(bench.pins.last == PinCommand(.receiverWake, .inactive))
  }

  @Test("PWR-4: a standby that is not followed is asked for again", arguments: [1, 2])
  func standbyRepeated(_ ignored: Int) {
    let bench = Bench(Setups.plain)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = ignored
    bench.reach(.standby)
    #expect(bench.receiver.isAsleep)
    #expect(bench.commands().filter { $0 == "standby" }.count == ignored + 1)
    #expect(bench.driver.counters.failedStandbys == UInt32(ignored))
    #expect(bench.told == [.settled(.standby)])
    bench.expectClean()
  }

  @Test("PWR-4: a standby that is never followed is told, and tried again")
  func standbyFails() {
    let bench = Bench(Setups.plain)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = 4
    #expect(bench.reach(.standby))
    #expect(bench.told == [.lost, .recovered, .settled(.standby)])
    #expect(bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test("PWR-4: a receiver that wakes by itself is sent back to sleep")
  func wakesByItself() {
    let bench = Bench(Setups.plain)
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
    let bench = Bench(Setups.plain)
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
    let bench = Bench(Setups.switched)
    bench.reach(.tracking)
    #expect(bench.pins.first == PinCommand(.receiverSupply, .active))
    bench.run(3)
    bench.forget()
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands() == ["standby"])
    #expect(bench.told == [.settled(.off)])
    #expect(bench.pins == [PinCommand(.receiverSupply, .inactive)])
    bench.run(5)
    bench.reach(.tracking)
    bench.run(3)
    #expect(bench.told.suffix(1) == [.settled(.tracking)])
    bench.expectClean()
  }

  @Test("PWR-5: from standby the supply may go at once")
  func cutFromStandby() {
    let bench = Bench(Setups.switched)
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
    let bench = Bench(Setups.switched)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    bench.expectClean()
  }

  @Test("PWR-5: one that ignores standby is cut after three times")
  func cutStubborn() {
    let bench = Bench(Setups.switched)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = 100
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.commands() == ["standby", "standby", "standby"])
    #expect(bench.told == [.settled(.off)])
    bench.expectClean()
  }

  @Test("A lost receiver can be switched off")
  func cutLost() {
    let bench = Bench(Setups.switched)
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    while bench.driver.state != .lost { bench.run(0.1) }
    bench.reach(.off)
    #expect(!bench.receiver.hasSupply)
    #expect(bench.told.suffix(1) == [.settled(.off)])
    #expect(!bench.told.contains(.recovered))
    bench.expectClean()
  }

  @Test("Off and on again: the supply rests a second")
  func rest() {
    let bench = Bench(Setups.switched)
    bench.reach(.tracking)
    bench.reach(.off)
    bench.forget()
    let cut = bench.now
    bench.step(.goal(.tracking))
    #expect(bench.pins.isEmpty)
    #expect(!bench.driver.isSettled)
    while bench.pins.isEmpty { bench.run(0.01) }
    #expect((bench.now - cut) > .milliseconds(800))
    bench.settle()
    #expect(bench.told == [.settled(.tracking)])
  }

  @Test("A receiver that hangs is started anew by its supply, after the fourth failed try")
  func powerCycle() {
    let bench = Bench(Setups.switched)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.isSilent = true
    while bench.receiver.hasSupply { bench.run(0.1) }
    #expect(bench.driver.counters.losses == 4)
    bench.receiver.isSilent = false
    #expect(bench.settle())
    #expect(bench.told == [.lost, .recovered, .settled(.tracking)])
    // That is over then: standby keeps the supply.
    bench.reach(.standby)
    #expect(bench.receiver.hasSupply && bench.receiver.isAsleep)
    bench.expectClean()
  }

  @Test("Tracking again while it falls asleep: it is woken when it sleeps")
  func changeOfMind() {
    let bench = Bench(Setups.wired)
    bench.reach(.tracking)
    bench.forget()
    bench.step(.goal(.standby))
    bench.run(0.2)
    bench.step(.goal(.tracking))
    bench.settle()
    #expect(bench.told == [.settled(.tracking)])
    bench.run(3)
    #expect(!bench.taken.isEmpty)
    bench.expectClean()
  }

  @Test("Tracking again while standby is not followed: it goes on awake")
  func changeOfMindAwake() {
    let bench = Bench(Setups.plain)
    bench.reach(.tracking)
    bench.forget()
    bench.receiver.ignoredStandbys = 1
    bench.step(.goal(.standby))
    bench.run(0.2)
    bench.step(.goal(.tracking))
    bench.settle()
    #expect(bench.commands() == ["standby", configuration])
    #expect(bench.told == [.settled(.tracking)])
    bench.expectClean()
  }

  @Test("Off without a supply switch is standby")
  func offWithoutSwitch() {
    let bench = Bench(Setups.plain)
    bench.reach(.off)
    #expect(bench.receiver.isAsleep)
    #expect(bench.told == [.settled(.off)])
    #expect(bench.pins.isEmpty)
  }

  @Test("A goal is answered each time it is given")
  func answeredAgain() {
    let bench = Bench(Setups.wired)
    for goal in [ReceiverGoal.tracking, .standby, .batching(watermark: 250)] {
      bench.reach(goal)
      bench.forget()
      bench.step(.goal(goal))
      #expect(bench.told == [.settled(goal)])
      #expect(bench.commands().isEmpty)
    }
  }
}
