import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let configuration = "inUBX=1 outUBX=1 nmea=0 pvt=1 rate=1000 power=0"

@Suite("Poll of the configuration") struct ConfigurationPollTests {
  /// A configured receiver in standby, with earlier records cleared.
  private func asleep(_ setup: ReceiverSetup = ReceiverSetup()) -> DriverBench {
    let bench = DriverBench(setup)
    bench.reach(.tracking)
    bench.run(3)
    bench.reach(.standby)
    bench.run(60)
    bench.clearRecords()
    return bench
  }

  @Test(
    "PWR-6: if all values are equal, a start sends one command and writes nothing",
    arguments: [UInt32(9_600), 38_400, 115_200])
  func equal(_ speed: UInt32) {
    let bench = asleep(ReceiverSetup(lineSpeed: speed, hasWakePin: true))
    let repeats = bench.driver.counters.repeats
    for _ in 0..<3 {
      bench.reach(.tracking)
      #expect(bench.commands() == ["poll"])
      #expect(bench.reported == [.reached(.tracking)])
      bench.run(5)
      #expect(bench.emitted.count >= 4)
      bench.reach(.standby)
      bench.clearRecords()
    }
    #expect(
      bench.driver.counters.repeats == repeats && bench.driver.counters.configurationsLost == 0)
    bench.expectClean()
  }

  @Test(
    "PWR-6: if another program has changed a value, the configuration is written",
    arguments: [
      (M10Key.uart1OutProtNMEA, 1), (M10Key.navPVTOnUART1, 0), (M10Key.navPVTOnUART1, 2),
      (M10Key.rateMeas, 200), (M10Key.pmOperateMode, 2),
    ] as [(UInt32, UInt64)])
  func oneDiffers(_ key: UInt32, _ value: UInt64) {
    let bench = asleep()
    bench.receiver.set(key, value)
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll", configuration])
    #expect(bench.receiver.value(key) != value)
    bench.run(3)
    bench.expectClean()
  }

  @Test("PWR-6: values of another layer than the one in force do not count")
  func otherLayer() {
    let bench = asleep()
    bench.receiver.answeredLayer = .defaults
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll", configuration])
    bench.expectClean()
  }

  @Test("PWR-6: after a loss of battery-backed RAM the configuration is written")
  func lostBackup() {
    let bench = asleep()
    bench.receiver.loseBackup()
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll", configuration])
    bench.reach(.standby)
    bench.clearRecords()
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll"], "it was written to battery-backed RAM as well")
    bench.expectClean()
  }

  @Test("PWR-6: a lost line speed is found and set, and the configuration is written")
  func lostSpeed() {
    let bench = asleep(Setups.plain)
    bench.receiver.loseBackup()
    bench.reach(.tracking)
    #expect(bench.commands() == ["probe", "baud=115200", "poll", configuration])
    bench.expectClean()
  }

  @Test("PWR-6: after a NAK the configuration is written; the poll is not sent again until a loss")
  func rejected() {
    let bench = asleep()
    bench.receiver.rejectsPoll = true
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll", configuration])
    #expect(bench.driver.counters.refusals == 1)
    bench.reach(.standby)
    bench.clearRecords()
    bench.reach(.tracking)
    #expect(bench.commands() == ["probe", configuration])
    bench.receiver.rejectsPoll = false
    bench.step(.lineFault)
    bench.runUntilIdle()
    #expect(bench.commands().suffix(1) == ["poll"])
    bench.expectClean()
  }

  @Test("PWR-6: after three polls without an answer, the receiver is probed and written as before")
  func ignored() {
    let bench = asleep()
    bench.receiver.ignoresPoll = true
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll", "poll", "poll", "probe", configuration])
    #expect(bench.driver.counters.losses == 0)
    bench.receiver.ignoresPoll = false
    bench.reach(.standby)
    bench.clearRecords()
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll"], "answers that were lost do not disable the poll")
    bench.expectClean()
  }

  @Test("A lost answer to the poll is requested again", arguments: [1, 2])
  func repeated(_ lost: Int) {
    let bench = asleep()
    bench.receiver.lostAnswers = lost
    bench.reach(.tracking)
    #expect(bench.commands() == [String](repeating: "poll", count: lost + 1))
    #expect(bench.driver.counters.repeats == UInt32(lost))
    bench.expectClean()
  }

  @Test("PWR-6: fixes before the answer do not count")
  func earlyFixes() {
    let bench = asleep(ReceiverSetup(hasWakePin: true))
    bench.receiver.answerDelay = .milliseconds(1_150)
    let before = bench.driver.counters.unconfiguredEpochs
    bench.reach(.tracking)
    #expect(bench.driver.counters.unconfiguredEpochs > before)
    #expect(bench.emitted.isEmpty)
    bench.run(3)
    #expect(!bench.emitted.isEmpty)
    bench.expectClean()
  }

  @Test("PWR-6: silence while tracking is followed by the poll, without a write")
  func silence() {
    let bench = DriverBench(ReceiverSetup())
    bench.reach(.tracking)
    bench.receiver.isSilent = true
    while bench.driver.state == .tracking { bench.run(0.1) }
    bench.clearRecords()
    bench.receiver.isSilent = false
    bench.runUntilIdle()
    bench.run(3)
    #expect(bench.driver.state == .tracking)
    #expect(!bench.commands().contains(configuration))
    bench.expectClean()
  }

  @Test("A goal that needs no configuration is reached with MON-VER")
  func standby() {
    let bench = DriverBench(ReceiverSetup())
    bench.reach(.standby)
    #expect(bench.commands().prefix(1) == ["probe"])
  }

  @Test("An M8, which has no CFG-VALGET, is probed with MON-VER")
  func olderReceiver() {
    var driver = UBloxDriver(ReceiverSetup(family: .ubloxM8))
    _ = driver.handle(.goal(.tracking), at: .boot)
    _ = driver.handle(.deadline, at: driver.deadline ?? .boot)
    #expect(driver.state == .probing && driver.link.exchange.lastSent == .probe)
  }

  @Test("Flash is never written, and every configuration fits in one answer")
  func layers() {
    for power in [nil, UBloxPowerMode.full, .cyclic] {
      for output in [ReceiverOutput.ubx, .nmea] {
        let setup = ReceiverSetup(output: output)
        let items = UBloxCommand.configuration(power).items(for: setup)
        #expect(items.layers == UBXLayers.ram.union(.batteryBacked))
        #expect(items.count <= UBXConfigurationValues.capacity)
      }
    }
  }
}
