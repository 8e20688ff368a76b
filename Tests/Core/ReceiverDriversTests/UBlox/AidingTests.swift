import BoardHardware
import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

/// A u-blox receiver on a supply switch, without backup supply, with or without aiding storage.
private func setup(
  _ family: ReceiverFamily, capacity: UInt8? = 128, lineSpeed: UInt32 = 38_400
) -> ReceiverSetup {
  var setup = ReceiverSetup(
    family: family, lineSpeed: lineSpeed, defaultLineSpeed: lineSpeed, hasWakePin: true,
    hasSupplySwitch: true)
  setup.aiding = capacity.map { AidingSetup(capacity: $0) }
  return setup
}

private func bench(
  _ family: ReceiverFamily = .ubloxM10, capacity: UInt8? = 128, lineSpeed: UInt32 = 38_400,
  faults: FaultPlan = FaultPlan()
) -> FamilyBench {
  FamilyBench(
    setup(family, capacity: capacity, lineSpeed: lineSpeed), faults: faults, backup: false,
    offBefore: nil)
}

extension FamilyBench {
  /// The UBX messages that were written, by class and number.
  fileprivate var identities: [UBXIdentity] {
    written.filter { $0.count >= 8 && $0[0] == 0xB5 }.map { UBXIdentity($0[2], $0[3]) }
  }

  /// The aiding messages, without those that enable acknowledgements.
  fileprivate var aidingWritten: [UBXIdentity] {
    identities.filter { $0.messageClass == 0x13 }
  }

  /// Tracks long enough to receive an ephemeris, then is powered off for `seconds`.
  fileprivate func trackAndPowerOff(for seconds: Double) {
    #expect(reach(.tracking))
    run(75)
    #expect(reach(.off))
    run(seconds)
  }

  /// Seconds from the tracking goal until the first fix.
  fileprivate func timeToFix(_ limit: Double = 120) -> Double {
    clearRecords()
    let start = now
    handle(.goal(.tracking))
    while fixes.isEmpty, now - start < Interval(seconds: limit) { run(0.1) }
    return fixes.first.map { ($0 - start).seconds } ?? limit
  }
}

@Suite("Assistance data is kept across power off") struct AidingTests {
  @Test(
    "PWR-8: the navigation database is saved before power off and restored after it",
    arguments: [ReceiverFamily.ubloxM10, .ubloxM8])
  func savedAndRestored(_ family: ReceiverFamily) {
    let bench = bench(family)
    #expect(bench.reach(.tracking))
    #expect(bench.aidingWritten.isEmpty)
    bench.run(75)
    bench.clearRecords()
    #expect(bench.reach(.off))
    let enablingCommand: UBXIdentity = family == .ubloxM8 ? .cfgNAVX5 : .cfgVALSET
    #expect(bench.identities == [enablingCommand, .mgaDBD, .rxmPMREQ])
    #expect(bench.written[1] == [0xB5, 0x62, 0x13, 0x80, 0, 0, 0x93, 0xCC])
    #expect(bench.stored.count == 40 && bench.counters.aidingStored == 40)
    #expect(bench.power == .off)
    bench.run(1_200)
    let time = bench.timeToFix()
    bench.run(5)
    #expect(time < 16, "\(time) s")
    let aiding = bench.identities.drop { $0.messageClass != 0x13 }
    #expect(aiding.first == .mgaINI && aiding.dropFirst().prefix(40).allSatisfy { $0 == .mgaDBD })
    let sent = bench.written.filter { $0.count > 8 && $0[2] == 0x13 && $0[3] == 0x80 }
    #expect(sent == bench.stored)
    #expect(bench.counters.aidingRestored == 40)
    #expect(bench.reported.contains(.reached(.tracking)))
    #expect(bench.counters.repeats == 0 && bench.counters.losses == 0)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("PWR-8: after an entry, the next one may begin as late as an answer")
  func entryDeadline() {
    let bench = DriverBench(Setups.keeping)
    bench.reach(.tracking)
    bench.run(75)
    bench.step(.goal(.off))
    while bench.driver.counters.aidingStored == 0, bench.driver.state != .unpowered {
      bench.run(0.001)
    }
    #expect(bench.driver.counters.aidingStored == 1)
    let timeLeft = bench.driver.deadline.map { $0 - bench.now } ?? .zero
    #expect(timeLeft > bench.driver.link.answerTimeout)
  }

  @Test("PWR-8: a restore takes the time of a typical entry with its answer for each message")
  func restoreTime() {
    let setup = setup(.ubloxM10, lineSpeed: 9_600)
    // Ten entries and two more messages: 116 bytes and 25 ms each.
    #expect(setup.aidingRestoreTime(entries: 10) == Interval(microseconds: (120_833 + 25_000) * 12))
    // A request, its answer, and 1,000 bytes.
    #expect(setup.aidingSaveTime(entries: 10) == Interval(microseconds: 50_000 + 1_041_666))
  }

  @Test("PWR-8: aiding acknowledgements are enabled in RAM only, by their published key")
  func acknowledgementKey() {
    var items = UBXConfiguration(layers: .ram)
    // CFG-NAVSPG-ACKAIDING, UBX-21035062.
    items.set(0x1011_0025, 1)
    var expected = FrameBuffer()
    expected.appendConfiguration(items)
    let frame = UBloxCommand.enableAidingAcknowledgements.frame(part: 0, for: setup(.ubloxM10))
    #expect(bytes(of: frame) == bytes(of: expected))
  }

  @Test(
    "PWR-8: without aiding storage, power off works as usual and the start is cold",
    arguments: [ReceiverFamily.ubloxM10, .ubloxM8])
  func withoutMemory(_ family: ReceiverFamily) {
    let bench = bench(family, capacity: nil)
    bench.trackAndPowerOff(for: 600)
    let time = bench.timeToFix()
    #expect(time > 25, "\(time) s")
    #expect(bench.aidingWritten.isEmpty && bench.stored.isEmpty)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test(
    "PWR-8: if any acknowledgement is lost, the receiver is still powered off and works afterwards")
  func droppedAcknowledgements() {
    // Ten entries, so that each message is covered.
    var number = 0
    var isEvery = false
    while !isEvery {
      let bench = bench(capacity: 10)
      bench.tampering = .drop(number)
      bench.trackAndPowerOff(for: 300)
      #expect(bench.power == .off, "\(number)")
      #expect(bench.stored.count == 10, "\(number)")
      let time = bench.timeToFix()
      bench.run(20)
      #expect(time < 60, "\(number): \(time) s")
      #expect(bench.reported.contains(.reached(.tracking)), "\(number)")
      #expect(bench.counters.losses == 0, "\(number)")
      #expect(bench.counters.aidingRestored >= 9, "\(number)")
      #expect(bench.violations.isEmpty, "\(number): \(bench.violations)")
      isEvery = bench.acknowledgements <= number
      number += 1
    }
    #expect(number > 15)
  }

  @Test("PWR-8: entries lost on the line are not stored, the others are")
  func wrongCount() {
    let bench = bench()
    bench.tampering = .dropEntries([0, 7, 39])
    bench.trackAndPowerOff(for: 600)
    #expect(bench.stored.count == 37)
    #expect(bench.timeToFix() < 16)
    bench.run(5)
    #expect(bench.counters.aidingRestored == 37)
  }

  @Test("PWR-8: a receiver that sends no database is powered off soon, and starts cold")
  func silence() {
    let bench = bench()
    bench.tampering = .dropAiding
    #expect(bench.reach(.tracking))
    bench.run(75)
    let start = bench.now
    #expect(bench.reach(.off))
    #expect((bench.now - start).seconds < 8)
    #expect(bench.stored.isEmpty && bench.power == .off)
    bench.run(300)
    let time = bench.timeToFix()
    #expect(time > 25 && time < 60)
    #expect(!bench.identities.contains(.mgaINI))
    #expect(bench.counters.losses == 0)
  }

  @Test("PWR-8: restoring ends if the receiver stops answering or rejects entries")
  func failedRestoring() {
    for tampering in [FamilyBench.Tampering.dropAiding, .rejectEntries] {
      let bench = bench()
      bench.trackAndPowerOff(for: 300)
      bench.tampering = tampering
      let start = bench.now
      bench.clearRecords()
      #expect(bench.reach(.tracking))
      #expect((bench.now - start).seconds < 12)
      #expect(bench.aidingWritten.count <= 10)
      bench.run(60)
      #expect(!bench.fixes.isEmpty && bench.counters.losses == 0)
      #expect(bench.counters.aidingRestored == 0)
    }
  }

  @Test("PWR-8: a new goal during saving is followed immediately")
  func goalWhileSaving() {
    for goal in [ReceiverMode.tracking, .standby] {
      let bench = bench(lineSpeed: 9_600)
      #expect(bench.reach(.tracking))
      bench.run(75)
      bench.clearRecords()
      bench.handle(.goal(.off))
      bench.run(1.5)
      #expect(bench.aidingWritten == [.mgaDBD] && !bench.stored.isEmpty && bench.stored.count < 30)
      let start = bench.now
      #expect(bench.reach(goal))
      #expect((bench.now - start).seconds < 5)
      #expect(bench.reported == [.reached(goal)])
      #expect(!bench.pins.contains(PinCommand(.receiverSupply, .inactive)))
      #expect(bench.reach(.off) && bench.power == .off)
      #expect(bench.violations.isEmpty)
    }
  }

  @Test("PWR-8: the same goal during saving changes nothing")
  func sameGoalWhileSaving() {
    let bench = bench(lineSpeed: 9_600)
    #expect(bench.reach(.tracking))
    bench.run(75)
    bench.clearRecords()
    bench.handle(.goal(.off))
    bench.run(1.5)
    #expect(bench.reach(.off))
    #expect(bench.aidingWritten == [.mgaDBD] && bench.stored.count == 40)
  }

  @Test(
    "PWR-8: standby or off during restoring is followed, and the data is restored at the next start"
  )
  func goalWhileRestoring() {
    let bench = bench(lineSpeed: 9_600)
    bench.trackAndPowerOff(for: 300)
    bench.clearRecords()
    bench.handle(.goal(.tracking))
    while bench.counters.aidingRestored < 5 { bench.run(0.05) }
    let start = bench.now
    #expect(bench.reach(.off))
    #expect((bench.now - start).seconds < 5)
    #expect(bench.stored.count == 40 && bench.power == .off)
    bench.run(300)
    #expect(bench.timeToFix() < 20)
    bench.run(5)
    #expect(bench.counters.aidingRestored == 45)
    #expect(bench.violations.isEmpty)
  }

  @Test("PWR-8: a receiver that restarts during restoring is configured and starts cold")
  func rebootWhileRestoring() {
    // Restoring begins at the same time in each run.
    let first = bench(lineSpeed: 9_600)
    first.trackAndPowerOff(for: 300)
    first.handle(.goal(.tracking))
    while first.counters.aidingRestored < 5 { first.run(0.05) }
    var faults = FaultPlan()
    faults.configurationLosses = [first.now + .milliseconds(50)]
    let bench = bench(lineSpeed: 9_600, faults: faults)
    bench.trackAndPowerOff(for: 300)
    bench.clearRecords()
    bench.handle(.goal(.tracking))
    bench.run(90)
    #expect(bench.counters.aidingRestored < 40)
    #expect(bench.reported.contains(.reached(.tracking)))
    #expect(bench.activity == .running && bench.fixes.count > 20)
  }

  @Test(
    "PWR-8: data older than the ephemeris lifetime is not restored, nor is any without the time")
  func tooOld() {
    let old = bench()
    old.trackAndPowerOff(for: 14_500)
    #expect(old.stored.count == 40)
    #expect(old.timeToFix() > 25)
    #expect(old.aidingWritten.isEmpty)
    let timeless = bench()
    timeless.reportsTime = false
    timeless.trackAndPowerOff(for: 300)
    #expect(timeless.stored.count == 40)
    #expect(timeless.timeToFix() > 25)
    #expect(timeless.aidingWritten.isEmpty)
  }

  @Test("PWR-8: the database is saved again only if the receiver may have newer data")
  func readOutAgain() {
    let bench = bench()
    bench.trackAndPowerOff(for: 300)
    _ = bench.timeToFix()
    bench.run(3)
    bench.clearRecords()
    #expect(bench.reach(.off))
    #expect(bench.aidingWritten.isEmpty, "a few seconds are too short for an ephemeris")
    bench.run(300)
    #expect(bench.timeToFix() < 16)
    bench.run(20)
    bench.clearRecords()
    #expect(bench.reach(.off))
    #expect(bench.aidingWritten == [.mgaDBD])
  }

  @Test("PWR-8: without a fix nothing is saved, and after a loss nothing is restored")
  func nothingToSaveOrRestore() {
    var faults = FaultPlan()
    faults.signalOutages = [.boot..<Instant(seconds: 3_600)]
    let withoutFix = bench(faults: faults)
    #expect(withoutFix.reach(.tracking))
    withoutFix.run(60)
    withoutFix.clearRecords()
    #expect(withoutFix.reach(.off))
    #expect(withoutFix.aidingWritten.isEmpty)
    let lost = bench()
    lost.trackAndPowerOff(for: 60)
    _ = lost.timeToFix()
    lost.handle(.lineFault)
    lost.run(30)
    #expect(lost.reach(.off))
    lost.clearRecords()
    lost.run(60)
    #expect(lost.timeToFix() > 0)
    #expect(lost.violations.isEmpty)
  }

  @Test("PWR-8: a drain requested during saving is answered")
  func drains() {
    let bench = bench(lineSpeed: 9_600)
    #expect(bench.reach(.tracking))
    bench.run(75)
    bench.handle(.goal(.off))
    bench.run(1.5)
    bench.handle(.drain)
    bench.run(1)
    #expect(bench.reported.contains(.drained))
  }
}
