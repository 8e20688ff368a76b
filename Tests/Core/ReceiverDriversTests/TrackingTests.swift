import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

private let configuration = "inUBX=1 outUBX=1 nmea=0 pvt=1 rate=1000 power=0"

@Suite("Configuration and tracking") struct TrackingTests {
  @Test("PWR-6: fixes count only after the acknowledgement of the configuration")
  func fixesCountWhenConfigured() {
    let bench = DriverBench(ReceiverSetup(lineSpeed: 9_600))
    bench.receiver.answerDelay = .milliseconds(400)
    bench.reach(.tracking)
    #expect(bench.reported == [.reached(.tracking)])
    #expect(bench.commands() == ["poll", configuration])
    bench.run(10)
    // The first epoch arrived as NMEA, before the configuration.
    #expect(bench.emitted.first == 2)
    #expect(bench.emitted.count >= 9)
    #expect(bench.driver.counters.unconfiguredEpochs == 1)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test(
    "PWR-6, PWR-12: fixes of a receiver that was silent when probed count once it is configured")
  func silentThenBack() {
    let bench = DriverBench(ReceiverSetup(lineSpeed: 9_600))
    bench.receiver.isSilent = true
    bench.step(.goal(.tracking))
    while bench.driver.state != .lost || bench.driver.link.retryCounters.losses < 5 { bench.run(1) }
    bench.receiver.isSilent = false
    bench.run(5)
    #expect(
      bench.driver.state == .lost && bench.emitted.isEmpty && !bench.driver.status.isStreaming)
    bench.run(40)
    #expect(bench.reported.last == .reached(.tracking) && !bench.emitted.isEmpty)
    #expect(!bench.driver.status.isStreaming)
  }

  @Test("A receiver at its default speed is found, switched to the line's speed and followed")
  func followsSpeed() {
    let bench = DriverBench(Setups.plain)
    #expect(bench.reach(.tracking))
    #expect(bench.commands() == ["probe", "baud=115200", "poll", configuration])
    #expect(bench.receiver.speed == 115_200)
    #expect(bench.states.contains(.probingDefault))
    bench.run(5)
    #expect(bench.emitted.count == 5)
    bench.expectClean()
  }

  @Test("After a lost acknowledgement of the speed change, the new speed is tried")
  func speedWithoutAnswer() {
    let bench = DriverBench(Setups.plain)
    bench.step(.goal(.tracking))
    while bench.driver.state != .changingSpeed { bench.run(0.01) }
    bench.receiver.lostAnswers = 1
    #expect(bench.runUntilIdle())
    #expect(bench.reported == [.reached(.tracking)])
  }

  @Test("NMEA output: sentences on, NAV-PVT off, and the epochs count")
  func nmea() {
    let bench = DriverBench(ReceiverSetup(output: .nmea))
    bench.reach(.tracking)
    #expect(bench.commands() == ["poll"], "an unconfigured receiver has these values")
    bench.run(10)
    #expect(bench.emitted.count >= 8)
    bench.expectClean()
    bench.expectWhole()
  }

  @Test("A lost answer is requested again, three times in all", arguments: [1, 2])
  func repeats(_ lost: Int) {
    let bench = DriverBench(ReceiverSetup())
    bench.step(.goal(.tracking))
    while bench.driver.state != .configuring { bench.run(0.01) }
    bench.receiver.lostAnswers = lost
    #expect(bench.runUntilIdle())
    #expect(bench.driver.counters.repeats == UInt32(lost))
    #expect(bench.reported == [.reached(.tracking)])
    #expect(bench.commands().filter { $0 == configuration }.count == lost + 1)
  }

  @Test("DEF-43: after three lost answers the receiver counts as lost: reported once, then retried")
  func losesAfterThree() {
    let bench = DriverBench(ReceiverSetup())
    bench.step(.goal(.tracking))
    while bench.driver.state != .configuring { bench.run(0.01) }
    bench.receiver.lostAnswers = 3
    #expect(bench.runUntilIdle())
    #expect(bench.reported == [.lost, .recovered, .reached(.tracking)])
    #expect(bench.driver.counters.losses == 1)
    bench.expectClean()
  }

  @Test("A rejected configuration is retried, then reported, and retried later")
  func refusedConfiguration() {
    let bench = DriverBench(ReceiverSetup())
    // Once with the power mode keys, then without.
    bench.receiver.rejections = 4
    #expect(bench.reach(.tracking))
    #expect(bench.driver.counters.refusals == 4)
    #expect(bench.reported == [.lost, .recovered, .reached(.tracking)])
  }

  @Test("DEF-43: a silent receiver is probed indefinitely, at most once a minute")
  func backOff() {
    let bench = DriverBench(ReceiverSetup())
    bench.receiver.isSilent = true
    bench.step(.goal(.tracking))
    bench.run(600)
    #expect(bench.reported == [.lost])
    let losses = bench.driver.counters.losses
    #expect(losses >= 8)
    bench.run(600)
    let more = bench.driver.counters.losses - losses
    #expect((7...10).contains(more))
    bench.receiver.isSilent = false
    #expect(bench.runUntilIdle(200))
    #expect(bench.reported == [.lost, .recovered, .reached(.tracking)])
    bench.expectClean()
  }

  @Test("The back-off doubles from one second to a minute")
  func backOffDoubles() {
    let bench = DriverBench(ReceiverSetup())
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

  @Test("A reset while tracking is detected by NMEA output, and the receiver is configured again")
  func resetWhileTracking() {
    let bench = DriverBench(ReceiverSetup())
    bench.reach(.tracking)
    bench.run(20)
    bench.clearRecords()
    bench.receiver.reset(at: bench.now)
    bench.run(5)
    #expect(bench.reported == [.recovered, .reached(.tracking)])
    #expect(bench.driver.counters.configurationsLost == 1)
    #expect(bench.emitted.count >= 2)
    bench.expectClean()
  }

  @Test("Silence while tracking starts a probe, and a receiver at another speed is found again")
  func silence() {
    let bench = DriverBench(Setups.plain)
    bench.reach(.tracking)
    bench.run(20)
    bench.clearRecords()
    // Its sentences now arrive at 9600 baud and cannot be decoded.
    bench.receiver.reset(at: bench.now)
    bench.run(30)
    #expect(bench.driver.state == .tracking)
    #expect(bench.receiver.speed == 115_200)
    #expect(bench.commands().contains("baud=115200"))
    bench.expectClean()
  }

  @Test("A line that disappears is reported as a loss, and its return as a recovery")
  func lineFault() {
    let bench = DriverBench(ReceiverSetup())
    bench.reach(.tracking)
    bench.clearRecords()
    bench.step(.lineFault)
    #expect(bench.reported == [.lost])
    bench.step(.lineFault)
    #expect(bench.runUntilIdle())
    #expect(bench.reported == [.lost, .recovered, .reached(.tracking)])
    bench.expectClean()
  }

  @Test("Garbage between answers is ignored")
  func garbage() {
    let bench = DriverBench(ReceiverSetup())
    bench.step(.goal(.tracking))
    for i in 0..<20 {
      bench.receiver.garble([0xB5, UInt8(i), 0x62, 0x24, 0xFF], at: bench.now)
      bench.run(0.1)
    }
    bench.runUntilIdle()
    #expect(bench.reported == [.reached(.tracking)])
    bench.expectClean()
  }

  @Test("A late answer to a repeated command does not count for the next command")
  func staleAnswers() {
    let bench = DriverBench(Setups.wired)
    bench.reach(.tracking)
    bench.clearRecords()
    // The answers arrive after the driver's timeout: each command is sent twice.
    bench.receiver.answerDelay = bench.driver.link.answerTimeout + .milliseconds(100)
    bench.step(.goal(.batching(watermark: 250)))
    while bench.driver.state == .enabling { bench.run(0.01) }
    bench.receiver.answerDelay = .milliseconds(20)
    bench.receiver.rejections = 0
    #expect(bench.driver.state == .muting)
    bench.run(0.3)
    // Only the answer to muting may have ended muting.
    if bench.driver.state == .batching { #expect(bench.receiver.value(M10Key.navPVTOnUART1) == 0) }
    bench.runUntilIdle()
    #expect(bench.receiver.value(M10Key.navPVTOnUART1) == 0)
    bench.expectClean()
  }
}
