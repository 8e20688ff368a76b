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

/// The clients of the service, on a socket: brings what they ask, writes what they are told.
///
/// On the loop's own thread and on its own wait. Everything is bounded, and a client that floods,
/// stalls or goes costs the others no more than its share (RES-1 to RES-8): of each connection at most one buffer is
/// read per wait, at most ``requestsLimit`` requests wait for the engine, calls of a client that does not take its
/// answers are not read, and notices wait until it does (BKG-2), its fixes in the ring.
public struct LocationServer: LocationClients, ~Copyable {
  /// Connections at a time.
  public static let connectionsLimit = 512
  /// How many connections users may have.
  static let connectionQuota = ResourceQuota(
    total: connectionsLimit, reserved: 16, unpermitted: 256, perUser: 64, perUnpermittedUser: 64)
  /// How many bytes of output may wait for users without permission; of the others' connections each has a bound
  /// of its own.
  static let outputQuota = ResourceQuota(
    total: .max, reserved: 0, unpermitted: 1_048_576, perUser: .max,
    perUnpermittedUser: 131_072)
  /// How many clients may be known without permission, of all users and of one.
  public static let unpermittedClients = 32
  /// The same of one user.
  public static let unpermittedClientsPerUser = 4
  /// Clients with permission that one user may have, unless that is an administrator.
  public static let clientsPerUser = 8
  /// Clients without a place about whom a command has decided.
  static let decisionsLimit = 512
  /// Connections that are accepted per wait.
  static let acceptsPerWait = 16
  /// How often it is checked at the most whether the file of subordinate users has changed.
  static let subordinatesInterval = Interval.seconds(1)
  /// How long no connection is accepted for want of a descriptor, if none is given back before.
  static let acceptPause = Interval.seconds(1)
  /// Requests that wait for the engine, before anything more is read.
  static let requestsLimit = 64
  /// So often is read in one wait from a connection whose other end is gone.
  static let lastReads = 16
  /// Bytes of a connection that are read at once.
  static let readSize = 4_096

  /// What the server must know of its surroundings.
  public struct Facts: Sendable {
    /// The service's version.
    public var version: String
    /// The board's name.
    public var board: String
    /// How many clients the engine has room for.
    public var clients: Int
    /// No GPIO line of the profile is used.
    public var isUnwired = false
    /// What the profile says of the receiver's line.
    public var receiver = ReceiverTerms()
    /// What board and receiver draw, for the estimate of energy.
    public var power = PowerFigures()
    /// Who answers for whose user ids.
    public var subordinates = SubordinateFile()
    /// What the kernel has counted for the service; of processor and sleep nothing, if not said.
    public var usage: @Sendable (EventWait) -> BoardUsage = { BoardUsage(wakes: $0.wakeCount) }

    /// Creates facts.
    public init(version: String, board: String, clients: Int) {
      self.version = version
      self.board = board
      self.clients = clients
    }
  }

  var facts: Facts
  var policy: AccessPolicy
  let state: StateStore
  let log: SystemLog
  let events: EventWait
  let listener: Listener
  /// As long as the last one in use: each step of the loop looks at all of them.
  var connections: [Connection?] = []
  var clients: [ServedClient] = []
  var requests = RequestQueue()
  /// Answers that are not given yet, in the order of the calls.
  var answers: [PendingAnswer] = []
  /// What a power cut may have taken before this run; nil without one.
  var loss: Gap?
  /// Something happened to a client that is not there, and the disk does not know.
  var isEventNew = false
  /// A client has asked for fixes or asks for none any more, and the disk does not know: it would not be
  /// owed after a kill what it is told from now on (RNG-4).
  var isOwingNew = false
  /// A client has acknowledged what is not noted for the disk.
  var hasBehind = false
  /// The disk did not take what was to be durable.
  var isTroubled = false
  var lastSession: Int64 = 0
  /// An administrator wants all that waits to be told.
  var mustFlush = false
  /// Whose fixes stay stored though all was to be told is not logged yet.
  var mustReportFlush = false
  var receiver = ReceiverWatch()
  /// What suspends the board, and knows why not; nil where nothing does.
  var suspender: BoardSuspender?
  /// Why the board stays on where it could be off.
  var staysOn: SleepHindrance?
  /// Opened at the first turn.
  var energy: ServiceEnergy?
  /// Rows of clients, or all of them, are lost: who is new here may have been owed fixes before.
  var mayHaveForgotten = false
  /// UTC less the boot clock, µs, by the newest fix that had a time.
  var utcOffset: Int64?
  /// When the loop asked last.
  var now = Instant.boot
  /// What users have asked for and caused lately.
  var accounts = UserAccounts()
  /// When connections are accepted again; nil while they are.
  var listensAgain: Instant?
  /// When something is to be done about a connection though nothing comes of it.
  var connectionDeadline = Instant.distantFuture
  /// The same where a user with permission waits for it: the board is not suspended beyond it.
  var urgentDeadline = Instant.distantFuture
  /// That moment is to be found anew.
  var isDeadlineStale = false
  /// Login users who have a client with permission.
  var permittedUsers: Set<UInt32> = []
  /// When it was checked last whether the file of subordinate users has changed.
  var subordinatesChecked = Instant.boot
  /// It has changed, and was not read yet.
  var mustReadSubordinates = false
  /// Connections whose calls are not handled for now.
  var pausedCount = 0
  /// Where resuming them begins the next time: each gets its turn.
  var nextResumed = 0
  /// Starts programs; gives what was wrong, nil if nothing was.
  let starter: (Launch) -> String?
  private var buffer = [UInt8](repeating: 0, count: LocationServer.readSize)
  /// Which wait's events are being handled, and how many of them have been.
  var wait: UInt64 = 0
  private var handled = 0

  /// Serves the clients that connect to `listener`, and waits for them in `events`.
  ///
  /// - Parameters:
  ///   - state: What outlives the service; ``restore(into:after:at:)`` brings it back.
  ///   - starter: Starts programs (BKG-19); gives what was wrong, nil if nothing was.
  public init(
    _ listener: Listener, on events: EventWait, _ policy: AccessPolicy, _ facts: Facts,
    state: StateStore, log: SystemLog, starter: @escaping (Launch) -> String?
  ) throws(SystemError) {
    try events.add(listener.descriptor, as: LocationServer.listenerToken, for: .readable)
    self.listener = listener
    self.events = events
    self.policy = policy
    self.facts = facts
    self.state = state
    self.log = log
    self.starter = starter
  }

  static let listenerToken = EventWait.Token(rawValue: EventWait.Token.firstFree.rawValue + 1)

  static func token(of connection: Int) -> EventWait.Token {
    EventWait.Token(rawValue: listenerToken.rawValue + 1 + UInt32(connection))
  }

  // MARK: What the loop asks

  /// The next thing a client asks, as far as it has come; nil when none asks anything now.
  public mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
    self.now = now
    while true {
      if let next = requests.popFirst() { return next }
      // Calls of connections that are resumed may ask something though no descriptor was found.
      guard readNext() else { return requests.popFirst() }
    }
  }

  /// Whether all that waits is to be told now; asked for once.
  public mutating func takeFlush() -> Bool {
    defer { mustFlush = false }
    if mustFlush { mustReportFlush = true }
    return mustFlush
  }

  /// A fix went into the ring: from it UTC is known.
  public mutating func appended(
    _ name: FixName, in engine: borrowing Engine, at now: Instant
  ) {
    guard let fix = engine.stored(at: name.sequence)?.fix, let utc = fix.utc,
      !fix.isDateUncertain
    else { return }
    utcOffset = utc.microseconds - fix.acquired.microseconds
  }

  /// Keeps a notice until it is written.
  public mutating func receive(
    _ notice: ClientNotice, from engine: borrowing Engine, at now: Instant
  ) {
    let client = notice.client.index
    guard !clients[client].isVacant else { return }
    if take(notice.notice, client) { return }
    enqueue(notice.notice, client)
  }

  /// Answers what is answered out of the engine, and writes to all who take it.
  public mutating func settle(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) -> Bool {
    self.now = now
    if mustReadSubordinates { readSubordinates() }
    elapseSessions()
    keep(engine, at: now)
    observe(engine, at: now)
    startPrograms()
    giveAnswers(engine, effects, at: now)
    for i in clients.indices where clients[i].watch != nil { tell(i, engine) }
    if mustReportFlush { reportFlush(engine) }
    for i in connections.indices where connections[i] != nil {
      connections[i]?.expected = 0
      if connections[i]?.drain != nil { pump(i, engine) } else { send(i) }
    }
    watchConnections()
    while let last = connections.last, last == nil { connections.removeLast() }
    for i in clients.indices { hold(i) }
    tellSuppressedLines()
    return !requests.isEmpty
  }

  // MARK: Reading

  /// Handles one descriptor that the last wait has found; false when there is none left.
  private mutating func readNext() -> Bool {
    if wait != events.waitCount {
      wait = events.waitCount
      handled = 0
      resumePaused()
    }
    guard handled < events.readyCount, answers.count < LocationServer.requestsLimit else {
      return false
    }
    let ready = events.ready(at: handled)
    handled += 1
    if ready.token == LocationServer.listenerToken {
      acceptAll()
    } else if ready.token.rawValue > LocationServer.listenerToken.rawValue {
      let index = Int(ready.token.rawValue - LocationServer.listenerToken.rawValue) - 1
      look(at: index, ready.conditions)
    }
    return true
  }

  private mutating func look(at place: Int, _ conditions: EventWait.Conditions) {
    let isProgram = place >= LocationServer.connectionsLimit
    let index = isProgram ? place - LocationServer.connectionsLimit : place
    // One that was accepted meanwhile in the place of another has nothing to do with it.
    guard index < connections.count, let connection = connections[index], connection.since < wait
    else { return }
    if isProgram { lookAtProgram(index) } else { look(index, conditions) }
  }

  private mutating func look(_ index: Int, _ conditions: EventWait.Conditions) {
    if conditions.contains(.readable), connections[index]?.isEnding == false {
      for _ in 0..<(conditions.contains(.gone) ? LocationServer.lastReads : 1) { read(index) }
    } else if conditions.contains(.gone) {
      hangUp(index)
    }
  }

  /// Reads once, and handles what has come as far as that may be.
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
    // It says no more; what it asked is answered.
    if count == 0 { return connections[index]?.drain == nil ? end(index) : close(index) }
    // A connection that was upgraded carries nothing this way.
    if connections[index]?.drain != nil { return }
    take(count, of: buffer, from: index)
  }

  /// Cuts what was read into frames, and handles them; what may not be handled yet is kept.
  mutating func take(_ count: Int, of bytes: [UInt8], from index: Int) {
    var place = 0
    while place < count, connections[index]?.isEnding == false {
      guard mayHandle(index) else {
        connections[index]?.input = Array(bytes[place..<count])
        return pause(index)
      }
      switch connections[index]!.take(bytes, upTo: count, &place) {
      case .needsMore: break
      case .oversize: end(index)
      case .frame:
        completeFrame(index)
        guard handleFrame(index) else {
          connections[index]?.input = Array(bytes[place..<count])
          return pause(index)
        }
      }
    }
    expectRest(index)
  }

  /// Handles the call that has come; false where it is kept, and waits for its user's rate.
  private mutating func handleFrame(_ index: Int) -> Bool {
    guard let connection = connections[index] else { return true }
    connection.hasAsked = true
    do {
      return handleOrHold(try CallDecoder.decode(connection.splitter.frame), index)
    } catch {
      switch error {
      case .malformed:
        end(index)
        return true
      case .refused(let error, let isOneway):
        return refuseOrHold(error, isOneway: isOneway, index)
      }
    }
  }

  // MARK: Writing

  /// Answers a call, or says one thing more to it.
  mutating func reply(_ reply: WireReply, continues: Bool = false, to index: Int) {
    guard connections[index] != nil else { return }
    ReplyEncoder.encode(reply, continues: continues, to: &connections[index]!.output)
    if connections[index]!.output.count > Connection.limit { end(index) }
  }

  /// Writes what a connection takes, and closes it where it is at its end: what it does not take then
  /// is lost, for nobody waits for one that may never read.
  mutating func send(_ index: Int) {
    guard let connection = connections[index], !connection.output.isEmpty || connection.isEnding
    else { return }
    if !connection.send() {
      guard connection.carriesCalls else { return close(index) }
      // Nobody takes the answers. What was sent before the other end hung up is read, and handled.
      connection.output.removeAll()
    }
    guard !connection.isEnding else { return close(index) }
    updateInterest(index)
  }

  /// Waits for calls, unless they are not handled for now, and for room to write in, as long as something is to be
  /// written.
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

  /// Nothing more is read of it; it is closed once it was offered what waits.
  mutating func end(_ index: Int) { connections[index]?.isEnding = true }

  /// The connection is over: what it spoke for ends with it (BKG-1).
  mutating func close(_ index: Int) {
    guard index < connections.count else { return }
    unwatchProgram(index)
    guard let connection = connections[index] else { return }
    if connection.isPaused { pausedCount -= 1 }
    connections[index] = nil
    events.remove(connection.descriptor)
    Glibc.close(connection.descriptor)
    answers.removeAll { $0.connection == index }
    listenAgain()
    switch connection.purpose {
    case .open: break
    case .control(let client): if clients[client].control == index { leave(client) }
    case .watch(let client): if clients[client].watch == index { clients[client].watch = nil }
    case .drain: break
    }
  }

  /// Has everything on the disk, lets all connections go, and ends.
  mutating func shutDown(_ engine: borrowing Engine) {
    keepAll(engine)
    // Not as if their programs had died: what is on the disk stays.
    for i in connections.indices {
      unwatchProgram(i)
      guard let connection = connections[i] else { continue }
      events.remove(connection.descriptor)
      Glibc.close(connection.descriptor)
    }
    connections = []
    pausedCount = 0
    do {
      try state.close(at: SystemClock().wall)
    } catch {
      log.write(.error, "the durable state is not on the disk: \(error)")
    }
  }
}
