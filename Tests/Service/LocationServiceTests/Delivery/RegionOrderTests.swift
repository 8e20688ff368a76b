import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Order of region events on the socket")
struct RegionOrderTests {
  /// Positions in steps of 11 m north of the circle's center.
  private let inside: Int64 = 0
  private let outside: Int64 = 100

  /// A client that monitors a circle and is outside it.
  private func tracker(notifyOnEntry: Bool = true, notifyOnExit: Bool = true) throws -> Tracker {
    var home = WireRegion.home()
    home.notifyOnEntry = notifyOnEntry
    home.notifyOnExit = notifyOnExit
    let tracker = try Tracker(.addRegion(home, assuming: .unknown), canIdle: false)
    stay(tracker, at: outside)
    #expect(tracker.words() == [])
    return tracker
  }

  /// Stays at a position long enough for a crossing (REG-4).
  private func stay(_ tracker: Tracker, at position: Int64) {
    tracker.bench.fix(at: position, after: 1)
    tracker.bench.fix(at: position, after: 21)
  }

  private let request = WireCall.requestRegionState(.region, name: "home")

  @Test("REG-8, REG-9, BKG-2: a silenced exit is delivered after the pending entry")
  func silencedExit() throws {
    let tracker = try tracker(notifyOnExit: false)
    tracker.call(.setExecution(.suspended))
    stay(tracker, at: inside)
    stay(tracker, at: outside)
    #expect(tracker.words() == [])
    tracker.call(.setExecution(.background))
    #expect(tracker.words() == ["entered", "determined 1", "determined 2"])
    #expect(tracker.bench.loop.clients.clients[0].notices.noticeCount == 0)
  }

  @Test("REG-8, REG-9, BKG-2: the crossings of a suspended client are delivered in order")
  func manyCrossings() throws {
    let tracker = try tracker(notifyOnExit: false)
    tracker.call(.setExecution(.suspended))
    for _ in 0..<5 {
      stay(tracker, at: inside)
      stay(tracker, at: outside)
    }
    tracker.call(.setExecution(.background))
    let each = ["entered", "determined 1", "determined 2"]
    #expect(tracker.words() == Array(repeating: each, count: 5).flatMap { $0 })
  }

  @Test("REG-7, REG-8: a state request is answered after an event that was already pending")
  func answerAfterWaiting() throws {
    let tracker = try tracker()
    tracker.call(.setExecution(.suspended))
    stay(tracker, at: inside)
    // Both calls are read before anything is written.
    tracker.control.send(.setExecution(.background))
    tracker.control.send(request)
    tracker.bench.settle()
    #expect(tracker.words() == ["entered", "determined 1", "determined 1"])
    // The request alone shows that the program runs.
    tracker.call(.setExecution(.suspended))
    stay(tracker, at: outside)
    tracker.call(request)
    #expect(tracker.words() == ["exited", "determined 2", "determined 2"])
  }

  @Test("REG-7, REG-8: a fix and a state request in one turn deliver the crossing, then the answer")
  func answerAfterCrossing() throws {
    let tracker = try tracker()
    tracker.bench.fix(at: inside, after: 1)
    tracker.control.send(request)
    tracker.bench.fix(at: inside, after: 21)
    #expect(tracker.words() == ["entered", "determined 1", "determined 1"])
  }

  @Test("REG-7, REG-8, REG-13: the next process receives pending events before its answer")
  func nextProcess() throws {
    let tracker = try tracker()
    stay(tracker, at: inside)
    #expect(tracker.words() == ["entered", "determined 1"])
    tracker.quit()
    stay(tracker, at: outside)
    let bench = tracker.bench
    let control = bench.program()
    guard case .connected(let session)? = bench.call(.connect(name: "tracker"), control) else {
      Issue.record("the connection is permitted")
      return
    }
    let watch = bench.program()
    control.send(request)
    watch.send(.watch(session: session.session))
    bench.settle()
    #expect(watch.words() == ["entered", "determined 1", "exited", "determined 2", "determined 2"])
  }

  @Test("BKG-2: a running program receives fixes and events in the order of their times")
  func fixesAndEvents() throws {
    let tracker = try tracker()
    tracker.call(.startUpdating)
    tracker.bench.fix(at: inside, after: 1)
    tracker.bench.fix(at: inside, after: 21)
    #expect(tracker.words() == ["fixes 1", "fixes 1", "entered", "determined 1"])
  }

  @Test("REG-9, BKG-2: the number of silenced crossings while suspended is unlimited")
  func bounded() throws {
    let tracker = try tracker(notifyOnEntry: false, notifyOnExit: false)
    tracker.call(.setExecution(.suspended))
    for _ in 0..<140 {
      stay(tracker, at: inside)
      stay(tracker, at: outside)
    }
    tracker.call(.setExecution(.background))
    let words = tracker.words()
    #expect(words.count == NoticeQueue.noticeCapacity && words.last == "determined 2")
    #expect(!tracker.control.isClosed && tracker.call(request) == .done)
    #expect(tracker.words() == ["determined 2"])
  }
}

@Suite("A client's notice queue")
struct NoticeQueueTests {
  private func event(_ number: UInt32) -> WireNotice {
    .region(WireRegionEvent(.region, name: "\(number)", .determined(.inside)), number: number)
  }

  /// The numbers of events, 0 for a notice, in the order of sending.
  private func sent(
    _ queue: inout NoticeQueue, where isWanted: (WireNotice) -> Bool = { _ in true }
  ) -> [UInt32] {
    var sent: [UInt32] = []
    while let index = queue.nextIndex(where: isWanted) {
      sent.append(queue.entries[index].event?.number ?? 0)
      queue.markSent(at: index)
    }
    return sent
  }

  @Test("BKG-4: events and notices leave in order; events are sent again until acknowledged")
  func order() {
    var queue = NoticeQueue([], last: 6)
    _ = queue.append(.paused)
    _ = queue.appendEvent(event)
    _ = queue.append(.resumed)
    _ = queue.appendEvent(event)
    #expect(queue.noticeCount == 2 && queue.eventCount == 2)
    #expect(sent(&queue) == [0, 7, 0, 8])
    #expect(sent(&queue) == [] && queue.noticeCount == 0)
    _ = queue.append(.paused)
    queue.markAllUnsent()
    #expect(sent(&queue) == [7, 8, 0])
    #expect(queue.acknowledge(through: 7) == [7])
    queue.markAllUnsent()
    #expect(queue.acknowledge(through: 8) == [], "not sent again yet")
    #expect(sent(&queue) == [8] && queue.firstEvent?.number == 8)
  }

  @Test("BKG-6: a deferred event does not block others and keeps its position")
  func unwanted() {
    var queue = NoticeQueue()
    for _ in 0..<3 { _ = queue.appendEvent(event) }
    _ = queue.append(.paused)
    let second = event(2)
    #expect(sent(&queue) { $0 != second } == [1, 3, 0])
    #expect(sent(&queue) == [2])
  }

  @Test("BKG-4: the oldest of more than 64 events is removed; notices keep their positions")
  func capacity() {
    var queue = NoticeQueue()
    _ = queue.append(.paused)
    var lost: [UInt32] = []
    for _ in 0..<66 {
      if let number = queue.appendEvent(event).lost { lost.append(number) }
    }
    #expect(lost == [1, 2] && queue.eventCount == 64 && queue.noticeCount == 1)
    #expect(sent(&queue) == [0] + Array(3...66))
    queue.removeNotices()
    #expect(queue.removeEvents { $0.number > 10 }.count == 56 && queue.eventCount == 8)
  }

  @Test("REG-9: only states of silenced crossings make space for newer notices")
  func silencedStates() {
    let home = RegionIdentifier(.region, 1)
    var queue = NoticeQueue()
    var isAdded = [true]
    for _ in 1..<NoticeQueue.noticeCapacity { isAdded.append(queue.append(.paused)) }
    isAdded.append(queue.append(.region(.crossedSilently(home, .inside))))
    isAdded.append(queue.append(.region(.determined(home, .inside))))
    #expect(isAdded.allSatisfy { $0 })
    let isOneMoreAdded = queue.append(.resumed)
    #expect(!isOneMoreAdded)
    #expect(queue.noticeCount == NoticeQueue.noticeCapacity)
  }
}
