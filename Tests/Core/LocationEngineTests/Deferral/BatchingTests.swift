import LocationPolicy
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationEngine

@Suite("Batching receiver")
struct BatchingTests {
  @Test("PWR-2: an engaged deferral wakes the host once per full cache, for at most 2 s")
  func wakesPerCache() {
    let bench = BoardBench.deferring(limit: 30)
    bench.fixes(count: 3_600, every: .seconds(1))
    let batches = bench.client.batches.map(\.count)
    #expect(batches.allSatisfy { $0 >= 30 && $0 <= 32 })
    #expect(batches.count >= 112)
    #expect(bench.hostWakes <= 3_600 / 30 + 1)
    #expect(bench.busySeconds <= 2.0 * Double(bench.hostWakes))
    // The host is awake only for the resumes; it idles during commands and drains.
    #expect(bench.awakeSeconds <= 0.5 * Double(bench.hostWakes))
    bench.expectWhole()
  }

  @Test("DEF-33: the receiver's buffer is drained at the watermark, not before")
  func watermark() {
    let bench = BoardBench.deferring(watermark: 50)
    bench.run(40)
    #expect(bench.hostWakes == 0)
    bench.run(20)
    #expect(bench.hostWakes == 1)
    #expect(bench.client.notices.isEmpty)
    bench.run(500)
    #expect(bench.hostWakes == 11)
    bench.client.disallow()
    bench.run(2)
    bench.expectWhole()
  }

  @Test("DEF-33: without a batch pin, the buffer is drained by time")
  func noPin() {
    let bench = BoardBench.deferring(limit: 40, hasPin: false)
    bench.run(1_000)
    #expect((20...26).contains(bench.hostWakes))
    #expect(bench.client.batches.count >= 20)
    bench.expectWhole()
  }

  @Test("DEF-33: with a failed batch pin, the buffer is drained by time and no fix is lost")
  func brokenPin() {
    let bench = BoardBench { board, _ in board.receiver.hasBatchPin = false }
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.runUntilBatching()
    bench.run(1_000)
    #expect(bench.counters.batchDrops == 0)
    #expect((3...5).contains(bench.hostWakes))
    bench.expectWhole()
  }

  @Test(
    "DEF-18: with fixes in the receiver, the timeout is late at most by alarm, resume and drain")
  func timeout() {
    let bench = BoardBench()
    bench.run(20)
    let call = bench.now
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: .unlimited, timeout: 100)
    bench.run(105)
    let late = (bench.client.time(of: .finish(nil)) ?? .distantFuture) - call
    // Alarm 1 s, resume 0.3 s; 100 entries of 108 bytes at 38,400 baud and two answers.
    #expect(late >= .seconds(100) && late <= .seconds(100) + .milliseconds(1_300 + 3_000))
    // X1, DEF-34: the finish, immediately followed by one batch of all fixes.
    guard bench.client.notices.count >= 2, case .finish(nil) = bench.client.notices[0],
      case .batch = bench.client.notices[1]
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

  @Test("DEF-45: with a slack, the end after the timeout joins the next drain and adds no wake")
  func slack() {
    var wakes: [Int] = []
    for (timeout, slack, end) in [
      (Double.infinity, 0.0, nil), (250, 300, 400), (250, 100, 350), (250, 0, 250),
    ] as [(Double, Double, Double?)] {
      let bench = BoardBench(watermark: 200)
      bench.run(20)
      bench.clearRecords()
      bench.client.clearRecords()
      bench.client.onFinish = [.allowDeferred(distance: .infinity, timeout: .infinity)]
      let call = bench.now
      bench.client.request(.allowDeferred(distance: .infinity, timeout: timeout, slack: slack))
      bench.run(985)  // before the fifth drain of the first run
      #expect(bench.client.finishes == (end == nil ? [] : [nil]))
      if let end, let time = bench.client.time(of: .finish(nil)) {
        let late = time - call - .seconds(Int64(end))
        #expect(late >= .zero && late <= .seconds(15), "\(timeout) + \(slack) s: \(late.seconds) s")
      }
      wakes.append(bench.hostWakes)
      bench.expectWhole()
    }
    #expect(wakes[1] == wakes[0], "\(wakes)")
    #expect(wakes[2] > wakes[0] && wakes[3] > wakes[0], "\(wakes)")
  }

  @Test("DEF-21: the distance is checked before it can be exceeded")
  func distance() {
    for speed in [3.0, 30, 60] {
      let bench = BoardBench(speed: speed)
      bench.run(20)
      bench.clearRecords()
      bench.client.onFinish = [.allowDeferred(distance: .infinity, timeout: .infinity)]
      let start = bench.appended.last?.fix.coordinate ?? Scenario.home
      bench.client.defer(untilTraveled: 2_000, timeout: .unlimited)
      bench.run(2_000 / speed + 30)
      #expect(bench.client.finishes == [nil], "at \(speed) m/s")
      guard let index = bench.client.notices.firstIndex(of: .finish(nil)),
        case .batch(let range) = bench.client.notices[index + 1]
      else {
        Issue.record("a batch follows the finish")
        continue
      }
      let travelled = start.localDistance(to: bench.appended[Int(range.upperBound)].fix.coordinate)
      // The odometer's gate and one fix interval; later fixes of the drain are not in the batch.
      #expect(travelled >= 2_000 && travelled <= 2_000 + speed + 20)
      let end = bench.client.times[index]
      let truth = speed * (end - .boot).seconds - start.localDistance(to: Scenario.home)
      // The shortest check interval is 5 s; one second each for odometer, drain and alarm.
      #expect(truth <= 2_000 + speed * 8 + 20, "\(truth) m at \(speed) m/s")
      #expect(bench.hostWakes <= 100, "\(bench.hostWakes) at \(speed) m/s")
      bench.expectWhole()
    }
  }

  @Test("DEF-21: repeated requests of a client do not delay its distance check")
  func repeatedRequests() {
    let bench = BoardBench(speed: 30)
    bench.run(20)
    bench.clearRecords()
    bench.client.defer(untilTraveled: 900, timeout: .unlimited)
    for _ in 0..<25 {
      bench.run(2)
      bench.client.request(.setDesiredAccuracy(LocationAccuracy.best))
    }
    #expect(bench.client.finishes == [nil])
  }

  @Test("DEF-29: a deferral by distance beside a live client causes no busy loop")
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

  @Test(
    "DEF-35: the fix that met the criterion is last; later fixes of the drain follow one by one")
  func last() {
    let bench = BoardBench(speed: 30)
    bench.run(20)
    bench.clearRecords()
    bench.client.defer(untilTraveled: 1_500, timeout: .unlimited)
    bench.run(90)
    guard case .finish(nil)? = bench.client.notices.first else {
      Issue.record("\(bench.client.text)")
      return
    }
    let batch = bench.client.batches[0]
    let length = batch[0].fix.coordinate.localDistance(to: batch[batch.count - 1].fix.coordinate)
    // At most one fix interval and one gate beyond the distance.
    #expect(length >= 1_430 && length <= 1_560)
    bench.expectWhole()
  }

  @Test("DEF-13: at a second call, the fixes in the receiver belong to the first call")
  func secondCall() {
    let bench = BoardBench.deferring(.unlimited, 1_000)
    bench.run(30)
    #expect(bench.holdsFixes)
    bench.client.defer(untilTraveled: .unlimited, timeout: 1_000)
    let call = bench.now
    bench.run(5)
    guard bench.client.notices.count >= 2, bench.client.notices[0] == .finish(.deferredCanceled)
    else {
      Issue.record("\(bench.client.text)")
      return
    }
    // Fixes measured after the call belong to the second call; they may arrive before it engages.
    #expect(bench.client.batches[0].count >= 30 && bench.client.batches.count <= 2)
    let last = bench.client.batches[0].last?.fix.acquired ?? .distantFuture
    #expect(last <= call)
    #expect(bench.state == .engaged)
    bench.expectWhole()
  }

  @Test(
    "DEF-15, DEF-37: at disallow or stop, the receiver is drained first, and all fixes are delivered"
  )
  func cancelled() {
    for isStop in [false, true] {
      let bench = BoardBench.deferring()
      bench.run(30)
      if isStop { bench.client.stop() } else { bench.client.disallow() }
      let call = bench.now
      bench.run(5)
      let text = bench.client.text
      #expect(bench.client.notices.first == .finish(.deferredCanceled))
      #expect(bench.client.batches.first.map { $0.count >= 30 } == true)
      let late = bench.client.fixes.filter { $0.fix.acquired > call + .milliseconds(1_100) }
      if isStop {
        #expect(bench.client.notices.count == 2, "\(text)")
        #expect(late.isEmpty, "\(text)")
      } else {
        #expect(!late.isEmpty, "\(text)")
      }
      bench.expectWhole()
    }
  }

  @Test("DEF-27: foreground drains immediately and delivers live; background batches again")
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
    bench.client.clearRecords()
    bench.run(30)
    #expect(bench.client.notices.isEmpty)
    bench.expectWhole()
  }

  @Test("DEF-29: a live client drains the receiver; when it stops, the other engages again")
  func liveClient() {
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
    deferred.clearRecords()
    bench.run(20)
    #expect(deferred.notices.isEmpty)
    bench.expectWhole()
  }

  @Test(
    "with two deferrals, the end of one drains the receiver and leaves the other's fixes cached")
  func twoDeferred() {
    let bench = BoardBench(clients: 2)
    bench.run(10)
    bench.clients[0].defer(untilTraveled: .unlimited, timeout: 30)
    bench.clients[1].defer(untilTraveled: .unlimited, timeout: 100)
    bench.runUntilBatching()
    bench.clients[0].onFinish = [.allowDeferred(distance: .infinity, timeout: 30)]
    bench.run(82)
    #expect(bench.clients[0].finishes.count >= 2)
    #expect(bench.clients[1].notices.isEmpty)
    bench.run(20)
    #expect(bench.clients[1].finishes == [nil])
    #expect(bench.clients[1].batches.first.map { $0.count > 80 } == true)
    bench.expectWhole()
  }

  @Test(
    "DEF-30, BKG-5: changes of foreground, background, suspension and sleep keep every fix once, in order",
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
