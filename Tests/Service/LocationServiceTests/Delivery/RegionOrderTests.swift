import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Region events in the order in which they happened, on the socket")
struct RegionOrderTests {
  /// Places of the bench, in steps of 11 m north of the middle of the circle.
  private let inside: Int64 = 0
  private let outside: Int64 = 100

  /// A client that monitors a circle and is outside of it.
  private func tracker(notifyOnEntry: Bool = true, notifyOnExit: Bool = true) throws -> Tracker {
    var home = WireRegion.home()
    home.notifyOnEntry = notifyOnEntry
    home.notifyOnExit = notifyOnExit
    let tracker = try Tracker(.addRegion(home, assuming: .unknown), canIdle: false)
    stay(tracker, at: outside)
    #expect(tracker.words() == [])
    return tracker
  }

  /// Time enough for a crossing passes at a place (REG-4).
  private func stay(_ tracker: Tracker, at place: Int64) {
    tracker.bench.fix(at: place, after: 1)
    tracker.bench.fix(at: place, after: 21)
  }

  private let question = WireCall.requestRegionState(.region, name: "home")

  @Test("REG-8, REG-9, BKG-2: an exit that is silenced comes after the enter that waits")
  func silencedExit() throws {
    let tracker = try tracker(notifyOnExit: false)
    tracker.ask(.setExecution(.suspended))
    stay(tracker, at: inside)
    stay(tracker, at: outside)
    #expect(tracker.words() == [])
    tracker.ask(.setExecution(.background))
    #expect(tracker.words() == ["entered", "determined 1", "determined 2"])
    #expect(tracker.bench.loop.clients.clients[0].notices.noticeCount == 0)
  }

  @Test("REG-8, REG-9, BKG-2: many crossings of a suspended client come in turn")
  func manyCrossings() throws {
    let tracker = try tracker(notifyOnExit: false)
    tracker.ask(.setExecution(.suspended))
    for _ in 0..<5 {
      stay(tracker, at: inside)
      stay(tracker, at: outside)
    }
    tracker.ask(.setExecution(.background))
    let each = ["entered", "determined 1", "determined 2"]
    #expect(tracker.words() == Array(repeating: each, count: 5).flatMap { $0 })
  }

  @Test("REG-7, REG-8: the answer comes after an event that waited when the question was asked")
  func answerAfterWaiting() throws {
    let tracker = try tracker()
    tracker.ask(.setExecution(.suspended))
    stay(tracker, at: inside)
    // Both calls are read before anything is written.
    tracker.control.send(.setExecution(.background))
    tracker.control.send(question)
    tracker.bench.settle()
    #expect(tracker.words() == ["entered", "determined 1", "determined 1"])
    // The question alone shows that the program runs.
    tracker.ask(.setExecution(.suspended))
    stay(tracker, at: outside)
    tracker.ask(question)
    #expect(tracker.words() == ["exited", "determined 2", "determined 2"])
  }

  @Test("REG-7, REG-8: a fix and a question that come together bring the crossing, then the answer")
  func answerAfterCrossing() throws {
    let tracker = try tracker()
    tracker.bench.fix(at: inside, after: 1)
    tracker.control.send(question)
    tracker.bench.fix(at: inside, after: 21)
    #expect(tracker.words() == ["entered", "determined 1", "determined 1"])
  }

  @Test("REG-7, REG-8, REG-13: the next process gets what waits before the answer to its question")
  func nextProcess() throws {
    let tracker = try tracker()
    stay(tracker, at: inside)
    #expect(tracker.words() == ["entered", "determined 1"])
    tracker.quit()
    stay(tracker, at: outside)
    let bench = tracker.bench
    let control = bench.program()
    guard case .connected(let session)? = bench.ask(.connect(name: "tracker"), control) else {
      Issue.record("it may connect")
      return
    }
    let watch = bench.program()
    control.send(question)
    watch.send(.watch(session: session.session))
    bench.settle()
    #expect(watch.words() == ["entered", "determined 1", "exited", "determined 2", "determined 2"])
  }

  @Test("BKG-2: fixes and events of a program that runs come in the order of their making")
  func fixesAndEvents() throws {
    let tracker = try tracker()
    tracker.ask(.startUpdating)
    tracker.bench.fix(at: inside, after: 1)
    tracker.bench.fix(at: inside, after: 21)
    #expect(tracker.words() == ["fixes 1", "fixes 1", "entered", "determined 1"])
  }

  @Test("REG-9, BKG-2: a program may be suspended for any number of silenced crossings")
  func bounded() throws {
    let tracker = try tracker(notifyOnEntry: false, notifyOnExit: false)
    tracker.ask(.setExecution(.suspended))
    for _ in 0..<140 {
      stay(tracker, at: inside)
      stay(tracker, at: outside)
    }
    tracker.ask(.setExecution(.background))
    let words = tracker.words()
    #expect(words.count == NoticeQueue.noticeCapacity && words.last == "determined 2")
    #expect(!tracker.control.isClosed && tracker.ask(question) == .done)
    #expect(tracker.words() == ["determined 2"])
  }
}

@Suite("The queue of a client")
struct NoticeQueueTests {
  private func event(_ number: UInt32) -> WireNotice {
    .region(WireRegionEvent(.region, name: "\(number)", .determined(.inside)), number: number)
  }

  /// The numbers of events, 0 for a notice, in the order in which all that waits is sent.
  private func sent(
    _ queue: inout NoticeQueue, where isWanted: (WireNotice) -> Bool = { _ in true }
  ) -> [UInt32] {
    var sent: [UInt32] = []
    while let place = queue.nextIndex(where: isWanted) {
      sent.append(queue.entries[place].event?.number ?? 0)
      queue.markSent(at: place)
    }
    return sent
  }

  @Test("BKG-4: events and notices leave in their order; events come again until acknowledged")
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

  @Test("BKG-6: an event that is not wanted yet holds up nothing, and keeps its place")
  func unwanted() {
    var queue = NoticeQueue()
    for _ in 0..<3 { _ = queue.appendEvent(event) }
    _ = queue.append(.paused)
    let second = event(2)
    #expect(sent(&queue) { $0 != second } == [1, 3, 0])
    #expect(sent(&queue) == [2])
  }

  @Test("BKG-4: the oldest of more than 64 events is removed, and notices keep their places")
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

  @Test("REG-9: states of silenced crossings make room for newer notices; nothing else does")
  func room() {
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
