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
  /// Starts to monitor the process of a control connection.
  mutating func monitorProgram(_ index: Int) {
    guard let peer = connections[index]?.peer else { return }
    do {
      try connections.beginMonitoring(index)
      updateFrozen(index)
    } catch {
      logLine(
        of: peer.user, .warning,
        "cannot detect whether process \(peer.process) is frozen: \(error)")
    }
  }

  /// Updates whether the process is frozen: at the start, and when the kernel signals a change.
  mutating func updateFrozen(_ index: Int) {
    guard let connection = connections[index], let monitor = connection.monitor,
      let client = connection.controlledClient
    else { return }
    let reading = monitor.watch.isFrozen()
    // The process has left its control group, which was removed; its new group is not monitored.
    if reading == nil { connections.endMonitoring(index) }
    let isFrozen = reading ?? false
    guard isFrozen != clients[client].isFrozen else { return }
    clients[client].isFrozen = isFrozen
    clients[client].sessions.setExecution(isFrozen ? .suspended : clients[client].execution)
    updateUse(client)
  }
}
