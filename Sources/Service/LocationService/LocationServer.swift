import BoardHardware
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
/// # Parts
///
/// Each part owns its state and changes it in its own file. No part stores another; a part that needs another receives
/// it as an argument. Decisions that concern several parts are returned and carried out here.
///
///     part                   owns                                              returns to the server
///     ``ConnectionTable``    connections, listener, rates, deadlines           events, input, connections to close
///     ``ClientRegistry``     records of clients, slots, sessions' numbers      slots to displace
///     ``Delivery``           UTC offset, possible loss                         notices and fixes for the socket
///     ``RequestQueue``,
///     ``AnswerQueue``        requests and answers until the end of the turn
///     ``Persistence``        durable rows, reasons to flush, state of the disk
///     ``ServicePower``       receiver's state, energy, requested flush         log lines, holds
///     ``Permissions``        policy, login users, permitted users              standings, rights
///     ``GPSDPart``           connections and clients of gpsd's protocol
///     ``ClockFeed``          samples of the system clock                       log lines
///     ``MetricsFile``        time of the last write                            log lines
///     ``ServiceLog``         rates of log lines
///
/// The extensions are the operations that concern several parts: accept, input, expiry; slots, processes,
/// launch; calls, sessions, answers, status; notices, events, drain; policy, decisions; restore, save.
///
/// # Who changes what
///
/// The state of each part is private to the part's file, so the part is its only writer. Requests, answers, power and
/// delivery are also changed through the functions of this file only. The variables `connections`, `clients`,
/// `permissions` and `persistence` are not private, because the extensions call mutating functions of these parts; no
/// extension replaces one.
///
/// Calls are dispatched by this type and not by one of its own. A call is checked against its connection, its client's
/// record, the permissions and the durable rows, and most calls change two of them and submit requests: a dispatcher
/// would receive all parts for each call, and decide nothing that the parts do not decide already. What dispatch alone
/// needs has a type: ``RequestQueue``, ``AnswerQueue``.
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
/// - A client has at most one control and one notice connection; the purposes of these connections refer to it.
/// - The engine is changed by requests only, and each request marks its client's rows dirty.
///
/// # Bounds
///
/// Those of the parts. In addition, one turn reads until ``AnswerQueue/capacity`` answers are pending.
public struct LocationServer: LocationClients, ~Copyable {
  /// Properties of board and process that the server uses. Made by `torpord` from profile and options.
  public struct Environment: Sendable {
    /// Version of the service.
    public var version: String
    /// Name of the board.
    public var board: String
    /// Capacity of the engine's client table.
    public var clients: Int
    /// Path of the socket, for commands that the log proposes.
    public var socket = ServiceSocket.standardPath
    /// Whether the GPIO lines of the profile are not used.
    public var ignoresPins = false
    /// Settings of the receiver's line, from the profile.
    public var receiver = ReceiverLineSettings()
    /// Power draw of board and receiver, for the energy estimate.
    public var power = PowerFigures()
    /// Login users of subordinate user IDs.
    public var subordinates = SubordinateFile()
    /// chronyd's socket for samples of the system clock; nil if the clock is not fed.
    public var clockSocket: String?
    /// Folder of the file with the metrics; nil for none.
    public var metricsFolder: String?
    /// Whether the receiver's pulse per second is wired: samples are then times of pulses only.
    public var hasPulseLine = false
    /// Reads the wall clock at zero of the boot clock, in nanoseconds: the wall clock at `t` is this plus `t − .boot`.
    public var wallTimeAtBoot_ns: @Sendable () -> Int64 = { SystemClock().wallTimeAtBoot_ns }
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
  private(set) var power: ServicePower
  /// What programs have used the service.
  private(set) var programUse = ProgramUse()
  /// Feed of the system clock; nil without chronyd's socket.
  private(set) var clock: ClockFeed?
  /// File with the metrics; nil for none.
  private var metricsFile: MetricsFile?
  /// Connections and the listener.
  var connections: ConnectionTable
  /// Known clients.
  var clients: ClientRegistry
  /// Programs that use gpsd's protocol.
  var gpsd: GPSDPart
  /// UTC offset and possible loss.
  private(set) var delivery = Delivery()
  /// Requests that the engine has not taken yet.
  private var requests = RequestQueue()
  /// Answers that are not sent yet.
  private(set) var answers = AnswerQueue()
  /// Time of the current turn.
  private(set) var now = Instant.boot
  /// Starts programs; returns the error, nil on success.
  let starter: (Launch) -> String?

  /// Serves the clients that connect to `listener`, and adds all descriptors to `events`.
  ///
  /// - Parameters:
  ///   - state: Durable state; ``restore(into:after:at:)`` restores the clients from it.
  ///   - starter: Starts programs (BKG-19); returns the error, nil on success.
  public init(
    _ listener: Listener, on events: EventWait, _ policy: AccessPolicy,
    _ environment: Environment, state: StateStore, log: SystemLog,
    gpsd listeners: GPSDListeners = .none,
    starter: @escaping (Launch) -> String?
  ) throws(SystemError) {
    // All that may fail comes first: a partly initialized value of this type could not be destroyed.
    let table = try ConnectionTable(listener, on: events)
    let gpsd = try GPSDPart(listeners, on: events, environment)
    connections = table
    self.gpsd = gpsd
    self.environment = environment
    self.log = ServiceLog(log)
    permissions = Permissions(policy, environment.subordinates)
    persistence = Persistence(
      state, self.log, wallTimeAtBoot_ns: environment.wallTimeAtBoot_ns)
    power = ServicePower(environment, events)
    clock = environment.clockSocket.map {
      ClockFeed(
        path: $0, usesPulse: environment.hasPulseLine,
        wallTimeAtBoot_ns: environment.wallTimeAtBoot_ns)
    }
    metricsFile = environment.metricsFolder.map { MetricsFile(folder: $0) }
    clients = ClientRegistry(capacity: environment.clients)
    self.starter = starter
  }

  /// Sets the time of the current turn.
  mutating func advance(to now: Instant) { self.now = now }

  /// Sets the fixes that may have been lost before this run, at its start.
  mutating func setPossibleLoss(_ loss: Gap?, before start: UInt64) {
    delivery.setPossibleLoss(loss, before: start)
  }

  // MARK: Power

  /// Sets what suspends the board.
  mutating func setSuspender(_ suspender: BoardSuspender?) { power.setSuspender(suspender) }

  /// Sets why the board stays on although it could be off; nil if it does not.
  mutating func setPowerOffBlocker(_ blocker: SleepBlocker?) { power.setPowerOffBlocker(blocker) }

  /// Records that a program which uses gpsd's protocol disconnects.
  mutating func recordGPSDDisconnect() {
    programUse.recordDisconnect(wasLaunched: false, at: now)
  }

  /// Records that the service has started a program.
  mutating func recordLaunch() { programUse.recordLaunch(at: now) }

  /// Requests a flush of all deferred fixes.
  mutating func requestFlush() { power.requestFlush() }

  /// Updates the receiver's state, and logs when the receiver stops or resumes responding. Opens the energy ledger in
  /// the first turn.
  private mutating func updateReceiver(_ engine: borrowing Engine, at now: Instant) {
    power.openLedger(at: now)
    guard let report = engine.receiverReport(at: now) else { return }
    if let line = power.update(report, at: now) { log.write(line.priority, line.text) }
  }

  /// Sends chronyd the time of the newest fix, and logs when that begins or fails.
  private mutating func feedClock(_ engine: borrowing Engine, at now: Instant) {
    if let line = clock?.handle(engine.epochTime, at: now) { log.write(line.priority, line.text) }
  }

  /// Writes the file with the metrics if that is due: it never causes a turn (PWR-15).
  private mutating func writeMetrics(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) {
    let isQuiet = effects.board >= .suspended || engine.isReceiverQuiet
    let isLast =
      engine.isReceiverUnneeded || isQuiet && effects.wake - now >= MetricsFile.shortestInterval
    guard let isDue = metricsFile?.isDue(isLast: isLast, at: now), isDue else { return }
    let text = metrics(engine, at: now).text
    if let problem = metricsFile?.write(text, at: now) { log.write(.warning, problem) }
  }

  /// Counts a gap that is reported to a client.
  mutating func countGap(_ gap: Gap) { delivery.count(gap) }

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
    if let fix = engine.stored(at: name.sequence)?.fix { delivery.didAppend(fix) }
  }

  /// Stores a notice that outlives the client's process; queues any other until it is sent.
  public mutating func receive(
    _ notice: ClientNotice, from engine: borrowing Engine, at now: Instant
  ) {
    let client = notice.client.index
    guard !clients.slots[client].isVacant else { return }
    if storeDurable(notice.notice, client) { return }
    if clients.slots[client].usesGPSD { return receiveGPSD(notice.notice, client) }
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
    feedClock(engine, at: now)
    power.setHasShedLevels(!engine.shed.isEmpty)
    expireHolds()
    startPrograms()
    if !answers.isEmpty { send(answers.removeAll(), engine, effects) }
    for i in clients.indices where clients.slots[i].process?.watch != nil { sendNotices(i, engine) }
    if power.finishFlush() { reportFlush(engine) }
    for i in connections.indices {
      guard let connection = connections[i] else { continue }
      connection.clearReservations()
      if connection.isDraining { sendRecords(i, engine) } else { send(i) }
    }
    finishGPSD(engine)
    expireConnections()
    connections.trim()
    for i in clients.indices { updateDeliveryPause(i) }
    writeMetrics(engine, effects, at: now)
    log.writeSuppressedCount(at: now)
    return !requests.isEmpty
  }

  // MARK: Requests and answers

  /// Submits a request to the engine. The client's rows may then be out of date.
  mutating func submit(_ request: Request, _ client: Int) {
    if case .acknowledge = request {
      clients[client].rows.noteAcknowledgement()
      persistence.note(.acknowledgement)
    } else {
      clients[client].rows.markDirty()
    }
    requests.append((ClientID(client), request))
  }

  /// Adds an answer for a connection, which is sent at the end of the turn.
  mutating func addAnswer(_ answer: PendingAnswer.Answer, to index: Int) {
    answers.append(answer, to: index)
  }

  // MARK: Writing

  /// Appends an answer, or a further reply of a call, to the output.
  mutating func reply(_ reply: WireReply, continues: Bool = false, to index: Int) {
    guard let connection = connections[index] else { return }
    if !connection.append(reply, continues: continues) { connections.end(index) }
  }

  /// Writes as much output as the socket accepts. An ending connection is then closed.
  mutating func send(_ index: Int) { if connections.send(index) { close(index) } }

  /// Closes a connection. A client controlled by it loses its process (BKG-1).
  mutating func close(_ index: Int) {
    guard let connection = connections.remove(index, at: now) else { return }
    answers.removeAll(for: index)
    if connection.hasMadeCall {
      programUse.recordDisconnect(wasLaunched: connection.isLaunched, at: now)
    }
    switch connection.purpose {
    case .open, .drain: break
    case .control(let client, _): if clients[client].control == index { processEnded(client) }
    case .watch(let client): if clients[client].watch == index { clients[client].setWatch(nil) }
    }
  }

  /// Flushes the state and closes all connections.
  mutating func shutDown(_ engine: borrowing Engine) {
    saveAll(engine)
    // Unlike a hang-up, this does not change the clients' durable rows.
    connections.removeAll()
    gpsd.connections.removeAll()
    persistence.close()
  }

  /// Logs a line caused by a client of `user`, within the rates of that user and of all users. With nil, a line of the
  /// service itself, which has its own rate.
  func logLine(
    of user: UInt32?, _ priority: SystemLog.Priority, _ text: @autoclosure () -> String
  ) {
    log.write(priority, of: user.map { permissions.account(of: $0) }, at: now, text())
  }
}
