import CCore
import LocationTypes

/// Model of satellite acquisition: computes when the receiver obtains its fix, from the data that it has stored and
/// from signal outages.
struct Acquisition: Sendable {
  private let model: TimeToFirstFix
  private let samples: Bool
  private let noSky: [Range<Instant>]
  private var random: SimulationRandom
  /// Last time with a fix.
  private var lastFix: Instant?
  /// Whether the acquisition started without a usable ephemeris (cold start).
  private var isCold = false
  /// Last time at which the ephemeris was up to date.
  private var ephemeris: Instant?
  /// Start time of the present fix; nil without a fix.
  private(set) var fixSince: Instant?
  /// Time of the next fix during an acquisition; otherwise `.distantFuture`.
  private(set) var fixDue = Instant.distantFuture
  /// Whether the receiver's clock is set.
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

  /// Whether the receiver has a fix.
  var hasFix: Bool { fixSince != nil }

  /// Starts an acquisition.
  mutating func start(at now: Instant) {
    isCold = ephemeris.map { now - $0 > model.ephemerisLifetime } ?? true
    fixDue = plan(from: now)
  }

  /// Records the fix that ends the acquisition.
  mutating func gotFix(at now: Instant) {
    fixSince = now
    fixDue = .distantFuture
    // A cold start includes the download of the ephemeris; that is why it takes so long.
    if isCold { ephemeris = now }
    knowsTime = true
  }

  /// Ends the fix or the acquisition because the receiver stops or loses its signals.
  mutating func stop(at now: Instant) {
    fixDue = .distantFuture
    guard let since = fixSince else { return }
    fixSince = nil
    lastFix = now
    if now - since >= model.ephemerisDownload { ephemeris = now }
  }

  /// Deletes all stored data, because the backup domain lost its power.
  mutating func forget() {
    lastFix = nil
    ephemeris = nil
    knowsTime = false
  }

  /// Returns the contents of the navigation database; nil without an ephemeris.
  func knowledge(at now: Instant) -> SkyKnowledge? {
    var fresh = ephemeris
    if let since = fixSince, now - since >= model.ephemerisDownload { fresh = now }
    guard let fresh, let last = fixSince == nil ? lastFix : now else { return nil }
    return SkyKnowledge(lastFix: last, ephemeris: fresh)
  }

  /// Records that the host sent the time.
  mutating func learnTime() { knowsTime = true }

  /// Restores the navigation database from the host. It shortens an acquisition that is in progress.
  mutating func remember(_ knowledge: SkyKnowledge, at now: Instant) {
    guard fixSince == nil, ephemeris.map({ $0 < knowledge.ephemeris }) ?? true else { return }
    ephemeris = knowledge.ephemeris
    lastFix = knowledge.lastFix
    isCold = now - knowledge.ephemeris > model.ephemerisLifetime
    if fixDue < .distantFuture { fixDue = min(fixDue, plan(from: now)) }
  }

  /// Returns the time at which an acquisition that starts at `now` ends. An outage restarts it at the end of the
  /// outage.
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
    // The 90th percentile of a log-normal distribution is 1.2816 sigma above its median.
    let sigma = log(model.spread) / 1.281_551_565_5
    return min(median * exp(sigma * random.normal()), median * 20)
  }
}
