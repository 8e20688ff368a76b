import CLinux
import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire

// Which connections there are and which of their calls are handled: what RES-1 to RES-7 bound.

extension LocationServer {
  /// What a user counts as.
  func standing(ofUser user: UInt32) -> Standing {
    if policy.isAdministrator(user) { return .administrator }
    // One that is known, or whatever its programs are called.
    let isPermitted =
      permittedUsers.contains(account(of: user))
      || policy.access(uid: user, client: "").authorization.isGranted
    return isPermitted ? .permitted : .unpermitted
  }

  /// The same of a connection's user.
  func standing(of index: Int) -> Standing {
    guard let connection = connections[index] else { return .unpermitted }
    return standing(of: connection)
  }

  private func standing(of connection: Connection) -> Standing {
    if let known = connection.standing { return known }
    let found = standing(ofUser: connection.peer.user)
    connection.standing = found
    connection.keepCapacity(for: found)
    return found
  }

  /// Derives the standing of users anew after a permission or the set of clients has changed.
  mutating func updateStandings() {
    permittedUsers.removeAll(keepingCapacity: true)
    for client in clients where client.access.authorization.isGranted && !client.isVacant {
      permittedUsers.insert(client.account)
    }
    for connection in connections {
      connection?.standing = nil
      connection?.heldTerms = nil
    }
  }

  /// Forgets the terms of calls that wait, after a decision about a client without a place has changed.
  func forgetHeldTerms() { for connection in connections { connection?.heldTerms = nil } }

  // MARK: Accepting

  /// Accepts who waits to connect.
  mutating func acceptAll() {
    checkSubordinates()
    for _ in 0..<LocationServer.acceptsPerWait {
      let descriptor = listener.accept()
      guard descriptor >= 0 else {
        switch -descriptor {
        case EMFILE:
          if closeHeaviest(for: nil, takesAny: true) { continue }
          stopListening(for: EMFILE)
        case ENFILE, ENOBUFS, ENOMEM: stopListening(for: -descriptor)
        default: break
        }
        return
      }
      guard let peer = listener.peer(descriptor), let place = place(for: peer) else {
        Glibc.close(descriptor)
        continue
      }
      admit(descriptor, peer, at: place)
    }
  }

  private mutating func admit(_ descriptor: Int32, _ peer: Peer, at place: Int) {
    do {
      try events.add(descriptor, as: LocationServer.token(of: place), for: .readable)
    } catch {
      Glibc.close(descriptor)
      return
    }
    if place == connections.count { connections.append(nil) }
    connections[place] = Connection(
      descriptor, peer, of: account(of: peer.user), since: wait, at: now)
    isDeadlineStale = true
    guard standing(of: place) == .unpermitted else { return }
    // What the kernel keeps of answers that nobody reads counts as the service's memory.
    var size = Connection.unpermittedSendBuffer
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Where a new connection of that user goes, for which another one may have to go; nil if it may not be.
  private mutating func place(for peer: Peer) -> Int? {
    let user = account(of: peer.user)
    let standing = standing(ofUser: peer.user)
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
    case .unpermitted: guard closeHeaviest(for: user, takesAny: false) else { return nil }
    case .total:
      guard standing != .unpermitted, closeHeaviest(for: user, takesAny: true) else { return nil }
    }
    let free = connections.firstIndex { $0 == nil } ?? connections.count
    return free < LocationServer.connectionsLimit ? free : nil
  }

  /// Closes a connection of the user without permission who has the most, if those are more than `user` would have;
  /// nil for a user who is not known yet. With `takesAny` else the one that is missed least, whoever has it: for a user
  /// with permission.
  private mutating func closeHeaviest(for user: UInt32?, takesAny: Bool) -> Bool {
    let held = holdings { _ in 1 }
    let heaviest = Holding.displaced(for: user, among: held, takesIdle: false)
    guard let place = heaviest ?? (takesAny ? Holding.least(held) : nil) else { return false }
    close(place)
    return true
  }

  /// The connections of users without permission, with what each takes.
  private func holdings(_ amount: (Connection) -> Int) -> [Holding] {
    connections.indices.compactMap { index in
      guard let connection = connections[index], standing(of: connection) == .unpermitted
      else { return nil }
      return Holding(
        place: index, user: connection.account, amount: amount(connection),
        isIdle: connection.purpose == .open || connection.lingersUntil != nil,
        since: connection.opened)
    }
  }

  /// No descriptor is left: who connects waits until one is given back, and the service does not try in vain.
  private mutating func stopListening(for code: Int32) {
    guard listensAgain == nil else { return }
    events.remove(listener.descriptor)
    listensAgain = now + LocationServer.acceptPause
    isDeadlineStale = true
    logLine(
      of: nil, .warning,
      "no connection can be accepted (\(SystemError.reason(code))): more files may be open with LimitNOFILE"
    )
  }

  /// A descriptor was given back, or it is time to look.
  mutating func listenAgain() {
    guard listensAgain != nil else { return }
    listensAgain = nil
    do {
      try events.add(listener.descriptor, as: LocationServer.listenerToken, for: .readable)
    } catch {
      listensAgain = now + LocationServer.acceptPause
    }
  }

  // MARK: Handling calls

  /// Whether a call of a connection may be looked at: its answers are taken.
  func mayHandle(_ index: Int) -> Bool {
    guard let connection = connections[index] else { return false }
    let isUnpermitted = standing(of: connection) == .unpermitted
    let mark = isUnpermitted ? Connection.unpermittedHighWater : Connection.highWater
    return connection.output.count + connection.expected < mark
  }

  /// When the call that a connection keeps may be handled; `now` where it keeps none.
  private func nextCall(of connection: Connection) -> Instant {
    heldTerms(of: connection).map { nextCall($0, connection) } ?? now
  }

  private func nextCall(_ terms: CallTerms, _ connection: Connection) -> Instant {
    guard terms.cost > 0 else { return now }
    return accounts.nextCall(of: connection.account, terms.payer, at: now)
  }

  /// The terms of the call that a connection keeps; nil where it keeps none.
  private func heldTerms(of connection: Connection) -> CallTerms? {
    guard let held = connection.held else { return nil }
    if let known = connection.heldTerms { return known }
    let found =
      switch held {
      case .call(let incoming): terms(of: incoming.call, connection)
      case .refused: refusalTerms(connection)
      }
    connection.heldTerms = found
    return found
  }

  /// The terms of a call. Calls of a client without permission do not count against the rate of its user's clients
  /// with permission (RES-6).
  private func terms(of call: WireCall, _ connection: Connection) -> CallTerms {
    let standing = standing(of: connection)
    let payer = clientPayer(connection) ?? openingPayer(of: call, connection)
    return CallTerms(
      standing: standing, payer: payer, cost: call.cost(payer),
      answerSize: call.answerSize(standing))
  }

  private func refusalTerms(_ connection: Connection) -> CallTerms {
    let payer = clientPayer(connection) ?? .permitted
    return CallTerms(
      standing: standing(of: connection), payer: payer,
      cost: payer == .unpermitted ? WireCall.plainCost : 0, answerSize: WireCall.plainAnswerSize)
  }

  /// The rate for calls of a connection's client; nil before `Connect`.
  private func clientPayer(_ connection: Connection) -> Standing? {
    let standing = standing(of: connection)
    guard standing == .permitted else { return standing }
    switch connection.purpose {
    case .control(let client), .watch(let client), .drain(let client):
      return clients[client].access.authorization.isGranted ? .permitted : .unpermitted
    case .open: return nil
    }
  }

  /// The rate for a call before `Connect`, by a user with permission.
  private func openingPayer(of call: WireCall, _ connection: Connection) -> Standing {
    if case .connect(let name, _) = call {
      let user = connection.peer.user
      let decision = state.client(uid: user, name: name)?.accessDecision
      let access = policy.access(uid: user, client: name, decision: decision)
      return access.authorization.isGranted ? .permitted : .unpermitted
    }
    // Reading is free to the user; a change without a session is refused.
    return call.cost(.permitted) > 0 ? .unpermitted : .permitted
  }

  /// Handles the call that a connection keeps; false where it is kept for longer.
  private mutating func handleHeld(_ index: Int) -> Bool {
    guard let connection = connections[index], let held = connection.held else { return true }
    let known = heldTerms(of: connection)
    connection.held = nil
    connection.heldTerms = nil
    return switch held {
    case .call(let incoming): handleOrHold(incoming, on: known, index)
    case .refused(let error, let isOneway):
      refuseOrHold(error, isOneway: isOneway, on: known, index)
    }
  }

  /// Handles a call, or keeps it until its user's rate lets it through; false where it is kept.
  ///
  /// - Parameter known: Its terms, where they were found before.
  mutating func handleOrHold(
    _ incoming: IncomingCall, on known: CallTerms? = nil, _ index: Int
  ) -> Bool {
    guard let connection = connections[index] else { return true }
    let terms = known ?? terms(of: incoming.call, connection)
    guard nextCall(terms, connection) <= now else {
      connection.held = .call(incoming)
      connection.heldTerms = terms
      return false
    }
    charge(terms, isOneway: incoming.mode == .oneway, connection)
    // What is over the bounds by it may be closed: nothing of it may go to the next one in its place.
    if connections[index] === connection { handle(incoming, from: index) }
    return true
  }

  /// Refuses a call as it stands, or keeps it until its user's rate lets it through; false where it is kept.
  ///
  /// - Parameter known: Its terms, where they were found before.
  mutating func refuseOrHold(
    _ error: WireError, isOneway: Bool, on known: CallTerms? = nil, _ index: Int
  ) -> Bool {
    guard let connection = connections[index] else { return true }
    let terms = known ?? refusalTerms(connection)
    guard nextCall(terms, connection) <= now else {
      connection.held = .refused(error, isOneway: isOneway)
      connection.heldTerms = terms
      return false
    }
    charge(terms, isOneway: isOneway, connection)
    if connections[index] === connection, !isOneway {
      answer(.ready(.error(error)), to: index)
    }
    return true
  }

  /// Charges a call to its user, and reserves room for its answer; a oneway call has none.
  private mutating func charge(_ terms: CallTerms, isOneway: Bool, _ connection: Connection) {
    if !isOneway { connection.expected += terms.answerSize }
    if terms.cost > 0 { accounts.charge(terms.cost, to: connection.account, terms.payer, at: now) }
    if terms.standing == .unpermitted { boundOutput(for: connection.account) }
  }

  /// Closes what holds the most unread answers, where users without permission let too many wait.
  private mutating func boundOutput(for user: UInt32) {
    let held = holdings { $0.output.count + $0.expected }.filter { $0.amount > 0 }
    guard !held.isEmpty else { return }
    let own = held.filter { $0.user == user }
    let usage = ResourceQuota.Usage(
      unpermitted: held.reduce(0) { $0 + $1.amount }, own: own.reduce(0) { $0 + $1.amount })
    switch LocationServer.outputQuota.refusal(.unpermitted, usage) {
    case nil, .total: return
    case .user: if let place = Holding.least(own) { close(place) }
    case .unpermitted:
      if let place = Holding.displaced(for: user, among: held, takesIdle: false)
        ?? Holding.least(own)
      {
        close(place)
      }
    }
  }

  /// Nothing more is read of a connection until its calls are handled again.
  mutating func pause(_ index: Int) {
    guard connections[index]?.isPaused == false else { return }
    connections[index]?.isPaused = true
    pausedCount += 1
    connections[index]?.deadline = .distantFuture
    updateInterest(index)
  }

  /// Handles the calls of those connections that were not for a while.
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
      if connection.held != nil {
        guard handleHeld(index) else {
          connection.input = input
          pause(index)
          continue
        }
        guard connections[index] === connection else { continue }
      }
      take(input.count, of: input, from: index)
      readRest(index)
      updateInterest(index)
    }
  }

  /// A whole call has come: the next one has all of its time.
  mutating func completeFrame(_ index: Int) {
    guard let connection = connections[index], connection.deadline != .distantFuture else { return }
    connection.deadline = .distantFuture
    isDeadlineStale = true
  }

  /// A call that has begun must end in time; between calls a connection may be silent for as long as it likes.
  mutating func expectRest(_ index: Int) {
    guard let connection = connections[index] else { return }
    let isExpected = connection.splitter.isInFrame || !connection.hasAsked
    guard isExpected == (connection.deadline == .distantFuture) else { return }
    connection.deadline = isExpected ? now + Connection.callPatience : .distantFuture
    isDeadlineStale = true
  }

  /// Closes connections whose time is over, and notes when there is next something to do. Most turns have nothing of
  /// that to do, and do not look at any connection.
  ///
  /// The board is held awake only for the calls of a user with permission that wait for their rate: anything else could
  /// be brought about without end by users without permission, and is done at the next wake.
  mutating func watchConnections() {
    let isDue = connectionDeadline <= now || accounts.suppressedLines > 0
    guard isDeadlineStale || pausedCount > 0 || isDue else { return }
    isDeadlineStale = false
    var urgent = Instant.distantFuture
    var next = listensAgain ?? .distantFuture
    if next <= now {
      listenAgain()
      next = listensAgain ?? .distantFuture
    }
    for index in connections.indices {
      guard let connection = connections[index] else { continue }
      if let end = connection.lingersUntil {
        guard end > now else {
          abandon(index)
          continue
        }
        next = min(next, end)
      }
      if connection.isPaused {
        guard let time = timeToResume(index) else { continue }
        next = min(next, time)
        let payer = heldTerms(of: connection)?.payer ?? clientPayer(connection)
        if payer != .unpermitted { urgent = min(urgent, time) }
      } else if connection.deadline <= now {
        close(index)
      } else {
        next = min(next, connection.deadline)
      }
    }
    connectionDeadline = min(next, accounts.deadline(at: now))
    urgentDeadline = urgent
    events.postponable = connectionDeadline
  }

  /// When the calls of a paused connection are handled again; nil where that does not depend on the time.
  private func timeToResume(_ index: Int) -> Instant? {
    guard mayHandle(index), let connection = connections[index] else { return nil }
    return nextCall(of: connection)
  }

  // MARK: Log

  /// Writes a line that a client of that user has caused, as often as its user and all of them may; nil for a line of
  /// the service itself, which takes nothing of what clients may.
  mutating func logLine(
    of user: UInt32?, _ priority: SystemLog.Priority, _ text: @autoclosure () -> String
  ) {
    var account: UInt32?
    if let user { account = self.account(of: user) }
    guard let omitted = accounts.takeLine(of: account, at: now) else { return }
    log.write(priority, omitted > 0 ? "\(text()) (\(omitted) lines were left out before)" : text())
  }

  /// Says how many lines were left out, once no more come.
  mutating func tellSuppressedLines() {
    guard let omitted = accounts.takeSuppressed(at: now) else { return }
    log.write(.notice, "\(omitted) lines about clients were left out: more came than are written")
  }
}
