import LocationPolicy
import LocationTypes

@testable import LocationWire

/// One sample of every call, reply, notice and error.
enum Samples {
  static func fix(_ sequence: UInt64, _ change: (inout Fix) -> Void = { _ in }) -> StoredFix {
    var fix = Fix(
      acquired: Instant(microseconds: 123_456_789_012),
      coordinate: Coordinate(latitude_e9: 52_516_274_500, longitude_e9: -13_377_704_101))
    change(&fix)
    return StoredFix(name: FixName(generation: 7, sequence: sequence), fix: fix)
  }

  /// A fix with all fields at their longest.
  static var longest: StoredFix {
    var stored = fix(1 << 40 - 1) { fix in
      fix.acquired = Instant(microseconds: .min / 2)
      fix.coordinate = Coordinate(latitude_e9: -89_999_999_999, longitude_e9: -179_999_999_999)
      fix.utc = UTCTime(microseconds: .min + 1)
      fix.altitude_mm = .min + 1
      fix.ellipsoidalAltitude_mm = .min + 1
      fix.speed_mmps = Fix.speedLimit_mmps
      fix.course_e4 = 3_599_999
      fix.horizontalAccuracy_mm = Fix.accuracyLimit_mm
      fix.verticalAccuracy_mm = Fix.accuracyLimit_mm
      fix.speedAccuracy_mmps = Fix.speedAccuracyLimit_mmps
      fix.courseAccuracy_e2 = 35_999
      fix.satellites = 254
      fix.mode = .twoDimensional
      fix.quality = .deadReckoning
      fix.isDateUncertain = true
      fix.isSimulated = true
      fix.isFromAccessory = true
    }
    stored.name.generation = .max
    return stored
  }

  static let full = fix(41) { fix in
    fix.utc = UTCTime(microseconds: 1_767_225_600_250_000)
    fix.altitude_mm = -1_500
    fix.ellipsoidalAltitude_mm = 77_123
    fix.speed_mmps = 13_890
    fix.course_e4 = 3_141_592
    fix.horizontalAccuracy_mm = 2_500
    fix.verticalAccuracy_mm = 0
    fix.speedAccuracy_mmps = 400
    fix.courseAccuracy_e2 = 1_250
    fix.satellites = 17
    fix.quality = .differential
  }

  static let time = FixTime(
    acquired: Instant(microseconds: 5_000_001), utc: UTCTime(microseconds: 1_767_225_600_000_001))
  static let bare = FixTime(acquired: Instant(microseconds: 9), utc: nil)
  static let client = WireClientName(user: 1_000, name: "trail \"log\" ü")

  static var calls: [WireCall] {
    var settings = WireSettings()
    settings.desiredAccuracy = LocationAccuracy.bestForNavigation
    settings.distanceFilter = 12.5
    settings.pausesAutomatically = false
    settings.activity = .otherNavigation
    settings.allowsBackground = true
    var region = WireRegion(
      .condition, name: "home", center: Coordinate(latitude_e9: 1, longitude_e9: -2), radius: 0.1)
    region.notifyOnEntry = false
    region.notifyOnExit = false
    let plain = WireRegion(
      .region, name: "a\u{10FFFF}", center: Coordinate(latitude_e9: 0, longitude_e9: 0),
      radius: -1)
    let far = LocationLimits.distanceMax
    let long = LocationLimits.timeIntervalMax
    return [
      .getInfo, .getInterfaceDescription("org.torpor.Location"), .connect(name: client.name),
      .connect(name: client.name, needsExplicitSessions: true),
      .watch(session: .max), .startUpdating, .stopUpdating, .configure(settings),
      .configure(WireSettings()), .allowDeferred(distance: 1_000, timeout: 0.5),
      .allowDeferred(distance: far, timeout: long), .allowDeferred(distance: -1, timeout: long),
      .allowDeferred(distance: far, timeout: 3_600, slack: 300.5),
      .disallowDeferred, .beginHold(seconds: .milliseconds(12_500), reason: "send \"fixes\""),
      .endHold(3), .setExecution(.foreground), .setExecution(.background),
      .setExecution(.suspended),
      .acknowledge(FixName(generation: .max, sequence: 1 << 40 - 1)), .acknowledgeEvents(7),
      .requestLocation,
      .startSignificantChange, .stopSignificantChange, .startVisits, .stopVisits,
      .addRegion(region, assuming: .satisfied), .addRegion(plain, assuming: .unknown),
      .removeRegion(.region, name: "home"), .requestRegionState(.condition, name: "home"),
      .listRegions,
      .openLive(.fitness), .openLive(.default), .closeLive(3), .getLocation, .getStatus,
      .getPowerPlan, .getEnergy, .getMetrics, .drain(session: 1), .readBacklog(name: "a"),
      .listClients,
      .allowClient(client, .always),
      .allowClient(client, .whenInUse), .denyClient(client), .forgetClient(client),
      .reduceClient(client, isReduced: true), .requestAuthorization(.always),
      .openServiceSession(.none, requiresFullAccuracy: false),
      .openServiceSession(.always, requiresFullAccuracy: true), .closeServiceSession(7),
      .openBackgroundSession, .closeBackgroundSession,
      .flush,
    ]
  }

  /// Monitored circles: one with all fields, one with the required ones.
  static var monitored: [WireMonitoredRegion] {
    let center = Coordinate(latitude_e9: 1, longitude_e9: -2)
    var silent = WireRegion(.region, name: "home", center: center, radius: 0.1)
    silent.notifyOnEntry = false
    silent.notifyOnExit = false
    let event = WireRegionEvent(.region, name: "home", .entered(at: time))
    let condition = WireRegion(.condition, name: "x", center: center, radius: 20_000)
    return [
      WireMonitoredRegion(silent, state: .satisfied, lastEvent: event),
      WireMonitoredRegion(condition, state: .unknown, lastEvent: nil),
    ]
  }

  static var notices: [WireNotice] {
    var levels = ServiceLevelSet(.everyFix)
    levels.insert(.significantChange)
    let flags = LiveFlags.accuracyLimited.union(.authorizationRequestInProgress)
    var gap = Gap(10..<20, from: time, to: bare)
    gap.count = 3
    let position = full.fix.coordinate
    return [
      .fixes([full, longest, fix(0)]), .report(full), .finished(nil),
      .finished(.deferredCanceled), .gap(gap), .gap(Gap(unsyncedBefore: 5, after: nil)),
      .visit(Visit(coordinate: position, horizontalAccuracy: 12.25, arrival: time)),
      .visit(
        Visit(coordinate: position, horizontalAccuracy: 0.1, arrival: nil, departure: time),
        number: 4),
      .region(WireRegionEvent(.region, name: "home", .entered(at: time)), number: .max),
      .region(WireRegionEvent(.region, name: "home", .exited(at: bare))),
      .region(WireRegionEvent(.region, name: "home", .determined(.inside))),
      .region(WireRegionEvent(.condition, name: "x", .monitor(.unsatisfied, nil, at: time))),
      .region(
        WireRegionEvent(
          .condition, name: "x", .monitor(.unmonitored, .conditionLimitExceeded, at: bare))),
      .region(WireRegionEvent(.region, name: "home", .failed(.regionMonitoringFailure))),
      .live(
        LiveElement(iterator: 3, location: full, flags: flags, isStationary: true, dropped: 9)),
      .live(
        LiveElement(iterator: 0, location: nil, flags: .empty, isStationary: false, dropped: 0)),
      .authorization(.whenInUse, isReduced: true), .paused, .resumed, .failure(.denied),
      .degraded(levels), .degraded(.none), .takenOver, .session(0, SessionDiagnostics()),
      .session(
        7,
        SessionDiagnostics(
          flags: flags, fullAccuracyDenied: true, alwaysAuthorizationDenied: true)),
    ]
  }

  static var errors: [WireError] {
    [
      .interfaceNotFound("a.b"), .methodNotFound("a.b.C"), .methodNotImplemented("a.b.C"),
      .invalidParameter("x"), .permissionDenied, .expectedMore, .expectedUpgrade, .notConnected,
      .alreadyConnected, .unknownSession(.min), .notAuthorized,
      .limitExceeded(what: "clients", limit: 32), .unknownClient(client),
      .unknownFix(generation: 7, first: 3, next: 1 << 40 - 1), .decidedByFile(line: 9),
      .decidedByFile(line: nil),
      .notAvailable(what: "battery"), .other("org.example.New"),
    ]
  }

  /// A client with all services.
  static var use: WireUse {
    var use = WireUse(client, execution: .background)
    use.services = WireService.allCases
    use.need = .everyFixLater
    use.keepsReceiverOn = true
    use.keepsBoardAwake = true
    use.next = time
    return use
  }

  /// A status with all fields.
  static var status: WireStatus {
    var status = WireStatus(
      version: "0.1", board: "simulated", now: time, generation: 7, nextSequence: 42,
      ringCapacity: 4_096, clients: 2)
    status.ringFixes = 40
    status.newest = bare
    status.batteryPercent = 14
    status.shed = ServiceLevelSet(.visits)
    status.isSleepInhibited = true
    status.holds =
      WireHoldReason.allCases.map { WireHold($0) }
      + [WireHold(.acknowledgement, client: client), WireHold(.system, detail: "a \"lock\"")]
    status.receiver = WireReceiver(
      .acquiring, isAnswering: false, since: bare, lastByte: time, lastFix: bare)
    status.receiver?.suggestion = "is it \"connected\"?"
    status.plan = WirePlan(
      Plan(
        receiver: .batching(watermark: 9), board: .idle, wake: Instant(microseconds: 77),
        wakesOnInput: true))
    status.demandingClients = 2
    status.uses = [use, WireUse(WireClientName(user: 0, name: "x"), execution: nil)]
    var clock = WireClock(socket: "/run/chrony.torpor.sock", isFeeding: true, samples: 60)
    clock.isRefused = true
    clock.last = time
    clock.offset_us = -12
    clock.isPulse = true
    clock.suggestion = "restart \"chronyd\""
    status.clock = clock
    return status
  }

  /// A status of a service without fixes and without demanding clients.
  static var sparseStatus: WireStatus {
    WireStatus(
      version: "0.1", board: "simulated", now: time, generation: 7, nextSequence: nil,
      ringCapacity: 4_096, clients: 2)
  }

  /// An energy report with large, small and fractional numbers.
  static var energy: WireEnergy {
    var energy = WireEnergy(since: bare, until: time)
    energy.receiver_mJ = 12_345.678_9
    energy.board_mJ = 1e21
    energy.hostWakes = 3
    energy[WakeReason.motion] = 2
    energy[.tracking] = Interval(microseconds: 60_000_001)
    energy[BoardState.suspended] = .seconds(3_600)
    return energy
  }

  /// Calls and possible replies.
  static var replies: [(WireCall, WireReply)] {
    let asleep = Plan(receiver: .standby, board: .off, wake: .distantFuture, wakesOnInput: false)
    let batching = Plan(
      receiver: .batching(watermark: 250), board: .suspended,
      wake: Instant(microseconds: 77_000_000), wakesOnInput: true)
    var launched = WireSession(
      session: 1, authorization: .whenInUse, isReduced: true, isDeferralAvailable: false)
    launched.launchReason = .significantChange
    launched.ringID = RingIdentifier(0x0123_4567_89AB_CDEF)
    var undetermined = WireClient(
      client, authorization: .notDetermined, isReduced: false, execution: .background)
    undetermined.hasBackgroundSession = true
    undetermined.requestedAuthorization = .whenInUse
    let session = WireSession(
      session: 12, authorization: .always, isReduced: false, isDeferralAvailable: true)
    return [
      (.getInfo, .info(WireServiceInfo(version: "0.1"))),
      (.getInterfaceDescription("a"), .interfaceDescription("interface a.b\n\t# \"\u{1}\"\\")),
      (.connect(name: "a"), .connected(session)),
      (.connect(name: "a"), .connected(launched)), (.startUpdating, .done),
      (.beginHold(seconds: .seconds(1), reason: "a"), .holding(3)),
      (.openBackgroundSession, .active(false)), (.openBackgroundSession, .active(true)),
      (.openServiceSession(.always, requiresFullAccuracy: false), .opened(0)),
      (.openLive(.default), .opened(2)), (.getLocation, .location(nil)),
      (.getLocation, .location(full)), (.getStatus, .status(status)),
      (.getStatus, .status(sparseStatus)), (.getPowerPlan, .plan(WirePlan(asleep))),
      (.getPowerPlan, .plan(WirePlan(batching, wakeUTC: UTCTime(microseconds: -1)))),
      (.getEnergy, .energy(energy)),
      (.getMetrics, .metrics("# TYPE a gauge\na{b=\"c\"} 1\n")),
      (.drain(session: 1), .drain(count: 0, nil)),
      (.readBacklog(name: "a"), .drain(count: 1, nil)),
      (.readBacklog(name: "a"), .drain(count: 2, Gap(1..<3, from: nil, to: nil))),
      (.drain(session: 1), .drain(count: 9, Gap(1..<3, from: nil, to: nil))),
      (.listRegions, .regions([])),
      (.listRegions, .regions(monitored)),
      (.listClients, .clients([])),
      (
        .listClients,
        .clients([
          WireClient(client, authorization: .denied, isReduced: true, execution: nil),
          WireClient(client, authorization: .always, isReduced: false, execution: .suspended),
          undetermined,
        ])
      ),
    ] + notices.map { (.watch(session: 1), .notice($0)) }
      + errors.map { (.getStatus, .error($0)) }
  }
}

/// The frames of `bytes` without their NULs.
func frames(_ bytes: [UInt8], limit: Int = WireLimits.replyFrame) -> [[UInt8]] {
  var splitter = FrameSplitter(limit: limit)
  var all: [[UInt8]] = []
  var index = 0
  while splitter.next(in: bytes.span, at: &index) == .frame { all.append(splitter.frame) }
  return all
}

func text(_ frame: [UInt8]) -> String { String(decoding: frame, as: UTF8.self) }
