import LinuxHAL
import LocationPolicy

// Programs whose control group is frozen: suspended, whatever they last said of themselves (BKG-1).

/// The watch over the program of a connection.
final class ProgramWatch {
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

  /// Watches the program at the other end of a connection that speaks for a client.
  mutating func watchProgram(_ index: Int) {
    guard let process = connections[index]?.peer.process,
      let program = ProgramWatch(process: process)
    else { return }
    do {
      try events.add(
        program.watch.descriptor, as: LocationServer.freezeToken(of: index), for: .changed)
      connections[index]?.program = program
      lookAtProgram(index)
    } catch {
      logLine(
        of: connections[index]?.peer.user ?? 0, .warning,
        "it is not seen when process \(process) is frozen: \(error)")
    }
  }

  /// Asks whether it is frozen: at first, and when the kernel tells of a change.
  mutating func lookAtProgram(_ index: Int) {
    guard let connection = connections[index], let program = connection.program,
      case .control(let client) = connection.purpose
    else { return }
    let found = program.watch.isFrozen()
    // It has left its group, which is gone: where it is now is not known.
    if found == nil { unwatchProgram(index) }
    let isFrozen = found ?? false
    guard isFrozen != clients[client].isFrozen else { return }
    clients[client].isFrozen = isFrozen
    clients[client].sessions.move(to: isFrozen ? .suspended : clients[client].execution)
    updateUse(client)
  }

  /// The connection does not speak for its client any more.
  mutating func unwatchProgram(_ index: Int) {
    guard let program = connections[index]?.program else { return }
    events.remove(program.watch.descriptor)
    connections[index]?.program = nil
  }
}
