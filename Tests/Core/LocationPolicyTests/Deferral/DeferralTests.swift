import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Deferral state machine")
struct DeferralTests {
  /// The three states, each with a distance of 100 m and a timeout of 60 s called at 0 s.
  static func deferral(in state: Deferral.State) -> Deferral {
    var deferral = Deferral()
    guard state != .idle else { return deferral }
    #expect(deferral.handle(.call(criteria(), start: fix(at: 0))) == .nothing)
    if state == .engaged { #expect(deferral.handle(.mayEngage) == .nothing) }
    #expect(deferral.state == state)
    return deferral
  }

  static func criteria(_ distance: Double = 100, _ timeout: Double = 60, at now: Double = 0)
    -> DeferralCriteria
  {
    guard
      let criteria = DeferralCriteria(
        distance: distance, timeout: timeout, calledAt: Instant(seconds: now))
    else { preconditionFailure("the criteria are valid") }
    return criteria
  }

  struct Row: Sendable, CustomStringConvertible {
    var state: Deferral.State
    var event: Deferral.Event
    var next: Deferral.State
    var outcome: Deferral.Outcome
    var description: String { "\(state) \(event)" }

    init(
      _ state: Deferral.State, _ event: Deferral.Event, _ next: Deferral.State,
      _ outcome: Deferral.Outcome
    ) {
      self.state = state
      self.event = event
      self.next = next
      self.outcome = outcome
    }
  }

  static let table: [Row] = {
    let near = Deferral.Event.fix(fix(at: 1, east: 99))
    let far = Deferral.Event.fix(fix(at: 1, east: 101))
    let early = Deferral.Event.time(Instant(microseconds: 59_999_999))
    let late = Deferral.Event.time(Instant(seconds: 60))
    let call = Deferral.Event.call(criteria(5, 5, at: 2), start: nil)
    let cancelled = Deferral.Outcome.finish(.deferredCanceled)
    let end = Deferral.Event.end(.deferredDistanceFiltered)
    let ended = Deferral.Outcome.finish(.deferredDistanceFiltered)
    return [
      Row(.idle, call, .armed, .nothing), Row(.idle, near, .idle, .nothing),
      Row(.idle, far, .idle, .nothing), Row(.idle, early, .idle, .nothing),
      Row(.idle, late, .idle, .nothing), Row(.idle, .mayEngage, .idle, .nothing),
      Row(.idle, .mayNotEngage, .idle, .nothing), Row(.idle, end, .idle, .nothing),
      Row(.armed, call, .armed, cancelled), Row(.armed, near, .armed, .nothing),
      Row(.armed, far, .idle, .finish(nil)), Row(.armed, early, .armed, .nothing),
      Row(.armed, late, .idle, .finish(nil)), Row(.armed, .mayEngage, .engaged, .nothing),
      Row(.armed, .mayNotEngage, .armed, .nothing), Row(.armed, end, .idle, ended),
      Row(.engaged, call, .armed, cancelled), Row(.engaged, near, .engaged, .nothing),
      Row(.engaged, far, .idle, .finish(nil)), Row(.engaged, early, .engaged, .nothing),
      Row(.engaged, late, .idle, .finish(nil)), Row(.engaged, .mayEngage, .engaged, .nothing),
      Row(.engaged, .mayNotEngage, .armed, .flush), Row(.engaged, end, .idle, ended),
    ]
  }()

  @Test(
    "DEF-8: every event has one defined result in every state and ends a call once",
    arguments: table)
  func everyPair(_ row: Row) {
    var deferral = Self.deferral(in: row.state)
    #expect(deferral.handle(row.event) == row.outcome)
    #expect(deferral.state == row.next)
    #expect((deferral.criteria == nil) == (row.next == .idle))
  }

  @Test("DEF-13: a second call has its own criteria and its own distance")
  func secondCall() {
    var deferral = Self.deferral(in: .engaged)
    #expect(deferral.handle(.fix(fix(at: 1, east: 90))) == .nothing)
    #expect(deferral.meter.length > 89)
    #expect(
      deferral.handle(.call(Self.criteria(50, 10, at: 2), start: nil))
        == .finish(.deferredCanceled))
    #expect(deferral.meter.length == 0)
    #expect(deferral.criteria == Self.criteria(50, 10, at: 2))
    // A fix acquired before or at the call does not count, even if it arrives later.
    #expect(deferral.handle(.fix(fix(at: 1.9, east: 300))) == .nothing)
    #expect(deferral.handle(.fix(fix(at: 2, east: 300))) == .nothing)
    #expect(deferral.handle(.fix(fix(at: 2.000_001, east: 400))) == .nothing)  // its anchor
    #expect(deferral.handle(.fix(fix(at: 3, east: 430))) == .nothing)
    #expect(deferral.handle(.fix(fix(at: 4, east: 451))) == .finish(nil))
  }

  @Test("DEF-16: the first criterion met ends the deferral; both together give one finish")
  func firstOfBoth() {
    var deferral = Self.deferral(in: .engaged)
    #expect(deferral.handle(.fix(fix(at: 60, east: 150))) == .finish(nil))
    #expect(deferral.handle(.time(Instant(seconds: 60))) == .nothing)
    deferral = Self.deferral(in: .engaged)
    #expect(deferral.handle(.time(Instant(seconds: 60))) == .finish(nil))
    #expect(deferral.handle(.fix(fix(at: 60, east: 150))) == .nothing)
  }

  @Test("DEF-17: the timeout counts from the call on the boot clock, DEF-18: and is never early")
  func timeout() {
    var deferral = Deferral()
    _ = deferral.handle(.call(Self.criteria(.infinity, 30, at: 1_000), start: nil))
    #expect(deferral.criteria?.deadline == Instant(seconds: 1_030))
    #expect(deferral.handle(.time(Instant(microseconds: 1_029_999_999))) == .nothing)
    #expect(deferral.handle(.time(Instant(microseconds: 1_030_000_000))) == .finish(nil))
  }

  @Test(
    "DEF-45: with a slack the first fix after the timeout ends the deferral, or the end of the slack"
  )
  func slack() throws {
    for engages in [false, true] {
      var deferral = Deferral()
      let criteria = try #require(
        DeferralCriteria(distance: .infinity, timeout: 30, slack: 20, calledAt: .boot))
      let begin = { (deferral: inout Deferral) in
        _ = deferral.handle(.call(criteria, start: nil))
        if engages { _ = deferral.handle(.mayEngage) }
      }
      begin(&deferral)
      #expect(deferral.criteria?.deadline == Instant(seconds: 50))
      #expect(deferral.handle(.time(Instant(seconds: 49))) == .nothing)
      #expect(deferral.handle(.fix(fix(at: 29.9))) == .nothing)
      #expect(deferral.handle(.fix(fix(at: 30))) == .finish(nil))
      begin(&deferral)
      #expect(deferral.handle(.time(Instant(seconds: 50))) == .finish(nil))
    }
  }

  @Test(
    "DEF-45: without a slack a fix after the timeout does not end the deferral before its alarm")
  func noSlack() {
    var deferral = Deferral()
    _ = deferral.handle(.call(Self.criteria(.infinity, 30), start: nil))
    #expect(deferral.handle(.fix(fix(at: 31))) == .nothing)
    #expect(deferral.handle(.time(Instant(seconds: 31))) == .finish(nil))
    let unlimited = DeferralCriteria(
      distance: 5, timeout: .infinity, slack: 60, calledAt: Instant(seconds: 9))
    #expect(unlimited?.hasTimeout == false && unlimited?.hasSlack == false)
    for slack in [-1, .nan] as [Double] {
      #expect(DeferralCriteria(distance: 5, timeout: 5, slack: slack, calledAt: .boot) == nil)
    }
  }

  @Test("DEF-19: the distance counts from the start fix if one exists, else from the first fix")
  func start() {
    var fromStart = Deferral()
    _ = fromStart.handle(.call(Self.criteria(), start: fix(at: 0)))
    #expect(fromStart.handle(.fix(fix(at: 1, east: 101))) == .finish(nil))
    var fromFirst = Deferral()
    _ = fromFirst.handle(.call(Self.criteria(), start: nil))
    #expect(fromFirst.handle(.fix(fix(at: 1, east: 101))) == .nothing)
    #expect(fromFirst.handle(.fix(fix(at: 2, east: 203))) == .finish(nil))
  }

  @Test(
    "DEF-22: the maxima and infinity are unlimited, anything below is a limit",
    arguments: [
      (Double.infinity, false), (.greatestFiniteMagnitude, false),
      (Double.greatestFiniteMagnitude.nextDown, true), (1e300, true), (5, true), (0, true),
    ])
  func unlimited(_ value: Double, _ isLimit: Bool) {
    #expect(Self.criteria(value, 1).hasDistance == isLimit)
    #expect(Self.criteria(1, value).hasTimeout == isLimit)
    #expect(Self.criteria(1, value, at: 1e6).hasTimeout == isLimit)
    #expect(Self.criteria(1, value).deadline <= .distantFuture)
  }

  @Test("DEF-22: with both unlimited neither path nor time ends the deferral")
  func bothUnlimited() {
    var deferral = Deferral()
    _ = deferral.handle(.call(Self.criteria(.infinity, .infinity), start: fix(at: 0)))
    #expect(deferral.handle(.time(Instant(seconds: 1e9))) == .nothing)
    #expect(deferral.handle(.time(.distantFuture)) == .nothing)
    #expect(deferral.handle(.fix(fix(at: 1, east: 50_000))) == .nothing)
    #expect(deferral.state == .armed)
  }

  @Test("DEF-23: distance 0 is met by the first valid fix after the call, timeout 0 immediately")
  func zero() {
    var deferral = Deferral()
    _ = deferral.handle(.call(Self.criteria(0, .infinity, at: 5), start: fix(at: 4)))
    #expect(deferral.handle(.fix(fix(at: 5))) == .nothing)
    #expect(deferral.handle(.fix(fix(at: 6))) == .finish(nil))
    _ = deferral.handle(.call(Self.criteria(.infinity, 0, at: 5), start: nil))
    #expect(deferral.handle(.time(Instant(seconds: 5))) == .finish(nil))
  }

  @Test(
    "DEF-23: negative values and NaN are refused without a trap",
    arguments: [
      (-1.0, 1.0), (1.0, -1.0), (.nan, 1), (1, .nan), (-.infinity, 1), (1, -.infinity),
      (-Double.leastNonzeroMagnitude, 1), (.nan, .nan),
    ])
  func refused(_ distance: Double, _ timeout: Double) {
    #expect(DeferralCriteria(distance: distance, timeout: timeout, calledAt: .boot) == nil)
  }

  @Test("DEF-20: only an outstanding call with a distance measures the path")
  func measuresOnlyWithDistance() {
    var deferral = Deferral()
    _ = deferral.handle(.call(Self.criteria(.infinity, 60), start: fix(at: 0)))
    _ = deferral.handle(.fix(fix(at: 1, east: 500)))
    #expect(deferral.meter.length == 0)
  }
}

@Suite("Preconditions of allowDeferred")
struct PreconditionTests {
  static func settings(_ accuracy: Double = -1, _ filter: Double = -1) -> ClientSettings {
    var settings = ClientSettings()
    settings.desiredAccuracy = accuracy
    settings.distanceFilter = filter
    return settings
  }

  @Test("DEF-6, X6: the first failed precondition is reported, in the order denied, 11, 12, 13, 14")
  func order() {
    for bits in 0..<32 {
      let failing = (0..<5).map { bits >> $0 & 1 == 1 }
      let failure = DeferralPreconditions.failure(
        isRefused: failing[0], isAvailable: !failing[1], isUpdating: !failing[2],
        settings: Self.settings(failing[3] ? 10 : -1, failing[4] ? 10 : -1))
      let expected = failing.firstIndex(of: true).map { [1, 11, 12, 13, 14][$0] }
      #expect(failure?.rawValue == expected)
    }
  }

  @Test(
    "DEF-2: only Best and BestForNavigation are compatible, no value in metres",
    arguments: [
      (-1.0, true), (-2, true), (0, false), (1, false), (10, false), (-3, false), (-1.5, false),
      (.nan, false), (-.infinity, false), (100, false), (1000, false), (3000, false),
    ])
  func accuracy(_ accuracy: Double, _ isCompatible: Bool) {
    #expect(LocationAccuracy.isBest(accuracy) == isCompatible)
    let code = DeferralPreconditions.incompatibility(of: Self.settings(accuracy))
    #expect(code == (isCompatible ? nil : .deferredAccuracyTooLow))
  }

  @Test(
    "DEF-3: any distance filter is incompatible", arguments: [0, 1, -2, 1e9, .nan, .infinity])
  func filter(_ filter: Double) {
    #expect(Self.settings(-1, filter).hasDistanceFilter)
    #expect(
      DeferralPreconditions.incompatibility(of: Self.settings(-1, filter))
        == .deferredDistanceFiltered)
    #expect(DeferralPreconditions.incompatibility(of: Self.settings(-1, -1)) == nil)
  }

  @Test("STD-1: the constants are Core Location's")
  func constants() {
    #expect(LocationAccuracy.bestForNavigation == -2)
    #expect(LocationAccuracy.best == -1)
    #expect(LocationAccuracy.nearestTenMeters == 10)
    #expect(LocationAccuracy.hundredMeters == 100)
    #expect(LocationAccuracy.kilometer == 1000)
    #expect(LocationAccuracy.threeKilometers == 3000)
    #expect(LocationLimits.distanceFilterNone == -1)
    #expect(LocationLimits.distanceMax == .greatestFiniteMagnitude)
    #expect(LocationLimits.timeIntervalMax == .greatestFiniteMagnitude)
  }

  @Test("STD-2: a new client defaults to best accuracy and every fix")
  func defaults() {
    #expect(ClientSettings().desiredAccuracy == LocationAccuracy.best)
    #expect(ClientSettings().distanceFilter == LocationLimits.distanceFilterNone)
    #expect(!ClientSettings().hasDistanceFilter)
  }
}
