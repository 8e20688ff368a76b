import LinuxHAL
import LocationPolicy

// Processes in a frozen control group count as suspended, whatever execution state they reported (BKG-1).

/// Monitor of the control group of a connection's process.
final class ProgramFreezeMonitor {
  let watch: FreezeWatch

  init?(process: Int32) {
    guard let watch = FreezeWatch(process: process) else { return nil }
    self.watch = watch
  }
}

extension LocationServer {
  static func freezeToken(of connection: Int) -> EventWait.Token {
    EventWait.Token(rawValue: token(of: connection).rawValue + UInt32(connectionsLimit))
  }

  /// Starts to monitor the process of a control connection.
  mutating func watchProgram(_ index: Int) {
    guard let process = connections[index]?.peer.process,
      let program = ProgramFreezeMonitor(process: process)
    else { return }
    do {
      try events.add(
        program.watch.descriptor, as: LocationServer.freezeToken(of: index), for: .changed)
      connections[index]?.program = program
      updateFrozen(index)
    } catch {
      logLine(
        of: connections[index]?.peer.user ?? 0, .warning,
        "cannot detect whether process \(process) is frozen: \(error)")
    }
  }

  /// Updates whether the process is frozen: at the start, and when the kernel signals a change.
  mutating func updateFrozen(_ index: Int) {
    guard let connection = connections[index], let program = connection.program,
      case .control(let client) = connection.purpose
    else { return }
    let reading = program.watch.isFrozen()
    // The process has left its control group, which was removed; its new group is not monitored.
    if reading == nil { unwatchProgram(index) }
    let isFrozen = reading ?? false
    guard isFrozen != clients[client].isFrozen else { return }
    clients[client].isFrozen = isFrozen
    clients[client].sessions.setExecution(isFrozen ? .suspended : clients[client].execution)
    updateUse(client)
  }

  /// Stops monitoring the process of a control connection.
  mutating func unwatchProgram(_ index: Int) {
    guard let program = connections[index]?.program else { return }
    events.remove(program.watch.descriptor)
    connections[index]?.program = nil
  }
}
