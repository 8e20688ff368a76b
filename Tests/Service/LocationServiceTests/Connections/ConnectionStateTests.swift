import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("States of a connection")
struct ConnectionStateTests {
  /// The states, as in the diagram of ``Connection``.
  enum State: CaseIterable {
    case reading, paused, lingering, resumed, ending
  }

  private static let end = Instant.boot + .seconds(30)

  private func connection(in state: State) -> Connection {
    let peer = Peer(user: 4_711, process: 1)
    let connection = Connection(-1, peer, of: 4_711, since: 1, at: .boot)
    if state == .reading { return connection }
    if state == .ending {
      connection.end()
      return connection
    }
    _ = connection.pause(holding: HeldInput(nil, followedBy: [1, 2]))
    if state != .paused { connection.linger(until: Self.end) }
    if state == .resumed { _ = connection.resume() }
    return connection
  }

  private func state(of connection: Connection) -> State {
    switch connection.input {
    case .reading: .reading
    case .paused: .paused
    case .lingering: .lingering
    case .resumed: .resumed
    case .ending: .ending
    }
  }

  @Test("RES-6: each state reads, holds input or lingers as described", arguments: State.allCases)
  func properties(_ state: State) {
    let connection = connection(in: state)
    #expect(self.state(of: connection) == state)
    #expect(connection.isReading == (state == .reading || state == .resumed))
    #expect(connection.isPaused == (state == .paused || state == .lingering))
    #expect(connection.isEnding == (state == .ending))
    #expect((connection.held != nil) == connection.isPaused)
    let lingers = state == .lingering || state == .resumed
    #expect(connection.lingersUntil == (lingers ? Self.end : nil))
  }

  @Test("RES-6: only input that is read can be paused", arguments: State.allCases)
  func pause(_ state: State) {
    let connection = connection(in: state)
    let isPaused = connection.pause(holding: HeldInput(nil, followedBy: [3]))
    #expect(isPaused == (state == .reading || state == .resumed))
    switch state {
    case .reading: #expect(self.state(of: connection) == .paused)
    case .resumed: #expect(self.state(of: connection) == .lingering)
    case .paused, .lingering:
      #expect(connection.held?.bytes == [1, 2], "input that is held is not replaced")
    case .ending: #expect(connection.isEnding)
    }
  }

  @Test("RES-6: only held input is resumed", arguments: State.allCases)
  func resume(_ state: State) {
    let connection = connection(in: state)
    let held = connection.resume()
    #expect((held != nil) == (state == .paused || state == .lingering))
    switch state {
    case .reading, .paused: #expect(self.state(of: connection) == .reading)
    case .lingering, .resumed: #expect(self.state(of: connection) == .resumed)
    case .ending: #expect(connection.isEnding)
    }
  }

  @Test("RES-6: only a paused connection lingers; ending is final", arguments: State.allCases)
  func lingerAndEnd(_ state: State) {
    let connection = connection(in: state)
    connection.linger(until: Self.end)
    #expect(
      self.state(of: connection) == (state == .paused ? .lingering : state))
    connection.end()
    #expect(connection.isEnding && connection.resume() == nil)
  }

  @Test("RES-6: a change of the purpose or of permissions discards the charge of a held call")
  func charges() throws {
    let connection = connection(in: .reading)
    let charge = CallCharge(
      standing: .permitted, rateStanding: .permitted, cost: 1, answerSize: 9)
    let held = HeldInput(.refused(.permissionDenied, isOneway: false), charge)
    #expect(connection.pause(holding: held) && connection.held?.charge?.cost == 1)
    connection.setPurpose(.control(client: 2, monitor: nil))
    #expect(held.charge == nil && connection.client == 2 && connection.controlledClient == 2)
    held.setCharge(charge)
    connection.discardStanding()
    #expect(held.charge == nil && connection.standing == nil)
  }

  @Test("RES-4: a time limit applies until the first call, and within a call")
  func deadlines() {
    let connection = connection(in: .reading)
    #expect(connection.deadline == .boot + Connection.callTimeout)
    #expect(!connection.updateDeadline(at: .boot), "its first call is still expected")
    #expect(connection.clearDeadline() && !connection.clearDeadline())
    var offset = 0
    let bytes = Array("{\"method\":\"a\"".utf8)
    #expect(connection.nextFrame(bytes, upTo: bytes.count, &offset) == .needsMore)
    let later = Instant.boot + .seconds(5)
    #expect(connection.updateDeadline(at: later))
    #expect(connection.deadline == later + Connection.callTimeout)
  }
}
