import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import UplinkPayload

/// Sends the fixes of a board to a store, over a broker.
///
/// # Problem
///
/// The board sleeps nearly always. Fixes are in the ring, and are delivered once an interval, as the batch of a deferral.
/// An upload must be complete before the position in the ring moves, must keep the board awake only while it runs, and
/// must not be repeated in a busy loop while the network is absent.
///
/// # States
///
///     WAITING ──finish, batch──▶ COLLECTING ──no further notice──▶ UPLOADING ──receipt──▶ WAITING
///        ▲                                                           │
///        └──────────── the back-off is over ◀── FAILED ◀── no receipt, no broker
///
/// # Invariants
///
/// - A fix is acknowledged to the service only after a receipt has named it or a later one (or, with
///   ``UplinkSettings/Confirmation/broker``, after the broker's acknowledgement).
/// - A deferral is allowed again as soon as one has ended, before the upload begins.
/// - No message is sent after the permission was revoked.
/// - A session starts with the first unacknowledged fix: after a failure of the service nothing is remembered but the
///   back-off.
///
/// Bounded: ``PendingFixes``; one connection per upload; attempts by ``RetryBackoff``.
public struct UplinkController: ~Copyable {
  /// Name of the client.
  public static let clientName = "uplink"
  /// Time without a further notice after which a batch counts as complete.
  static let batchPause = Interval.milliseconds(200)
  /// Longest time for which notices are collected without an upload, while they follow each other without a pause.
  static let longestCollection = Interval.seconds(5)
  /// Longest hold of an upload.
  static let hold = Interval.seconds(45)
  /// Time after which a session counts as one that worked.
  static let stableTime = Interval.seconds(60)

  private let settings: UplinkSettings
  private let socket: String
  private let log: (String) -> Void
  private let report: (UplinkStatus) -> Void
  private var status: UplinkStatus
  private var backoff = RetryBackoff(initial: .seconds(60), longest: .seconds(3_600))

  // State of a session.
  private var ring: UInt64 = 0
  private var pending = PendingFixes()
  private var acknowledged: FixName?
  /// The newest fix, or one after it, at the start of the session or delivered later.
  private var newest = FixName(generation: 0, sequence: 0)
  private var nextUpload = Instant.boot
  private var isPermitted = true
  private var isDeferring = false
  private var isBatchComplete = false
  private var hasEnded = false

  /// - Parameters:
  ///   - socket: Path of the service's socket.
  ///   - log: Writes a line to the log.
  ///   - report: Publishes the status.
  public init(
    _ settings: UplinkSettings, socket: String, log: @escaping (String) -> Void,
    report: @escaping (UplinkStatus) -> Void
  ) {
    self.settings = settings
    self.socket = socket
    self.log = log
    self.report = report
    status = UplinkStatus(settings.device)
  }

  /// Runs until another program takes over the client. If the service ends, connects again.
  public mutating func run() throws(ClientError) -> Never {
    var retry = RetryBackoff(initial: .seconds(1), longest: .seconds(300))
    report(status)
    while true {
      let start = UplinkClock.now
      do throws(ClientError) {
        try serve()
        retry.reset()
      } catch {
        if error == .takenOver { throw error }
        let now = UplinkClock.now
        if now - start > UplinkController.stableTime { retry.reset() }
        fail(error.description)
        retry.recordFailure(at: now)
        UplinkClock.pause(retry.delay)
      }
    }
  }

  // MARK: Session

  /// One session with the service. Returns if a new one is necessary.
  private mutating func serve() throws(ClientError) {
    var session = try ClientSession(name: UplinkController.clientName, path: socket)
    try session.subscribe()
    guard session.session.authorization.isGranted else { return try awaitPermission(&session) }
    guard let id = session.session.ringID else {
      throw .malformed("a session without the id of the ring: torpord has an earlier version")
    }
    ring = id.number
    pending = PendingFixes()
    acknowledged = nil
    let state = try session.getStatus()
    newest = FixName(generation: state.generation, sequence: state.nextSequence ?? 0)
    (isPermitted, isBatchComplete, hasEnded) = (true, false, false)
    var preferences = WireSettings()
    preferences.pausesAutomatically = false
    preferences.allowsBackground = true
    try session.call(.configure(preferences))
    try session.call(.startUpdating)
    try session.call(.setExecution(.background))
    nextUpload = UplinkClock.now + settings.interval
    try allowDeferral(&session)
    while !hasEnded { try turn(&session) }
  }

  /// Waits for a decision of an administrator, without a timer.
  private mutating func awaitPermission(_ session: inout ClientSession) throws(ClientError) {
    fail(ClientError.locationNotPermitted(client: UplinkController.clientName).description)
    // A request, so that the service reports the decision.
    try session.call(.startUpdating)
    while let notice = try session.nextNotice(within: nil) {
      switch notice {
      case .authorization(let authorization, _): if authorization.isGranted { return }
      case .takenOver: throw .takenOver
      case .fixes, .report, .finished, .gap, .visit, .region, .live, .paused, .resumed, .failure,
        .degraded, .session:
        break
      }
    }
  }

  /// Waits for notices or for the time of an upload, and uploads what is due.
  private mutating func turn(_ session: inout ClientSession) throws(ClientError) {
    let start = UplinkClock.now
    let wait = due.map { max(.zero, $0 - start) }
    // Fixes beyond the limit stay in the service until an upload has made space.
    let mustUploadFirst = pending.isFull && wait == .zero
    if !mustUploadFirst, let notice = try session.nextNotice(within: wait) {
      try handle(notice, &session)
      let end = UplinkClock.now + UplinkController.longestCollection
      while !pending.isFull, UplinkClock.now < end,
        let more = try session.nextNotice(within: UplinkController.batchPause)
      {
        try handle(more, &session)
      }
    }
    if pending.isEmpty { isBatchComplete = false }
    if let due, due <= UplinkClock.now { try upload(&session) }
  }

  /// Time of the next upload; nil if it waits for a notice, so that no timer runs.
  private var due: Instant? {
    guard isPermitted, pending.hasMessage else { return nil }
    if isBatchComplete || pending.isFull || backoff.failures > 0 { return backoff.nextTime }
    return isDeferring ? nil : nextUpload
  }

  private mutating func handle(
    _ notice: WireNotice, _ session: inout ClientSession
  ) throws(ClientError) {
    switch notice {
    case .fixes(let fixes):
      pending.add(fixes)
      if let last = fixes.last?.name, newest.isUpTo(last) { newest = last }
    case .gap(let gap): pending.add(gap)
    case .finished(let code):
      isDeferring = false
      // The next deferral begins before the upload, so that the receiver keeps batching. After an error it would fail
      // again at once: it is tried with the next upload.
      if code == nil {
        isBatchComplete = true
        try allowDeferral(&session)
      }
    case .authorization(let authorization, _):
      guard authorization.isGranted != isPermitted else { break }
      isPermitted = authorization.isGranted
      // A new session starts behind the fixes that may not be sent.
      if isPermitted { return hasEnded = true }
      pending.removeAll()
      fail("the permission to use location was revoked: nothing is sent until it is granted again")
    case .takenOver: throw .takenOver
    case .report, .visit, .region, .live, .paused, .resumed, .failure, .degraded, .session: break
    }
  }

  private mutating func allowDeferral(_ session: inout ClientSession) throws(ClientError) {
    try session.call(
      .allowDeferred(
        distance: LocationLimits.distanceMax, timeout: settings.interval.seconds,
        slack: settings.slack.seconds))
    isDeferring = true
  }

  // MARK: Upload

  /// Sends everything that is pending; on failure the rest is sent again after the back-off.
  private mutating func upload(_ session: inout ClientSession) throws(ClientError) {
    nextUpload = UplinkClock.now + settings.interval
    // Without a hold the upload still works, if the board is not suspended meanwhile.
    let hold = try? session.beginHold(seconds: UplinkController.hold, reason: "send fixes")
    let upload = Upload(
      device: settings.device, ring: ring, confirmation: settings.confirmation, newest: newest)
    let failure = try send(upload, &session)
    if let hold { try session.call(.endHold(hold)) }
    if let failure {
      backoff.recordFailure(at: UplinkClock.now)
      status.failures += 1
      status.nextAttempt = UTCTime(
        microseconds: UplinkClock.utc.microseconds + backoff.delay.microseconds)
      return fail(failure.description)
    }
    backoff.reset()
    isBatchComplete = !pending.isEmpty
    status.uploads += 1
    status.failures = 0
    (status.problem, status.nextAttempt) = (nil, nil)
    status.lastUpload = UplinkClock.utc
    status.pending = pending.count
    report(status)
    // Dropped fixes are delivered again to a new session, and so is the fix after a gap that is pending.
    if pending.hasDropped && !pending.hasMessage { hasEnded = true }
    if !isDeferring { try allowDeferral(&session) }
  }

  /// Sends with the first destination that works. Returns the last error; nil on success.
  private mutating func send(
    _ upload: Upload, _ session: inout ClientSession
  ) throws(ClientError) -> BrokerError? {
    var failure: BrokerError?
    for destination in settings.destinations where isPermitted {
      failure = try send(upload, to: destination, &session)
      if failure == nil { break }
    }
    return failure
  }

  /// Sends messages until none is left or the hold ends, and acknowledges each confirmed one.
  private mutating func send(
    _ upload: Upload, to destination: UplinkSettings.Destination, _ session: inout ClientSession
  ) throws(ClientError) -> BrokerError? {
    let end = UplinkClock.now + UplinkController.hold
    status.broker = destination.address
    var sessionFailure: ClientError?
    do throws(BrokerError) {
      var broker = try Broker(destination, device: settings.device)
      while UplinkClock.now < end {
        do throws(ClientError) { try acknowledgeConfirmed(&session) } catch {
          sessionFailure = error
          break
        }
        guard isPermitted, try upload.sendNext(&pending, over: &broker, log: log) else { break }
      }
    } catch {
      return error
    }
    if let sessionFailure { throw sessionFailure }
    try acknowledge(&session)
    return nil
  }

  /// Acknowledges what the last message has confirmed, and handles the notices since: a permission that was revoked, also
  /// while the connection was opened, ends the upload.
  private mutating func acknowledgeConfirmed(_ session: inout ClientSession) throws(ClientError) {
    try acknowledge(&session)
    while !pending.isFull, let notice = try session.nextNotice(within: .zero) {
      try handle(notice, &session)
    }
  }

  private mutating func acknowledge(_ session: inout ClientSession) throws(ClientError) {
    guard let last = pending.preceding, last != acknowledged else { return }
    try session.acknowledge(last)
    acknowledged = last
    status.fixes += pending.takeConfirmedCount()
  }

  // MARK: Problems

  /// Reports a problem, and logs it unless it is the same as before.
  private mutating func fail(_ problem: String) {
    if status.problem != problem { log(problem) }
    status.problem = problem
    status.pending = pending.count
    report(status)
  }
}
