import CLinux
import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire

/// All connections of the service with the listener: who is admitted, what is read next, which calls are held, and when
/// a connection must be handled without input.
///
/// # Problem
///
/// Up to 512 connections of mutually distrusting users share one thread. None may use more than its user's share of
/// connections, output and calls (RES-1 to RES-7), and a connection may be closed at any time, also by the call of
/// another. ``LocationServer`` handles calls; this table owns what a call must not decide: descriptors, indices, quotas,
/// rates and deadlines.
///
/// # States
///
/// Each connection: see ``Connection``. Accepting:
///
///     ACCEPTING ──no descriptor is free, and none can be freed──▶ PAUSED (``acceptsAt``: 1 s later)
///         ▲                                                          │
///         └───────────── a connection was closed, or time ───────────┘ or stays PAUSED, if epoll refuses
///
/// # Invariants
///
/// - Owner: ``LocationServer``. This type does not depend on clients: closing a connection returns it, and the server updates the
///   client that it served.
/// - Indices are reused. Code that keeps an index across a call that may close connections compares the object
///   (`===`); an event of a wait applies only to connections accepted before it (``Connection/acceptedWait``).
/// - ``pausedCount`` is the number of connections in PAUSED or LINGERING.
///
/// # Bounds
///
/// ``capacity`` connections. Per wait: ``acceptsPerWait`` connections accepted, and one buffer of ``readSize`` read per
/// connection, or ``readsAfterHangUp`` if its peer has hung up.
struct ConnectionTable {
  /// Maximum number of connections.
  static let capacity = 512
  /// Quotas of connections, if there are descriptors for `total`.
  static func quota(_ total: Int) -> ResourceQuota {
    ResourceQuota(
      total: total, reserved: total / 32, unpermitted: total / 2, perUser: min(64, total / 2),
      perUnpermittedUser: total / 8)
  }
  /// Quotas of unsent output in bytes, for users without permission. Connections of other users are bounded one by one.
  static let outputQuota = ResourceQuota(
    total: .max, reserved: 0, unpermitted: 1_048_576, perUser: .max,
    perUnpermittedUser: 131_072)
  /// Maximum number of connections accepted per wait.
  static let acceptsPerWait = 16
  /// How long accepting is suspended when no descriptor is free, unless one is released before.
  static let acceptPause = Interval.seconds(1)
  /// How long the number of connections is limited after no descriptor was free. The quotas then apply to the connections
  /// that fit, so that most further ones are refused, which costs less than to close another one for each.
  static let shortageTime = Interval.seconds(60)
  /// Smallest number to which connections are limited then.
  static let shortageMinimum = 16
  /// Maximum number of reads in one wait from a connection that the peer has closed.
  static let readsAfterHangUp = 16
  /// Size of the read buffer in bytes.
  static let readSize = 4_096
  /// How long held calls are handled after the peer has hung up.
  static let lingerTime = Interval.seconds(30)
  /// Maximum number of lingering connections of one user.
  static let lingeringPerUser = 4

  /// The next times at which connections must be handled without input.
  struct Deadlines {
    /// Earliest of them.
    fileprivate(set) var next = Instant.distantFuture
    /// Same, if a user with permission waits for it. The board is not suspended beyond that time.
    fileprivate(set) var urgent = Instant.distantFuture
    /// Whether ``next`` must be recomputed.
    fileprivate(set) var isStale = false
  }

  /// A ready descriptor.
  enum Event {
    case listener
    case connection(Int, EventWait.Conditions)
    /// The monitor of a control connection's process.
    case monitor(Int)
  }

  /// Whether a peer may connect.
  enum Admission: Equatable {
    case granted
    /// If that connection is closed before.
    case displacing(Int)
    case refused
  }

  /// Result of reading one buffer.
  enum ReadResult: Equatable {
    case none
    /// That many bytes are in ``buffer``.
    case bytes(Int)
    case endOfInput
    case failed
  }

  /// Connections by index; nil where an index is free. No longer than necessary, because each turn visits all of it.
  private(set) var slots: [Connection?] = []
  /// Number of paused connections.
  private(set) var pausedCount = 0
  /// Index at which the next turn starts to resume connections, for fairness.
  private(set) var firstResumed = 0
  /// Time at which accepting resumes after no descriptor was free; nil while connections are accepted.
  private(set) var acceptsAt: Instant?
  /// The number of connections for which there are descriptors, and until when it applies.
  private var shortage = (limit: capacity, end: Instant.boot)
  private(set) var deadlines = Deadlines()
  /// Input of the last read.
  private(set) var buffer = [UInt8](repeating: 0, count: ConnectionTable.readSize)
  private var rates = CallRateLimits()
  /// Number of the last wait.
  private var wait: UInt64 = 0
  /// Number of its descriptors that were handled.
  private var handled = 0
  /// The service's socket: the server accepts connections from it, and only this table waits for it and closes it.
  let listener: Listener
  private let events: EventWait

  /// Accepts connections of `listener`, and adds all descriptors to `events`.
  init(_ listener: Listener, on events: EventWait) throws(SystemError) {
    try events.add(listener.descriptor, as: ConnectionTable.listenerToken, for: .readable)
    self.listener = listener
    self.events = events
  }

  static let listenerToken = EventWait.Token(rawValue: EventWait.Token.firstFree.rawValue + 1)

  private static func token(of connection: Int) -> EventWait.Token {
    EventWait.Token(rawValue: listenerToken.rawValue + 1 + UInt32(connection))
  }

  private static func monitorToken(of connection: Int) -> EventWait.Token {
    EventWait.Token(rawValue: token(of: connection).rawValue + UInt32(capacity))
  }

  /// The connection at an index; nil if the index is free.
  subscript(index: Int) -> Connection? { slots[index] }

  var indices: Range<Int> { slots.indices }

  // MARK: Ready descriptors

  /// Starts with the descriptors of a new wait. Returns false if the last wait is still being handled.
  mutating func beginWait() -> Bool {
    guard wait != events.waitCount else { return false }
    wait = events.waitCount
    handled = 0
    return true
  }

  /// The next ready descriptor of the last wait; nil if none remains. Those of other parts of the service, and of
  /// connections that were closed meanwhile, are skipped.
  mutating func nextEvent() -> Event? {
    while handled < events.readyCount {
      let ready = events.ready(at: handled)
      handled += 1
      let (token, first) = (ready.token.rawValue, ConnectionTable.listenerToken.rawValue)
      if token == first { return .listener }
      guard token > first else { continue }
      let source = Int(token - first) - 1
      let isMonitor = source >= ConnectionTable.capacity
      let index = isMonitor ? source - ConnectionTable.capacity : source
      // A connection accepted since the wait may have reused the index; the event is not for it.
      guard index < slots.count, let connection = slots[index], connection.acceptedWait < wait
      else { continue }
      return isMonitor ? .monitor(index) : .connection(index, ready.conditions)
    }
    return nil
  }

  /// Reads one buffer from a connection that is neither paused nor ending.
  mutating func read(_ index: Int) -> ReadResult {
    guard let connection = slots[index], connection.isReading else { return .none }
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe recv(connection.descriptor, bytes.baseAddress, bytes.count, 0)
    }
    if count < 0 {
      return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR ? .failed : .none
    }
    if count == 0 { return .endOfInput }
    // A connection that was upgraded to records has no further input.
    return connection.isDraining ? .none : .bytes(count)
  }

  // MARK: Accepting

  /// Records that no descriptor was free: one of those in use is kept free from now on, to refuse connections with it.
  mutating func noteShortage(at now: Instant) {
    let used = slots.count { $0 != nil }
    shortage = (max(used - 1, ConnectionTable.shortageMinimum), now + ConnectionTable.shortageTime)
  }

  /// Whether a peer may connect.
  func admission(of peer: Peer, _ permissions: borrowing Permissions, at now: Instant) -> Admission
  {
    let account = permissions.account(of: peer.user)
    let standing = permissions.standing(of: peer.user)
    var usage = ResourceQuota.Usage()
    for connection in slots {
      guard let connection else { continue }
      usage.all += 1
      if connection.standing(permissions) == .unpermitted { usage.unpermitted += 1 }
      if connection.account == account { usage.own += 1 }
    }
    let limit = now < shortage.end ? shortage.limit : ConnectionTable.capacity
    let refusal = ConnectionTable.quota(limit).refusal(standing, usage)
    switch refusal {
    case nil: return .granted
    case .user: return .refused
    case .total where standing == .unpermitted: return .refused
    case .unpermitted, .total:
      return heaviest(for: account, fallsBackToAny: refusal == .total, permissions)
        .map(Admission.displacing) ?? .refused
    }
  }

  /// A connection of the unpermitted user with the most connections, if these are more than `account` will have with a
  /// new one; `account` is nil if it is not known yet. Otherwise, if `fallsBackToAny` is set, the least useful
  /// connection of any unpermitted user.
  func heaviest(
    for account: UInt32?, fallsBackToAny: Bool, _ permissions: borrowing Permissions
  ) -> Int? {
    let all = displacementCandidates(permissions) { _ in 1 }
    return DisplacementCandidate.selectDisplaced(for: account, among: all, includesIdle: false)
      ?? (fallsBackToAny ? DisplacementCandidate.leastUseful(all) : nil)
  }

  /// The connections of users without permission, with the amount of a resource that each uses.
  private func displacementCandidates(
    _ permissions: borrowing Permissions, _ amount: (Connection) -> Int
  ) -> [DisplacementCandidate] {
    var all: [DisplacementCandidate] = []
    for index in slots.indices {
      guard let connection = slots[index], connection.standing(permissions) == .unpermitted
      else { continue }
      all.append(
        DisplacementCandidate(
          index: index, user: connection.account, amount: amount(connection),
          isIdle: connection.isOpen || connection.lingersUntil != nil,
          lastUse: connection.acceptedAt))
    }
    return all
  }

  /// Adds an accepted connection. Closes the descriptor if the table is full, or epoll refuses it.
  mutating func admit(
    _ descriptor: Int32, _ peer: Peer, _ permissions: borrowing Permissions, at now: Instant
  ) {
    let index = slots.firstIndex { $0 == nil } ?? slots.count
    guard index < ConnectionTable.capacity else {
      Glibc.close(descriptor)
      return
    }
    do {
      try events.add(descriptor, as: ConnectionTable.token(of: index), for: .readable)
    } catch {
      Glibc.close(descriptor)
      return
    }
    let connection = Connection(
      descriptor, peer, of: permissions.account(of: peer.user), since: wait, at: now)
    if index == slots.count { slots.append(connection) } else { slots[index] = connection }
    deadlines.isStale = true
    guard connection.standing(permissions) == .unpermitted else { return }
    // A small send buffer, because unread answers in the kernel use memory as well.
    var size = Connection.unpermittedSendBuffer
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Pauses accepting while no descriptor is free, so that the service does not retry in a loop. Returns false if it is
  /// paused already.
  mutating func pauseAccepting(at now: Instant) -> Bool {
    guard acceptsAt == nil else { return false }
    events.remove(listener.descriptor)
    acceptsAt = now + ConnectionTable.acceptPause
    deadlines.isStale = true
    return true
  }

  /// Resumes accepting, after a descriptor was released or the pause has elapsed.
  mutating func resumeAccepting(at now: Instant) {
    guard acceptsAt != nil else { return }
    do {
      try events.add(listener.descriptor, as: ConnectionTable.listenerToken, for: .readable)
      acceptsAt = nil
    } catch {
      acceptsAt = now + ConnectionTable.acceptPause
    }
  }

  // MARK: Closing

  /// Closes and removes a connection. Returns it; nil if the index is free.
  mutating func remove(_ index: Int, at now: Instant) -> Connection? {
    guard index < slots.count, let connection = slots[index] else { return nil }
    endMonitoring(index)
    if connection.isPaused { pausedCount -= 1 }
    slots[index] = nil
    events.remove(connection.descriptor)
    Glibc.close(connection.descriptor)
    resumeAccepting(at: now)
    return connection
  }

  /// Closes and removes all connections, at the end of the service.
  mutating func removeAll() {
    for index in slots.indices {
      endMonitoring(index)
      guard let connection = slots[index] else { continue }
      events.remove(connection.descriptor)
      Glibc.close(connection.descriptor)
    }
    slots = []
    pausedCount = 0
  }

  /// Stops reading; the connection is closed after its pending output was offered once.
  mutating func end(_ index: Int) {
    guard let connection = slots[index] else { return }
    if connection.isPaused { pausedCount -= 1 }
    connection.end()
  }

  /// Removes free indices at the end of the table.
  mutating func trim() { while let last = slots.last, last == nil { slots.removeLast() } }

  // MARK: Purpose

  /// Sets the purpose of a connection, and how much memory its empty output retains.
  func setPurpose(
    _ purpose: Connection.Purpose, of index: Int, _ permissions: borrowing Permissions
  ) {
    guard let connection = slots[index] else { return }
    connection.setPurpose(purpose)
    // A control connection retains as much as one without a purpose.
    if !connection.carriesCalls { connection.keepCapacity(for: connection.standing(permissions)) }
  }

  /// Starts to monitor whether the process of a control connection is frozen. Does nothing if that is impossible.
  func beginMonitoring(_ index: Int) throws(SystemError) {
    guard let connection = slots[index], let client = connection.controlledClient,
      let monitor = FreezeWatch(process: connection.peer.process)
    else { return }
    try events.add(monitor.descriptor, as: ConnectionTable.monitorToken(of: index), for: .changed)
    connection.setPurpose(.control(client: client, monitor: monitor))
  }

  /// Stops monitoring the process of a control connection.
  func endMonitoring(_ index: Int) {
    guard let connection = slots[index],
      case .control(let client, let monitor?) = connection.purpose
    else { return }
    events.remove(monitor.descriptor)
    connection.setPurpose(.control(client: client, monitor: nil))
  }

  /// Recomputes the login users of all connections.
  func updateAccounts(_ permissions: borrowing Permissions) {
    for connection in slots {
      if let connection { connection.setAccount(permissions.account(of: connection.peer.user)) }
    }
  }

  /// Discards the cached standings, after a change of permissions or clients.
  func discardStandings() { for connection in slots { connection?.discardStanding() } }

  /// Discards the cached charges of held calls, after a decision about a client without a slot has changed.
  func discardHeldCharges() { for connection in slots { connection?.held?.discardCharge() } }

  // MARK: Output

  /// Whether the connection exists, is not ending, and has output capacity.
  func acceptsOutput(_ index: Int) -> Bool {
    guard let connection = self[index] else { return false }
    return connection.hasOutputCapacity && !connection.isEnding
  }

  /// Writes as much output as the socket accepts. Remaining output of an ending connection is dropped, because the peer
  /// may never read it.
  ///
  /// - Returns: Whether the connection must be closed.
  func send(_ index: Int) -> Bool {
    guard let connection = slots[index], !connection.output.text.isEmpty || connection.isEnding
    else { return false }
    if !connection.send() {
      guard connection.carriesCalls else { return true }
      // The peer reads no more answers, but its calls received before the hang-up are still handled.
      connection.dropOutput()
    }
    return connection.isEnding || !updateInterest(index)
  }

  /// Sets the epoll interest: input unless the connection is paused, and output while some is pending.
  ///
  /// - Returns: false if epoll refuses; the connection must then be closed.
  func updateInterest(_ index: Int) -> Bool {
    guard let connection = slots[index], !connection.isEnding, connection.lingersUntil == nil
    else { return true }
    var interest: EventWait.Conditions = connection.isPaused ? [] : .readable
    if !connection.output.text.isEmpty { interest.insert(.writable) }
    guard interest != connection.interest else { return true }
    connection.setInterest(interest)
    do {
      try events.change(
        connection.descriptor, as: ConnectionTable.token(of: index), to: interest)
      return true
    } catch {
      return false
    }
  }

  /// A connection with unread output to close, if users without permission exceed their quota of output: one of
  /// `account` if that user exceeds its share, else preferably one of the user with the most output.
  func overOutputQuota(of account: UInt32, _ permissions: borrowing Permissions) -> Int? {
    let candidates = displacementCandidates(permissions) {
      $0.output.text.count + $0.expectedAnswerBytes
    }.filter { $0.amount > 0 }
    guard !candidates.isEmpty else { return nil }
    let own = candidates.filter { $0.user == account }
    let usage = ResourceQuota.Usage(
      unpermitted: candidates.reduce(0) { $0 + $1.amount }, own: own.reduce(0) { $0 + $1.amount })
    switch ConnectionTable.outputQuota.refusal(.unpermitted, usage) {
    case nil, .total: return nil
    case .user: return DisplacementCandidate.leastUseful(own)
    case .unpermitted:
      return DisplacementCandidate.selectDisplaced(
        for: account, among: candidates, includesIdle: false)
        ?? DisplacementCandidate.leastUseful(own)
    }
  }

  // MARK: Calls

  /// Whether a call of a connection may be handled: its unread answers are below the high-water mark.
  func mayHandle(_ connection: Connection, _ permissions: borrowing Permissions) -> Bool {
    let isUnpermitted = connection.standing(permissions) == .unpermitted
    let mark = isUnpermitted ? Connection.unpermittedHighWater : Connection.highWater
    return connection.output.text.count + connection.expectedAnswerBytes < mark
  }

  /// Earliest time at which a call with that charge may be handled; `now` if there is no delay.
  func nextCall(_ charge: CallCharge, of connection: Connection, at now: Instant) -> Instant {
    guard charge.cost > 0 else { return now }
    return rates.nextCall(of: connection.account, charge.rateStanding, at: now)
  }

  /// Charges a call to its user and reserves output for its answer. A oneway call has no answer.
  mutating func charge(
    _ charge: CallCharge, isOneway: Bool, to connection: Connection, at now: Instant
  ) {
    if !isOneway { connection.reserveAnswer(charge.answerSize) }
    if charge.cost > 0 {
      rates.charge(charge.cost, to: connection.account, charge.rateStanding, at: now)
    }
  }

  /// Stops reading and handling input of a connection until it is resumed.
  ///
  /// - Returns: false if epoll refuses; the connection must then be closed.
  mutating func pause(_ index: Int, holding held: HeldInput) -> Bool {
    guard slots[index]?.pause(holding: held) == true else { return true }
    pausedCount += 1
    return updateInterest(index)
  }

  /// Resumes a paused connection. Returns its held input; nil if it is not paused.
  mutating func resume(_ index: Int) -> HeldInput? {
    guard let held = slots[index]?.resume() else { return nil }
    firstResumed = index + 1
    pausedCount -= 1
    return held
  }

  /// Keeps a paused connection whose peer has hung up, until its calls are handled. It still counts as one of its
  /// user's, so that hanging up does not evade the limits.
  ///
  /// - Returns: false if the user has ``lingeringPerUser`` such connections already.
  mutating func linger(_ index: Int, at now: Instant) -> Bool {
    guard let connection = slots[index] else { return true }
    let others = slots.count { $0?.lingersUntil != nil && $0?.account == connection.account }
    guard others < ConnectionTable.lingeringPerUser else { return false }
    // epoll would report the hang-up at each wait.
    events.remove(connection.descriptor)
    endMonitoring(index)
    connection.linger(until: now + ConnectionTable.lingerTime)
    deadlines.isStale = true
    return true
  }

  // MARK: Deadlines

  /// Ends the time limit of a call that is complete.
  mutating func completeFrame(_ index: Int) {
    if slots[index]?.clearDeadline() == true { deadlines.isStale = true }
  }

  /// Sets the time limit for the remainder of a call that has begun.
  mutating func updateCallDeadline(_ index: Int, at now: Instant) {
    if slots[index]?.updateDeadline(at: now) == true { deadlines.isStale = true }
  }

  /// Whether a connection may have expired, or ``deadlines`` may be out of date.
  func mayExpire(at now: Instant) -> Bool {
    deadlines.isStale || pausedCount > 0 || deadlines.next <= now
  }

  /// Resumes accepting if the pause has elapsed. Returns the time at which it does; `.distantFuture` while connections
  /// are accepted.
  mutating func updateAccepting(at now: Instant) -> Instant {
    if let acceptsAt, acceptsAt <= now { resumeAccepting(at: now) }
    return acceptsAt ?? .distantFuture
  }

  /// Sets the next times at which connections must be handled without input. The board postpones the wake for `next`
  /// while it is suspended.
  mutating func setDeadlines(next: Instant, urgent: Instant) {
    deadlines = Deadlines(next: next, urgent: urgent, isStale: false)
    events.postponableDeadline = next
  }
}
