import DeferralCache
import LocationTypes

// What a client gets no longer while the battery is low (PWR-10). What it asked for stays asked: it
// gets it again, without a word of its own, when the battery is charged.

extension Client {
  /// What is given up now, whoever uses it.
  public var givenUp: PromiseSet { services.givenUp }

  // Inlined, or looked at in place: a call of a function that does not mutate copies the whole client.

  /// Whether it gets what it was promised.
  @inline(__always) func gets(_ promise: Promise) -> Bool { !services.givenUp.contains(promise) }

  /// Accuracy and filter as far as they are to be had: what a deferral must go with.
  var granted: ClientSettings {
    var granted = settings
    granted.desiredAccuracy = services.coarsened(settings.desiredAccuracy)
    return granted
  }

  /// What its live updates ask of the hardware; nil where its other updates do the asking.
  var liveDemand: Demand? {
    mutating get {
      guard usesServices, !isReduced, gets(.updates), services.live.isLive else { return nil }
      guard let metres = services.finest else { return .live(isWatched: execution == .foreground) }
      return waitsForDrain ? nil : .within(metres: metres)
    }
  }

  /// Something else is given up than before, or nothing any more: for the battery, or because it is not
  /// in use (BKG-13). Of the battery alone it is told.
  mutating func setGivenUp(_ context: ClientContext) {
    lowBattery = context.givenUp
    let new = lowBattery.union(use.withheld)
    let hadUpdates = gets(.updates), hadSignificantChange = gets(.significantChange)
    services.giveUp(new, at: context.now)
    // What came back while it did not use it is news when it goes again.
    toldGivenUp = toldGivenUp.intersection(new.union(used))
    if !hadSignificantChange && gets(.significantChange) { catchUp(context) }
    if hadUpdates && !gets(.updates) {
      unserved = (from: context.now, through: .distantFuture)
    } else if !hadUpdates && gets(.updates) {
      unserved.through = context.now
      isUnknownTold = false
    }
    if let code = whyDeferralEnds, case .finish(let end) = deferral.handle(.end(code)) {
      finishAfterDrain(end, context)
      turnUntil = .boot  // a call from the handler would fail: nothing is kept up for it
    }
    setLiveFlags(context)
  }

  /// Why a deferral cannot go on, in the order of X6: without updates, or without every fix.
  private var whyDeferralEnds: LocationErrorCode? {
    guard deferral.state != .idle else { return nil }
    return gets(.updates)
      ? DeferralPreconditions.incompatibility(of: granted) : .deferredNotUpdatingLocation
  }

  /// Significant change goes on from the newest fix of the time without it: what waits to be told
  /// (SLC-4) is of that one.
  private mutating func catchUp(_ context: ClientContext) {
    guard !isReduced, let newest = context.newest(after: deniedUntil) else { return }
    switch services.significant.state {
    case .idle, .first: break
    case .watching:
      services.note(services.significant.take(newest.fix, at: context.now), newest)
    }
  }

  /// Whether the fix was made while updates were given up, however late the receiver hands it over.
  func isUnserved(_ fix: Fix) -> Bool {
    fix.acquired > unserved.from && fix.acquired <= unserved.through
  }

  /// A fix of which nothing is owed: what comes from here on is no part of a batch before it.
  mutating func passUnserved(_ context: ClientContext) {
    ends.close(at: context.head - 1)
    passOver(context.head - 1..<context.head)
  }

  // MARK: What it is told

  /// What it uses: of that alone it is told.
  var used: PromiseSet {
    mutating get {
      guard isAuthorized else { return .none }
      var used = services.used
      let isLive = services.live.count > 0
      guard isUpdating || isLive || services.asksOnce else { return used }
      used.insert(.updates)
      if isReduced { return used }
      // Not a number asks for every fix.
      let metres = isLive ? LocationAccuracy.best : settings.desiredAccuracy
      if !(metres >= LocationAccuracy.kilometer) { used.insert(.accuracy) }
      if !(metres >= LocationAccuracy.hundredMeters) { used.insert(.everyFix) }
      return used
    }
  }

  /// Whether it uses something it does not get and was not told of, or gets again.
  var mustHearOfBattery: Bool {
    mutating get {
      guard lowBattery != toldGivenUp else { return false }
      let used = used
      return lowBattery.intersection(used) != toldGivenUp.intersection(used)
    }
  }

  /// All that it uses and does not get, if that is news to it.
  mutating func nextDegradation() -> Notice? {
    guard mustHearOfBattery else { return nil }
    toldGivenUp = lowBattery.intersection(used)
    return .degraded(toldGivenUp)
  }
}

extension ClientServices {
  /// Whether one of them gets what it was promised.
  @inline(__always) func gets(_ promise: Promise) -> Bool { !givenUp.contains(promise) }

  /// The finest that is to be had, metres; nil while every fix is.
  @inline(__always) var finest: Double? {
    if !gets(.accuracy) { return LocationAccuracy.kilometer }
    return gets(.everyFix) ? nil : LocationAccuracy.hundredMeters
  }

  /// A desired accuracy as far as it is to be had.
  @inline(__always) func coarsened(_ accuracy: Double) -> Double {
    guard let finest else { return accuracy }
    return accuracy >= finest ? accuracy : finest
  }

  /// Those that are asked for, updates aside.
  var used: PromiseSet {
    mutating get {
      var used = PromiseSet.none
      if visits.state != .idle { used.insert(.visits) }
      if regions.count > 0 { used.insert(.regions) }
      if significant.state != .idle { used.insert(.significantChange) }
      return used
    }
  }

  /// Regions rest as with reduced accuracy (REG-15), a single request fails (STD-11); visits and
  /// significant change see no fix and ask for none, as in an outage of the receiver (VIS-11).
  mutating func giveUp(_ new: PromiseSet, at now: Instant) {
    givenUp = new
    regions.setGivenUp(!gets(.regions), at: now)
    if !gets(.updates) { note(request.handle(.fail(.locationUnknown))) }
  }
}
