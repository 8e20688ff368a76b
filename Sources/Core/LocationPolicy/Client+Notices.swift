import DeferralCache
import LocationTypes

extension Client {
  /// The next thing to tell, or nil when all is told; called after each step until nil.
  ///
  /// Order: a gap, then each deferral's end and at once its batch (X1), then other fixes, then what
  /// the battery is too low for, then a failure. O(fixes of the batch).
  ///
  /// - Parameter hold: Until when the board stays awake for its acknowledgement, where it is one that is
  ///   acknowledged (RNG-8).
  public mutating func nextNotice(in ring: borrowing FixRing, hold: Instant) -> Notice? {
    guard isConnected else { return nextDetachedNotice(hold: hold) }
    guard execution != .suspended else { return nextKeptNotice() }
    // An answer to its call waits for no fix.
    guard !waitsForDrain else { return services.nextRefusal() }
    if tellsAuthorization {
      tellsAuthorization = false
      return .authorization(authorization, isReduced: isReduced)
    }
    if let lost = cursor.takeGap() ?? takeUnrecorded() { return .gap(lost) }
    if pauseNotice == .resume {
      pauseNotice = .nothing
      return .resumed
    }
    if let through = batchThrough {
      if let batch = nextBatch(in: ring, before: through, hold: hold) { return batch }
      batchThrough = nil
    }
    if let ended = ends.popFirst() {
      batchThrough = ended.through
      return .finish(ended.end.code)
    }
    if let batch = nextBatch(in: ring, before: .max, hold: hold) { return batch }
    if let notice = nextDegradation() { return notice }
    if pauseNotice == .pause {
      pauseNotice = .nothing
      return .paused
    }
    if let code = failure {
      failure = nil
      return .failure(code)
    }
    return nextServiceNotice(hold: hold)
  }

  /// What wakes a client whose process is gone: services that outlive it found something (SLC-8, VIS-8).
  private mutating func nextDetachedNotice(hold: Instant) -> Notice? {
    usesServices ? nextServiceNotice(hold: hold) : nil
  }

  /// A suspended client is sent nothing. Its owner keeps visits and crossings for it, of which there is
  /// room for the latest only here (BKG-2, VIS-8).
  private mutating func nextKeptNotice() -> Notice? {
    usesServices ? services.nextKept() : nil
  }

  private mutating func nextServiceNotice(hold: Instant) -> Notice? {
    let notice = services.nextNotice()
    switch notice {
    case .report(let stored), .coarse(let stored): noteReport(stored, hold: hold)
    case .gap, .finish, .batch, .failure, .authorization, .degraded, .paused, .resumed, .visit,
      .region, .live, .liveRefused, nil:
      break
    }
    return notice
  }

  private mutating func noteReport(_ stored: StoredFix, hold: Instant) {
    if isReduced {
      toldCoarse = stored
    } else {
      newestDelivered = max(newestDelivered ?? 0, stored.name.sequence)
    }
    report = stored.name
    reportHoldUntil = hold
  }

  private mutating func nextBatch(
    in ring: borrowing FixRing, before limit: UInt64, hold: Instant
  ) -> Notice? {
    while true {
      passNotOwed()
      var end = min(min(limit, unrecordedPlace), dueEnd(in: ring))
      guard cursor.delivered < end else { return nil }
      if let range = notOwed, cursor.delivered < range.lowerBound {
        end = min(end, range.lowerBound)
      }
      let notice =
        settings.hasDistanceFilter
        ? nextPassing(in: ring, until: end) : nextRun(in: ring, until: end)
      guard let notice else { continue }
      if case .batch(_, let last) = notice { noteDelivery(of: last, hold: hold) }
      return notice
    }
  }

  /// Where the fixes end that may be told now.
  private mutating func dueEnd(in ring: borrowing FixRing) -> UInt64 {
    min(min(dueUntil, owedUntil), ring.head)  // of three would take an array
  }

  /// All fixes that follow without a hole, as one batch; or the hole, as a gap.
  private mutating func nextRun(in ring: borrowing FixRing, until end: UInt64) -> Notice? {
    let first = cursor.delivered
    var place = first
    guard case .fix(var newest)? = ring.next(at: &place, before: end) else {
      return hole(until: place, in: ring)
    }
    guard !isDenied(newest.fix) else {
      cursor.deliver(to: place, in: ring)
      return nil
    }
    while place < end, let stored = ring.stored(at: place), !isDenied(stored.fix) {
      newest = stored
      place += 1
    }
    measureFilter(from: newest.fix)
    cursor.deliver(to: place, in: ring)
    return .batch(first: first, last: place - 1)
  }

  /// The next fix that is far enough from the last delivered one (STD-4) or more accurate (STD-5),
  /// passing over the others.
  private mutating func nextPassing(in ring: borrowing FixRing, until end: UInt64) -> Notice? {
    var place = cursor.delivered
    switch ring.next(at: &place, before: end) {
    case .gap?, nil: return hole(until: place, in: ring)
    case .fix(let stored)?:
      let from = cursor.delivered
      cursor.deliver(to: place, in: ring)
      guard !isDenied(stored.fix), from == mustPass || passes(stored.fix) else { return nil }
      measureFilter(from: stored.fix)
      return .batch(first: from, last: from)
    }
  }

  private func passes(_ fix: Fix) -> Bool {
    guard let last = filterFrom else { return true }
    if last.localDistance(to: fix.coordinate) >= settings.distanceFilter { return true }
    guard let now_mm = fix.horizontalAccuracy_mm, let before_mm = filterAccuracy_mm else {
      return false
    }
    return now_mm < before_mm
  }

  private mutating func measureFilter(from fix: Fix) {
    filterFrom = fix.coordinate
    filterAccuracy_mm = fix.horizontalAccuracy_mm
  }

  /// Fixes that a power cut took: told as a gap, for they never come.
  private mutating func hole(until place: UInt64, in ring: borrowing FixRing) -> Notice? {
    let missing = ring.missing(in: cursor.delivered..<place)
    cursor.deliver(to: place, in: ring)
    return missing.map { .gap($0) }
  }

  mutating func noteDelivery(of last: UInt64, hold: Instant) {
    newestDelivered = last
    unacknowledgedThrough = last
    holdUntil = hold
  }
}
