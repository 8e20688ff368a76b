import CCore
import LocationTypes

/// When the receiver finds its fix, by what it still knows and whether it sees the sky.
struct Acquisition: Sendable {
  private let model: TimeToFirstFix
  private let samples: Bool
  private let noSky: [Range<Instant>]
  private var random: SimulationRandom
  /// Last moment with a fix.
  private var lastFix: Instant?
  /// The search began without an ephemeris that is of use.
  private var isCold = false
  /// Last moment at which the ephemeris was up to date.
  private var ephemeris: Instant?
  /// Since when there is a fix.
  private(set) var fixSince: Instant?
  /// When the next one comes.
  private(set) var fixDue = Instant.distantFuture
  /// The clock has been set from satellites.
  private(set) var knowsTime = false

  init(_ setup: SimulationSetup) {
    model = setup.receiver.timeToFirstFix
    samples = setup.samplesTimeToFirstFix
    noSky = setup.faults.noSky.sorted { $0.lowerBound < $1.lowerBound }
    random = SimulationRandom(seed: setup.seed, stream: 2)
    if let off = setup.receiver.offBeforeStart {
      lastFix = .boot - off
      ephemeris = lastFix
      knowsTime = true
    }
  }

  /// Whether there is a fix.
  var hasFix: Bool { fixSince != nil }

  /// The receiver begins to search at `now`.
  mutating func start(at now: Instant) {
    isCold = ephemeris.map { now - $0 > model.ephemerisLifetime } ?? true
    fixDue = plan(from: now)
  }

  /// The fix is there.
  mutating func gotFix(at now: Instant) {
    fixSince = now
    fixDue = .distantFuture
    // A search without one reads the ephemeris: that is what takes it so long.
    if isCold { ephemeris = now }
    knowsTime = true
  }

  /// The receiver stops, or loses the sky.
  mutating func stop(at now: Instant) {
    fixDue = .distantFuture
    guard let since = fixSince else { return }
    fixSince = nil
    lastFix = now
    if now - since >= model.ephemerisDownload { ephemeris = now }
  }

  /// The backup domain lost its supply: nothing is known any more.
  mutating func forget() {
    lastFix = nil
    ephemeris = nil
    knowsTime = false
  }

  /// What it could hand out; nil where it has no ephemeris.
  func knowledge(at now: Instant) -> SkyKnowledge? {
    var fresh = ephemeris
    if let since = fixSince, now - since >= model.ephemerisDownload { fresh = now }
    guard let fresh, let last = fixSince == nil ? lastFix : now else { return nil }
    return SkyKnowledge(lastFix: last, ephemeris: fresh)
  }

  /// It is told the time.
  mutating func learnTime() { knowsTime = true }

  /// It is given back what it knew. A search that goes on is shortened by it.
  mutating func remember(_ knowledge: SkyKnowledge, at now: Instant) {
    guard fixSince == nil, ephemeris.map({ $0 < knowledge.ephemeris }) ?? true else { return }
    ephemeris = knowledge.ephemeris
    lastFix = knowledge.lastFix
    isCold = now - knowledge.ephemeris > model.ephemerisLifetime
    if fixDue < .distantFuture { fixDue = min(fixDue, plan(from: now)) }
  }

  /// When a search that begins at `now` ends, with no sky where there is none.
  private mutating func plan(from now: Instant) -> Instant {
    var begin = now
    while true {
      if let window = noSky.first(where: { $0.contains(begin) }) {
        begin = window.upperBound
        continue
      }
      let due = begin + Interval(seconds: time_s(from: begin))
      guard let window = noSky.first(where: { $0.lowerBound >= begin && $0.lowerBound < due })
      else { return due }
      begin = window.upperBound
    }
  }

  private mutating func time_s(from begin: Instant) -> Double {
    let median = model.median_s(
      off: lastFix.map { begin - $0 }, ephemerisAge: ephemeris.map { begin - $0 })
    guard samples, model.spread > 1 else { return median }
    // The 90th percentile of a log-normal lies 1.2816 sigma above the median.
    let sigma = log(model.spread) / 1.281_551_565_5
    return min(median * exp(sigma * random.normal()), median * 20)
  }
}
