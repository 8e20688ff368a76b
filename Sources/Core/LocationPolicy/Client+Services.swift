import DeferralCache
import LocationTypes

// What a client asks beside updates, and how fixes and time come to it.

extension Client {
  /// Does what the client asks of a service.
  mutating func handleService(_ request: Request, _ context: ClientContext) {
    switch request {
    case .setPausesAutomatically(let allowed): note(services.pause.handle(.allow(allowed)))
    case .setActivity(let activity): note(services.pause.handle(.activity(activity)))
    case .requestLocation: requestLocation(context)
    case .startSignificantChange: startSignificantChange(context)
    case .stopSignificantChange:
      services.significant.stop()
      services.significantReport = nil
    case .startVisits:
      guard !authorization.isRefused else { return tell(.denied) }
      services.wantsVisits = true
      isUnknownTold = isUnknownTold && services.visits.state != .idle
      settlePending(context)
    case .stopVisits:
      services.wantsVisits = false
      services.visits.stop(at: context.now)
      services.forgetVisits()
    case .addRegion(let region, let assumed):
      if authorization.isRefused && region.identifier.kind == .region {
        services.refusal = .region(.failure(region.identifier, .regionMonitoringDenied))
      } else if let refusal = services.regions.add(region, assuming: assumed, at: context.now) {
        services.refusal = .region(refusal)
      }
    case .removeRegion(let identifier): services.regions.remove(identifier)
    case .requestRegionState(let identifier):
      let answer = services.regions.requestState(
        of: identifier, at: context.now, timeout: Client.stateTimeout)
      if let answer { services.refusal = .region(answer) }
    case .openLive(let configuration):
      services.live.hear(context.motionLine, at: context.now)
      guard services.live.open(configuration) != nil else {
        services.refusal = .live(configuration)
        return
      }
      setLiveFlags(context)
    case .closeLive(let iterator):
      if (0..<LiveUpdates.capacity).contains(iterator) { services.live.close(iterator) }
    case .connect, .disconnect, .forget, .startUpdating, .stopUpdating, .setDesiredAccuracy,
      .setDistanceFilter, .allowDeferred, .disallowDeferred, .setExecution, .acknowledge,
      .takeBacklog,
      .setAuthorization, .setReducedAccuracy, .setUse:
      preconditionFailure("these are no services")
    }
  }

  /// How long `requestState` waits for a fix that decides (REG-7).
  static let stateTimeout = Interval.seconds(60)

  /// Begins what the client asked for and may have: visits (VIS-2), and a request that waited (AUT-11).
  mutating func settlePending(_ context: ClientContext) {
    if services.wantsVisits, authorization == .always, !isReduced {
      services.note(services.visits.start(at: context.now))
      services.visits.turn(context.motionLine, at: context.now)
    } else if services.visits.state != .idle {
      services.endVisits()
    }
    guard isAuthorized, services.isRequestPending else { return }
    services.isRequestPending = false
    requestLocation(context)
  }

  /// A cached fix may come first, if the client may have it (SLC-5, AUT-3).
  private mutating func startSignificantChange(_ context: ClientContext) {
    guard !authorization.isRefused else { return tell(.denied) }
    isUnknownTold = isUnknownTold && services.significant.state != .idle
    let newest = isAuthorized ? recent(context) : nil
    let outcome = services.significant.start(at: context.now, cached: newest?.fix)
    if let newest { services.note(outcome, newest) }
  }

  /// The newest fix that the client may be shown: the true one, or the coarse one that it was given.
  private func recent(_ context: ClientContext) -> StoredFix? {
    isReduced ? services.coarse(at: context.now) : context.newest(after: deniedUntil)
  }

  private mutating func requestLocation(_ context: ClientContext) {
    guard !authorization.isRefused else { return tell(.denied) }
    guard isAuthorized else {
      services.isRequestPending = !isUpdating
      return
    }
    let coarsest = Double(AccuracyReduction.accuracy_mm) / 1e3
    let terms = LocationRequestTerms(
      desiredAccuracy: isReduced ? coarsest : granted.desiredAccuracy, isUpdating: isRunning,
      at: context.now)
    var recent = recent(context)
    if let fix = recent?.fix, context.now - fix.acquired > Client.freshness && !isReduced {
      recent = nil
    }
    // Nothing is searched for: what lies there, or nothing (PWR-10).
    guard gets(.updates) else {
      return services.note(recent.map { .deliver($0) } ?? .fail(.locationUnknown))
    }
    services.note(services.request.handle(.request(terms, recent: recent)))
  }

  /// A fix for the services: the true one, or what a client of reduced accuracy is shown of it.
  mutating func serve(_ stored: StoredFix, _ context: ClientContext) {
    guard isAuthorized, !isDenied(stored.fix) else { return }
    guard isReduced else { return services.take(stored, at: context.now) }
    guard isUpdating || services.areActive, let coarse = services.reduce(stored) else { return }
    if isUpdating && gets(.updates) { services.updateReport = coarse }
    services.takeCoarse(coarse, at: context.now)
  }

  /// What the pause machine has decided.
  mutating func note(_ outcome: PauseMonitor.Outcome) {
    switch outcome {
    case .nothing: break
    case .pause, .resume:
      // Strictly in turn (PAU-3): what was not told is undone by its opposite.
      pauseNotice = pauseNotice == .nothing || pauseNotice == outcome ? outcome : .nothing
    }
  }

  /// The client is about to be paused: its deferral ends first (DEF-38).
  mutating func endForPause(_ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(.deferredNotUpdatingLocation)) {
      finish(end, context)
    }
    // What it was told of stands still; the handler's turn keeps nothing up.
    turnUntil = .boot
  }

  /// The flags of live updates, as far as the engine knows them (LIV-6, LIV-7).
  mutating func setLiveFlags(_ context: ClientContext) {
    guard services.live.count > 0 else { return }
    var flags = use.flags
    switch authorization {
    case .always, .whenInUse: break
    case .denied: flags = flags.union(.authorizationDenied)
    case .restricted: flags = flags.union(.authorizationRestricted)
    case .notDetermined: flags = flags.union(.authorizationRequestInProgress)
    }
    if isReduced { flags = flags.union(.accuracyLimited) }
    if isLocationUnknown || !context.hasReceiver || lowBattery.contains(.updates) {
      flags = flags.union(.locationUnavailable)
    }
    if flags != services.live.flags { services.live.set(flags) }
  }

  /// What the motion line says, from now on.
  public mutating func hear(_ line: MotionLine, at now: Instant) {
    restsUntil = .boot
    note(services.pause.handle(.line(line, at: now)))
    services.hear(line, at: now)
  }

  /// A search that began for single fixes found nothing (PWR-7).
  public mutating func miss(at now: Instant) {
    restsUntil = .boot
    note(services.pause.handle(.noFix(at: now)))
    services.miss(at: now)
  }

  /// The single fixes its services need.
  public mutating func need(at now: Instant, fastest: Double, line: MotionLine) -> FixNeed {
    guard usesServices, isAuthorized, isConnected || services.outliveProcess else {
      return FixNeed()
    }
    let isRunning = isConnected && (execution != .suspended || use.keepsRunning)
    if isReduced { return reducedNeed(at: now, isRunning: isRunning) }
    return services.need(
      at: now, fastest: fastest, line: line, isRunning: isRunning,
      isPaused: isUpdating && services.pause.isPaused && isAcquiring)
  }

  /// A client of reduced accuracy is served a few times an hour and no oftener, whatever it wants
  /// (AUT-5): earlier fixes would be wasted.
  private mutating func reducedNeed(at now: Instant, isRunning: Bool) -> FixNeed {
    var need = FixNeed()
    // The queue of coarse fixes has room for one.
    let isUpdating = isUpdating && (isRunning || services.updateReport == nil)
    let wants =
      (services.significant.state != .idle && gets(.significantChange))
      || (gets(.updates)
        && (isUpdating || services.request.state != .idle
          || (isRunning && services.live.count > 0)))
    if wants { need.add(due: max(now, services.reduction.due), accuracy: 1_000) }
    return need
  }

  /// When time alone must be looked at for its services; `.distantFuture` if never.
  public var check: Instant {
    mutating get { isConnected && usesServices ? services.check : .distantFuture }
  }
}
