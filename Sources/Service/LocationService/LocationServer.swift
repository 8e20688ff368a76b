import BoardHardware
import CLinux
import Glibc
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes
import LocationWire
import ServiceState

/// The clients of the service, on a socket: reads their calls, passes requests to the engine, and sends answers,
/// notices and fixes.
///
/// # Problem
///
/// Up to 512 connections of mutually distrusting users share one thread with the receiver. No client may block this
/// thread, exhaust memory, descriptors or the log, or delay another client by more than its share (RES-1 to RES-8), and
/// every fix and event must reach its client at least once and in order, over hang-ups, suspensions and restarts
/// (RNG-3, BKG-2, BKG-20). So all sockets are non-blocking, each buffer and queue is bounded, the server does not read
/// from a client that does not read its output, and fixes wait in the ring, not here.
///
/// # States of a connection
///
/// ``Connection/purpose`` defines the use of a connection. It changes at most once, except on a takeover:
///
///     accept ──▶ open ──Connect───────────▶ control(client) ──another process connects──▶ open, ending
///                 ├────Watch(session)─────▶ watch(client)
///                 └────Drain, ReadBacklog─▶ drain(client) ──last record sent──▶ closed
///
/// Independently, its input is in one of these states:
///
///               call over its user's rate, or output over the high-water mark
///     READING ──────────────────────────────────────────────────────────────▶ PAUSED
///       │  ▲                                                                  │  │
///       │  └── rate permits, and output was read by the peer ─────────────────┘  │ peer hangs up: `open` and
///       │                                                                        │ `control`, 4 per user
///       │ end of input, invalid or oversize frame,                               ▼
///       │ takeover, notice queue full                                        LINGERING ── 30 s ──▶ CLOSED
///       ▼                                                                        │
///     ENDING ◀───────────────────────── end of input, all calls handled ─────────┘
///       │
///       └── remaining output offered to the kernel once ──▶ CLOSED
///
/// A connection is also closed directly: on a socket error, at the end of input of a drain, if no call
/// is complete in 10 s, to free a connection or output memory for another user, and when its client is dropped or,
/// with unsent output, loses a right.
///
/// # States of a client
///
///                 Connect: slot allocated              process ends, or hangs up
///     VACANT ─────────────────────────────▶ CONNECTED ──────────────────────────▶ ABSENT ◀── restored at the start
///       ▲                                    │     ▲                               │  │
///       │                                    │     └────────── Connect ────────────┘  │
///       └──── displaced, or forgotten by an administrator ────────────────────────────┘
///
/// A vacant slot keeps its index, which is the engine's `ClientID`. While CONNECTED, ``ServedClient/isDeliveryPaused``
/// is set if the process is frozen, has no notice connection, or does not read it fast enough; the engine then treats
/// the client as suspended (BKG-2).
///
/// # One turn
///
/// 1. `nextRequest(at:)` handles ready descriptors one by one: accept, read, split into frames, decode, check the rate,
///    handle. A call yields requests for the engine and a ``PendingAnswer``.
/// 2. The engine handles the requests. Its notices are queued by ``receive(_:from:at:)``.
/// 3. The end of the turn updates the rows of dirty clients, and flushes them if a pending answer is durable, an absent
///    client has a new event, or a client started or stopped updates. Then it starts programs, sends answers, notices
///    and backlogs, expires connections, and pauses or resumes delivery.
///
/// # Invariants
///
/// - Answers of a connection are sent in the order of its calls. A durable answer is sent after the flush.
/// - A client has at most one control and one notice connection.
/// - Indices of connections are reused. Code that keeps an index across a call that may close connections compares the
///   object (`===`); an event of a wait applies only to connections accepted before it (``Connection/acceptedWait``).
/// - Only this type changes clients, connections and their durable rows; the engine is changed by requests only.
///
/// # Bounds
///
/// Per wait: 16 connections accepted, and one buffer of 4 KiB read per connection, or 16 if its peer has hung up. At
/// most 64 answers are pending before reading stops. Per client: 256 notices and 64 events (``NoticeQueue``).
/// Connections, clients and output per user: the quotas below. Rates: ``CallRateLimits``.
public struct LocationServer: LocationClients, ~Copyable {
  /// Maximum number of connections.
  public static let connectionsLimit = 512
  /// Quotas of connections.
  static let connectionQuota = ResourceQuota(
    total: connectionsLimit, reserved: 16, unpermitted: 256, perUser: 64, perUnpermittedUser: 64)
  /// Quotas of unsent output in bytes, for users without permission. Connections of other users are bounded one by one.
  static let outputQuota = ResourceQuota(
    total: .max, reserved: 0, unpermitted: 1_048_576, perUser: .max,
    perUnpermittedUser: 131_072)
  /// Maximum number of clients without permission, of all users together.
  public static let unpermittedClients = 32
  /// Maximum number of clients without permission of one user.
  public static let unpermittedClientsPerUser = 4
  /// Maximum number of clients with permission of one user. Administrators are exempt.
  public static let clientsPerUser = 8
  /// Maximum number of stored decisions about clients without a slot.
  static let decisionsLimit = 512
  /// Maximum number of connections accepted per wait.
  static let acceptsPerWait = 16
  /// How long accepting is suspended when no descriptor is free, unless one is released before.
  static let acceptPause = Interval.seconds(1)
  /// Maximum number of pending answers before no further descriptor is read.
  static let requestsLimit = 64
  /// Maximum number of reads in one wait from a connection that the peer has closed.
  static let readsAfterHangUp = 16
  /// Size of the read buffer in bytes.
  static let readSize = 4_096

  /// Properties of board and process that the server uses. Made by `torpord` from profile and options.
  public struct Environment: Sendable {
    /// Version of the service.
    public var version: String
    /// Name of the board.
    public var board: String
    /// Capacity of the engine's client table.
    public var clients: Int
    /// Whether the GPIO lines of the profile are not used.
    public var ignoresPins = false
    /// Settings of the receiver's line, from the profile.
    public var receiver = ReceiverLineSettings()
    /// Power draw of board and receiver, for the energy estimate.
    public var power = PowerFigures()
    /// Login users of subordinate user IDs.
    public var subordinates = SubordinateFile()
    /// Reads the kernel's counters for the service. The default reads neither processor time nor sleep time.
    public var usage: @Sendable (EventWait) -> BoardUsage = { BoardUsage(wakes: $0.wakeCount) }

    /// Creates an environment.
    public init(version: String, board: String, clients: Int) {
      self.version = version
      self.board = board
      self.clients = clients
    }
  }

  let environment: Environment
  let log: ServiceLog
  /// Policy, subordinate users and permitted users.
  var permissions: Permissions
  /// Durable state, and what is not on the disk.
  var persistence: Persistence
  /// Receiver, energy, and reasons why the board does not sleep.
  var power: ServicePower
  let events: EventWait
  let listener: Listener
  /// Connections by index; nil where an index is free. No longer than necessary, because each turn visits all of it.
  var connections: [Connection?] = []
  var clients: [ServedClient] = []
  var requests = RequestQueue()
  /// Answers that are not sent yet, in the order of the calls.
  var answers: [PendingAnswer] = []
  /// Fixes that may have been lost before this run, in a power cut or with the ring's file; nil if none.
  var possibleLoss: Gap?
  var lastSession: Int64 = 0
  /// UTC minus boot clock, from the newest fix.
  private(set) var utcOffset = UTCOffset()
  /// Time of the current turn.
  var now = Instant.boot
  /// Rates of calls per user.
  var rateLimits = CallRateLimits()
  /// Time at which accepting resumes; nil while connections are accepted.
  var acceptResumeTime: Instant?
  /// Earliest time at which a connection must be handled without input.
  var connectionDeadline = Instant.distantFuture
  /// Same, if a user with permission waits for it. The board is not suspended beyond that time.
  var urgentDeadline = Instant.distantFuture
  /// Whether ``connectionDeadline`` must be recomputed.
  var isDeadlineStale = false
  /// Number of paused connections.
  var pausedCount = 0
  /// Index at which the next turn starts to resume connections, for fairness.
  var nextResumed = 0
  /// Starts programs; returns the error, nil on success.
  let starter: (Launch) -> String?
  private var buffer = [UInt8](repeating: 0, count: LocationServer.readSize)
  /// Number of the wait whose ready descriptors are being handled.
  var currentWait: UInt64 = 0
  private var handledEventCount = 0

  /// Serves the clients that connect to `listener`, and adds all descriptors to `events`.
  ///
  /// - Parameters:
  ///   - state: Durable state; ``restore(into:after:at:)`` restores the clients from it.
  ///   - starter: Starts programs (BKG-19); returns the error, nil on success.
  public init(
    _ listener: Listener, on events: EventWait, _ policy: AccessPolicy,
    _ environment: Environment, state: StateStore, log: SystemLog,
    starter: @escaping (Launch) -> String?
  ) throws(SystemError) {
    try events.add(listener.descriptor, as: LocationServer.listenerToken, for: .readable)
    self.listener = listener
    self.events = events
    self.environment = environment
    self.log = ServiceLog(log)
    permissions = Permissions(policy, environment.subordinates)
    persistence = Persistence(state, self.log)
    power = ServicePower(environment, events)
    self.starter = starter
  }

  static let listenerToken = EventWait.Token(rawValue: EventWait.Token.firstFree.rawValue + 1)

  static func token(of connection: Int) -> EventWait.Token {
    EventWait.Token(rawValue: listenerToken.rawValue + 1 + UInt32(connection))
  }

  // MARK: Called by LocationLoop

  /// The next request of a client; nil if none exists now.
  public mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    self.now = now
    while true {
      if let next = requests.popFirst() { return next }
      // Resumed connections may yield requests although no descriptor is ready.
      guard handleNextEvent() else { return requests.popFirst() }
    }
  }

  /// Whether a flush of all deferred fixes was requested. Resets the request.
  public mutating func consumeFlushRequest() -> Bool { power.startFlush() }

  /// Records the end of a wait in the energy ledger.
  public mutating func didWake(for reason: WakeReason) { power.recordWake(for: reason) }

  /// Updates the UTC offset from a fix that was appended to the ring.
  public mutating func didAppend(
    _ name: FixName, in engine: borrowing Engine, at now: Instant
  ) {
    if let fix = engine.stored(at: name.sequence)?.fix { utcOffset.update(from: fix) }
  }

  /// Stores a notice that outlives the client's process; queues any other until it is sent.
  public mutating func receive(
    _ notice: ClientNotice, from engine: borrowing Engine, at now: Instant
  ) {
    let client = notice.client.index
    guard !clients[client].isVacant else { return }
    if storeDurable(notice.notice, client) { return }
    enqueue(notice.notice, client)
  }

  /// Ends a turn: saves changes, sends answers, notices and backlogs, and expires connections.
  public mutating func finishTurn(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) -> Bool {
    self.now = now
    readSubordinatesIfChanged()
    expireSessions()
    saveDirtyClients(engine, at: now)
    updateReceiver(engine, at: now)
    startPrograms()
    sendAnswers(engine, effects, at: now)
    for i in clients.indices where clients[i].watch != nil { sendNotices(i, engine) }
    if power.finishFlush() { reportFlush(engine) }
    for i in connections.indices where connections[i] != nil {
      connections[i]?.expectedAnswerBytes = 0
      if connections[i]?.drain != nil { sendRecords(i, engine) } else { send(i) }
    }
    expireConnections()
    while let last = connections.last, last == nil { connections.removeLast() }
    for i in clients.indices { updateDeliveryPause(i) }
    log.writeSuppressedCount(at: now)
    return !requests.isEmpty
  }

  // MARK: Reading

  /// Handles one ready descriptor of the last wait; false if none remains, or if too many answers are pending.
  private mutating func handleNextEvent() -> Bool {
    if currentWait != events.waitCount {
      currentWait = events.waitCount
      handledEventCount = 0
      resumePaused()
    }
    guard handledEventCount < events.readyCount, answers.count < LocationServer.requestsLimit else {
      return false
    }
    let ready = events.ready(at: handledEventCount)
    handledEventCount += 1
    if ready.token == LocationServer.listenerToken {
      acceptAll()
    } else if ready.token.rawValue > LocationServer.listenerToken.rawValue {
      let index = Int(ready.token.rawValue - LocationServer.listenerToken.rawValue) - 1
      handleEvent(at: index, ready.conditions)
    }
    return true
  }

  private mutating func handleEvent(at source: Int, _ conditions: EventWait.Conditions) {
    let isProgram = source >= LocationServer.connectionsLimit
    let index = isProgram ? source - LocationServer.connectionsLimit : source
    // A connection accepted since the wait may have reused the index; the event is not for it.
    guard index < connections.count, let connection = connections[index],
      connection.acceptedWait < currentWait
    else { return }
    if isProgram { updateFrozen(index) } else { handleEvent(index, conditions) }
  }

  private mutating func handleEvent(_ index: Int, _ conditions: EventWait.Conditions) {
    if conditions.contains(.readable), connections[index]?.isEnding == false {
      for _ in 0..<(conditions.contains(.gone) ? LocationServer.readsAfterHangUp : 1) {
        read(index)
      }
    } else if conditions.contains(.gone) {
      hangUp(index)
    }
  }

  /// Reads one buffer, and handles the calls in it as far as limits permit.
  mutating func read(_ index: Int) {
    guard let connection = connections[index], !connection.isEnding, !connection.isPaused
    else { return }
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe recv(connection.descriptor, bytes.baseAddress, bytes.count, 0)
    }
    if count < 0 {
      if errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR { close(index) }
      return
    }
    // End of input: the calls received so far are answered.
    if count == 0 {
      return connections[index]?.drain == nil ? closeAfterOutput(index) : close(index)
    }
    // A connection that was upgraded to records has no further input.
    if connections[index]?.drain != nil { return }
    consume(count, of: buffer, from: index)
  }

  /// Splits input into frames and handles them. Input that may not be handled yet is kept.
  mutating func consume(_ count: Int, of bytes: [UInt8], from index: Int) {
    var offset = 0
    while offset < count, connections[index]?.isEnding == false {
      guard mayHandle(index) else {
        connections[index]?.input = Array(bytes[offset..<count])
        return pause(index)
      }
      switch connections[index]!.nextFrame(bytes, upTo: count, &offset) {
      case .needsMore: break
      case .oversize: closeAfterOutput(index)
      case .frame:
        completeFrame(index)
        guard handleFrame(index) else {
          connections[index]?.input = Array(bytes[offset..<count])
          return pause(index)
        }
      }
    }
    updateCallDeadline(index)
  }

  /// Handles a complete frame; false if the call is held because of its user's rate.
  private mutating func handleFrame(_ index: Int) -> Bool {
    guard let connection = connections[index] else { return true }
    connection.hasMadeCall = true
    do {
      return handleOrHold(try CallDecoder.decode(connection.splitter.frame), index)
    } catch {
      switch error {
      case .malformed:
        closeAfterOutput(index)
        return true
      case .refused(let error, let isOneway):
        return refuseOrHold(error, isOneway: isOneway, index)
      }
    }
  }

  // MARK: Writing

  /// Appends an answer, or a further reply of a call, to the output.
  mutating func reply(_ reply: WireReply, continues: Bool = false, to index: Int) {
    guard connections[index] != nil else { return }
    ReplyEncoder.encode(reply, continues: continues, to: &connections[index]!.output)
    if connections[index]!.output.count > Connection.outputLimit { closeAfterOutput(index) }
  }

  /// Writes as much output as the socket accepts. An ending connection is then closed; its remaining output is dropped,
  /// because the peer may never read it.
  mutating func send(_ index: Int) {
    guard let connection = connections[index], !connection.output.isEmpty || connection.isEnding
    else { return }
    if !connection.send() {
      guard connection.carriesCalls else { return close(index) }
      // The peer reads no more answers, but its calls received before the hang-up are still handled.
      connection.output.removeAll()
    }
    guard !connection.isEnding else { return close(index) }
    updateInterest(index)
  }

  /// Sets the epoll interest: input unless the connection is paused, and output while some is pending.
  mutating func updateInterest(_ index: Int) {
    guard let connection = connections[index], connection.lingersUntil == nil else { return }
    var interest: EventWait.Conditions = connection.isPaused ? [] : .readable
    if !connection.output.isEmpty { interest.insert(.writable) }
    guard interest != connection.interest else { return }
    connection.interest = interest
    do {
      try events.change(connection.descriptor, as: LocationServer.token(of: index), to: interest)
    } catch {
      close(index)
    }
  }

  /// Stops reading; the connection is closed after its pending output was offered once.
  mutating func closeAfterOutput(_ index: Int) { connections[index]?.isEnding = true }

  /// Closes a connection. A client controlled by it loses its process (BKG-1).
  mutating func close(_ index: Int) {
    guard index < connections.count else { return }
    unwatchProgram(index)
    guard let connection = connections[index] else { return }
    if connection.isPaused { pausedCount -= 1 }
    connections[index] = nil
    events.remove(connection.descriptor)
    Glibc.close(connection.descriptor)
    answers.removeAll { $0.connection == index }
    resumeAccepting()
    switch connection.purpose {
    case .open: break
    case .control(let client): if clients[client].control == index { processEnded(client) }
    case .watch(let client): if clients[client].watch == index { clients[client].watch = nil }
    case .drain: break
    }
  }

  /// Flushes the state and closes all connections.
  mutating func shutDown(_ engine: borrowing Engine) {
    saveAll(engine)
    // Unlike a hang-up, this does not change the clients' durable rows.
    for i in connections.indices {
      unwatchProgram(i)
      guard let connection = connections[i] else { continue }
      events.remove(connection.descriptor)
      Glibc.close(connection.descriptor)
    }
    connections = []
    pausedCount = 0
    persistence.close()
  }
}
