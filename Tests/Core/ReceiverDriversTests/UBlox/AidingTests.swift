import BoardHardware
import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

/// A u-blox receiver on a supply switch, without a backup supply, with memory for what it knows or not.
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

  /// Those of aiding, however they are asked to be acknowledged.
  fileprivate var aidingWritten: [UBXIdentity] {
    identities.filter { $0.messageClass == 0x13 }
  }

  /// Tracks long enough to have an ephemeris, then is cut off for `seconds`.
  fileprivate func trackAndCut(for seconds: Double) {
    #expect(reach(.tracking))
    run(75)
    #expect(reach(.off))
    run(seconds)
  }

  /// Seconds from the order to track until the first fix.
  fileprivate func timeToFix(_ limit: Double = 120) -> Double {
    forget()
    let start = now
    handle(.goal(.tracking))
    while fixes.isEmpty, now - start < Interval(seconds: limit) { run(0.1) }
    return fixes.first.map { ($0 - start).seconds } ?? limit
  }
}

@Suite("What a receiver knows is kept across a cut") struct AidingTests {
  @Test(
    "PWR-8: what a receiver knows is read out before its supply is cut, and given back after it",
    arguments: [ReceiverFamily.ubloxM10, .ubloxM8])
  func keptAndGiven(_ family: ReceiverFamily) {
    let bench = bench(family)
    #expect(bench.reach(.tracking))
    #expect(bench.aidingWritten.isEmpty)
    bench.run(75)
    bench.forget()
    #expect(bench.reach(.off))
    let wanted: UBXIdentity = family == .ubloxM8 ? .cfgNAVX5 : .cfgVALSET
    #expect(bench.identities == [wanted, .mgaDBD, .rxmPMREQ])
    #expect(bench.written[1] == [0xB5, 0x62, 0x13, 0x80, 0, 0, 0x93, 0xCC])
    #expect(bench.kept.count == 40 && bench.counters.aidingStored == 40)
    #expect(bench.power == .off)
    bench.run(1_200)
    let time = bench.timeToFix()
    bench.run(5)
    #expect(time < 16, "\(time) s")
    let aiding = bench.identities.drop { $0.messageClass != 0x13 }
    #expect(aiding.first == .mgaINI && aiding.dropFirst().prefix(40).allSatisfy { $0 == .mgaDBD })
    let given = bench.written.filter { $0.count > 8 && $0[2] == 0x13 && $0[3] == 0x80 }
    #expect(given == bench.kept)
    #expect(bench.counters.aidingRestored == 40)
    #expect(bench.told.contains(.reached(.tracking)))
    #expect(bench.counters.repeats == 0 && bench.counters.losses == 0)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("PWR-8: acknowledgements are asked for in the RAM alone, by the key of that name")
  func asked() {
    var items = UBXConfiguration(layers: .ram)
    // CFG-NAVSPG-ACKAIDING, UBX-21035062.
    items.set(0x1011_0025, 1)
    var expected = FrameBuffer()
    expected.appendConfiguration(items)
    let frame = UBloxCommand.enableAidingAcknowledgements.frame(part: 0, for: setup(.ubloxM10))
    #expect(bytes(of: frame) == bytes(of: expected))
  }

  @Test(
    "PWR-8: without memory a cut is as it ever was, and starts cold",
    arguments: [ReceiverFamily.ubloxM10, .ubloxM8])
  func withoutMemory(_ family: ReceiverFamily) {
    let bench = bench(family, capacity: nil)
    bench.trackAndCut(for: 600)
    let time = bench.timeToFix()
    #expect(time > 25, "\(time) s")
    #expect(bench.aidingWritten.isEmpty && bench.kept.isEmpty)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("PWR-8: whichever acknowledgement is lost, the receiver is cut off, and works after it")
  func droppedAcknowledgements() {
    // Ten entries, so that each of all messages has its turn.
    var number = 0
    var isEvery = false
    while !isEvery {
      let bench = bench(capacity: 10)
      bench.tampering = .drop(number)
      bench.trackAndCut(for: 300)
      #expect(bench.power == .off, "\(number)")
      #expect(bench.kept.count == 10, "\(number)")
      let time = bench.timeToFix()
      bench.run(20)
      #expect(time < 60, "\(number): \(time) s")
      #expect(bench.told.contains(.reached(.tracking)), "\(number)")
      #expect(bench.counters.losses == 0, "\(number)")
      #expect(bench.counters.aidingRestored >= 9, "\(number)")
      #expect(bench.violations.isEmpty, "\(number): \(bench.violations)")
      isEvery = bench.acknowledgements <= number
      number += 1
    }
    #expect(number > 15)
  }

  @Test("PWR-8: entries that get lost on the way are not kept, the others are")
  func wrongCount() {
    let bench = bench()
    bench.tampering = .dropEntries([0, 7, 39])
    bench.trackAndCut(for: 600)
    #expect(bench.kept.count == 37)
    #expect(bench.timeToFix() < 16)
    bench.run(5)
    #expect(bench.counters.aidingRestored == 37)
  }

  @Test("PWR-8: a receiver that says nothing of what it knows is cut off soon, and used cold")
  func silence() {
    let bench = bench()
    bench.tampering = .dropAiding
    #expect(bench.reach(.tracking))
    bench.run(75)
    let start = bench.now
    #expect(bench.reach(.off))
    #expect((bench.now - start).seconds < 8)
    #expect(bench.kept.isEmpty && bench.power == .off)
    bench.run(300)
    let time = bench.timeToFix()
    #expect(time > 25 && time < 60)
    #expect(!bench.identities.contains(.mgaINI))
    #expect(bench.counters.losses == 0)
  }

  @Test("PWR-8: giving back ends when the receiver falls silent about it, or refuses")
  func vainRestoring() {
    for tampering in [FamilyBench.Tampering.dropAiding, .refuseEntries] {
      let bench = bench()
      bench.trackAndCut(for: 300)
      bench.tampering = tampering
      let start = bench.now
      bench.forget()
      #expect(bench.reach(.tracking))
      #expect((bench.now - start).seconds < 12)
      #expect(bench.aidingWritten.count <= 10)
      bench.run(60)
      #expect(!bench.fixes.isEmpty && bench.counters.losses == 0)
      #expect(bench.counters.aidingRestored == 0)
    }
  }

  @Test("PWR-8: a goal that comes while it is read out is followed at once")
  func goalWhileSaving() {
    for goal in [ReceiverGoal.tracking, .standby] {
      let bench = bench(lineSpeed: 9_600)
      #expect(bench.reach(.tracking))
      bench.run(75)
      bench.forget()
      bench.handle(.goal(.off))
      bench.run(1.5)
      #expect(bench.aidingWritten == [.mgaDBD] && !bench.kept.isEmpty && bench.kept.count < 30)
      let start = bench.now
      #expect(bench.reach(goal))
      #expect((bench.now - start).seconds < 5)
      #expect(bench.told == [.reached(goal)])
      #expect(!bench.pins.contains(PinCommand(.receiverSupply, .inactive)))
      #expect(bench.reach(.off) && bench.power == .off)
      #expect(bench.violations.isEmpty)
    }
  }

  @Test("PWR-8: the same goal while it is read out disturbs nothing")
  func sameGoalWhileSaving() {
    let bench = bench(lineSpeed: 9_600)
    #expect(bench.reach(.tracking))
    bench.run(75)
    bench.forget()
    bench.handle(.goal(.off))
    bench.run(1.5)
    #expect(bench.reach(.off))
    #expect(bench.aidingWritten == [.mgaDBD] && bench.kept.count == 40)
  }

  @Test(
    "PWR-8: a receiver that is to rest while it is given back what it knew rests, and has it next time"
  )
  func goalWhileRestoring() {
    let bench = bench(lineSpeed: 9_600)
    bench.trackAndCut(for: 300)
    bench.forget()
    bench.handle(.goal(.tracking))
    while bench.counters.aidingRestored < 5 { bench.run(0.05) }
    let start = bench.now
    #expect(bench.reach(.off))
    #expect((bench.now - start).seconds < 5)
    #expect(bench.kept.count == 40 && bench.power == .off)
    bench.run(300)
    #expect(bench.timeToFix() < 20)
    bench.run(5)
    #expect(bench.counters.aidingRestored == 45)
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "PWR-8: a receiver that starts anew while it is given back what it knew is configured and used cold"
  )
  func rebootWhileRestoring() {
    // When giving back began is the same in each run.
    let first = bench(lineSpeed: 9_600)
    first.trackAndCut(for: 300)
    first.handle(.goal(.tracking))
    while first.counters.aidingRestored < 5 { first.run(0.05) }
    var faults = FaultPlan()
    faults.configurationLosses = [first.now + .milliseconds(50)]
    let bench = bench(lineSpeed: 9_600, faults: faults)
    bench.trackAndCut(for: 300)
    bench.forget()
    bench.handle(.goal(.tracking))
    bench.run(90)
    #expect(bench.counters.aidingRestored < 40)
    #expect(bench.told.contains(.reached(.tracking)))
    #expect(bench.activity == .running && bench.fixes.count > 20)
  }

  @Test("PWR-8: what is older than an ephemeris lives is not given back, nor without the time")
  func tooOld() {
    let old = bench()
    old.trackAndCut(for: 14_500)
    #expect(old.kept.count == 40)
    #expect(old.timeToFix() > 25)
    #expect(old.aidingWritten.isEmpty)
    let timeless = bench()
    timeless.tellsTime = false
    timeless.trackAndCut(for: 300)
    #expect(timeless.kept.count == 40)
    #expect(timeless.timeToFix() > 25)
    #expect(timeless.aidingWritten.isEmpty)
  }

  @Test("PWR-8: what is kept is read out anew only where the receiver may have learned more")
  func readOutAgain() {
    let bench = bench()
    bench.trackAndCut(for: 300)
    _ = bench.timeToFix()
    bench.run(3)
    bench.forget()
    #expect(bench.reach(.off))
    #expect(bench.aidingWritten.isEmpty, "in some seconds no ephemeris comes whole")
    bench.run(300)
    #expect(bench.timeToFix() < 16)
    bench.run(20)
    bench.forget()
    #expect(bench.reach(.off))
    #expect(bench.aidingWritten == [.mgaDBD])
  }

  @Test(
    "PWR-8: a receiver that found nothing has nothing worth keeping, and one that was lost nothing to be given"
  )
  func nothingWorth() {
    var faults = FaultPlan()
    faults.signalOutages = [.boot..<Instant(seconds: 3_600)]
    let blind = bench(faults: faults)
    #expect(blind.reach(.tracking))
    blind.run(60)
    blind.forget()
    #expect(blind.reach(.off))
    #expect(blind.aidingWritten.isEmpty)
    let lost = bench()
    lost.trackAndCut(for: 60)
    _ = lost.timeToFix()
    lost.handle(.lineFault)
    lost.run(30)
    #expect(lost.reach(.off))
    lost.forget()
    lost.run(60)
    #expect(lost.timeToFix() > 0)
    #expect(lost.violations.isEmpty)
  }

  @Test("PWR-8: a drain that is asked for meanwhile is answered")
  func drains() {
    let bench = bench(lineSpeed: 9_600)
    #expect(bench.reach(.tracking))
    bench.run(75)
    bench.handle(.goal(.off))
    bench.run(1.5)
    bench.handle(.drain)
    bench.run(1)
    #expect(bench.told.contains(.drained))
  }
}
