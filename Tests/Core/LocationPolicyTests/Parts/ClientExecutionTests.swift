import Testing

@testable import LocationPolicy

@Suite("Process of a client") struct ClientExecutionTests {
  static let states: [ExecutionState] = [.foreground, .background, .suspended]

  static func attached(_ state: ExecutionState) -> ClientExecution {
    var execution = ClientExecution()
    execution.connect()
    _ = execution.setState(state)
    return execution
  }

  @Test("Every event in every state", arguments: states, [true, false])
  func everyPair(_ state: ExecutionState, isConnected: Bool) {
    var start = Self.attached(state)
    if !isConnected { start.disconnect() }
    #expect(start.isConnected == isConnected && start.state == state)
    #expect(start.isSuspended == (state == .suspended))
    #expect(start.isRunning == (isConnected && state != .suspended))

    var execution = start
    execution.connect()
    #expect(execution.isConnected && execution.state == .foreground)
    execution = start
    execution.disconnect()
    #expect(!execution.isConnected && execution.state == state)
    for next in Self.states {
      execution = start
      let isResumed = execution.setState(next)
      #expect(isResumed == (state == .suspended && next != .suspended))
      #expect(execution.isConnected == isConnected && execution.state == next)
    }
  }

  @Test("BKG-5: a background session keeps a suspended process running, but not a detached one")
  func background() {
    var execution = Self.attached(.suspended)
    execution.setUse(ClientUse(keepsRunning: true))
    #expect(execution.isRunning && execution.isSuspended)
    execution.disconnect()
    #expect(!execution.isRunning && execution.use.keepsRunning)
  }
}
