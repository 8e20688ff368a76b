import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

/// The record of ``LocationServer`` about a known client, with or without a running process.
///
/// # Problem
///
/// A client is a user and a name (AUT-2). Its services, pending events and position in the ring outlive its process
/// and the service; its iterators, unsent notices and connections do not. So everything that belongs to a process is
/// in ``process``, and is gone with it.
///
/// # States
///
///                 Connect: slot allocated              process ends, or hangs up
///     VACANT ─────────────────────────────▶ CONNECTED ──────────────────────────▶ ABSENT ◀── restored at the start
///       ▲                                    │     ▲                               │  │
///       │                                    │     └────────── Connect ────────────┘  │
///       └──── displaced, or forgotten by an administrator ────────────────────────────┘
///
/// A vacant slot keeps its index, which is the engine's `ClientID`. CONNECTED: see ``ClientProcess``.
///
/// # Invariants
///
/// - Owner: ``ClientRegistry``. Record and engine change together: ``LocationServer`` submits the request for each
///   change that must be passed to the engine.
/// - Without a process, the queue contains events only.
/// - ``notices``, ``sessions``, ``launch``, ``rows``, ``regionNames`` and ``holds`` own their state; the operations that need only
///   one of them call it directly.
///
/// Bounded: ``NoticeQueue``, ``RegionNames``.
struct ServedClient {
  let name: WireClientName
  /// Number in the durable state; 0 for a vacant slot.
  let number: ClientNumber
  /// Login user that its user is counted as.
  private(set) var account: UInt32
  /// Effective rights and their source.
  private(set) var access: ClientAccess
  /// The running process; nil while the client is absent.
  private(set) var process: ClientProcess?
  /// Unsent notices and unacknowledged visits and region events.
  var notices: NoticeQueue
  /// Newest significant-change fix while no process was running (SLC-8). The next process receives it when it starts
  /// the service.
  private(set) var pendingReport: StoredFix?
  /// Sessions, and whether the client is in use.
  var sessions: ClientSessions
  /// The use that was last passed to the engine.
  private(set) var use = ClientUse()
  /// Requested permission that is still undecided (AUT-4).
  private(set) var requestedPermission: WirePermission?
  /// Pending start of its program (BKG-19).
  var launch = PendingLaunch()
  /// Whether its durable rows are up to date.
  var rows = ClientRowState()
  /// Names of its regions.
  var regionNames = RegionNames()
  /// Its holds, which keep the board awake.
  var holds = ClientHolds()
  /// Whether fixes of the client may have been lost, and the gap was not reported yet.
  private(set) var mayHaveLostFixes: Bool
  /// When its first program was attached by gpsd's protocol since it may use location as it may now; nil if none was.
  private(set) var gpsdStart: GPSDStart?
  /// The last single fix that was requested for programs by gpsd's protocol; nil if none was.
  private(set) var gpsdRequest: GPSDFixRequest?
  /// Time at which a process last connected.
  private(set) var lastConnected = Instant.boot

  /// - Parameters:
  ///   - account: Login user that the name's user is counted as.
  ///   - notices: Events restored from disk.
  ///   - hasBackground: Whether a background session was active when the service ended.
  init(
    _ name: WireClientName, of account: UInt32, number: ClientNumber, _ access: ClientAccess,
    mayHaveLostFixes: Bool = false, notices: NoticeQueue = NoticeQueue(),
    hasBackground: Bool = false
  ) {
    self.name = name
    self.account = account
    self.number = number
    self.access = access
    self.mayHaveLostFixes = mayHaveLostFixes
    self.notices = notices
    sessions = ClientSessions(hasBackground: hasBackground)
  }

  /// A vacant slot.
  static func vacant(_ access: ClientAccess) -> ServedClient {
    ServedClient(WireClientName(user: .max, name: ""), of: .max, number: 0, access)
  }

  /// Whether the slot is vacant.
  var isVacant: Bool { number == 0 }

  /// Whether it may use location.
  var isPermitted: Bool { access.authorization.isGranted }

  /// Index of its control connection; nil without a process, or if it is connected by gpsd's protocol.
  var control: Int? { process?.control }

  /// Whether its programs are connected by gpsd's protocol.
  var usesGPSD: Bool { process?.usesGPSD ?? false }

  /// Index of its notice connection; nil without one.
  var watch: Int? { process?.watch }

  /// Whether a process runs to which nothing is delivered for now.
  var isDeliveryPaused: Bool { process?.isDeliveryPaused ?? false }

  // MARK: Process

  /// Records that a process has connected.
  mutating func connect(control: Int, session: Int64, at now: Instant) {
    // A program that was started in the background is not in the foreground until it says so.
    let isLaunched = launch.recordConnect(at: now)
    process = ClientProcess(
      control: control, session: session, execution: isLaunched ? .background : .foreground)
    lastConnected = now
  }

  /// Records that programs have connected by gpsd's protocol.
  mutating func connectGPSD(session: Int64, since start: GPSDStart) {
    process = ClientProcess(gpsdSession: session)
    lastConnected = start.time
    gpsdStart = gpsdStart ?? start
  }

  /// Records a request for a single fix by gpsd's protocol.
  mutating func setGPSDRequest(_ request: GPSDFixRequest) { gpsdRequest = request }

  /// Records that the last request for a single fix by gpsd's protocol was answered.
  mutating func noteGPSDAnswer() {
    gpsdRequest = gpsdRequest.map { GPSDFixRequest(time: $0.time, isAnswered: true) }
  }

  /// Passes the launch of the process to the sessions.
  mutating func launchSessions(needsExplicit: Bool, at now: Instant) {
    guard let process else { return }
    sessions.launch(process.execution, needsExplicit: needsExplicit, at: now)
  }

  /// Records that the process has ended or disconnected. Its unsent notices are removed.
  mutating func disconnect() {
    process = nil
    notices.removeNotices()
  }

  /// Sets the notice connection, to which all pending events are sent again; nil if it was closed.
  mutating func setWatch(_ connection: Int?) {
    process?.setWatch(connection)
    if connection != nil { notices.markAllUnsent() }
  }

  /// Sets the execution state, as reported by the process or inferred from a call.
  mutating func setExecution(_ state: ExecutionState) {
    process?.setExecution(state)
    sessions.setExecution(state)
  }

  /// Sets whether the process is frozen. Returns whether that has changed.
  mutating func setFrozen(_ isFrozen: Bool) -> Bool {
    guard let execution = process?.execution, process?.setFrozen(isFrozen) == true else {
      return false
    }
    sessions.setExecution(isFrozen ? .suspended : execution)
    return true
  }

  /// Changes the services started by the process.
  mutating func updateStartedServices(_ change: (inout StartedServices) -> Void) {
    process?.updateStarted(change)
  }

  /// Opens a live iterator. Returns its number; nil if all are open.
  mutating func openLive() -> Int? { process?.openLive() }

  /// Closes a live iterator.
  mutating func closeLive(_ number: Int) { process?.closeLive(number) }

  /// Pauses or resumes delivery: see ``ClientProcess/setDeliveryPaused(_:)``.
  mutating func setDeliveryPaused(_ isPaused: Bool) -> ExecutionState? {
    process?.setDeliveryPaused(isPaused)
  }

  /// Stores a significant-change fix for the next process, in place of an older one.
  mutating func setPendingReport(_ fix: StoredFix) { pendingReport = fix }

  /// Removes and returns the stored significant-change fix.
  mutating func consumePendingReport() -> StoredFix? {
    defer { pendingReport = nil }
    return pendingReport
  }

  // MARK: Rights and use

  /// Sets the login user that the client's user is counted as.
  mutating func setAccount(_ account: UInt32) { self.account = account }

  /// Sets the effective rights.
  mutating func setAccess(_ access: ClientAccess) {
    if access.reported != self.access.reported { gpsdStart = nil }
    self.access = access
  }

  /// Sets the permission that was requested and is still undecided.
  mutating func setRequestedPermission(_ permission: WirePermission?) {
    requestedPermission = permission
  }

  /// Updates the use of location from sessions, iterators and conditions.
  ///
  /// - Returns: The use to pass to the engine; nil if it has not changed.
  mutating func updateUse() -> ClientUse? {
    let current = sessions.use
    guard current != use else { return nil }
    use = current
    return current
  }

  /// Passes open iterators and conditions to the sessions, which they imply (BKG-15).
  mutating func updateImpliedSessions() {
    sessions.setImplied((process?.liveCount ?? 0) + (regionNames.hasConditions ? 1 : 0))
  }

  /// The gap of a possible loss is queued for the process. Returns false if it was queued before.
  mutating func queueLoss() -> Bool {
    guard process?.lossReport == LossReport.absent else { return false }
    process?.setLossReport(.queued)
    return true
  }

  /// The gap of a possible loss was written.
  mutating func markLossSent() {
    if process?.lossReport == .queued { process?.setLossReport(.sent) }
  }

  /// Fixes were written, the first of them with this sequence number.
  mutating func markFixesSent(from sequence: UInt64) {
    if process?.lossReport == .sent { process?.setLossReport(.followed(by: sequence)) }
  }

  /// The gap of a possible loss was written in an answer, before the fixes from this sequence number on.
  mutating func markLossRead(before sequence: UInt64) {
    process?.setLossReport(.followed(by: sequence))
  }

  /// What was written may not have been read. Returns whether the gap of a possible loss must be queued again.
  mutating func withdrawLoss() -> Bool {
    guard let process else { return false }
    switch process.lossReport {
    case .absent, .queued: return false
    case .sent, .followed, .acknowledged:
      self.process?.setLossReport(.absent)
      return mayHaveLostFixes
    }
  }

  /// The process has acknowledged the fixes up to this one. If it was sent after the gap of a possible loss,
  /// ``finishLoss(isStored:)`` follows before the rows are saved.
  mutating func acknowledgeLoss(through name: FixName) {
    guard mayHaveLostFixes else { return }
    switch process?.lossReport {
    case .followed(let first), .acknowledged(_, let first):
      guard name.sequence >= first else { return }
      process?.setLossReport(.acknowledged(name, followedBy: first))
      rows.markDirty()
    case .absent, .queued, .sent, nil: return
    }
  }

  /// Name that was acknowledged after the gap of a possible loss, until ``finishLoss(isStored:)``; nil if none was.
  var lossAcknowledgement: FixName? {
    if case .acknowledged(let name, _)? = process?.lossReport { name } else { nil }
  }

  /// The gap of a possible loss is handled if the ring has the acknowledged fix, or has given it its name in this run.
  mutating func finishLoss(isStored: Bool) {
    guard case .acknowledged(_, let first)? = process?.lossReport else { return }
    if isStored { mayHaveLostFixes = false }
    process?.setLossReport(.followed(by: first))
  }

  /// Reason to start the process: a pending event or background session; nil without one.
  var waitingReason: LaunchReason? {
    if sessions.hasBackground { return .backgroundSession }
    guard let first = notices.firstEvent else { return nil }
    if case .visit = first.notice { return .visit }
    return .region
  }
}
