import DeferralCache
import LocationTypes

extension Client {
  /// Does what the client asks. Its answers come as notices, never inside the call (DEF-10).
  public mutating func handle(
    _ request: Request, in ring: borrowing FixRing, _ context: ClientContext
  ) {
    guard isConnected || request.needsNoProcess else { return }
    if restsUntil > .boot {
      restsUntil = .boot
      makeRoom(in: ring)  // meanwhile nobody did
    }
    defer { usesServices = isReduced || services.areActive || services.hasNotices }
    switch request {
    case .connect: connect(context)
    case .disconnect: disconnect(context)
    case .forget: if !isConnected { self = Client(at: context.head) }
    case .startUpdating:
      wakeUp(context)
      startUpdating(context)
    case .stopUpdating:
      wakeUp(context)
      stopUpdating(context)
    case .setDesiredAccuracy(let accuracy):
      wakeUp(context)
      settings.desiredAccuracy = accuracy
      endIfIncompatible(context)
    case .setDistanceFilter(let filter):
      wakeUp(context)
      settings.distanceFilter = filter
      endIfIncompatible(context)
    case .allowDeferred(let distance, let timeout):
      wakeUp(context)
      allowDeferred(distance: distance, timeout: timeout, context)
    case .disallowDeferred:
      wakeUp(context)
      end(.deferredCanceled, context)
    case .setExecution(let state): setExecution(state, context)
    case .acknowledge(let name): acknowledge(name, in: ring)
    case .takeBacklog: takeBacklog(in: ring, context)
    case .setAuthorization(let authorization): setAuthorization(authorization, context)
    case .setReducedAccuracy(let isReduced): setReduced(isReduced, context)
    case .setUse(let new):
      use = new
      setGivenUp(context)
    case .setPausesAutomatically, .setActivity, .requestLocation, .startSignificantChange,
      .stopSignificantChange, .startVisits, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive:
      wakeUp(context)
      handleService(request, context)
    }
  }

  /// A client that asks is running, whatever was said of it before.
  private mutating func wakeUp(_ context: ClientContext) {
    if execution == .suspended { setExecution(.background, context) }
  }

  private mutating func connect(_ context: ClientContext) {
    if isConnected { disconnect(context) }
    isConnected = true
    execution = .foreground
    settings = ClientSettings()
  }

  /// The token dies, no finish is replayed; what it is owed waits in the ring (DEF-11).
  private mutating func disconnect(_ context: ClientContext) {
    close(context)
    deferral = Deferral()
    services.detach()
    pauseNotice = .nothing
    tellsAuthorization = false
    toldGivenUp = .none
    distanceCheck = .distantFuture
    endUnrecorded(context)
    unrecorded?.isReported = false  // the process may not have handled it
    unrecorded?.awaitsStart = true
    ends.removeAll()
    batchThrough = nil
    failure = nil
    unacknowledgedThrough = nil
    report = nil
    waitsForDrain = false
    tellsAtDrain = false
    isConnected = false
    cursor.rewind()
    dueUntil = cursor.delivered
  }

  private mutating func startUpdating(_ context: ClientContext) {
    note(services.pause.handle(.line(context.motionLine, at: context.now)))
    note(services.pause.handle(.start))
    services.cancelRequest()
    guard !isUpdating else { return }
    isUpdating = true
    unrecorded?.awaitsStart = false
    isUnknownTold = false
    filterFrom = nil
    if closesAtDrain {
      // Stopped a moment ago: what the receiver still holds of before is owed all the same, and what
      // it made between the stop and this start comes with it.
      closesAtDrain = false
    } else if context.receiverBuffers {
      hidesUntil = context.now  // what it holds was made for others
    }
    resume(context)
    if authorization.isRefused { tell(.denied) }
    if isReduced && gets(.updates) { services.updateReport = services.coarse(at: context.now) }
    owedUntil = .max
  }

  /// Fixes of an earlier run that were not acknowledged are still owed; those made since its end
  /// are not.
  private mutating func resume(_ context: ClientContext) {
    if cursor.acknowledged >= owedUntil && cursor.gap == nil && ends.isEmpty {
      cursor = Cursor(at: context.head)
      notOwed = nil
    } else if owedUntil < context.head {
      passOver(owedUntil..<context.head)
    }
    if !waitsForDrain { dueUntil = context.head }
  }

  private mutating func stopUpdating(_ context: ClientContext) {
    services.cancelRequest()
    guard isUpdating else { return }
    if let known = unrecorded, known.isReported { unrecorded = nil }
    note(services.pause.handle(.stop))
    end(.deferredCanceled, context)
    close(context)
    tellsAtDrain = closesAtDrain
    if !waitsForDrain { dueUntil = context.head }
    turnUntil = .boot
    failure = nil  // after the end of its deferral and the batch comes nothing (DEF-37)
  }

  /// From here on nothing more is owed, but what the receiver holds of the time until now.
  private mutating func close(_ context: ClientContext) {
    guard isUpdating else { return }
    isUpdating = false
    if context.receiverBuffers {
      closesAtDrain = true
      closedAt = context.now
    } else {
      owedUntil = context.head
    }
  }

  private mutating func allowDeferred(
    distance: Double, timeout: Double, _ context: ClientContext
  ) {
    services.cancelRequest()  // DEF-44
    let terms = DeferralTerms(distance: distance, timeout: timeout, calledAt: context.now)
    let failure = DeferralPreconditions.failure(
      isRefused: authorization.isRefused, isAvailable: context.isDeferralAvailable && terms != nil,
      isUpdating: isRunning, settings: granted)
    guard let terms, failure == nil else {
      // The one before is cancelled even so (DEF-14).
      let turn = deferral.state == .idle ? turnUntil : nil
      end(.deferredCanceled, context)
      finish(.failed(failure ?? .deferredFailed), context)
      if let turn { turnUntil = turn }  // where nothing was deferred, nothing is kept up
      return
    }
    var start = isAuthorized ? context.newest?.fix : nil
    if let fix = start, context.now - fix.acquired > Client.freshness { start = nil }
    switch deferral.handle(.call(terms, start: start)) {
    case .nothing: break
    case .flush: preconditionFailure("a call does not end engagement by itself")
    case .finish(let end): finishAfterDrain(end, context)
    }
    turnUntil = .boot
    elapse(context)  // a timeout of 0 is met at once (DEF-23)
  }

  /// Ends an outstanding deferral with `code`; does nothing when there is none.
  private mutating func end(_ code: LocationErrorCode, _ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(code)) { finishAfterDrain(end, context) }
  }

  /// Settings that do not go with deferral end it (DEF-39).
  private mutating func endIfIncompatible(_ context: ClientContext) {
    guard deferral.state != .idle else { return }
    if let code = DeferralPreconditions.incompatibility(of: settings) { end(code, context) }
  }

  private mutating func setExecution(_ state: ExecutionState, _ context: ClientContext) {
    let wasSuspended = execution == .suspended
    execution = state
    guard wasSuspended, state != .suspended else { return }
    endUnrecorded(context)
    guard isUpdating else { return }
    if deferral.state != .engaged || holdsLimit(context) { dueUntil = context.head }
    // The handler of an end that comes now has its turn to call again (X1).
    if !ends.isEmpty { turnUntil = context.now + context.deliveryHold }
  }

  private mutating func acknowledge(_ name: FixName, in ring: borrowing FixRing) {
    if let told = report, told.generation == name.generation, told.sequence <= name.sequence {
      report = nil
    }
    switch cursor.acknowledge(name, in: ring) {
    case .ahead, .unknown: return
    case .advanced, .repeated: break
    }
    settleNotOwed()
    if let known = unrecorded, known.isReported, cursor.acknowledged > known.place {
      unrecorded = nil
    }
    if let last = unacknowledgedThrough, cursor.acknowledged > last {
      unacknowledgedThrough = nil
    }
  }

  /// What the client may changes. What was made for it before is never shown where it gains or loses the
  /// right to it (RNG-6); a refusal ends what it asked for (DEF-5, DEF-40, X7), what nobody has decided
  /// waits (AUT-11).
  private mutating func setAuthorization(_ new: Authorization, _ context: ClientContext) {
    guard new != authorization else { return }
    let (wasAuthorized, wasRefused) = (isAuthorized, authorization.isRefused)
    authorization = new
    tellsAuthorization = isConnected
    setLiveFlags(context)
    if isAuthorized != wasAuthorized {
      hide(context)
      deniedUntil = context.now
      services.regions.setDenied(!isAuthorized, at: context.now)
      isUnknownTold = false
    }
    if !isAuthorized && wasAuthorized {
      waitsForDrain = false
      services.withhold(at: context.now)
    }
    if new.isRefused && !wasRefused { refuse(context) }
    // A suspended client was not told of a refusal that is over.
    if !new.isRefused && failure == .denied { failure = nil }
    settlePending(context)
  }

  /// Ends all that it asked for.
  private mutating func refuse(_ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(.denied)) { finish(end, context) }
    if isUpdating || services.outliveProcess || services.wantsVisits { tell(.denied) }
    services.deny()
  }

  /// Nothing up to here is ever shown (RNG-6).
  private mutating func hide(_ context: ClientContext) {
    skip(to: context.head)
    ends.close(at: context.head)
  }

  /// From full to reduced accuracy a deferral ends, and precise fixes are shown no more (DEF-41,
  /// AUT-6); back again what comes is precise.
  private mutating func setReduced(_ reduced: Bool, _ context: ClientContext) {
    guard reduced != isReduced else { return }
    isReduced = reduced
    tellsAuthorization = isConnected
    services.regions.setReduced(reduced, at: context.now)
    services.significant.forgetNewest()
    setLiveFlags(context)
    hide(context)
    guard reduced else {
      deniedUntil = context.now
      return settlePending(context)
    }
    waitsForDrain = false
    services.forgetPrecise()
    if case .finish(let end) = deferral.handle(.end(.deferredAccuracyTooLow)) {
      finish(end, context)
    }
  }
}
