import LinuxHAL
import LocationTypes

// The end of connections without input: hang-ups, time limits, and the deadlines until then (RES-4, RES-6).

extension LocationServer {
  /// Handles a hang-up of the peer. Received calls that are held are still handled, in order and at their rate; their
  /// answers are dropped.
  mutating func hangUp(_ index: Int) {
    guard let connection = connections[index], connection.lingersUntil == nil else { return }
    guard !connection.isEnding, connection.carriesCalls else { return close(index) }
    // If it is not paused any more, the next wait reports it as readable, and `read` detects the end.
    guard connection.isPaused else { return }
    if !connections.linger(index, at: now) { dropHeldCalls(index) }
  }

  /// Drops the held calls of a program that has hung up. Logged only for users with permission: others could fill the
  /// log by connecting again and again.
  mutating func dropHeldCalls(_ index: Int) {
    guard let connection = connections[index] else { return }
    if connection.standing(permissions) != .unpermitted {
      let peer = connection.peer
      logLine(
        of: peer.user, .notice,
        "calls of process \(peer.process) of user \(peer.user) are dropped: it hung up while they waited for that "
          + "user's rate")
    }
    close(index)
  }

  /// Closes expired connections and computes the next deadline. Most turns need neither and inspect no connection.
  ///
  /// Only held calls of users with permission keep the board awake. Everything else is done at the next wake, because
  /// users without permission could otherwise keep the board awake.
  mutating func expireConnections() {
    guard connections.mayExpire(at: now) || log.hasSuppressedLines else { return }
    var next = connections.updateAccepting(at: now)
    var urgent = Instant.distantFuture
    for index in connections.indices {
      guard let connection = connections[index] else { continue }
      if let end = connection.lingersUntil {
        guard end > now else {
          dropHeldCalls(index)
          continue
        }
        next = min(next, end)
      }
      if connection.isPaused {
        guard let time = timeToResume(connection) else { continue }
        next = min(next, time)
        if heldRateStanding(connection) != .unpermitted { urgent = min(urgent, time) }
      } else if connection.deadline <= now {
        close(index)
      } else {
        next = min(next, connection.deadline)
      }
    }
    connections.setDeadlines(next: min(next, log.deadline(at: now)), urgent: urgent)
  }
}
