import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire

// Input of connections: reads, splits into frames, decodes, and handles each call once its user's rate permits it
// (RES-5, RES-6). Calls over the rate are held in their connection, and are handled before its further input.

extension LocationServer {
  /// Handles one ready descriptor of the last wait; false if none remains, or if too many answers are pending.
  mutating func handleNextEvent() -> Bool {
    if connections.beginWait() { resumePaused() }
    guard !answers.isFull else { return false }
    guard let event = connections.nextEvent() else {
      guard let event = gpsd.connections.nextEvent() else { return false }
      handleGPSD(event)
      return true
    }
    switch event {
    case .listener: acceptAll()
    case .monitor(let index): updateFrozen(index)
    case .connection(let index, let conditions): handleEvent(index, conditions)
    }
    return true
  }

  private mutating func handleEvent(_ index: Int, _ conditions: EventWait.Conditions) {
    if conditions.contains(.readable), connections[index]?.isEnding == false {
      for _ in 0..<(conditions.contains(.gone) ? ConnectionTable.readsAfterHangUp : 1) {
        read(index)
      }
    } else if conditions.contains(.gone) {
      hangUp(index)
    }
  }

  /// Reads one buffer, and handles the calls in it as far as limits permit.
  private mutating func read(_ index: Int) {
    switch connections.read(index) {
    case .none: break
    case .bytes(let count): consume(count, of: connections.buffer, from: index)
    case .failed: close(index)
    // The calls received so far are answered.
    case .endOfInput:
      if connections[index]?.isDraining == true { close(index) } else { connections.end(index) }
    }
  }

  /// Splits input into frames and handles them. Input that may not be handled yet is held.
  private mutating func consume(_ count: Int, of bytes: [UInt8], from index: Int) {
    var offset = 0
    while offset < count, let connection = connections[index], !connection.isEnding {
      guard connections.mayHandle(connection, permissions) else {
        return pause(index, HeldInput(nil, followedBy: Array(bytes[offset..<count])))
      }
      switch connection.nextFrame(bytes, upTo: count, &offset) {
      case .needsMore: break
      case .oversize: connections.end(index)
      case .frame:
        connections.completeFrame(index)
        guard let call = decodeFrame(of: connection) else {
          connections.end(index)
          break
        }
        if let charge = handleIfPermitted(call, index) {
          return pause(index, HeldInput(call, charge, followedBy: Array(bytes[offset..<count])))
        }
      }
    }
    connections.updateCallDeadline(index, at: now)
  }

  /// Decodes a complete frame; nil if it is no call.
  private func decodeFrame(of connection: Connection) -> HeldCall? {
    do {
      return .call(try connection.decodeFrame())
    } catch {
      switch error {
      case .malformed: return nil
      case .refused(let error, let isOneway): return .refused(error, isOneway: isOneway)
      }
    }
  }

  /// Handles a call if its user's rate permits it.
  ///
  /// - Parameter known: Its charge, if computed before.
  /// - Returns: Its charge if it must be held; nil if it was handled.
  private mutating func handleIfPermitted(
    _ call: HeldCall, charge known: CallCharge? = nil, _ index: Int
  ) -> CallCharge? {
    guard let connection = connections[index] else { return nil }
    let charge = known ?? self.charge(of: call, on: connection)
    guard connections.nextCall(charge, of: connection, at: now) <= now else { return charge }
    connections.charge(charge, isOneway: call.isOneway, to: connection, at: now)
    if charge.standing == .unpermitted,
      let excess = connections.overOutputQuota(of: connection.account, permissions)
    {
      close(excess)
    }
    // That may have been this connection.
    guard connections[index] === connection else { return nil }
    switch call {
    case .call(let incoming): handle(incoming, from: index)
    case .refused(let error, false): addAnswer(.ready(.error(error)), to: index)
    case .refused(_, true): break
    }
    return nil
  }

  /// Stops reading and handling input of a connection until it is resumed.
  private mutating func pause(_ index: Int, _ held: HeldInput) {
    if !connections.pause(index, holding: held) { close(index) }
  }

  /// Resumes paused connections whose calls may be handled now.
  private mutating func resumePaused() {
    guard connections.pausedCount > 0 else { return }
    let (begin, count) = (connections.firstResumed, connections.slots.count)
    for offset in 0..<count {
      let index = (begin + offset) % count
      guard !answers.isFull else { return }
      guard let connection = connections[index], timeToResume(connection) == now,
        let held = connections.resume(index)
      else { continue }
      if let call = held.call {
        if let charge = handleIfPermitted(call, charge: held.charge, index) {
          pause(index, HeldInput(call, charge, followedBy: held.bytes))
          continue
        }
        guard connections[index] === connection else { continue }
      }
      consume(held.bytes.count, of: held.bytes, from: index)
      readLingering(index)
      if !connections.updateInterest(index) { close(index) }
    }
  }

  /// Reads more input from a connection whose peer has hung up, which is no longer registered with epoll.
  private mutating func readLingering(_ index: Int) {
    guard connections[index]?.lingersUntil != nil else { return }
    for _ in 0..<ConnectionTable.readsAfterHangUp { read(index) }
    // If the end of input was not reached yet, continue in the next turn.
    pause(index, HeldInput(nil))
  }

  /// Time at which a paused connection is resumed; nil if that does not depend on time, or it is not paused.
  func timeToResume(_ connection: Connection) -> Instant? {
    guard let held = connection.held, connections.mayHandle(connection, permissions) else {
      return nil
    }
    guard let charge = heldCharge(of: held, on: connection) else { return now }
    return connections.nextCall(charge, of: connection, at: now)
  }

  // MARK: Charges

  /// Charge of a held call; nil if no call is held.
  private func heldCharge(of held: HeldInput, on connection: Connection) -> CallCharge? {
    guard let call = held.call else { return nil }
    if let cached = held.charge { return cached }
    let computed = charge(of: call, on: connection)
    held.setCharge(computed)
    return computed
  }

  /// Charge of a call. Calls of an unpermitted client do not count against the rate of the user's permitted clients
  /// (RES-6).
  private func charge(of call: HeldCall, on connection: Connection) -> CallCharge {
    let standing = connection.standing(permissions)
    switch call {
    case .call(let incoming):
      let rateStanding =
        clientRateStanding(connection) ?? openingRateStanding(of: incoming.call, connection)
      return CallCharge(
        standing: standing, rateStanding: rateStanding, cost: incoming.call.cost(rateStanding),
        answerSize: incoming.call.answerSize(standing))
    case .refused:
      let rateStanding = clientRateStanding(connection) ?? .permitted
      return CallCharge(
        standing: standing, rateStanding: rateStanding,
        cost: rateStanding == .unpermitted ? WireCall.plainCost : 0,
        answerSize: WireCall.plainAnswerSize)
    }
  }

  /// The rate that calls of a connection's client count against; nil before `Connect`.
  func clientRateStanding(_ connection: Connection) -> Standing? {
    let standing = connection.standing(permissions)
    guard standing == .permitted else { return standing }
    return connection.client.map {
      clients[$0].access.authorization.isGranted ? .permitted : .unpermitted
    }
  }

  /// The rate that a held call counts against; nil if no call is held, and the connection has no client.
  func heldRateStanding(_ connection: Connection) -> Standing? {
    let charge = connection.held.flatMap { heldCharge(of: $0, on: connection) }
    return charge?.rateStanding ?? clientRateStanding(connection)
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
}
