import CLinux
import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire

// Limits of connections and calls (RES-1 to RES-7): admission, rates, pausing, expiry, log lines.

extension LocationServer {
  /// The standing of a connection's user.
  func standing(of index: Int) -> Standing {
    guard let connection = connections[index] else { return .unpermitted }
    return standing(of: connection)
  }

  private func standing(of connection: Connection) -> Standing {
    if let cached = connection.standing { return cached }
    let computed = permissions.standing(of: connection.peer.user)
    connection.standing = computed
    connection.keepCapacity(for: computed)
    return computed
  }

  /// Recomputes the standing of users after a change of permissions or clients.
  mutating func updateStandings() {
    permissions.setPermitted(
      clients.lazy.filter { $0.access.authorization.isGranted && !$0.isVacant }.map(\.account))
    for connection in connections {
      connection?.standing = nil
      connection?.heldCharge = nil
    }
  }

  /// Discards the cached charges of held calls, after a decision about a client without a slot has changed.
  func discardHeldCharges() { for connection in connections { connection?.heldCharge = nil } }

  // MARK: Accepting

  /// Accepts pending connections, at most ``acceptsPerWait``.
  mutating func acceptAll() {
    permissions.checkSubordinates(at: now)
    for _ in 0..<LocationServer.acceptsPerWait {
      let descriptor = listener.accept()
      guard descriptor >= 0 else {
        switch -descriptor {
        case EMFILE:
          if closeHeaviest(for: nil, fallsBackToAny: true) { continue }
          pauseAccepting(for: EMFILE)
        case ENFILE, ENOBUFS, ENOMEM: pauseAccepting(for: -descriptor)
        default: break
        }
        return
      }
      guard let peer = listener.peer(descriptor), let index = connectionIndex(for: peer) else {
        Glibc.close(descriptor)
        continue
      }
      admit(descriptor, peer, at: index)
    }
  }

  private mutating func admit(_ descriptor: Int32, _ peer: Peer, at index: Int) {
    do {
      try events.add(descriptor, as: LocationServer.token(of: index), for: .readable)
    } catch {
      Glibc.close(descriptor)
      return
    }
    if index == connections.count { connections.append(nil) }
    connections[index] = Connection(
      descriptor, peer, of: permissions.account(of: peer.user), since: currentWait, at: now)
    isDeadlineStale = true
    guard standing(of: index) == .unpermitted else { return }
    // A small send buffer, because unread answers in the kernel use memory as well.
    var size = Connection.unpermittedSendBuffer
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The index for a new connection of a user; nil if it is refused. May close another connection for it.
  private mutating func connectionIndex(for peer: Peer) -> Int? {
    let user = permissions.account(of: peer.user)
    let standing = permissions.standing(of: peer.user)
    var usage = ResourceQuota.Usage()
    for index in connections.indices {
      guard let connection = connections[index] else { continue }
      usage.all += 1
      if self.standing(of: index) == .unpermitted { usage.unpermitted += 1 }
      if connection.account == user { usage.own += 1 }
    }
    switch LocationServer.connectionQuota.refusal(standing, usage) {
    case nil: break
    case .user: return nil
    case .unpermitted: guard closeHeaviest(for: user, fallsBackToAny: false) else { return nil }
    case .total:
      guard standing != .unpermitted, closeHeaviest(for: user, fallsBackToAny: true) else {
        return nil
      }
    }
    let free = connections.firstIndex { $0 == nil } ?? connections.count
    return free < LocationServer.connectionsLimit ? free : nil
  }

  /// Closes a connection of the unpermitted user with the most connections, if these are more than `user` will have
  /// with the new one; `user` is nil if it is not known yet. Otherwise, if `fallsBackToAny` is set, closes the least
  /// useful connection of any unpermitted user. Returns whether a connection was closed.
  private mutating func closeHeaviest(for user: UInt32?, fallsBackToAny: Bool) -> Bool {
    let all = displacementCandidates { _ in 1 }
    let heaviest = DisplacementCandidate.selectDisplaced(
      for: user, among: all, includesIdle: false)
    guard let index = heaviest ?? (fallsBackToAny ? DisplacementCandidate.leastUseful(all) : nil)
    else { return false }
    close(index)
    return true
  }

  /// The connections of users without permission, with the amount of a resource that each uses.
  private func displacementCandidates(_ amount: (Connection) -> Int) -> [DisplacementCandidate] {
    connections.indices.compactMap { index in
      guard let connection = connections[index], standing(of: connection) == .unpermitted
      else { return nil }
      return DisplacementCandidate(
        index: index, user: connection.account, amount: amount(connection),
        isIdle: connection.purpose == .open || connection.lingersUntil != nil,
        lastUse: connection.acceptedAt)
    }
  }

  /// Pauses accepting while no descriptor is free, so that the service does not retry in a loop.
  private mutating func pauseAccepting(for code: Int32) {
    guard acceptResumeTime == nil else { return }
    events.remove(listener.descriptor)
    acceptResumeTime = now + LocationServer.acceptPause
    isDeadlineStale = true
    logLine(
      of: nil, .warning,
      "no connection can be accepted (\(SystemError.reason(code))); raise the limit of open files with LimitNOFILE"
    )
  }

  /// Resumes accepting, after a descriptor was released or the pause has elapsed.
  mutating func resumeAccepting() {
    guard acceptResumeTime != nil else { return }
    acceptResumeTime = nil
    do {
      try events.add(listener.descriptor, as: LocationServer.listenerToken, for: .readable)
    } catch {
      acceptResumeTime = now + LocationServer.acceptPause
    }
  }

  // MARK: Handling calls

  /// Whether a call of a connection may be handled: its unread answers are below the high-water mark.
  func mayHandle(_ index: Int) -> Bool {
    guard let connection = connections[index] else { return false }
    let isUnpermitted = standing(of: connection) == .unpermitted
    let mark = isUnpermitted ? Connection.unpermittedHighWater : Connection.highWater
    return connection.output.count + connection.expectedAnswerBytes < mark
  }

  /// Earliest time at which the held call may be handled; `now` without one.
  private func nextCall(of connection: Connection) -> Instant {
    heldCharge(of: connection).map { nextCall($0, connection) } ?? now
  }

  private func nextCall(_ terms: CallCharge, _ connection: Connection) -> Instant {
    guard terms.cost > 0 else { return now }
    return rateLimits.nextCall(of: connection.account, terms.rateStanding, at: now)
  }

  /// Charge of the held call; nil without one.
  private func heldCharge(of connection: Connection) -> CallCharge? {
    guard let held = connection.heldCall else { return nil }
    if let cached = connection.heldCharge { return cached }
    let computed =
      switch held {
      case .call(let incoming): callCharge(of: incoming.call, connection)
      case .refused: refusalCharge(connection)
      }
    connection.heldCharge = computed
    return computed
  }

  /// Charge of a call. Calls of an unpermitted client do not count against the rate of the user's permitted clients
  /// (RES-6).
  private func callCharge(of call: WireCall, _ connection: Connection) -> CallCharge {
    let standing = standing(of: connection)
    let rateStanding = clientRateStanding(connection) ?? openingRateStanding(of: call, connection)
    return CallCharge(
      standing: standing, rateStanding: rateStanding, cost: call.cost(rateStanding),
      answerSize: call.answerSize(standing))
  }

  private func refusalCharge(_ connection: Connection) -> CallCharge {
    let rateStanding = clientRateStanding(connection) ?? .permitted
    return CallCharge(
      standing: standing(of: connection), rateStanding: rateStanding,
      cost: rateStanding == .unpermitted ? WireCall.plainCost : 0,
      answerSize: WireCall.plainAnswerSize)
  }

  /// The rate that calls of a connection's client count against; nil before `Connect`.
  private func clientRateStanding(_ connection: Connection) -> Standing? {
    let standing = standing(of: connection)
    guard standing == .permitted else { return standing }
    switch connection.purpose {
    case .control(let client), .watch(let client), .drain(let client):
      return clients[client].access.authorization.isGranted ? .permitted : .unpermitted
    case .open: return nil
    }
  }

  /// The rate that a call before `Connect` counts against, for a user with permission.
  private func openingRateStanding(of call: WireCall, _ connection: Connection) -> Standing {
    if case .connect(let name, _) = call {
      let name = WireClientName(user: connection.peer.user, name: name)
      let access = permissions.access(of: name, decision: persistence.decision(about: name))
      return access.authorization.isGranted ? .permitted : .unpermitted
    }
    // A call that only reads costs this user nothing. A call that changes state is refused before `Connect`.
    return call.cost(.permitted) > 0 ? .unpermitted : .permitted
  }

  /// Handles the held call; false if it is still held.
  private mutating func handleHeld(_ index: Int) -> Bool {
    guard let connection = connections[index], let held = connection.heldCall else { return true }
    let known = heldCharge(of: connection)
    connection.heldCall = nil
    connection.heldCharge = nil
    return switch held {
    case .call(let incoming): handleOrHold(incoming, on: known, index)
    case .refused(let error, let isOneway):
      refuseOrHold(error, isOneway: isOneway, on: known, index)
    }
  }

  /// Handles a call, or holds it until its user's rate permits it; false if it is held.
  ///
  /// - Parameter known: Its charge, if computed before.
  mutating func handleOrHold(
    _ incoming: IncomingCall, on known: CallCharge? = nil, _ index: Int
  ) -> Bool {
    guard let connection = connections[index] else { return true }
    let terms = known ?? callCharge(of: incoming.call, connection)
    guard nextCall(terms, connection) <= now else {
      connection.heldCall = .call(incoming)
      connection.heldCharge = terms
      return false
    }
    charge(terms, isOneway: incoming.mode == .oneway, connection)
    // Charging may close connections that exceed their bounds, and another may reuse the index.
    if connections[index] === connection { handle(incoming, from: index) }
    return true
  }

  /// Refuses a call, or holds the refusal until its user's rate permits it; false if it is held.
  ///
  /// - Parameter known: Its charge, if computed before.
  mutating func refuseOrHold(
    _ error: WireError, isOneway: Bool, on known: CallCharge? = nil, _ index: Int
  ) -> Bool {
    guard let connection = connections[index] else { return true }
    let terms = known ?? refusalCharge(connection)
    guard nextCall(terms, connection) <= now else {
      connection.heldCall = .refused(error, isOneway: isOneway)
      connection.heldCharge = terms
      return false
    }
    charge(terms, isOneway: isOneway, connection)
    if connections[index] === connection, !isOneway {
      answer(.ready(.error(error)), to: index)
    }
    return true
  }

  /// Charges a call to its user and reserves output for its answer. A oneway call has no answer.
  private mutating func charge(_ terms: CallCharge, isOneway: Bool, _ connection: Connection) {
    if !isOneway { connection.expectedAnswerBytes += terms.answerSize }
    if terms.cost > 0 {
      rateLimits.charge(terms.cost, to: connection.account, terms.rateStanding, at: now)
    }
    if terms.standing == .unpermitted { boundOutput(for: connection.account) }
  }

  /// Closes a connection with unread output if users without permission exceed their quota of output: one of `user` if
  /// that user exceeds its share, else preferably one of the user with the most output.
  private mutating func boundOutput(for user: UInt32) {
    let candidates = displacementCandidates { $0.output.count + $0.expectedAnswerBytes }.filter {
      $0.amount > 0
    }
    guard !candidates.isEmpty else { return }
    let own = candidates.filter { $0.user == user }
    let usage = ResourceQuota.Usage(
      unpermitted: candidates.reduce(0) { $0 + $1.amount }, own: own.reduce(0) { $0 + $1.amount })
    switch LocationServer.outputQuota.refusal(.unpermitted, usage) {
    case nil, .total: return
    case .user: if let index = DisplacementCandidate.leastUseful(own) { close(index) }
    case .unpermitted:
      if let index = DisplacementCandidate.selectDisplaced(
        for: user, among: candidates, includesIdle: false)
        ?? DisplacementCandidate.leastUseful(own)
      {
        close(index)
      }
    }
  }

  /// Stops reading and handling input of a connection until it is resumed.
  mutating func pause(_ index: Int) {
    guard connections[index]?.isPaused == false else { return }
    connections[index]?.isPaused = true
    pausedCount += 1
    connections[index]?.deadline = .distantFuture
    updateInterest(index)
  }

  /// Resumes paused connections whose calls may be handled now.
  mutating func resumePaused() {
    guard pausedCount > 0 else { return }
    let begin = nextResumed
    for offset in connections.indices {
      let index = (begin + offset) % connections.count
      guard answers.count < LocationServer.requestsLimit else { return }
      guard let connection = connections[index], connection.isPaused, !connection.isEnding,
        timeToResume(index) == now
      else { continue }
      nextResumed = index + 1
      connection.isPaused = false
      pausedCount -= 1
      let input = connection.input
      connection.input = []
      if connection.heldCall != nil {
        guard handleHeld(index) else {
          connection.input = input
          pause(index)
          continue
        }
        guard connections[index] === connection else { continue }
      }
      consume(input.count, of: input, from: index)
      readLingering(index)
      updateInterest(index)
    }
  }

  /// Resets the time limit after a complete call.
  mutating func completeFrame(_ index: Int) {
    guard let connection = connections[index], connection.deadline != .distantFuture else { return }
    connection.deadline = .distantFuture
    isDeadlineStale = true
  }

  /// Sets the time limit for the remainder of a call that has begun. Between calls no limit applies.
  mutating func updateCallDeadline(_ index: Int) {
    guard let connection = connections[index] else { return }
    let isExpected = connection.splitter.isInFrame || !connection.hasMadeCall
    guard isExpected == (connection.deadline == .distantFuture) else { return }
    connection.deadline = isExpected ? now + Connection.callTimeout : .distantFuture
    isDeadlineStale = true
  }

  /// Closes expired connections and computes the next deadline. Most turns need neither and inspect no connection.
  ///
  /// Only held calls of users with permission keep the board awake. Everything else is done at the next wake, because
  /// users without permission could otherwise keep the board awake.
  mutating func expireConnections() {
    let isDue = connectionDeadline <= now || log.hasSuppressedLines
    guard isDeadlineStale || pausedCount > 0 || isDue else { return }
    isDeadlineStale = false
    var urgent = Instant.distantFuture
    var next = acceptResumeTime ?? .distantFuture
    if next <= now {
      resumeAccepting()
      next = acceptResumeTime ?? .distantFuture
    }
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
        guard let time = timeToResume(index) else { continue }
        next = min(next, time)
        let standing = heldCharge(of: connection)?.rateStanding ?? clientRateStanding(connection)
        if standing != .unpermitted { urgent = min(urgent, time) }
      } else if connection.deadline <= now {
        close(index)
      } else {
        next = min(next, connection.deadline)
      }
    }
    connectionDeadline = min(next, log.deadline(at: now))
    urgentDeadline = urgent
    events.postponableDeadline = connectionDeadline
  }

  /// Time at which a paused connection is resumed; nil if that does not depend on time.
  private func timeToResume(_ index: Int) -> Instant? {
    guard mayHandle(index), let connection = connections[index] else { return nil }
    return nextCall(of: connection)
  }

  // MARK: Log

  /// Logs a line caused by a client of `user`, within the rates of that user and of all users. With nil, a line of the
  /// service itself, which has its own rate.
  func logLine(
    of user: UInt32?, _ priority: SystemLog.Priority, _ text: @autoclosure () -> String
  ) {
    log.write(priority, of: user.map { permissions.account(of: $0) }, at: now, text())
  }
}
