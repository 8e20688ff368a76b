import CLinux
import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire

// Which connections there are and which of their calls are handled: what RES-1 to RES-7 bound.

extension LocationServer {
  /// The login user who answers for a user.
  func account(of user: UInt32) -> UInt32 { facts.subordinates.login(of: user) }

  /// What a user counts as.
  func standing(ofUser user: UInt32) -> Standing {
    if policy.isAdministrator(user) { return .administrator }
    let account = account(of: user)
    // Whatever its programs are called, or one that is known.
    let isPermitted =
      policy.access(uid: user, client: "").authorization.isGranted
      || clients.contains {
        $0.access.authorization.isGranted && self.account(of: $0.name.user) == account
      }
    return isPermitted ? .permitted : .unpermitted
  }

  /// The same of a connection's user.
  func standing(of index: Int) -> Standing {
    guard let connection = connections[index] else { return .unpermitted }
    if let known = connection.standing { return known }
    let found = standing(ofUser: connection.peer.user)
    connection.standing = found
    return found
  }

  /// What somebody may has changed.
  func forgetStandings() { for connection in connections { connection?.standing = nil } }

  // MARK: Accepting

  /// Accepts who waits to connect.
  mutating func acceptAll() {
    for _ in 0..<LocationServer.acceptsPerWait {
      let descriptor = listener.accept()
      guard descriptor >= 0 else {
        switch -descriptor {
        case EMFILE:
          if closeHeaviest(for: nil) { continue }
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
    connections[place] = Connection(descriptor, peer, since: wait, at: now)
    isDeadlineStale = true
    guard standing(of: place) == .unpermitted else { return }
    connections[place]?.output.kept = Connection.unpermittedKept
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
      if account(of: connection.peer.user) == user { usage.own += 1 }
    }
    switch LocationServer.connectionQuota.refusal(standing, usage) {
    case nil: break
    case .user: return nil
    case .unpermitted: guard closeHeaviest(for: user) else { return nil }
    case .total:
      guard standing != .unpermitted, closeHeaviest(for: user) else { return nil }
    }
    let free = connections.firstIndex { $0 == nil } ?? connections.count
    return free < LocationServer.connectionsLimit ? free : nil
  }

  /// Closes a connection of the user without permission who has the most, if those are more than `user` would have;
  /// nil for a user who has none.
  private mutating func closeHeaviest(for user: UInt32?) -> Bool {
    let held = holdings { _ in 1 }
    guard let place = Holding.displaced(for: user, among: held, takesIdle: false) else {
      return false
    }
    close(place)
    return true
  }

  /// The connections of users without permission, with what each takes.
  private func holdings(_ amount: (Connection) -> Int) -> [Holding] {
    connections.indices.compactMap { index in
      guard let connection = connections[index], standing(of: index) == .unpermitted
      else { return nil }
      return Holding(
        place: index, user: account(of: connection.peer.user), amount: amount(connection),
        isIdle: connection.purpose == .open, since: connection.opened)
    }
  }

  /// No descriptor is left: who connects waits until one is given back, and the service does not try in vain.
  private mutating func stopListening(for code: Int32) {
    guard listensAgain == nil else { return }
    events.remove(listener.descriptor)
    listensAgain = now + LocationServer.acceptPause
    isDeadlineStale = true
    logLine(
      of: 0, .warning,
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

  /// Whether the next call of a connection is handled now: its answers are taken, and its user's rate is not used up.
  func mayHandle(_ index: Int) -> Bool {
    guard let connection = connections[index] else { return false }
    let standing = standing(of: index)
    let mark =
      standing == .unpermitted ? Connection.unpermittedHighWater : Connection.highWater
    return connection.output.count + connection.expected < mark && nextCall(of: index) <= now
  }

  private func nextCall(of index: Int) -> Instant {
    guard let connection = connections[index] else { return .distantFuture }
    if accounts.isEmpty { return now }
    return accounts.nextCall(
      of: account(of: connection.peer.user), standing(of: index), at: now)
  }

  /// A call is handled; nil for one that is refused.
  mutating func charge(_ incoming: IncomingCall?, _ index: Int) {
    guard let connection = connections[index] else { return }
    let standing = standing(of: index)
    let call = incoming?.call
    if incoming?.mode != .oneway { connection.expected += call?.answerSize(standing) ?? 512 }
    let cost = call?.cost(standing) ?? (standing == .unpermitted ? WireCall.plainCost : 0)
    guard cost > 0 else { return }
    accounts.charge(cost, to: account(of: connection.peer.user), standing, at: now)
    if standing == .unpermitted { boundOutput(for: account(of: connection.peer.user)) }
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
    for index in connections.indices {
      guard answers.count < LocationServer.requestsLimit else { return }
      guard let connection = connections[index], connection.isPaused, !connection.isEnding,
        mayHandle(index)
      else { continue }
      connection.isPaused = false
      pausedCount -= 1
      let input = connection.input
      connection.input = []
      take(input.count, of: input, from: index)
      updateInterest(index)
    }
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
  mutating func watchConnections() {
    let isDue = connectionDeadline <= now || accounts.suppressedLines > 0
    guard isDeadlineStale || pausedCount > 0 || isDue else { return }
    isDeadlineStale = false
    var next = listensAgain ?? .distantFuture
    if next <= now {
      listenAgain()
      next = listensAgain ?? .distantFuture
    }
    for index in connections.indices {
      guard let connection = connections[index] else { continue }
      if connection.isPaused {
        if mayHandle(index) {
          next = min(next, now)
        } else if connection.output.isEmpty {
          next = min(next, nextCall(of: index))
        }
      } else if connection.deadline <= now {
        close(index)
      } else {
        next = min(next, connection.deadline)
      }
    }
    connectionDeadline = min(next, accounts.deadline(at: now))
  }

  // MARK: Log

  /// Writes a line that a client of that user has caused, as often as its user and all of them may.
  mutating func logLine(
    of user: UInt32, _ priority: SystemLog.Priority, _ text: @autoclosure () -> String
  ) {
    guard let omitted = accounts.takeLine(of: account(of: user), at: now) else { return }
    log.write(priority, omitted > 0 ? "\(text()) (\(omitted) lines were left out before)" : text())
  }

  /// Says how many lines were left out, once no more come.
  mutating func tellSuppressedLines() {
    guard let omitted = accounts.takeSuppressed(at: now) else { return }
    log.write(.notice, "\(omitted) lines about clients were left out: more came than are written")
  }
}
