import LinuxHAL
import LocationTypes

// Lingering connections: their programs have hung up, but calls that they sent before are held, because their user
// exceeded the rate limit (RES-6). `resumePaused` handles these calls, `expireConnections` ends the connection after
// ``LocationServer/lingerTime``.

extension LocationServer {
  /// How long held calls are handled after the peer has hung up.
  static let lingerTime = Interval.seconds(30)
  /// Maximum number of lingering connections of one user.
  static let lingeringPerUser = 4

  /// Handles a hang-up of the peer. Received calls that are held are still handled, in order and at their rate; their
  /// answers are dropped. If the user already has ``lingeringPerUser`` such connections, the held calls are dropped.
  ///
  /// The connection still counts as one of its user's, so that hanging up does not evade the limits.
  mutating func hangUp(_ index: Int) {
    guard let connection = connections[index], connection.lingersUntil == nil else { return }
    guard !connection.isEnding, connection.carriesCalls else { return close(index) }
    // If it is not paused any more, the next wait reports it as readable, and `read` detects the end.
    guard connection.isPaused else { return }
    let others = connections.count { $0?.lingersUntil != nil && $0?.account == connection.account }
    guard others < LocationServer.lingeringPerUser else { return dropHeldCalls(index) }
    // epoll would report the hang-up at each wait.
    events.remove(connection.descriptor)
    unwatchProgram(index)
    connection.output.removeAll()
    connection.lingersUntil = now + LocationServer.lingerTime
    isDeadlineStale = true
  }

  /// Reads more input from a lingering connection, which is no longer registered with epoll.
  mutating func readLingering(_ index: Int) {
    guard connections[index]?.lingersUntil != nil else { return }
    for _ in 0..<LocationServer.readsAfterHangUp { read(index) }
    // The end of input was not reached yet: continue in the next turn.
    if connections[index]?.isEnding == false { pause(index) }
  }

  /// Drops the held calls of a program that has hung up. Logged only for users with permission: others could fill the
  /// log by connecting again and again.
  mutating func dropHeldCalls(_ index: Int) {
    guard let peer = connections[index]?.peer else { return }
    if standing(of: index) != .unpermitted {
      logLine(
        of: peer.user, .notice,
        "calls of process \(peer.process) of user \(peer.user) are dropped: it hung up while they waited for that "
          + "user's rate")
    }
    close(index)
  }
}
