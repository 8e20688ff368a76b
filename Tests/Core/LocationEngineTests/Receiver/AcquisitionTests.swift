import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

@Suite("Acquisition of a first fix")
struct AcquisitionTests {
  /// A background client on a board whose receiver needs 30 s cold, 10 s after 100 s of standby.
  private func acquiring(canStandby: Bool) -> EngineBench {
    let bench = EngineBench(connects: false) {
      $0.parameters.inputBufferTime = .seconds(40)
      $0.parameters.receiver.timeToFix.append(off: .zero, fix: .seconds(1))
      $0.parameters.receiver.timeToFix.append(off: .seconds(100), fix: .seconds(10))
      $0.parameters.canStandby = canStandby
      $0.parameters.canSwitchOff = true
      $0.receiver?.hasSupplySwitch = !canStandby
    }
    bench.client.connect(in: .background)
    bench.client.start()
    #expect(bench.plan.board == .idle && bench.plan.wakesOnInput)
    // The supply is stable, and one message was received: the times of the next ones are known.
    bench.run(1)
    bench.noFix()
    return bench
  }

  @Test(
    "PWR-12, STD-10: fixes of a receiver that answers no command are delivered, without error 0")
  func streaming() {
    let bench = EngineBench { $0.receiver = ReceiverSetup(family: .ubloxM8) }
    bench.sendsNMEA = true
    bench.fixes(count: 120)
    #expect(bench.client.fixes.count > 60, "\(bench.client.fixes.count)")
    #expect(bench.engine.receiverReport(at: bench.now)?.isStreaming == true)
    #expect(bench.engine.receiverReport(at: bench.now)?.isResponding == false)
    bench.client.clearRecords()
    bench.client.request(.stopUpdating)
    bench.client.request(.startUpdating)
    #expect(!bench.client.text.contains("fail(0)"), "\(bench.client.text)")
    // The receiver cannot batch or sleep: a deferral fails.
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text.contains("finish(11)"), "\(bench.client.text)")
  }

  @Test("input is not read before the earliest first fix, 30 s after a cold start")
  func cold() {
    let bench = acquiring(canStandby: false)
    let start = bench.now - .seconds(1)
    #expect(!bench.plan.wakesOnInput && bench.plan.board == .idle)
    #expect(bench.plan.wake - start >= .seconds(30) && bench.plan.wake - start < .seconds(33))
    bench.foreground()
    #expect(bench.plan.wakesOnInput)
  }

  @Test("after standby the off time decides the start; after a power off the receiver starts cold")
  func offBefore() {
    for canStandby in [true, false] {
      let bench = acquiring(canStandby: canStandby)
      bench.fixes(count: 1)
      #expect(bench.plan.wakesOnInput)
      bench.client.stop()
      bench.run(100)
      bench.client.start()
      let start = bench.now
      bench.run(1)
      bench.noFix()
      let expected: Int64 = canStandby ? 10 : 30
      #expect(!bench.plan.wakesOnInput)
      #expect(bench.plan.wake - start >= .seconds(expected))
      #expect(bench.plan.wake - start < .seconds(expected + 3))
    }
  }

  @Test("after a lost fix every message is read")
  func lostFix() {
    let bench = acquiring(canStandby: true)
    bench.fixes(count: 2)
    #expect(bench.plan.wakesOnInput)
    bench.run(1)
    bench.noFix()
    #expect(bench.plan.wakesOnInput && bench.plan.board == .idle)
  }

  @Test("STD-10: sleep of the receiver does not count as acquisition")
  func asleep() {
    let bench = acquiring(canStandby: true)
    bench.fixes(count: 1)
    bench.client.stop()
    bench.run(1_000)
    bench.client.start()
    bench.run(59)
    #expect(bench.client.failures.isEmpty)
    bench.run(2)
    #expect(bench.client.failures == [.locationUnknown])
  }

  @Test("STD-7: after a step back of UTC, fixes stay in order", arguments: [18.0, 100, 3_600])
  func stepBack(_ step: Double) {
    let bench = EngineBench()
    bench.fixes(count: 5)
    bench.utcError = .zero - Interval(seconds: step)
    bench.fixes(count: 5)
    let times = bench.client.fixes.map(\.fix.acquired)
    #expect(times == times.sorted())
    #expect(times.last == bench.now)
    // A step larger than any delay is detected immediately.
    if step > 120 { #expect(times[5] == bench.now - .seconds(4)) }
  }

  @Test("STD-7: fixes of a long batch have their own times")
  func longBatch() {
    let bench = BoardBench(watermark: 250)
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(300)
    #expect(bench.appended.count > 250)
    for fix in bench.appended.dropFirst(3) {
      let truth = Instant.boot + ((fix.fix.utc ?? EngineBench.base) - bench.origin)
      #expect(abs((fix.fix.acquired - truth).seconds) < 0.5)
    }
  }
}
