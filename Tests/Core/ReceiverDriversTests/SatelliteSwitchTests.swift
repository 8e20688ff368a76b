import GNSSProtocols
import LocationTypes
import SimulatedHAL
import Testing

@testable import ReceiverDrivers

@Suite("Satellites in view are switched on while they are watched") struct SatelliteSwitchTests {
  /// A bench that tracks, with all records cleared.
  private static func tracking(
    _ family: ReceiverFamily, lineSpeed: UInt32 = 38_400
  ) -> FamilyBench {
    let bench = FamilyBench(Families.setup(family, lineSpeed: lineSpeed), hasSky: true)
    #expect(bench.reach(.tracking))
    bench.run(20)
    bench.clearRecords()
    return bench
  }

  /// The bytes in which a family switches them on, and the start of those in which it switches them off.
  private static func commands(_ family: ReceiverFamily) -> (on: [String], off: [String]) {
    switch family {
    case .mtk:
      (
        ["$PMTK314,0,1,0,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0*28\r\n"],
        ["$PMTK314,0,1,0,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0*29\r\n"]
      )
    case .airoha: (["$PAIR062,3,1*3C\r\n"], ["$PAIR062,3,0*3D\r\n"])
    case .casic:
      (
        ["$PCAS03,1,0,1,1,1,0,0,0,0,0,,,0,0*02\r\n$PCAS06,0*1B\r\n"],
        ["$PCAS03,1,0,1,0,1,0,0,0,0,0,,,0,0*03\r\n$PCAS06,0*1B\r\n"]
      )
    case .teseo: (["$PSTMNMEAREQUEST,80000,0*44\r\n"], [])
    case .ubloxM8, .ubloxM10, .passive: ([], [])
    }
  }

  @Test(
    "each family sends them after the command, and not after the next one; fixes continue",
    arguments: Families.all)
  func switches(_ family: ReceiverFamily) {
    let bench = Self.tracking(family)
    bench.run(10)
    #expect(bench.written.isEmpty && bench.satelliteMessages == 0)
    let counters = bench.counters
    bench.clearRecords()
    bench.handle(.satellites(true))
    bench.run(10)
    #expect(bench.satelliteMessages >= 9, "\(bench.satelliteMessages)")
    #expect(bench.fixes.count >= 9)
    if !family.isUBlox { #expect(bench.sentences.first == Self.commands(family).on.first) }
    if family == .teseo {
      #expect(bench.sentences.count >= 9 && Set(bench.sentences).count == 1)
    } else {
      #expect(bench.written.count == (family == .ubloxM8 ? 2 : 1))
    }
    bench.clearRecords()
    bench.handle(.satellites(false))
    bench.run(5)
    let messages = bench.satelliteMessages
    bench.run(20)
    #expect(bench.satelliteMessages == messages)
    #expect(bench.fixes.count >= 24)
    if !family.isUBlox { #expect(bench.sentences == Self.commands(family).off) }
    // A lost configuration, a loss or a recovery would be reported.
    #expect(bench.reported.isEmpty, "\(bench.reported)")
    #expect(bench.counters.configurationsLost == counters.configurationsLost)
    #expect(bench.counters.refusals == counters.refusals)
    #expect(bench.counters.unconfiguredEpochs == counters.unconfiguredEpochs)
    #expect(bench.activity == .running)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("u-blox receivers switch NAV-SAT and NAV-DOP, in RAM only")
  func ublox() {
    func frames(_ command: UBloxCommand, _ family: ReceiverFamily) -> [[UInt8]] {
      let setup = ReceiverSetup(family: family, lineSpeed: 38_400)
      return (0..<command.partCount(for: setup)).map {
        bytes(of: command.frame(part: $0, for: setup))
      }
    }
    func hex(_ text: String) -> [UInt8] {
      text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }
    #expect(
      frames(.satellites(every: 1), .ubloxM8) == [
        hex("B5 62 06 01 08 00 01 35 00 01 00 00 00 00 46 23"),
        hex("B5 62 06 01 08 00 01 04 00 01 00 00 00 00 15 CC"),
      ])
    // A save of the power mode while they are on has also saved them.
    #expect(frames(.satellites(every: 0), .ubloxM8).count == 3)
    let items = frames(.satellites(every: 2), .ubloxM10)
    #expect(items.count == 1)
    // RAM; CFG-MSGOUT-UBX_NAV_SAT_UART1 and CFG-MSGOUT-UBX_NAV_DOP_UART1.
    #expect(
      Array(items[0].dropFirst(6).dropLast(2))
        == hex("00 01 00 00 16 00 91 20 02 39 00 91 20 02"))
    let setup = ReceiverSetup(family: .ubloxM8)
    #expect(UBloxCommand.satellites(every: 1).answer(part: 1, for: setup) == .cfgMSG)
    #expect(UBloxCommand.satellites(every: 0).answer(part: 2, for: setup) == .cfgCFG)
  }

  @Test(
    "at most one report a second, at most half of the line, at most what the family can set",
    arguments: [
      (.ubloxM10, 9_600, 1_000, 2), (.ubloxM10, 38_400, 1_000, 1), (.ubloxM10, 115_200, 100, 10),
      (.ubloxM10, 4_800, 1_000, 3), (.ubloxM10, 4_800, 25, 117), (.ubloxM10, 9_600, 10_000, 1),
      (.mtk, 9_600, 1_000, 2), (.mtk, 115_200, 100, 5), (.casic, 9_600, 100, 9),
      (.airoha, 9_600, 100, 15), (.teseo, 9_600, 100, 15),
    ] as [(ReceiverFamily, UInt32, UInt16, UInt8)])
  func rates(_ family: ReceiverFamily, _ speed: UInt32, _ interval: UInt16, _ rate: UInt8) {
    let setup = ReceiverSetup(
      family: family, lineSpeed: speed, interval_ms: interval, output: family.isUBlox ? .ubx : .nmea
    )
    #expect(setup.satelliteRate == rate)
    #expect(setup.satelliteInterval == .milliseconds(Int64(interval) * Int64(rate)))
  }

  @Test(
    "a receiver that sleeps is not switched, and switched on after it wakes",
    arguments: Families.all)
  func asleep(_ family: ReceiverFamily) {
    let bench = Self.tracking(family)
    #expect(bench.reach(.standby))
    bench.clearRecords()
    bench.handle(.satellites(true))
    bench.handle(.satellites(false))
    bench.handle(.satellites(true))
    bench.run(60)
    #expect(bench.written.isEmpty && bench.satelliteMessages == 0)
    #expect(bench.reach(.tracking))
    bench.run(20)
    #expect(bench.satelliteMessages >= 5)
    #expect(bench.reach(.standby))
    bench.clearRecords()
    bench.run(60)
    #expect(bench.satelliteMessages == 0)
    #expect(bench.reach(.tracking))
    bench.run(20)
    #expect(bench.satelliteMessages >= 5)
    #expect(bench.counters.configurationsLost == 0 && bench.counters.losses == 0)
    #expect(bench.counters.failedStandbys == 0)
    #expect(bench.violations.isEmpty, "\(bench.violations)")
  }

  @Test("a lost answer is repeated once, a rejection ends the attempts", arguments: Families.all)
  func failures(_ family: ReceiverFamily) {
    guard family != .teseo else { return }
    let lost = Self.tracking(family)
    let repeats = lost.counters.repeats
    lost.tampering = .drop(lost.acknowledgements)
    lost.handle(.satellites(true))
    lost.run(10)
    // An M8 has a message each for NAV-SAT and NAV-DOP, which are repeated together.
    #expect(lost.counters.repeats == repeats + (family == .ubloxM8 ? 2 : 1))
    #expect(lost.satelliteMessages >= 5)
    // A receiver with sentences that rejects the command and sends GSV has lost its configuration.
    guard family.isUBlox else { return }
    let rejecting = Self.tracking(family)
    rejecting.tampering = .reject(rejecting.acknowledgements)
    rejecting.handle(.satellites(true))
    rejecting.run(30)
    #expect(rejecting.written.count == 1 && rejecting.counters.refusals == 1)
    #expect(rejecting.fixes.count >= 28 && rejecting.activity == .running)
    #expect(rejecting.reported.isEmpty)
    // A new request is tried again.
    rejecting.clearRecords()
    rejecting.handle(.satellites(true))
    rejecting.run(5)
    #expect(rejecting.written.count >= 1)
  }

  @Test("without answers the receiver tracks on after six commands, and the goal is not blocked")
  func silence() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.clearRecords()
    bench.receiver.lostAnswers = 100
    bench.step(.satellites(true))
    bench.run(30)
    #expect(bench.commands().count == 6)
    #expect(bench.driver.state == .tracking)
    #expect(bench.reported.isEmpty)
    bench.receiver.lostAnswers = 0
    bench.step(.satellites(true))
    #expect(bench.driver.state == .switchingSatellites)
    // A new goal does not wait for the answer.
    bench.step(.goal(.standby))
    #expect(bench.driver.state == .fallingAsleep)
    #expect(bench.runUntilIdle())
    bench.expectClean()
  }

  @Test("they are off before batching begins, and on again after it")
  func batching() {
    let bench = DriverBench(Setups.wired)
    bench.step(.satellites(true))
    bench.reach(.tracking)
    bench.run(3)
    #expect(bench.receiver.value(M10Key.navSATOnUART1) == 1)
    #expect(bench.receiver.value(M10Key.navDOPOnUART1) == 1)
    #expect(bench.receiver.backup[M10Key.navSATOnUART1] == nil)
    bench.clearRecords()
    #expect(bench.reach(.batching(watermark: 20)))
    #expect(bench.states.first == .switchingSatellites)
    #expect(bench.receiver.value(M10Key.navSATOnUART1) == 0)
    bench.step(.satellites(false))
    bench.step(.satellites(true))
    #expect(bench.driver.state == .batching)
    bench.run(10)
    #expect(bench.reach(.tracking))
    #expect(bench.receiver.value(M10Key.navSATOnUART1) == 1)
    bench.run(3)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("they are on again after a restart of the receiver", arguments: Families.sentences)
  func restart(_ family: ReceiverFamily) {
    var faults = FaultPlan()
    faults.configurationLosses = [Instant(seconds: 100)]
    let bench = FamilyBench(Families.setup(family, lineSpeed: 9_600), faults: faults, hasSky: true)
    bench.handle(.satellites(true))
    #expect(bench.reach(.tracking))
    bench.run(90)
    bench.run(60)
    let messages = bench.satelliteMessages
    bench.run(20)
    #expect(bench.satelliteMessages >= messages + 8)
    #expect(bench.reported.contains(.recovered))
  }

  @Test(
    "a u-blox receiver that sends them since an earlier run is switched off, in bounded attempts")
  func leftover() {
    let setup = ReceiverSetup(lineSpeed: 115_200)
    let bench = DriverBench(setup)
    bench.reach(.tracking)
    bench.run(5)
    bench.clearRecords()
    let satellites = DriverEvent.message(
      .navigation(.satellites(UBXSatellites(timeOfWeek_ms: 0))))
    for _ in 1...5 {
      bench.step(satellites)
      bench.run(5)
      #expect(bench.driver.state == .tracking)
      #expect(bench.receiver.value(M10Key.navSATOnUART1) == 0)
    }
    #expect(bench.commands().count == 5)
    bench.receiver.lostAnswers = 1_000
    bench.clearRecords()
    bench.step(satellites)
    bench.run(30)
    for _ in 0..<5 {
      bench.step(satellites)
      bench.run(5)
    }
    #expect(bench.commands().count <= 6)
    #expect(bench.reported.isEmpty)
  }

  @Test("a u-blox receiver with sentences sends GSV by itself and is not switched")
  func sentences() {
    let bench = DriverBench(ReceiverSetup(lineSpeed: 115_200, output: .nmea))
    bench.reach(.tracking)
    bench.clearRecords()
    bench.step(.satellites(true))
    bench.run(5)
    #expect(bench.commands().isEmpty)
    #expect(bench.driver.state == .tracking)
  }
}
