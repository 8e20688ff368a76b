import BoardHardware
import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

@Suite("All commandable receiver families") struct FamilyTests {
  @Test(
    "PWR-6: a receiver is configured after start, and its fixes count afterwards",
    arguments: Families.all)
  func start(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family))
    #expect(bench.reach(.tracking))
    let configured = bench.now
    #expect(bench.reported == [.reached(.tracking)])
    #expect(bench.fixes.isEmpty)
    bench.run(20)
    #expect((17...20).contains(bench.fixes.count))
    #expect(bench.fixes.allSatisfy { $0 > configured })
    #expect(bench.reported.count == 1 && bench.violations.isEmpty, "\(bench.violations)")
    #expect(bench.counters.repeats == 0 && bench.counters.refusals == 0)
  }

  @Test(
    "a receiver at its default speed is found, switched to the line's speed and followed",
    arguments: Families.all, [38_400, 115_200] as [UInt32])
  func wrongSpeed(_ family: ReceiverFamily, _ speed: UInt32) {
    let bench = FamilyBench(Families.setup(family, lineSpeed: speed))
    #expect(bench.reach(.tracking))
    bench.run(10)
    #expect(bench.fixes.count >= 8)
    #expect(
      bench.reported == [.reached(.tracking)] && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test(
    "a receiver enters standby on command, stays silent, and is woken again",
    arguments: Families.all)
  func standby(_ family: ReceiverFamily) {
    for pin in [false, true] {
      let bench = FamilyBench(Families.setup(family, wake: pin))
      bench.reach(.tracking)
      bench.run(5)
      bench.clearRecords()
      #expect(bench.reach(.standby))
      #expect(bench.power == .standby && bench.activity == .standby)
      bench.run(900)
      #expect(bench.power == .standby && bench.reported == [.reached(.standby)])
      #expect(bench.counters.failedStandbys == 0)
      bench.clearRecords()
      #expect(bench.reach(.tracking))
      bench.run(30)
      #expect(bench.fixes.count >= 10 && bench.counters.losses == 0)
      #expect(bench.reported == [.reached(.tracking)] && bench.violations.isEmpty)
    }
  }

  @Test(
    "PWR-4: after an observed standby the next one is not awaited, and is checked after an hour without a command",
    arguments: Families.all)
  func trustedStandby(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family))
    for isTrusted in [false, true] {
      bench.reach(.tracking)
      bench.run(5)
      bench.handle(.goal(.standby))
      #expect(bench.status.isQuiescent == isTrusted)
      bench.run(30)
      #expect(bench.power == .standby && bench.activity == .standby)
    }
    let commands = bench.counters.commands
    bench.run(3_700)
    #expect(bench.status.sleepCheck == nil && bench.power == .standby)
    #expect(bench.counters.commands == commands && bench.counters.failedStandbys == 0)
  }

  @Test(
    "PWR-4: a receiver in standby, which lasts 18 hours at most, is put to standby again",
    arguments: [ReceiverFamily.casic, .teseo])
  func longSleep(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family))
    bench.reach(.tracking)
    bench.run(5)
    bench.reach(.standby)
    let reachedAt = bench.now
    guard let due = bench.status.deadline else {
      Issue.record("no deadline for the end of standby")
      return
    }
    #expect(due - reachedAt > .seconds(65_530) && due - reachedAt < .seconds(65_545))
    let commands = bench.counters.commands
    bench.run(65_600)
    #expect(bench.counters.commands > commands && bench.power == .standby)
  }

  @Test("PWR-4: repeated unexpected wake-ups are counted with saturation, with growing back-off")
  func repeatedWakeUps() {
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
    #expect(!isTooOften, "the receiver stayed asleep")
  }

  @Test(
    "PWR-5: off means standby, the wait for it, then power off; the next start configures again",
    arguments: Families.all)
  func off(_ family: ReceiverFamily) {
    for backup in [true, false] {
      let bench = FamilyBench(Families.setup(family, supply: true), backup: backup)
      #expect(bench.power == (backup ? .backup : .off))
      bench.reach(.tracking)
      bench.run(3)
      bench.clearRecords()
      let requested = bench.now
      #expect(bench.reach(.off))
      #expect(bench.pins == [PinCommand(.receiverSupply, .inactive)])
      #expect(bench.now - requested >= .milliseconds(500))
      #expect(bench.power == (backup ? .backup : .off) && bench.activity == .off)
      bench.run(5)
      bench.clearRecords()
      #expect(bench.reach(.tracking))
      bench.run(60)
      #expect(bench.fixes.count >= 10)
      #expect(bench.violations.isEmpty, "\(bench.violations)")
    }
  }

  @Test(
    "PWR-5: without an answer to standby, power off waits for the answer timeout",
    arguments: Families.sentences)
  func offUnanswered(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family, supply: true))
    bench.reach(.tracking)
    bench.run(3)
    bench.tampering = .drop(bench.acknowledgements)
    let requested = bench.now
    #expect(bench.reach(.off))
    #expect(bench.now - requested >= bench.setup.ackTimeout)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test(
    "after any single lost acknowledgement, the goal is reached in few attempts",
    arguments: Families.all)
  func acknowledgementsLost(_ family: ReceiverFamily) {
    var number = 0
    while true {
      let bench = FamilyBench(Families.setup(family, lineSpeed: 38_400, supply: true))
      bench.tampering = .drop(number)
      let goals: [ReceiverMode] = [.tracking, .standby, .tracking, .off, .tracking]
      for goal in goals {
        #expect(bench.reach(goal, 60), "\(number): \(goal) of \(family)")
        bench.run(3)
      }
      #expect(bench.reported == goals.map { .reached($0) }, "\(number)")
      #expect(bench.counters.commands < 80 && bench.counters.losses == 0, "\(number)")
      bench.run(20)
      #expect(bench.fixes.count >= 15 && bench.violations.isEmpty, "\(bench.violations)")
      if bench.acknowledgements <= number { break }
      number += 1
    }
    // An M10 whose configuration is kept sends one answer per start.
    #expect(number >= 5)
  }

  @Test("after any single rejection, the goal is still reached", arguments: Families.all)
  func rejections(_ family: ReceiverFamily) {
    var number = 0
    while true {
      let bench = FamilyBench(Families.setup(family, lineSpeed: 38_400, supply: true))
      bench.tampering = .reject(number)
      for goal in [.tracking, .standby, .tracking, .off, .tracking] as [ReceiverMode] {
        #expect(bench.reach(goal, 90), "\(number): \(goal) of \(family)")
        bench.run(3)
      }
      #expect(bench.reported.last == .reached(.tracking) && bench.counters.commands < 100)
      bench.run(20)
      #expect(bench.fixes.count >= 15 && bench.violations.isEmpty, "\(bench.violations)")
      if bench.acknowledgements <= number { break }
      number += 1
    }
  }

  @Test("PWR-6: a receiver that reboots is detected and configured again", arguments: Families.all)
  func reboot(_ family: ReceiverFamily) {
    for speed: UInt32 in [9_600, 38_400] {
      var faults = FaultPlan()
      faults.configurationLosses = [Instant(seconds: 60)]
      let bench = FamilyBench(Families.setup(family, lineSpeed: speed), faults: faults)
      bench.reach(.tracking)
      bench.run(50)
      bench.clearRecords()
      bench.run(60)
      let word = "\(family) at \(speed): \(bench.reported)"
      // At another speed the receiver's output cannot be decoded: the driver probes because of the
      // silence, and no loss is reported.
      let isReceived = speed == 9_600
      #expect(bench.reported == (isReceived ? [.recovered, .reached(.tracking)] : []), "\(word)")
      #expect((bench.counters.configurationsLost > 0) == isReceived, "\(word)")
      bench.clearRecords()
      bench.run(20)
      #expect(bench.fixes.count >= 18 && bench.violations.isEmpty, "\(word)")
    }
  }

  @Test(
    "DEF-43: a receiver that disappears is reported once, probed for, and found again",
    arguments: Families.all)
  func disappears(_ family: ReceiverFamily) {
    var faults = FaultPlan()
    faults.deviceAbsent = [Instant(seconds: 60)..<Instant(seconds: 200)]
    let bench = FamilyBench(Families.setup(family), faults: faults)
    bench.reach(.tracking)
    bench.run(190)
    #expect(bench.reported == [.reached(.tracking), .lost])
    bench.run(150)
    #expect(bench.reported.suffix(2) == [.recovered, .reached(.tracking)])
    #expect(bench.counters.losses < 12 && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("PWR-4: a stuck switch is reported and retried", arguments: Families.all)
  func stuckSwitch(_ family: ReceiverFamily) {
    var faults = FaultPlan()
    faults.supplySwitchStuck = [
      .boot..<Instant(seconds: 10), Instant(seconds: 60)..<Instant(seconds: 70),
    ]
    let bench = FamilyBench(Families.setup(family, supply: true), faults: faults)
    #expect(bench.reach(.tracking))
    #expect(bench.reported == [.lost, .recovered, .reached(.tracking)])
    bench.run(61 - bench.now.seconds)
    #expect(bench.reach(.off))
    #expect(bench.reported.suffix(2) == [.lost, .reached(.off)])
    #expect(bench.power == .backup && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("if goals change at any time, the latest one is reached", arguments: Families.all)
  func changingGoals(_ family: ReceiverFamily) {
    for wait in stride(from: 0.0, to: 3.0, by: 0.21) {
      let bench = FamilyBench(Families.setup(family, wake: true, supply: true))
      for goal in [.tracking, .standby, .tracking, .off, .standby, .off] as [ReceiverMode] {
        bench.handle(.goal(goal))
        bench.run(wait)
      }
      #expect(bench.reach(.tracking))
      #expect(
        bench.violations.isEmpty && !bench.reported.contains(.lost), "\(wait): \(bench.violations)")
    }
  }
}

@Suite("Receivers commanded by sentences") struct SentenceDriverTests {
  @Test(
    "batching and the duty cycle are rejected, and the receiver tracks",
    arguments: Families.sentences)
  func refused(_ family: ReceiverFamily) {
    let bench = FamilyBench(Families.setup(family))
    for goal in [.batching(watermark: 10), .powersave] as [ReceiverMode] {
      bench.reach(goal)
      #expect(bench.reported.last == .refused(goal) && bench.activity == .running)
    }
    bench.handle(.drain)
    #expect(bench.reported.last == .drained && !bench.status.mayBufferFixes)
    #expect(bench.status.remainingEntries == 0)
  }

  @Test("PWR-4: a receiver that rejects standby is reported, and standby is retried after minutes")
  func noStandby() {
    for family in [ReceiverFamily.mtk, .airoha] {
      let bench = FamilyBench(Families.setup(family))
      bench.reach(.tracking)
      bench.tampering = .rejectAll(family == .mtk ? 161 : 3)
      // This simulated receiver rejects standby and yet sleeps: the rejection counts.
      bench.clearRecords()
      bench.reach(.standby)
      #expect(bench.reported == [.refused(.standby)], "\(bench.reported)")
      #expect(bench.counters.refusals > 0)
    }
  }

  @Test(
    "PWR-4: standby ignored by a CASIC is reported as rejected and retried after 1, 2, 4 minutes")
  func ignoredStandby() {
    var faults = FaultPlan()
    faults.ignoresUnlimitedStandby = true
    let bench = FamilyBench(Families.setup(.casic), faults: faults)
    bench.reach(.tracking)
    bench.clearRecords()
    #expect(bench.reach(.standby))
    #expect(bench.reported == [.refused(.standby)] && bench.power == .tracking)
    bench.run(20)
    #expect(bench.fixes.count >= 15)
    bench.run(460)
    #expect(bench.reported == Array(repeating: .refused(.standby), count: 4))
    #expect(bench.sentences.count { $0.hasPrefix("$PCAS12") } == 12)
    // With a supply switch it is powered off nevertheless (PWR-5).
    let switched = FamilyBench(Families.setup(.casic, supply: true), faults: faults)
    switched.reach(.tracking)
    #expect(switched.reach(.off))
    #expect(switched.power == .backup && switched.violations.isEmpty)
  }

  @Test("a CASIC receiver whose standby ends after 18 hours is sent back to standby")
  func wakesByItself() {
    let bench = FamilyBench(Families.setup(.casic))
    bench.reach(.standby)
    bench.run(65_530)
    #expect(bench.counters.failedStandbys == 0 && bench.power == .standby)
    bench.run(30)
    #expect(bench.counters.failedStandbys == 1 && bench.power == .standby)
    #expect(bench.reported == [.reached(.standby)])
  }

  @Test(
    "disabled sentences show a lost configuration; it is rewritten at most three times a minute")
  func disabledSentences() {
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

  @Test("an Airoha with a fixed rate of once a second is configured nevertheless")
  func fixedRate() {
    let bench = FamilyBench(Families.setup(.airoha))
    bench.tampering = .rejectAll(50)
    bench.reach(.tracking)
    #expect(bench.reported == [.reached(.tracking)] && bench.counters.refusals == 1)
    var quick = Families.setup(.airoha)
    quick.interval_ms = 500
    let other = FamilyBench(quick)
    other.tampering = .rejectAll(50)
    other.handle(.goal(.tracking))
    other.run(20)
    #expect(other.reported == [.lost])
  }

  @Test("PWR-8: an hour in standby keeps the ephemeris: the next start is hot")
  func hotStart() {
    for family in Families.all {
      let bench = FamilyBench(Families.setup(family))
      bench.reach(.tracking)
      bench.run(60)
      bench.reach(.standby)
      bench.run(3_600)
      bench.clearRecords()
      let woken = bench.now
      bench.reach(.tracking)
      bench.run(15)
      #expect(bench.fixes.first.map { $0 - woken < .seconds(14) } == true, "\(family)")
    }
  }

  @Test("output of an Airoha in standby wakes nothing")
  func outputInStandby() {
    let bench = FamilyBench(Families.setup(.airoha))
    bench.reach(.standby)
    bench.handle(.message(.unknown(.sentence(0))))
    bench.handle(
      .message(.commandResult(CommandResult(family: .airoha, command: 3, outcome: .done))))
    #expect(bench.activity == .standby && bench.counters.failedStandbys == 0)
    bench.handle(.message(.rmc(RMC())))
    #expect(bench.counters.failedStandbys == 1)
  }
}

@Suite("u-blox M8") struct UBloxM8Tests {
  private static let wired = ReceiverSetup(
    family: .ubloxM8, lineSpeed: 115_200, hasWakePin: true, hasSupplySwitch: true,
    batch: BatchSetup(capacity: 300, pioWired: true, pioID: 6), hasPowerSave: true)

  @Test("PWR-2: an M8 batches: each epoch arrives once, drained by its pin")
  func batching() {
    let bench = FamilyBench(Self.wired)
    bench.reach(.tracking)
    bench.run(40)
    bench.clearRecords()
    #expect(bench.reach(.batching(watermark: 60)))
    bench.run(600)
    #expect(bench.reported.count { $0 == .drained } >= 9)
    bench.handle(.drain)
    bench.run(10)
    #expect(bench.fixes.count >= 600)
    #expect(bench.counters.batchEntriesMissing == 0 && bench.counters.batchDrops == 0)
    #expect(bench.power == .batching && bench.violations.isEmpty, "\(bench.violations)")
    // An M8 has one CFG-BATCH message for all settings; it is written when the buffer is empty.
    let before = bench.fixes.count
    #expect(bench.reach(.batching(watermark: 100)))
    bench.run(50)
    #expect(bench.reach(.tracking))
    bench.run(10)
    #expect(bench.fixes.count - before >= 58)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("no epoch is lost with any acknowledgement lost while batching starts or ends")
  func batchingLosesNothing() {
    for number in 0..<24 {
      let bench = FamilyBench(Self.wired)
      bench.reach(.tracking)
      bench.run(30)
      bench.clearRecords()
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

  @Test("the duty cycle is set by CFG-PM2, then CFG-RXM; full power by CFG-RXM alone")
  func saving() {
    let bench = FamilyBench(Self.wired)
    bench.reach(.tracking)
    bench.run(30)
    bench.clearRecords()
    #expect(bench.reach(.powersave))
    #expect(bench.reported == [.reached(.powersave)] && bench.power == .powersave)
    #expect(bench.written.map { Array($0[2..<4]) } == [[6, 0x3B], [6, 0x11], [6, 9]])
    bench.clearRecords()
    #expect(bench.reach(.tracking))
    #expect(bench.written.map { Array($0[2..<4]) } == [[6, 0x11], [6, 9]])
    #expect(bench.power == .tracking && bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("a receiver that rejects the power mode is configured without it, which is reported")
  func rejectsPowerMode() {
    var faults = FaultPlan()
    faults.powerModeRejected = [.boot..<Instant(seconds: 100)]
    let bench = FamilyBench(Self.wired, faults: faults)
    #expect(bench.reach(.powersave))
    #expect(bench.reported == [.refused(.powersave)] && bench.power != .powersave)
    bench.run(100)
    bench.clearRecords()
    #expect(bench.reach(.powersave))
    #expect(
      bench.reported == [.reached(.powersave)] && bench.violations.isEmpty, "\(bench.reported)")
  }

  @Test("NMEA output: sentences follow the configuration and stop while it batches")
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
