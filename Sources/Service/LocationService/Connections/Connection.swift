import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import TextFormats

/// Credentials of a connection's peer, as recorded by the kernel (AUT-2).
public struct Peer: Equatable, Sendable {
  /// User ID, the trusted identity.
  public var user: UInt32
  /// Process that connected, for the log and to detect that it is frozen. No proof of identity: it may have passed the
  /// connection to another process.
  public var process: Int32
}

/// One connection: its purpose, its input with held calls, and its unsent output.
///
/// # Problem
///
/// The peer is not trusted: it may send half a call, more calls than its rate permits, or not read its answers. Input
/// is therefore read only while it can be handled, held input is bounded, and each change of state is a function here,
/// so that the combinations below are the only ones.
///
/// # States
///
/// ``purpose`` defines the use of a connection. It changes at most once, except on a takeover:
///
///     accept ──▶ open ──Connect───────────▶ control(client) ──another process connects──▶ open, ending
///                 ├────Watch(session)─────▶ watch(client)
///                 └────Drain, ReadBacklog─▶ drain(transfer) ──last record sent──▶ closed
///
/// Independently, ``input`` is in one of these states:
///
///               call over its user's rate, or output over the high-water mark
///     READING ──────────────────────────────────────────────────────────────▶ PAUSED
///       │  ▲                                                                  │  │
///       │  └── rate permits, and output was read by the peer ─────────────────┘  │ peer hangs up: `open` and
///       │                                                                        │ `control`, 4 per user
///       │ end of input, invalid or oversize frame,                               ▼
///       │ takeover, notice queue full                        ┌────────────── LINGERING ── 30 s ──▶ CLOSED
///       │                                                    ▼ rate permits      ▲
///       │                                                 RESUMED ───────────────┘ call over the rate
///       ▼                                                    │
///     ENDING ◀───────── end of input, all calls handled ─────┘
///       │
///       └── remaining output offered to the kernel once ──▶ CLOSED
///
/// # Invariants
///
/// - Owner: ``ConnectionTable``, which counts paused connections and keeps the epoll registration; it alone calls the
///   functions that change ``input`` and ``purpose``.
/// - Held input exists only in PAUSED and LINGERING. A change of the purpose discards the charge of a held call.
///
/// # Bounds
///
/// One frame of ``WireLimits/callFrame`` and one read buffer of input; output up to ``highWater``, plus the longest
/// reply. A class, because each turn inspects many connections and must not copy them.
final class Connection {
  /// Bytes of output above which nothing is delivered and no call of the connection is handled.
  static let highWater = 64 * 1_024
  /// Bytes of output above which no call of a user without permission is handled.
  static let unpermittedHighWater = 16 * 1_024
  /// Bytes of output above which the connection is closed. The marks above normally prevent that.
  static let outputLimit = 2 * WireLimits.replyFrame
  /// Time limit for the first call, and for the remainder of a call that has begun.
  static let callTimeout = Interval.seconds(10)
  /// Capacity in bytes that empty output of a user without permission retains.
  static let unpermittedKeptCapacity = 1_024
  /// Same with permission, on a connection with notices or a drain: one full batch of fixes.
  static let batchKeptCapacity = 2 * highWater
  /// Same with permission, on other connections.
  static let plainKeptCapacity = TextBuffer.defaultRetainedCapacity
  /// Size of the kernel's send buffer for a user without permission, for setsockopt(2), which doubles it.
  static let unpermittedSendBuffer: Int32 = 16 * 1_024

  /// Purpose of a connection.
  enum Purpose {
    /// None yet: no call, or only calls that any program may make.
    case open
    /// Controls a client's session. The monitor detects that its process is frozen; nil if that is impossible.
    case control(client: Int, monitor: FreezeWatch?)
    /// Receives a client's notices.
    case watch(client: Int)
    /// Transfers a client's backlog as records and is then closed.
    case drain(Drain)
  }

  /// State of the input.
  enum Input {
    /// Input is read and handled.
    case reading
    /// Input is neither read nor handled for now.
    case paused(HeldInput)
    /// The peer has hung up. Held calls are handled until then.
    case lingering(until: Instant, HeldInput)
    /// The peer has hung up, and its held calls are being handled.
    case resumed(until: Instant)
    /// Reading has ended; the connection is closed after its output was offered once.
    case ending
  }

  let descriptor: Int32
  let peer: Peer
  /// Number of the wait in which it was accepted.
  let acceptedWait: UInt64
  /// Time at which it was accepted.
  let acceptedAt: Instant
  /// Login user that its user is counted as.
  private(set) var account: UInt32
  /// Cached standing of its user; nil to look it up.
  private(set) var standing: Standing?
  private(set) var purpose = Purpose.open
  private(set) var input = Input.reading
  private(set) var splitter = FrameSplitter()
  private(set) var output = JSONOutput()
  /// Conditions registered with epoll.
  private(set) var interest = EventWait.Conditions.readable
  /// Maximum total size of the pending answers in bytes.
  private(set) var expectedAnswerBytes = 0
  /// Time at which the connection is closed unless a call is complete.
  private(set) var deadline: Instant
  /// Whether it has made a call.
  private(set) var hasMadeCall = false
  /// Whether it belongs to a session of a program that the service has started (``PendingLaunch/isLaunched``), also
  /// after the session has ended. A call without a session counts as a person's.
  private(set) var isLaunched = false

  /// - Parameter account: Login user that the peer's user is counted as.
  init(
    _ descriptor: Int32, _ peer: Peer, of account: UInt32, since wait: UInt64, at now: Instant
  ) {
    self.descriptor = descriptor
    self.peer = peer
    self.account = account
    acceptedWait = wait
    acceptedAt = now
    deadline = now + Connection.callTimeout
  }

  // MARK: User

  /// The standing of its user. Sets the capacity that empty output retains when the standing is computed again.
  func standing(_ permissions: borrowing Permissions) -> Standing {
    if let standing { return standing }
    let computed = permissions.standing(of: peer.user)
    standing = computed
    keepCapacity(for: computed)
    return computed
  }

  /// Discards the cached standing, and the charge of a held call.
  func discardStanding() {
    standing = nil
    held?.discardCharge()
  }

  /// Sets the login user that its user is counted as.
  func setAccount(_ account: UInt32) { self.account = account }

  /// Sets the capacity that empty output retains, by purpose and standing.
  func keepCapacity(for standing: Standing) {
    switch (standing, purpose) {
    case (.unpermitted, _): output.text.retainedCapacity = Connection.unpermittedKeptCapacity
    case (_, .watch), (_, .drain): output.text.retainedCapacity = Connection.batchKeptCapacity
    case (_, .open), (_, .control): output.text.retainedCapacity = Connection.plainKeptCapacity
    }
    if output.text.isEmpty { output.removeAll() }
  }

  // MARK: Purpose

  /// Records that it belongs to a session of a program that the service has started.
  func markLaunched() { isLaunched = true }

  /// Sets the purpose.
  func setPurpose(_ purpose: Purpose) {
    self.purpose = purpose
    held?.discardCharge()
  }

  /// Whether it has no purpose yet.
  var isOpen: Bool { if case .open = purpose { true } else { false } }

  /// The client that it controls; nil if none.
  var controlledClient: Int? {
    if case .control(let client, _) = purpose { client } else { nil }
  }

  /// The client that it serves; nil before the call that determines it.
  var client: Int? {
    switch purpose {
    case .open: nil
    case .control(let client, _), .watch(let client): client
    case .drain(let drain): drain.client
    }
  }

  /// The monitor of the client's process; nil without one.
  var monitor: FreezeWatch? {
    if case .control(_, let monitor) = purpose { monitor } else { nil }
  }

  /// The bulk transfer; nil without one.
  var drain: Drain? { if case .drain(let drain) = purpose { drain } else { nil } }

  /// Whether it transfers records.
  var isDraining: Bool { if case .drain = purpose { true } else { false } }

  /// Whether its received calls are handled even if the peer does not read the answers.
  var carriesCalls: Bool {
    switch purpose {
    case .open, .control: true
    case .watch, .drain: false
    }
  }

  // MARK: Input

  /// Whether input is read and handled.
  var isReading: Bool {
    switch input {
    case .reading, .resumed: true
    case .paused, .lingering, .ending: false
    }
  }

  /// Whether input is neither read nor handled until the connection is resumed.
  var isPaused: Bool {
    switch input {
    case .paused, .lingering: true
    case .reading, .resumed, .ending: false
    }
  }

  /// Whether reading has ended.
  var isEnding: Bool { if case .ending = input { true } else { false } }

  /// Time until which held calls are handled after the peer has hung up; nil before.
  var lingersUntil: Instant? {
    switch input {
    case .lingering(let end, _), .resumed(let end): end
    case .reading, .paused, .ending: nil
    }
  }

  /// Input that is not handled yet; nil unless paused.
  var held: HeldInput? {
    switch input {
    case .paused(let held), .lingering(_, let held): held
    case .reading, .resumed, .ending: nil
    }
  }

  /// Stops reading. Returns false if it is paused or ending already.
  func pause(holding held: HeldInput) -> Bool {
    switch input {
    case .reading: input = .paused(held)
    case .resumed(let end): input = .lingering(until: end, held)
    case .paused, .lingering, .ending: return false
    }
    deadline = .distantFuture
    return true
  }

  /// Resumes reading. Returns the held input; nil if it is not paused.
  func resume() -> HeldInput? {
    switch input {
    case .paused(let held):
      input = .reading
      return held
    case .lingering(let end, let held):
      input = .resumed(until: end)
      return held
    case .reading, .resumed, .ending: return nil
    }
  }

  /// Keeps a paused connection after the peer has hung up. Its answers are dropped.
  func linger(until end: Instant) {
    guard case .paused(let held) = input else { return }
    output.removeAll()
    input = .lingering(until: end, held)
  }

  /// Ends reading; the connection is closed after its pending output was offered once.
  func end() { input = .ending }

  /// Consumes bytes up to the end of a frame.
  func nextFrame(
    _ bytes: [UInt8], upTo count: Int, _ offset: inout Int
  ) -> FrameSplitter.Outcome {
    splitter.next(in: bytes.span.extracting(first: count), at: &offset)
  }

  /// Decodes the complete frame.
  func decodeFrame() throws(CallRejection) -> IncomingCall {
    hasMadeCall = true
    return try CallDecoder.decode(splitter.frame)
  }

  /// Ends the time limit after a complete call. Returns whether one applied.
  func clearDeadline() -> Bool {
    guard deadline != .distantFuture else { return false }
    deadline = .distantFuture
    return true
  }

  /// Sets the time limit for the remainder of a call that has begun. Between calls no limit applies. Returns whether it
  /// has changed.
  func updateDeadline(at now: Instant) -> Bool {
    let isExpected = splitter.isInFrame || !hasMadeCall
    guard isExpected == (deadline == .distantFuture) else { return false }
    deadline = isExpected ? now + Connection.callTimeout : .distantFuture
    return true
  }

  // MARK: Output

  /// Whether output is below the high-water mark.
  var hasOutputCapacity: Bool { output.text.count < Connection.highWater }

  /// Reserves output for the answer of a call, until the end of the turn.
  func reserveAnswer(_ bytes: Int) { expectedAnswerBytes += bytes }

  /// Ends the reservations, after the answers are in the output.
  func clearReservations() { expectedAnswerBytes = 0 }

  /// Appends an answer, or a further reply of a call. Returns false above ``outputLimit``.
  func append(_ reply: WireReply, continues: Bool) -> Bool {
    ReplyEncoder.encode(reply, continues: continues, to: &output)
    return output.text.count <= Connection.outputLimit
  }

  /// Appends the header of a bulk transfer.
  func append(_ header: FixRecordHeader) { header.append(to: &output) }

  /// Appends a fix of a bulk transfer.
  func append(_ fix: StoredFix) { FixRecord.append(fix, to: &output) }

  /// Drops unsent output.
  func dropOutput() { output.removeAll() }

  /// Sets the conditions registered with epoll.
  func setInterest(_ interest: EventWait.Conditions) { self.interest = interest }

  /// Writes what the socket accepts. One system call if it accepts everything.
  ///
  /// - Returns: false if the connection has failed.
  func send() -> Bool { output.text.send(to: descriptor) }
}

/// A received call that is held until its user's rate permits it.
enum HeldCall {
  case call(IncomingCall)
  /// A call that is refused without being handled.
  case refused(WireError, isOneway: Bool)

  /// Whether the call has no answer.
  var isOneway: Bool {
    switch self {
    case .call(let incoming): incoming.mode == .oneway
    case .refused(_, let isOneway): isOneway
    }
  }
}

/// Input of a paused connection that is not handled yet: at most one call and one read buffer
/// (``ConnectionTable/readSize``). A class, so that the state of a connection stays small.
final class HeldInput {
  /// A call over its user's rate; nil if only output has to be read by the peer.
  let call: HeldCall?
  /// Bytes after that call.
  let bytes: [UInt8]
  /// Charge of the call: computed once, and again after permissions or the set of clients have changed.
  private(set) var charge: CallCharge?

  /// Holds a call with its charge, and the bytes after it.
  init(_ call: HeldCall?, _ charge: CallCharge? = nil, followedBy bytes: [UInt8] = []) {
    self.call = call
    self.charge = charge
    self.bytes = bytes
  }

  /// Stores the charge of the call.
  func setCharge(_ charge: CallCharge) { self.charge = charge }

  /// Discards the charge, which depends on permissions, clients and the connection's purpose.
  func discardCharge() { charge = nil }
}
