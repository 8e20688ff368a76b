import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import CoreLocation

@Suite("Events in the state of a session")
struct SessionStateTests {
  private let time = FixTime(acquired: .boot, utc: nil)
  private let visit = Visit(
    coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0), horizontalAccuracy: 5, arrival: nil)

  private func entered(_ name: String, _ number: UInt32) -> WireNotice {
    .region(WireRegionEvent(.region, name: name, .entered(at: time)), number: number)
  }

  private func determined(_ name: String) -> WireNotice {
    .region(WireRegionEvent(.region, name: name, .determined(.inside)))
  }

  /// What the session sends; the state forgets it.
  private func consumeHandledEvent(_ state: inout SessionState) -> UInt32? {
    defer { state.handledEvent = nil }
    return state.handledEvent
  }

  @Test("REG-13: an event that was handled without a connection is acknowledged when it is resent")
  func resentEvent() {
    var state = SessionState()
    state.receive([entered("home", 5)], at: .boot)
    #expect(consumeHandledEvent(&state) == nil, "it waits for a manager")
    state.release(state.unclaimed)
    state.consumeHandled()
    #expect(consumeHandledEvent(&state) == 5, "this call is lost with the connection")
    state.receive([entered("home", 5)], at: .boot)
    #expect(consumeHandledEvent(&state) == 5)
  }

  @Test("VIS-8: a visit that was resent before it was handled is acknowledged once")
  func resentVisit() {
    var state = SessionState()
    state.receive([.visit(visit, number: 3), .visit(visit, number: 3)], at: .boot)
    #expect(consumeHandledEvent(&state) == nil)
    state.events.release(3)
    state.consumeHandled()
    #expect(consumeHandledEvent(&state) == 3)
  }

  @Test("REG-7, REG-8: the state after a resent crossing is dropped, an answer to a request is not")
  func resentState() {
    var state = SessionState()
    state.receive([entered("home", 1), determined("home")], at: .boot)
    #expect(state.unclaimed.count == 2)
    state.receive([entered("home", 1), determined("home")], at: .boot)
    #expect(state.unclaimed.count == 2)
    state.receive([determined("home")], at: .boot)
    #expect(state.unclaimed.count == 3)
    state.receive([entered("home", 1), determined("office"), determined("home")], at: .boot)
    #expect(state.unclaimed.count == 5)
  }

  // MARK: Monitors

  private func condition(_ name: String, _ state: MonitorState, _ number: UInt32) -> WireNotice {
    .region(
      WireRegionEvent(.condition, name: name, .monitor(state, nil, at: time)), number: number)
  }

  private func circle(_ name: String, radius: Double) -> WireRegion {
    WireRegion(
      .condition, name: name, center: Coordinate(latitude_e9: 0, longitude_e9: 0), radius: radius)
  }

  @Test("VIS-8, REG-13: events of a monitor that is not opened do not hold back later events")
  func unopenedMonitor() {
    var state = SessionState()
    state.receive([condition("old/home", .satisfied, 1)], at: .boot)
    #expect(consumeHandledEvent(&state) == nil, "the next process may open it")
    state.receive([.visit(visit, number: 2)], at: .boot)
    #expect(consumeHandledEvent(&state) == nil)
    state.events.release(2)
    state.consumeHandled()
    #expect(consumeHandledEvent(&state) == 2)
    let queue = state.openMonitor("old")
    #expect(queue?.removeAll().map(\.number) == [1], "it is not lost in this process")
  }

  @Test("REG-13: an event that waited for its monitor is acknowledged when a loop has handled it")
  func openedMonitor() throws {
    var state = SessionState()
    state.receive([condition("m/home", .satisfied, 1)], at: .boot)
    let opened = state.openMonitor("m")
    let queue = try #require(opened)
    state.receive([.visit(visit, number: 2)], at: .boot)
    state.events.release(2)
    state.consumeHandled()
    #expect(consumeHandledEvent(&state) == nil)
    for event in queue.removeAll() { state.finish(event) }
    state.consumeHandled()
    #expect(consumeHandledEvent(&state) == 2)
  }

  @Test(
    "REG-13: events that a full queue drops do not hold back later ones", arguments: [true, false])
  func overflow(isOpen: Bool) throws {
    var state = SessionState()
    let queue = isOpen ? state.openMonitor("m") : nil
    let capacity = UInt32(MonitorEventRouter.capacity)
    for number in 1...capacity + 2 {
      state.receive([condition("m/home", .satisfied, number)], at: .boot)
    }
    #expect(consumeHandledEvent(&state) == 2)
    if let queue { #expect(queue.removeAll().first?.number == 3) }
  }

  @Test("REG-13: of region events that wait for a manager, the newest 64 are kept")
  func regionOverflow() {
    var state = SessionState()
    let capacity = UInt32(MonitorEventRouter.capacity)
    for number in 1...capacity + 2 { state.receive([entered("home", number)], at: .boot) }
    #expect(state.unclaimed.count == Int(capacity))
    #expect(consumeHandledEvent(&state) == 2)
  }

  @Test("REG-13: no event of a replaced circle is delivered, or becomes the new one's last event")
  func replacedCircle() throws {
    var state = SessionState()
    let opened = state.openMonitor("m")
    let queue = try #require(opened)
    state.addCondition(circle("m/home", radius: 100), assuming: .unknown)
    let notices = [
      condition("m/home", .satisfied, 1), condition("m/office", .satisfied, 2),
      condition("m/home", .unsatisfied, 3),
    ]
    state.receive(notices, at: .boot)
    let inHand = try #require(queue.removeAll { $0.number == 1 }.first)
    state.addCondition(circle("m/home", radius: 200), assuming: .unknown)
    state.finish(inHand)
    #expect(state.conditions["m/home"]?.lastEvent == nil)
    let waiting = queue.removeAll()
    #expect(waiting.map(\.number) == [2])
    for event in waiting { state.finish(event) }
    state.consumeHandled()
    #expect(consumeHandledEvent(&state) == 3)
  }

  @Test("the reader of a monitor is resumed after the state is unlocked")
  func resumption() async throws {
    var state = SessionState()
    let opened = state.openMonitor("m")
    let queue = try #require(opened)
    let reader = Task { try await queue.next() }
    while !queue.isRead { await Task.yield() }
    state.receive([condition("m/home", .satisfied, 1)], at: .boot)
    #expect(state.wakeups.count == 1)
    for wakeup in state.wakeups { wakeup() }
    #expect(try await reader.value?.number == 1)
  }
}
