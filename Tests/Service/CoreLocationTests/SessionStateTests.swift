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
  private func takeHandledEvent(_ state: inout SessionState) -> UInt32? {
    defer { state.handledEvent = nil }
    return state.handledEvent
  }

  @Test("REG-13: an event that was handled without a connection is acknowledged when it is resent")
  func resentEvent() {
    var state = SessionState()
    state.receive([entered("home", 5)], at: .boot)
    #expect(takeHandledEvent(&state) == nil, "it waits for a manager")
    state.release(state.unclaimed)
    state.takeHandled()
    #expect(takeHandledEvent(&state) == 5, "this call is lost with the connection")
    state.receive([entered("home", 5)], at: .boot)
    #expect(takeHandledEvent(&state) == 5)
  }

  @Test("VIS-8: a visit that was resent before it was handled is acknowledged once")
  func resentVisit() {
    var state = SessionState()
    state.receive([.visit(visit, number: 3), .visit(visit, number: 3)], at: .boot)
    #expect(takeHandledEvent(&state) == nil)
    state.events.release(3)
    state.takeHandled()
    #expect(takeHandledEvent(&state) == 3)
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
}
