import GPSDProtocol
import LocationPolicy
import LocationTypes

/// What the programs of one client need by gpsd's protocol.
enum GPSDDemand: Equatable {
  /// Nothing.
  case none
  /// Every fix, at once.
  case live
  /// Every fix, held back for up to a time.
  case deferred(Interval)
  /// Single fixes at an interval, with an accuracy in metres.
  case every(Interval, accuracy: Double)
  /// As few fixes as keep the last one within an accuracy in metres.
  case within(Double)

  /// Accuracy of single fixes if none is named, metres.
  private static let standardAccuracy = 100.0

  /// The demand of a program that receives reports, with the savings that apply to it. A request for a single fix may be
  /// answered with one of the age ``Client/freshness``, so that shorter intervals need every fix.
  init(_ saving: GPSDSaving) {
    if let interval = saving.interval_s, Interval(seconds: interval) > Client.freshness {
      self = .every(
        Interval(seconds: interval), accuracy: saving.accuracy_m ?? GPSDDemand.standardAccuracy)
    } else if let time = saving.defer_s {
      self = .deferred(Interval(seconds: time))
    } else if let accuracy = saving.accuracy_m, accuracy >= LocationAccuracy.leastBound {
      self = .within(accuracy)
    } else {
      self = .live
    }
  }

  /// The demand of two programs. Two of a kind: the smaller numbers. Two kinds: every fix at once, because neither kind
  /// gives the other what it needs.
  func combined(with other: GPSDDemand) -> GPSDDemand {
    switch (self, other) {
    case (.none, let demand), (let demand, .none): demand
    case (.deferred(let a), .deferred(let b)): .deferred(min(a, b))
    case (.every(let a, let x), .every(let b, let y)): .every(min(a, b), accuracy: min(x, y))
    case (.within(let a), .within(let b)): .within(min(a, b))
    case (.live, _), (.deferred, _), (.every, _), (.within, _): .live
    }
  }

  /// Whether the client's updates run.
  var isUpdating: Bool {
    switch self {
    case .none, .every: false
    case .live, .deferred, .within: true
    }
  }
}

/// The time from which a client may receive fixes, and the sequence number of the first fix since then.
struct GPSDStart {
  let sequence: UInt64
  let time: Instant
}

/// The last single fix that was requested for a client. It outlives the programs, so that an interval also applies to a
/// program that connects again and again.
struct GPSDFixRequest {
  let time: Instant
  /// Whether a fix or a failure was received.
  let isAnswered: Bool

  /// Earliest time of the next request at an interval. A request that ended with its program counts for a minute.
  func next(after interval: Interval) -> Instant {
    time + (isAnswered ? interval : min(interval, GPSDPart.pollTime))
  }
}

/// The programs of one client that use gpsd's protocol, together: what they need, and what is to be reported to them.
///
/// A client is a user and a name; all its connections share one demand and each report, which is encoded once.
///
/// Owner: ``LocationServer``, which carries out the changes of ``demand`` as requests to the engine.
struct GPSDClient {
  /// Maximum number of fixes that are kept for one burst.
  static let heldCapacity = 128
  /// Time after which a fix is due at an interval: a tenth less, because single fixes do not come exactly at it. Of every
  /// fix, half a second less.
  static func dueTime(_ interval: Interval) -> Interval {
    interval
      - (interval > Client.freshness ? interval / 10 : min(interval / 10, .milliseconds(500)))
  }

  /// Index of the client.
  let client: Int
  /// When its first program was attached. Older fixes are reported as answers only.
  let start: GPSDStart
  /// The demand in force.
  private(set) var demand = GPSDDemand.none
  /// Fixes of the ring that are to be reported: sequence numbers.
  private(set) var batch: ClosedRange<UInt64>?
  /// Fixes to report that are not in the ring, or are held back; oldest first.
  private(set) var held: [Fix] = []
  /// The newest fix reported, and the one before it.
  private(set) var newest: Fix?
  private(set) var previous: Fix?
  /// Time of the last report with or without a fix.
  private(set) var lastReport: Instant
  /// Time of the next single fix; `.distantFuture` if none is due.
  private(set) var nextRequest = Instant.distantFuture
  /// Whether a single fix failed, which is to be reported.
  private(set) var hasFailed = false
  /// Whether a deferral must be requested, once a fix was received.
  private(set) var mayDefer = false

  init(_ client: Int, since start: GPSDStart) {
    self.client = client
    self.start = start
    lastReport = start.time
  }

  // MARK: Demand

  /// Sets another demand. Returns the previous one.
  ///
  /// - Parameter last: The last single fix that was requested; nil if there was none.
  mutating func setDemand(
    _ demand: GPSDDemand, after last: GPSDFixRequest?, at now: Instant
  ) -> GPSDDemand {
    defer { self.demand = demand }
    switch demand {
    case .every(let interval, _): nextRequest = max(now, last?.next(after: interval) ?? now)
    case .none, .live, .deferred, .within: nextRequest = .distantFuture
    }
    if demand == .live { lastReport = now }
    if case .deferred = demand { mayDefer = true } else { mayDefer = false }
    return self.demand
  }

  /// Records that a single fix was requested.
  mutating func noteRequest(at now: Instant) {
    guard case .every(let interval, _) = demand else { return }
    nextRequest = now + interval
  }

  /// Records that a deferral was requested, or has ended and must be requested again.
  mutating func setMayDefer(_ mayDefer: Bool) {
    if case .deferred = demand { self.mayDefer = mayDefer }
  }

  // MARK: Reports

  /// Adds fixes of the ring.
  mutating func receive(_ range: ClosedRange<UInt64>) {
    batch = min(batch?.lowerBound ?? .max, range.lowerBound)...range.upperBound
  }

  /// Removes and returns the fixes of the ring.
  mutating func takeBatch() -> ClosedRange<UInt64>? {
    defer { batch = nil }
    return batch
  }

  /// Adds a fix to report. The oldest is dropped if there are too many.
  mutating func hold(_ fix: Fix) {
    guard fix.acquired >= start.time else { return }
    append(fix)
  }

  /// Adds a fix that answers a request for a single fix, unless it was reported already. The next request is not answered
  /// with the same fix.
  mutating func holdAnswer(_ fix: Fix) {
    if case .every(let interval, _) = demand {
      let least = max(GPSDClient.dueTime(interval), Client.freshness + .milliseconds(1))
      nextRequest = max(nextRequest, fix.acquired + least)
    }
    if let last = held.last ?? newest, fix.acquired <= last.acquired { return }
    append(fix)
  }

  private mutating func append(_ fix: Fix) {
    if held.count == GPSDClient.heldCapacity { held.removeFirst() }
    held.append(fix)
  }

  /// Removes and returns the fixes to report.
  mutating func takeHeld() -> [Fix] {
    defer { held = [] }
    return held
  }

  /// Records that a single fix failed.
  mutating func noteFailure() { hasFailed = true }

  /// Records that a fix is reported.
  mutating func noteReported(_ fix: Fix, at now: Instant) {
    previous = newest
    newest = fix
    lastReport = now
  }

  /// Records that the absence of a fix is reported.
  mutating func noteReportedNone(at now: Instant) {
    lastReport = now
    hasFailed = false
  }

  /// Forgets all fixes, after a loss of rights.
  mutating func forget() {
    (held, newest, previous, batch) = ([], nil, nil, nil)
  }
}
