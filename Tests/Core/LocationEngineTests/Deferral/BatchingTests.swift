import LocationPolicy
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationEngine

@Suite("A receiver that batches")
struct BatchingTests {
  @Test("PWR-2: an engaged deferral wakes the host once a full cache, and for no more than 2 s")
  func headline() {
    let bench = BoardBench.deferring(limit: 30)
    bench.fixes(count: 3_600, every: .seconds(1))
    let batches = bench.client.batches.map(\.count)
    #expect(batches.allSatisfy { $0 >= 30 && $0 <= 32 })
    #expect(batches.count >= 112)
    #expect(bench.hostWakes <= 3_600 / 30 + 1)
    #expect(bench.busySeconds <= 2.0 * Double(bench.hostWakes))
    // Of that only the resumes are spent awake: commands and drains are waited for.
    #expect(bench.awakeSeconds <= 0.5 * Double(bench.hostWakes))
    bench.expectWhole()
  }

  @Test("DEF-33: the receiver's buffer is drained at the watermark, and not before")
  func watermark() {
    let bench = BoardBench.deferring(watermark: 50)
    bench.run(40)
    #expect(bench.hostWakes == 0)
    bench.run(20)
    #expect(bench.hostWakes == 1)
    #expect(bench.client.story.isEmpty)
    bench.run(500)
    #expect(bench.hostWakes == 11)
    bench.client.disallow()
    bench.run(2)
    bench.expectWhole()
  }

  @Test("DEF-33: without a pin the clock tells when it is full")
  func noPin() {
    let bench = BoardBench.deferring(limit: 40, hasPin: false)
    bench.run(1_000)
    #expect((20...26).contains(bench.hostWakes))
    #expect(bench.client.batches.count >= 20)
    bench.expectWhole()
  }

  @Test("DEF-33: a pin that fails costs no fix: the clock drains before the buffer is full")
  func brokenPin() {
    let bench = BoardBench { board, _ in board.receiver.hasBatchPin = false }
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.settle()
    bench.run(1_000)
    #expect(bench.counters.batchDrops == 0)
    #expect((3...5).contains(bench.hostWakes))
    bench.expectWhole()
  }

  @Test(
    "DEF-18: with what the receiver holds it ends on time: alarm, resume and drain at most late")
  func timeout() {
    let bench = BoardBench()
    bench.run(20)
    let call = bench.now
    bench.client.forget()
    bench.client.defer(untilTraveled: .unlimited, timeout: 100)
    bench.run(105)
    let late = (bench.client.time(of: .finish(nil)) ?? .distantFuture) - call
    // Alarm 1 s, resume 0.3 s; 100 entries of 108 bytes at 38,400 baud and two answers.
    #expect(late >= .seconds(100) && late <= .seconds(100) + .milliseconds(1_300 + 3_000))
    // X1, DEF-34: the finish, and at once one batch of all.
    guard bench.client.story.count >= 2, case .finish(nil) = bench.client.story[0],
      case .batch = bench.client.story[1]
    else {
      Issue.record("finish and batch are adjacent: \(bench.client.text)")
      return
    }
    #expect((97...104).contains(bench.client.batches[0].count))
    #expect(bench.client.times[0] == bench.client.times[1])
    let last = bench.client.batches[0].last?.fix.acquired ?? .boot
    #expect(last >= call + .seconds(99))
    bench.expectWhole()
  }

  @Test("DEF-21: the distance is looked at no later than it can have been travelled")
  func distance() {
    for speed in [3.0, 30, 60] {
      let bench = BoardBench(speed: speed)
      bench.run(20)
      bench.forget()
      bench.client.onFinish = [.allowDeferred(distance: .infinity, timeout: .infinity)]
      let start = bench.appended.last?.fix.coordinate ?? Scenario.home
      bench.client.defer(untilTraveled: 2_000, timeout: .unlimited)
      bench.run(2_000 / speed + 30)
      #expect(bench.client.finishes == [nil], "at \(speed) m/s")
      guard let index = bench.client.story.firstIndex(of: .finish(nil)),
        case .batch(let range) = bench.client.story[index + 1]
      else {
        Issue.record("a batch follows the finish")
        continue
      }
      let travelled = start.localDistance(to: bench.appended[Int(range.upperBound)].fix.coordinate)
      // The meter's gate, and one fix interval; what lies in the drain beyond is another's.
      #expect(travelled >= 2_000 && travelled <= 2_000 + speed + 20)
      let end = bench.client.times[index]
      let truth = speed * (end - .boot).seconds - start.localDistance(to: Scenario.home)
      // The shortest poll is 5 s; a second for the meter, the drain and the alarm each.
      #expect(truth <= 2_000 + speed * 8 + 20, "\(truth) m at \(speed) m/s")
      #expect(bench.hostWakes <= 100, "\(bench.hostWakes) at \(speed) m/s")
      bench.expectWhole()
    }
  }

  @Test(
    "DEF-21: a client that asks something now and then does not put off the look at its distance")
  func talkative() {
    let bench = BoardBench(speed: 30)
    bench.run(20)
    bench.forget()
    bench.client.defer(untilTraveled: 900, timeout: .unlimited)
    for _ in 0..<25 {
      bench.run(2)
      bench.client.ask(.setDesiredAccuracy(LocationAccuracy.best))
    }
    #expect(bench.client.finishes == [nil])
  }

  @Test("DEF-29: a deferral with a distance beside a live client does not keep the host spinning")
  func armedDistance() {
    let bench = BoardBench(clients: 2, speed: 1)
    bench.run(10)
    bench.client.defer(untilTraveled: 100_000, timeout: .unlimited)
    let before = bench.turns
    bench.run(300)
    #expect(bench.turns - before < 20_000)
    #expect(bench.awakeSeconds < 60)
    #expect(bench.client.sequences == bench.clients[1].sequences)
    bench.expectWhole()
  }

  @Test("DEF-35: the fix that met the criterion is last; later ones of the drain go on one by one")
  func last() {
    let bench = BoardBench(speed: 30)
    bench.run(20)
    bench.forget()
    bench.client.defer(untilTraveled: 1_500, timeout: .unlimited)
    bench.run(90)
    guard case .finish(nil)? = bench.client.story.first else {
      Issue.record("\(bench.client.text)")
      return
    }
    let batch = bench.client.batches[0]
    let length = batch[0].fix.coordinate.localDistance(to: batch[batch.count - 1].fix.coordinate)
    // One fix interval and one gate at most beyond.
    #expect(length >= 1_430 && length <= 1_560)
    bench.expectWhole()
  }

  @Test("DEF-13: a second call while fixes are still in the receiver: they are the first one's")
  func secondCall() {
    let bench = BoardBench.deferring(.unlimited, 1_000)
    bench.run(30)
    #expect(bench.holdsFixes)
    bench.client.defer(untilTraveled: .unlimited, timeout: 1_000)
    let call = bench.now
    bench.run(5)
    guard bench.client.story.count >= 2, bench.client.story[0] == .finish(.deferredCanceled) else {
      Issue.record("\(bench.client.text)")
      return
    }
    // What was made after the call is the second one's, and may be told before it engages again.
    #expect(bench.client.batches[0].count >= 30 && bench.client.batches.count <= 2)
    let last = bench.client.batches[0].last?.fix.acquired ?? .distantFuture
    #expect(last <= call)
    #expect(bench.state == .engaged)
    bench.expectWhole()
  }

  @Test(
    "DEF-15, DEF-37: cancelled or stopped, what the receiver holds is drained first and told whole")
  func cancelled() {
    for isStop in [false, true] {
      let bench = BoardBench.deferring()
      bench.run(30)
      if isStop { bench.client.stop() } else { bench.client.disallow() }
      let call = bench.now
      bench.run(5)
      let text = bench.client.text
      #expect(bench.client.story.first == .finish(.deferredCanceled))
      #expect(bench.client.batches.first.map { $0.count >= 30 } == true)
      let late = bench.client.fixes.filter { $0.fix.acquired > call + .milliseconds(1_100) }
      if isStop {
        #expect(bench.client.story.count == 2, "\(text)")
        #expect(late.isEmpty, "\(text)")
      } else {
        #expect(!late.isEmpty, "\(text)")
      }
      bench.expectWhole()
    }
  }

  @Test("DEF-27: foreground drains at once and goes on live; background batches again")
  func toForeground() {
    let bench = BoardBench.deferring()
    bench.run(30)
    bench.foreground()
    bench.run(3)
    #expect(bench.client.finishes.isEmpty)
    #expect(bench.client.batches.first.map { $0.count >= 30 } == true)
    #expect(bench.state == .armed)
    bench.run(10)
    #expect(bench.client.fixes.count >= 40)
    bench.background()
    bench.run(5)
    #expect(bench.state == .engaged)
    bench.client.forget()
    bench.run(30)
    #expect(bench.client.story.isEmpty)
    bench.expectWhole()
  }

  @Test("DEF-29: a live client empties the receiver; when it stops the other engages again")
  func liveBeside() {
    let bench = BoardBench.deferring(clients: 2)
    let (deferred, other) = (bench.clients[0], bench.clients[1])
    bench.run(20)
    other.disallow()
    bench.run(10)
    #expect(deferred.finishes.isEmpty && bench.state == .armed)
    #expect(deferred.fixes.count >= 28)
    other.stop()
    bench.run(5)
    #expect(bench.state == .engaged)
    deferred.forget()
    bench.run(20)
    #expect(deferred.story.isEmpty)
    bench.expectWhole()
  }

  @Test("two clients defer: the end of one drains, and leaves the other's fixes cached")
  func twoDeferred() {
    let bench = BoardBench(clients: 2)
    bench.run(10)
    bench.clients[0].defer(untilTraveled: .unlimited, timeout: 30)
    bench.clients[1].defer(untilTraveled: .unlimited, timeout: 100)
    bench.settle()
    bench.clients[0].onFinish = [.allowDeferred(distance: .infinity, timeout: 30)]
    bench.run(82)
    #expect(bench.clients[0].finishes.count >= 2)
    #expect(bench.clients[1].story.isEmpty)
    bench.run(20)
    #expect(bench.clients[1].finishes == [nil])
    #expect(bench.clients[1].batches.first.map { $0.count > 80 } == true)
    bench.expectWhole()
  }

  @Test(
    "DEF-30, BKG-5: no change of foreground, background, suspension or sleep loses, doubles or reorders",
    arguments: 1...12)
  func switching(_ seed: UInt64) {
    let bench = BoardBench(limit: 300, watermark: 20, clients: 2)
    var random = SplitMix64(seed: seed)
    bench.run(10)
    for _ in 0..<60 {
      let client = bench.clients[random.below(2)]
      switch random.below(8) {
      case 7: client.suspend()
      case 0: client.foreground()
      case 1, 2: client.background()
      case 3: bench.inhibit(random.below(2) == 0)
      case 4, 5: client.defer(untilTraveled: .unlimited, timeout: 40)
      default: break
      }
      bench.run(random.fraction() * 12)
    }
    bench.inhibit(false)
    for client in bench.clients {
      client.foreground()
      client.disallow()
    }
    bench.run(10)
    bench.expectWhole()
    for client in bench.clients {
      #expect(client.sequences == Array(0..<UInt64(bench.appended.count)))
    }
  }
}
