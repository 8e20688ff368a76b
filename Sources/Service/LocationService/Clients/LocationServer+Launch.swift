import LocationPolicy
import LocationTypes
import LocationWire

// Starts clients' programs again for pending events and background sessions (BKG-19).

extension LocationServer {
  /// Requests a start of a client's program, if it is absent and the policy defines how to start it.
  mutating func requestLaunch(_ reason: LaunchReason, _ client: Int, after delay: Interval = .zero)
  {
    guard clients[client].process == nil, clients[client].access.relaunch != nil,
      clients[client].access.authorization.isGranted
    else { return }
    clients[client].launch.request(reason, at: now + delay)
  }

  /// Starts the programs that are due. Their pending events are on the disk by then.
  mutating func startPrograms() {
    for i in clients.indices where clients.slots[i].process == nil {
      guard let next = clients.slots[i].launch.nextStart, next <= now,
        let reason = clients.slots[i].launch.reason
      else { continue }
      guard let relaunch = clients[i].access.relaunch, clients[i].access.authorization.isGranted
      else {
        clients[i].launch.cancel()
        continue
      }
      clients[i].launch.recordStart(at: now)
      let name = clients[i].name
      let program = "'\(name.name)' of user \(name.user) for \(reason.rawValue)"
      if let error = starter(Launch(client: name, relaunch: relaunch, reason: reason)) {
        logLine(of: name.user, .error, "cannot start \(program): \(error)")
      } else {
        recordLaunch()
        clients[i].launch.recordUse(at: now)
        logLine(of: name.user, .info, "started \(program)")
      }
    }
  }
}
