import LinuxHAL
import LocationTypes

// Programs that hang up while calls of theirs wait for their user's rate (RES-6).

extension LocationServer {
  /// How long what a program has sent before it hung up is carried out.
  static let lingerTime = Interval.seconds(30)
  /// For how many connections of one user that is done at a time.
  static let lingeringPerUser = 4

  /// The other end of a connection is gone. Calls that have come and wait for their turn are carried out first, in
  /// their order and at their rate; their answers are dropped.
  ///
  /// The connection goes on to count as one of its user's, so that nobody holds more by hanging up.
  mutating func hangUp(_ index: Int) {
    guard let connection = connections[index], connection.lingersUntil == nil else { return }
    guard !connection.isEnding, connection.carriesCalls else { return close(index) }
    // Not paused any more: the next wait reports it readable, and `read` finds its end.
    guard connection.isPaused else { return }
    let others = connections.count { $0?.lingersUntil != nil && $0?.account == connection.account }
    guard others < LocationServer.lingeringPerUser else { return abandon(index) }
    // The kernel would report it at each wait.
    events.remove(connection.descriptor)
    unwatchProgram(index)
    connection.output.removeAll()
    connection.lingersUntil = now + LocationServer.lingerTime
    isDeadlineStale = true
  }

  /// Reads further from a lingering connection, which is no longer part of the wait.
  mutating func readRest(_ index: Int) {
    guard connections[index]?.lingersUntil != nil else { return }
    for _ in 0..<LocationServer.lastReads { read(index) }
    // Its end was not found yet: it goes on with the next turn.
    if connections[index]?.isEnding == false { pause(index) }
  }

  /// Drops the calls of a program that has hung up. Logs it for a user with permission: others could fill the log by
  /// connecting again and again.
  mutating func abandon(_ index: Int) {
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
