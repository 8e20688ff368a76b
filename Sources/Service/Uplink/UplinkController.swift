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
/// - A fix, a gap or an event is acknowledged to the service only after a receipt has named it or a later one, or after the
///   store has refused its message and keeps it (or, with ``UplinkSettings/Confirmation/broker``, after the broker's
///   acknowledgement). An HTTP server has no form for gaps, nor for fixes whose date is never known: they are acknowledged
///   with the fixes that follow them. Settings with HTTP servers request no events.
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
  /// Longest hold of an upload, the limit of the service.
  static let hold = Interval.seconds(60)
  /// Longest time of an upload, with all destinations: then the connection is closed.
  static let longestUpload = Interval.seconds(55)
  /// Time after which a session counts as one that worked.
  static let stableTime = Interval.seconds(60)

  private let settings: UplinkSettings
  private let socket: String
  private let log: (String) -> Void
  private let report: (UplinkStatus) -> Void
  private var status: UplinkStatus
  private var backoff: UplinkBackoff
  private let rounding: PositionRounding
  private var newestPosition: NewestPublication?
  /// What is known of each destination of ``settings``.
  private var memories: [BrokerMemory]
  private var order: DestinationOrder
  /// The first generation that is known to belong to this boot, and its ring: this program does not survive a boot.
  private var boot: (ring: UInt64, generation: UInt32)?

  // State of a session.
  private var ring: UInt64 = 0
  private var pending = PendingFixes()
  private var acknowledged: FixName?
  private var acknowledgedEvent: UInt32?
  /// The newest fix, or one after it, at the start of the session or delivered later.
  private var newest = FixName(generation: 0, sequence: 0)
  private var nextUpload = Instant.boot
  private var isPermitted = true
  private var isReduced = false
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
    backoff = UplinkBackoff(settings.device)
    rounding = PositionRounding(decimals: settings.decimals)
    newestPosition = NewestPublication(settings)
    memories = Array(repeating: BrokerMemory(), count: settings.destinations.count)
    order = DestinationOrder(count: settings.destinations.count)
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
    (acknowledged, acknowledgedEvent) = (nil, nil)
    newestPosition?.removeAll()
    isReduced = session.session.isReduced
    let state = try session.getStatus()
    newest = FixName(generation: state.generation, sequence: state.nextSequence ?? 0)
    if boot?.ring != ring { boot = (ring, state.generation) }
    (isPermitted, isBatchComplete, hasEnded) = (true, false, false)
    var preferences = WireSettings()
    preferences.pausesAutomatically = false
    preferences.allowsBackground = true
    try session.call(.configure(preferences))
    try session.call(.startUpdating)
    try startEvents(&session)
    try session.call(.setExecution(.background))
    nextUpload = UplinkClock.now + settings.interval
    try allowDeferral(&session)
    while !hasEnded { try turn(&session) }
  }

  /// Starts visits and regions as the settings specify. The service keeps both across sessions.
  private mutating func startEvents(_ session: inout ClientSession) throws(ClientError) {
    try session.call(settings.sendsVisits ? .startVisits : .stopVisits)
    let wanted = settings.regions.map {
      WireRegion(.region, name: $0.name, center: $0.center, radius: $0.radius)
    }
    let monitored = try session.listRegions().map(\.region)
    for region in monitored where !wanted.contains(region) {
      try session.call(.removeRegion(region.kind, name: region.name))
    }
    // A region that is added again forgets its state.
    for region in wanted where !monitored.contains(region) { try session.call(.addRegion(region)) }
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
    case .fixes(let delivered):
      let fixes = delivered.map { rounding.rounded($0) }
      pending.add(fixes)
      newestPosition?.add(fixes)
      if let last = fixes.last?.name { newest = max(newest, last) }
    case .gap(let gap): pending.add(gap)
    case .finished(let code):
      isDeferring = false
      // The next deferral begins before the upload, so that the receiver keeps batching. After an error it would fail
      // again at once: it is tried with the next upload.
      if code == nil {
        isBatchComplete = true
        try allowDeferral(&session)
      }
    case .visit(let visit, let number):
      let rounded = WireNotice.visit(rounding.rounded(visit), number: number)
      if number > 0 { pending.add(event: number, ReplyEncoder.object(of: rounded)) }
    case .region(let event, let number):
      // One without a number is not kept by the service, and follows another one.
      if number > 0 { pending.add(event: number, ReplyEncoder.object(of: notice)) }
      if case .failed = event.change {
        log("the region '\(event.name)' cannot be monitored: check its radius")
      }
    case .authorization(let authorization, let isReduced):
      handle(authorization, isReduced: isReduced)
    case .takenOver: throw .takenOver
    case .report, .live, .paused, .resumed, .failure, .degraded, .session: break
    }
  }

  private mutating func handle(_ authorization: Authorization, isReduced: Bool) {
    guard authorization.isGranted != isPermitted || isReduced != self.isReduced else { return }
    // These fixes may not be sent any more, at least not with this accuracy.
    pending.removeAll()
    newestPosition?.removeAll()
    isPermitted = authorization.isGranted
    // A new session starts behind them.
    if isPermitted {
      hasEnded = true
    } else {
      fail("the permission to use location was revoked: nothing is sent until it is granted again")
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
    var hold: Int64?
    do throws(ClientError) {
      hold = try session.beginHold(seconds: UplinkController.hold, reason: "send fixes")
    } catch {
      // The notice about a revoked permission may wait behind others.
      if case .locationNotPermitted = error { return handle(.denied, isReduced: isReduced) }
      // Without a hold the upload still works, if the board is not suspended meanwhile.
    }
    let (confirmed, oldest) = (pending.confirmations, pending.oldest)
    let failure = try send(&session)
    status.delay = oldest.flatMap {
      UplinkController.age(
        of: $0, bootGeneration: boot?.generation, at: UplinkClock.now, utc: UplinkClock.utc)
    }
    // The service ends the hold together with the permission.
    guard isPermitted else { return }
    if let hold { try session.call(.endHold(hold)) }
    if let failure {
      // A slow connection that has sent a part counts as one that works.
      if pending.confirmations > confirmed { backoff.reset() }
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

  /// Age of a fix, by the boot clock if it is of this boot; nil if it is of an earlier one and has no certain date, or one
  /// in the future, because the system clock is not set.
  ///
  /// - Parameters:
  ///   - bootGeneration: The first generation that is known to belong to this boot; nil if none is.
  ///   - now: The boot clock.
  ///   - utc: The system clock.
  static func age(
    of stored: StoredFix, bootGeneration: UInt32?, at now: Instant, utc: UTCTime
  ) -> Interval? {
    if let bootGeneration, stored.name.generation >= bootGeneration {
      return now - stored.fix.acquired
    }
    guard let date = stored.fix.utc, !stored.fix.isDateUncertain else { return nil }
    let age = utc - date
    return age < .zero ? nil : age
  }

  /// Sends with the first destination that works. Returns the last error; nil on success.
  private mutating func send(_ session: inout ClientSession) throws(ClientError) -> BrokerError? {
    let start = UplinkClock.now
    let end = start + UplinkController.longestUpload
    var failure: BrokerError?
    for (number, index) in order.indices(at: start).enumerated() where isPermitted {
      let now = UplinkClock.now
      guard now < end else { break }
      let limit = DestinationOrder.end(of: end, remaining: order.count - number, at: now)
      memories[index].begin(at: now)
      repeat {
        failure = try send(to: index, until: limit, &session)
        // A smaller message may work, over a new connection.
      } while failure?.cause == .lost && isPermitted && UplinkClock.now < limit
      if failure == nil {
        order.succeed(index, at: UplinkClock.now)
        break
      }
    }
    return failure
  }

  private mutating func send(
    to index: Int, until end: Instant, _ session: inout ClientSession
  ) throws(ClientError) -> BrokerError? {
    let destination = settings.destinations[index]
    status.broker = destination.address
    if let url = destination.url {
      let generation = boot?.generation ?? newest.generation
      var channel = HTTPChannel(
        HTTPServer(destination: destination, url: url, end: end),
        OverlandUpload(
          device: settings.device, clockOffset: UplinkClock.offset, bootGeneration: generation))
      return try exchange(over: &channel, to: index, until: end, &session)
    }
    let upload = Upload(
      device: settings.device, ring: ring, confirmation: settings.confirmation, newest: newest,
      end: end)
    var failure: BrokerError?
    var sessionFailure: ClientError?
    do throws(BrokerError) {
      var channel = try MQTTChannel(destination, upload, &memories[index])
      do throws(ClientError) {
        failure = try exchange(over: &channel, to: index, until: end, &session)
      } catch {
        sessionFailure = error
      }
    } catch {
      return error
    }
    if let sessionFailure { throw sessionFailure }
    return failure
  }

  /// Sends messages until none is left or the time is over, and acknowledges each confirmed one.
  private mutating func exchange<Channel: UploadChannel & ~Copyable>(
    over channel: inout Channel, to index: Int, until end: Instant, _ session: inout ClientSession
  ) throws(ClientError) -> BrokerError? {
    while true {
      try acknowledgeConfirmed(&session)
      guard isPermitted, pending.hasMessage else { break }
      guard UplinkClock.now < end else {
        let address = settings.destinations[index].address
        return BrokerError(
          description: "\(address): the upload takes too long: the rest is sent later")
      }
      do throws(BrokerError) {
        guard try channel.sendNext(&pending, &memories[index], log: log) else { break }
      } catch {
        return error
      }
    }
    if isPermitted, pending.isEmpty { channel.publish(&newestPosition, log: log) }
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
    if let event = pending.confirmedEvent, event != acknowledgedEvent {
      try session.call(.acknowledgeEvents(event))
      acknowledgedEvent = event
    }
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
