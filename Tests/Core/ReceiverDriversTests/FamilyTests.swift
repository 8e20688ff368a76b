import BoardHardware
import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

@Suite("Every family that takes commands") struct FamilyTests {
  @Test(
    "PWR-6: it starts, is configured, and its fixes count from then on", arguments: Families.all)
  func start(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family))
    #expect(bench.reach(.tracking))
    let configured = bench.now
    #expect(bench.told == [.reached(.tracking)])
    #expect(bench.fixes.isEmpty)
    bench.run(20)
    #expect((17...20).contains(bench.fixes.count))
    #expect(bench.fixes.allSatisfy { $0 > configured })
    #expect(bench.told.count == 1 && bench.violations.isEmpty, "\(bench.violations)")
    #expect(bench.counters.repeats == 0 && bench.counters.refusals == 0)
  }

  @Test(
    "a receiver at its default speed is found, told the line's speed and followed",
    arguments: Families.all, [38_400, 115_200] as [UInt32])
  func wrongSpeed(_ family: ReceiverFamily, _ speed: UInt32) {
    let bench = FamilyBench(Families.setup(family, lineSpeed: speed))
    #expect(bench.reach(.tracking))
    bench.run(10)
    #expect(bench.fixes.count >= 8)
    #expect(bench.told == [.reached(.tracking)] && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("it sleeps when told, keeps silent, and is woken again", arguments: Families.all)
  func standby(_ family: ReceiverFamily) {
    for pin in [false, true] {
      let bench = FamilyBench(Families.setup(family, wake: pin))
      bench.reach(.tracking)
      bench.run(5)
      bench.forget()
      #expect(bench.reach(.standby))
      #expect(bench.power == .standby && bench.activity == .standby)
      bench.run(900)
      #expect(bench.power == .standby && bench.told == [.reached(.standby)])
      #expect(bench.counters.failedStandbys == 0)
      bench.forget()
      #expect(bench.reach(.tracking))
      bench.run(30)
      #expect(bench.fixes.count >= 10 && bench.counters.losses == 0)
      #expect(bench.told == [.reached(.tracking)] && bench.violations.isEmpty)
    }
  }

  @Test(
    "PWR-4: a CASIC, which sleeps 18 hours at most, is put to sleep again though nobody hears it")
  func longSleep() {
    let bench = FamilyBench(Families.setup(.casic))
    bench.reach(.tracking)
    bench.run(5)
    bench.reach(.standby)
    let settled = bench.now
    guard let due = bench.status.deadline else {
      Issue.record("nobody looks after it")
      return
    }
    #expect(due - settled > .seconds(65_530) && due - settled < .seconds(65_545))
    let commands = bench.counters.commands
    bench.run(65_600)
    #expect(bench.counters.commands > commands && bench.power == .standby)
  }

  @Test(
    "PWR-4: one that wakes again and again is counted without end, and left alone longer each time")
  func wakesForEver() {
    var attempts = RetryCounters()
    for round in 1...600 as ClosedRange<Int64> {
      attempts.recordGoalReached(at: Instant(seconds: Double(round * 5)))
      let isTooOften = attempts.countUnexpectedWake(at: Instant(seconds: Double(round * 5 + 1)))
      #expect(isTooOften == (round > 3))
      if isTooOften { attempts.recordLoss() }
    }
    #expect(attempts.unexpectedWakes == .max && attempts.losses == .max)
    attempts.recordGoalReached(at: Instant(seconds: 4_000))
    let isTooOften = attempts.countUnexpectedWake(at: Instant(seconds: 4_100))
    #expect(!isTooOften, "it has slept")
  }

  @Test(
    "PWR-5: off is standby, asked for and waited for, then the cut; then all begins anew",
    arguments: Families.all)
  func off(_ family: ReceiverFamily) {
    for backup in [true, false] {
      let bench = FamilyBench(Families.setup(family, supply: true), backup: backup)
      #expect(bench.power == (backup ? .backup : .off))
      bench.reach(.tracking)
      bench.run(3)
      bench.forget()
      let asked = bench.now
      #expect(bench.reach(.off))
      #expect(bench.pins == [PinCommand(.receiverSupply, .inactive)])
      #expect(bench.now - asked >= .milliseconds(500))
      #expect(bench.power == (backup ? .backup : .off) && bench.activity == .off)
      bench.run(5)
      bench.forget()
      #expect(bench.reach(.tracking))
      bench.run(60)
      #expect(bench.fixes.count >= 10)
      #expect(bench.violations.isEmpty, "\(bench.violations)")
    }
  }

  @Test(
    "PWR-5: where no answer to standby comes, the cut waits for the time of one",
    arguments: Families.sentences)
  func offUnanswered(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family, supply: true))
    bench.reach(.tracking)
    bench.run(3)
    bench.tampering = .drop(bench.acknowledgements)
    let asked = bench.now
    #expect(bench.reach(.off))
    #expect(bench.now - asked >= bench.setup.ackTimeout)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test(
    "whichever acknowledgement is lost: it gets where it should, in few tries",
    arguments: Families.all)
  func acknowledgementsLost(_ family: ReceiverFamily) {
    var number = 0
    while true {
      let bench = FamilyBench(Families.setup(family, lineSpeed: 38_400, supply: true))
      bench.tampering = .drop(number)
      let goals: [ReceiverGoal] = [.tracking, .standby, .tracking, .off, .tracking]
      for goal in goals {
        #expect(bench.reach(goal, 60), "\(number): \(goal) of \(family)")
        bench.run(3)
      }
      #expect(bench.told == goals.map { .reached($0) }, "\(number)")
      #expect(bench.counters.commands < 80 && bench.counters.losses == 0, "\(number)")
      bench.run(20)
      #expect(bench.fixes.count >= 15 && bench.violations.isEmpty, "\(bench.violations)")
      if bench.acknowledgements <= number { break }
      number += 1
    }
    #expect(number >= 6)
  }

  @Test("whichever answer is no: it gets where it should all the same", arguments: Families.all)
  func refusals(_ family: ReceiverFamily) {
    var number = 0
    while true {
      let bench = FamilyBench(Families.setup(family, lineSpeed: 38_400, supply: true))
      bench.tampering = .refuse(number)
      for goal in [.tracking, .standby, .tracking, .off, .tracking] as [ReceiverGoal] {
        #expect(bench.reach(goal, 90), "\(number): \(goal) of \(family)")
        bench.run(3)
      }
      #expect(bench.told.last == .reached(.tracking) && bench.counters.commands < 100)
      bench.run(20)
      #expect(bench.fixes.count >= 15 && bench.violations.isEmpty, "\(bench.violations)")
      if bench.acknowledgements <= number { break }
      number += 1
    }
  }

  @Test("PWR-6: a receiver that reboots is found out and configured anew", arguments: Families.all)
  func reboot(_ family: ReceiverFamily) {
    for speed: UInt32 in [9_600, 38_400] {
      var faults = FaultPlan()
      faults.configurationLosses = [Instant(seconds: 60)]
      let bench = FamilyBench(Families.setup(family, lineSpeed: speed), faults: faults)
      bench.reach(.tracking)
      bench.run(50)
      bench.forget()
      bench.run(60)
      let word = "\(family) at \(speed): \(bench.told)"
      // At another speed than its own it says nothing that can be read: silence is looked into, and
      // nobody was told of a loss.
      let isHeard = speed == 9_600
      #expect(bench.told == (isHeard ? [.recovered, .reached(.tracking)] : []), "\(word)")
      #expect((bench.counters.configurationsLost > 0) == isHeard, "\(word)")
      bench.forget()
      bench.run(20)
      #expect(bench.fixes.count >= 18 && bench.violations.isEmpty, "\(word)")
    }
  }

  @Test(
    "DEF-43: a receiver that goes is told once, looked for, and found again",
    arguments: Families.all)
  func gone(_ family: ReceiverFamily) {
    var faults = FaultPlan()
    faults.deviceAbsent = [Instant(seconds: 60)..<Instant(seconds: 200)]
    let bench = FamilyBench(Families.setup(family), faults: faults)
    bench.reach(.tracking)
    bench.run(190)
    #expect(bench.told == [.reached(.tracking), .lost])
    bench.run(150)
    #expect(bench.told.suffix(2) == [.recovered, .reached(.tracking)])
    #expect(bench.counters.losses < 12 && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("PWR-4: a switch that sticks is told and tried again", arguments: Families.all)
  func stuckSwitch(_ family: ReceiverFamily) {
    var faults = FaultPlan()
    faults.supplySwitchStuck = [
      .boot..<Instant(seconds: 10), Instant(seconds: 60)..<Instant(seconds: 70),
    ]
    let bench = FamilyBench(Families.setup(family, supply: true), faults: faults)
    #expect(bench.reach(.tracking))
    #expect(bench.told == [.lost, .recovered, .reached(.tracking)])
    bench.run(61 - bench.now.seconds)
    #expect(bench.reach(.off))
    #expect(bench.told.suffix(2) == [.lost, .reached(.off)])
    #expect(bench.power == .backup && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("goals that change at any moment: the latest is reached", arguments: Families.all)
  func changesOfMind(_ family: ReceiverFamily) {
    for wait in stride(from: 0.0, to: 3.0, by: 0.21) {
      let bench = FamilyBench(Families.setup(family, wake: true, supply: true))
      for goal in [.tracking, .standby, .tracking, .off, .standby, .off] as [ReceiverGoal] {
        bench.handle(.goal(goal))
        bench.run(wait)
      }
      #expect(bench.reach(.tracking))
      #expect(
        bench.violations.isEmpty && !bench.told.contains(.lost), "\(wait): \(bench.violations)")
    }
  }
}

@Suite("Receivers commanded by sentences") struct SentenceDriverTests {
  @Test("batching and the duty cycle are refused, and it tracks", arguments: Families.sentences)
  func refused(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family))
    for goal in [.batching(watermark: 10), .powersave] as [ReceiverGoal] {
      bench.reach(goal)
      #expect(bench.told.last == .refused(goal) && bench.activity == .running)
    }
    bench.handle(.drain)
    #expect(bench.told.last == .drained && !bench.status.mayBufferFixes)
  }

  @Test("PWR-4: one that does not know standby says so, is told, and asked again after minutes")
  func noStandby() {
    for family in [ReceiverFamily.mtk, .airoha] {
      let bench = FamilyBench(Families.setup(family))
      bench.reach(.tracking)
      bench.tampering = .refuseAll(.result(family == .mtk ? 161 : 3))
      // It says no and yet sleeps, here: whoever says no is taken at its word.
      bench.forget()
      bench.reach(.standby)
      #expect(bench.told == [.refused(.standby)], "\(bench.told)")
      #expect(bench.counters.refusals > 0)
    }
  }

  @Test("PWR-4: a CASIC receiver that ignores standby is refused and asked again: 1, 2, 4 minutes")
  func ignoredStandby() {
    var faults = FaultPlan()
    faults.ignoresUnlimitedStandby = true
    let bench = FamilyBench(Families.setup(.casic), faults: faults)
    bench.reach(.tracking)
    bench.forget()
    #expect(bench.reach(.standby))
    #expect(bench.told == [.refused(.standby)] && bench.power == .tracking)
    bench.run(20)
    #expect(bench.fixes.count >= 15)
    bench.run(460)
    #expect(bench.told == Array(repeating: .refused(.standby), count: 4))
    #expect(bench.sentences.count { $0.hasPrefix("$PCAS12") } == 12)
    // With a switch it is cut all the same (PWR-5).
    let switched = FamilyBench(Families.setup(.casic, supply: true), faults: faults)
    switched.reach(.tracking)
    #expect(switched.reach(.off))
    #expect(switched.power == .backup && switched.violations.isEmpty)
  }

  @Test("a CASIC receiver's standby ends after 18 hours: it is sent back")
  func wakesByItself() {
    let bench = FamilyBench(Families.setup(.casic))
    bench.reach(.standby)
    bench.run(65_530)
    #expect(bench.counters.failedStandbys == 0 && bench.power == .standby)
    bench.run(30)
    #expect(bench.counters.failedStandbys == 1 && bench.power == .standby)
    #expect(bench.told == [.reached(.standby)])
  }

  @Test(
    "sentences that were switched off show that the configuration is gone, thrice a minute at most")
  func forbidden() {
    for family in Families.sentences {
      let bench = FamilyBench(Families.setup(family))
      bench.reach(.tracking)
      bench.run(5)
      for _ in 0..<200 {
        bench.handle(.message(.gsv(GSV(sentences: 1, number: 1, inView: 0))))
        bench.run(0.2)
      }
      #expect(bench.counters.configurationsLost == 3)
      bench.run(20)
      #expect(bench.status.isQuiescent)
    }
  }

  @Test("an Airoha that navigates once a second and knows no other rate is configured all the same")
  func fixedRate() {
    let bench = FamilyBench(Families.setup(.airoha))
    bench.tampering = .refuseAll(.result(50))
    bench.reach(.tracking)
    #expect(bench.told == [.reached(.tracking)] && bench.counters.refusals == 1)
    var quick = Families.setup(.airoha)
    quick.interval_ms = 500
    let other = FamilyBench(quick)
    other.tampering = .refuseAll(.result(50))
    other.handle(.goal(.tracking))
    other.run(20)
    #expect(other.told == [.lost])
  }

  @Test("PWR-8: an hour in standby costs the ephemeris nothing: the next fix comes hot")
  func hotStart() {
    for family in Families.all {
      let bench = FamilyBench(Families.setup(family))
      bench.reach(.tracking)
      bench.run(60)
      bench.reach(.standby)
      bench.run(3_600)
      bench.forget()
      let woken = bench.now
      bench.reach(.tracking)
      bench.run(15)
      #expect(bench.fixes.first.map { $0 - woken < .seconds(14) } == true, "\(family)")
    }
  }

  @Test("an Airoha's talk in standby wakes nobody")
  func talksInStandby() {
    let bench = FamilyBench(Families.setup(.airoha))
    bench.reach(.standby)
    bench.handle(.message(.unknown(.sentence(0))))
    bench.handle(
      .message(.commandResult(CommandResult(family: .pair, command: 3, outcome: .done))))
    #expect(bench.activity == .standby && bench.counters.failedStandbys == 0)
    bench.handle(.message(.rmc(RMC())))
    #expect(bench.counters.failedStandbys == 1)
  }
}

@Suite("u-blox M8") struct UBloxM8Tests {
  private static let wired = ReceiverSetup(
    family: .ubloxM8, lineSpeed: 115_200, hasWakePin: true, hasSupplySwitch: true,
    batch: BatchSetup(capacity: 300, pioWired: true, pioID: 6), hasPowerSave: true)

  @Test("PWR-2: it batches: each epoch once, drained by its pin")
  func batching() {
    let bench = FamilyBench(Self.wired)
    bench.reach(.tracking)
    bench.run(40)
    bench.forget()
    #expect(bench.reach(.batching(watermark: 60)))
    bench.run(600)
    #expect(bench.told.count { $0 == .drained } >= 9)
    bench.handle(.drain)
    bench.run(10)
    #expect(bench.fixes.count >= 600)
    #expect(bench.counters.batchEntriesMissing == 0 && bench.counters.batchDrops == 0)
    #expect(bench.power == .batching && bench.violations.isEmpty, "\(bench.violations)")
    // What it is told in one message it is told when its buffer is empty.
    let before = bench.fixes.count
    #expect(bench.reach(.batching(watermark: 100)))
    bench.run(50)
    #expect(bench.reach(.tracking))
    bench.run(10)
    #expect(bench.fixes.count - before >= 58)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("whichever acknowledgement is lost on the way into batching and out: no epoch is")
  func batchingLosesNothing() {
    for number in 0..<24 {
      let bench = FamilyBench(Self.wired)
      bench.reach(.tracking)
      bench.run(30)
      bench.forget()
      bench.tampering = .drop(bench.acknowledgements + number)
      let begun = bench.now
      bench.reach(.batching(watermark: 50))
      bench.run(70)
      bench.reach(.tracking)
      bench.run(5)
      let seconds = Int((bench.now - begun).seconds)
      #expect(bench.fixes.count >= seconds - 2, "\(number): \(bench.fixes.count) of \(seconds)")
      #expect(bench.fixes.count <= seconds + 1 && bench.violations.isEmpty, "\(number)")
    }
  }

  @Test("its own duty cycle: CFG-PM2, then CFG-RXM; full power again by CFG-RXM alone")
  func saving() {
    let bench = FamilyBench(Self.wired)
    bench.reach(.tracking)
    bench.run(30)
    bench.forget()
    #expect(bench.reach(.powersave))
    #expect(bench.told == [.reached(.powersave)] && bench.power == .powersave)
    #expect(bench.written.map { Array($0[2..<4]) } == [[6, 0x3B], [6, 0x11], [6, 9]])
    bench.forget()
    #expect(bench.reach(.tracking))
    #expect(bench.written.map { Array($0[2..<4]) } == [[6, 0x11], [6, 9]])
    #expect(bench.power == .tracking && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("one that refuses its power is configured without, and that is told")
  func refusesPower() {
    var faults = FaultPlan()
    faults.powerModeRejected = [.boot..<Instant(seconds: 100)]
    let bench = FamilyBench(Self.wired, faults: faults)
    #expect(bench.reach(.powersave))
    #expect(bench.told == [.refused(.powersave)] && bench.power != .powersave)
    bench.run(100)
    bench.forget()
    #expect(bench.reach(.powersave))
    #expect(bench.told == [.reached(.powersave)] && bench.violations.isEmpty, "\(bench.told)")
  }

  @Test("sentences as output: they come from the configuration on, and are silent while it batches")
  func nmea() {
    var setup = Self.wired
    setup.output = .nmea
    let bench = FamilyBench(setup)
    bench.reach(.tracking)
    bench.run(20)
    #expect(bench.fixes.count >= 15)
    bench.reach(.batching(watermark: 20))
    bench.run(60)
    #expect(bench.power == .batching)
    bench.reach(.tracking)
    bench.run(5)
    #expect(bench.fixes.count >= 80 && bench.violations.isEmpty, "\(bench.violations)")
  }
}
