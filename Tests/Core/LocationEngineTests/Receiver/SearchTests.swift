import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

@Suite("The search for a first fix")
struct SearchTests {
  /// A background client on a board whose receiver needs 30 s cold, 10 s after 100 s of standby.
  private func searching(canStandby: Bool) -> EngineBench {
    let bench = EngineBench(connects: false) {
      $0.parameters.inputBufferTime = .seconds(40)
      $0.parameters.timeToFix.append(off: .zero, fix: .seconds(1))
      $0.parameters.timeToFix.append(off: .seconds(100), fix: .seconds(10))
      $0.parameters.canStandby = canStandby
      $0.parameters.canSwitchOff = true
      $0.receiver?.hasSupplySwitch = !canStandby
    }
    bench.client.connect(in: .background)
    bench.client.start()
    #expect(bench.plan.board == .idle && bench.plan.wakesOnInput)
    // Supply has settled, and one message was heard: it is known when the others come.
    bench.run(1)
    bench.noFix()
    return bench
  }

  @Test(
    "PWR-12, STD-10: fixes of a receiver that answers no command are delivered, and the client is not told it is away"
  )
  func streaming() {
    let bench = EngineBench { $0.receiver = ReceiverSetup(family: .ubloxM8) }
    bench.sendsNMEA = true
    bench.fixes(count: 120)
    #expect(bench.client.fixes.count > 60, "\(bench.client.fixes.count)")
    #expect(bench.engine.receiverReport(at: bench.now)?.isStreaming == true)
    #expect(bench.engine.receiverReport(at: bench.now)?.isResponding == false)
    bench.client.forget()
    bench.client.ask(.stopUpdating)
    bench.client.ask(.startUpdating)
    #expect(!bench.client.text.contains("fail(0)"), "\(bench.client.text)")
    // It cannot batch or sleep: a deferral is refused.
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text.contains("finish(11)"), "\(bench.client.text)")
  }

  @Test("nobody listens before the first fix can be there: 30 s after a cold start")
  func cold() {
    let bench = searching(canStandby: false)
    let start = bench.now - .seconds(1)
    #expect(!bench.plan.wakesOnInput && bench.plan.board == .idle)
    #expect(bench.plan.wake - start >= .seconds(30) && bench.plan.wake - start < .seconds(33))
    bench.foreground()
    #expect(bench.plan.wakesOnInput)
  }

  @Test("after standby it knows how long it has been off; after a cut supply it starts cold")
  func offBefore() {
    for canStandby in [true, false] {
      let bench = searching(canStandby: canStandby)
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

  @Test("a fix that is lost is listened for: it may be back with the next message")
  func lostFix() {
    let bench = searching(canStandby: true)
    bench.fixes(count: 2)
    #expect(bench.plan.wakesOnInput)
    bench.run(1)
    bench.noFix()
    #expect(bench.plan.wakesOnInput && bench.plan.board == .idle)
  }

  @Test("STD-10: time asleep is no search")
  func asleep() {
    let bench = searching(canStandby: true)
    bench.fixes(count: 1)
    bench.client.stop()
    bench.run(1_000)
    bench.client.start()
    bench.run(59)
    #expect(bench.client.failures.isEmpty)
    bench.run(2)
    #expect(bench.client.failures == [.locationUnknown])
  }

  @Test("STD-7: a step back of UTC takes no fix back in time", arguments: [18.0, 100, 3_600])
  func stepBack(_ step: Double) {
    let bench = EngineBench()
    bench.fixes(count: 5)
    bench.utcError = .zero - Interval(seconds: step)
    bench.fixes(count: 5)
    let moments = bench.client.fixes.map(\.fix.acquired)
    #expect(moments == moments.sorted())
    #expect(moments.last == bench.now)
    // A step that no lateness explains is seen at once.
    if step > 120 { #expect(moments[5] == bench.now - .seconds(4)) }
  }

  @Test("STD-7: fixes out of a long batch bear their own moments")
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
