import BoardHardware
import CCore
import LocationTypes

/// Model of satellite acquisition: computes when the receiver obtains its fix, from the data that it has stored and
/// from signal outages.
struct AcquisitionModel: Sendable {
  private let timeToFirstFix: TimeToFix
  private let isSampled: Bool
  private let outages: [Range<Instant>]
  private var random: SimulationRandom
  /// Last time with a fix.
  private var lastFixTime: Instant?
  /// Whether the acquisition started without a usable ephemeris (cold start).
  private var isCold = false
  /// Last time at which the ephemeris was up to date.
  private var ephemerisTime: Instant?
  /// Start time of the present fix; nil without a fix.
  private(set) var fixSince: Instant?
  /// Time of the next fix during an acquisition; otherwise `.distantFuture`.
  private(set) var nextFixTime = Instant.distantFuture
  /// Whether the receiver's clock is set.
  private(set) var hasTime = false

  init(_ setup: SimulationSetup) {
    timeToFirstFix = setup.receiver.timeToFirstFix
    isSampled = setup.samplesTimeToFirstFix
    outages = setup.faults.signalOutages.sorted { $0.lowerBound < $1.lowerBound }
    random = SimulationRandom(seed: setup.seed, stream: 2)
    if let off = setup.receiver.offBeforeStart {
      lastFixTime = .boot - off
      ephemerisTime = lastFixTime
      hasTime = true
    }
  }

  /// Whether the receiver has a fix.
  var hasFix: Bool { fixSince != nil }

  /// Starts an acquisition.
  mutating func start(at now: Instant) {
    isCold = ephemerisTime.map { now - $0 > timeToFirstFix.ephemerisLifetime } ?? true
    nextFixTime = fixTime(from: now)
  }

  /// Records the fix that ends the acquisition.
  mutating func recordFix(at now: Instant) {
    fixSince = now
    nextFixTime = .distantFuture
    // A cold start includes the download of the ephemeris; that is why it takes so long.
    if isCold { ephemerisTime = now }
    hasTime = true
  }

  /// Ends the fix or the acquisition because the receiver stops or loses its signals.
  mutating func stop(at now: Instant) {
    nextFixTime = .distantFuture
    guard let since = fixSince else { return }
    fixSince = nil
    lastFixTime = now
    if now - since >= timeToFirstFix.ephemerisDownload { ephemerisTime = now }
  }

  /// Deletes all stored data, because the backup domain lost its power.
  mutating func clear() {
    lastFixTime = nil
    ephemerisTime = nil
    hasTime = false
  }

  /// Returns the contents of the navigation database; nil without an ephemeris.
  func navigationDatabase(at now: Instant) -> NavigationDatabase? {
    var fresh = ephemerisTime
    if let since = fixSince, now - since >= timeToFirstFix.ephemerisDownload { fresh = now }
    guard let fresh, let last = fixSince == nil ? lastFixTime : now else { return nil }
    return NavigationDatabase(lastFix: last, ephemeris: fresh)
  }

  /// Records that the host sent the time.
  mutating func setTime() { hasTime = true }

  /// Restores the navigation database from the host. It shortens an acquisition that is in progress.
  mutating func restore(_ database: NavigationDatabase, at now: Instant) {
    guard fixSince == nil, ephemerisTime.map({ $0 < database.ephemeris }) ?? true else { return }
    ephemerisTime = database.ephemeris
    lastFixTime = database.lastFix
    isCold = now - database.ephemeris > timeToFirstFix.ephemerisLifetime
    if nextFixTime < .distantFuture { nextFixTime = min(nextFixTime, fixTime(from: now)) }
  }

  /// Returns the time at which an acquisition that starts at `now` ends. An outage restarts it at the end of the
  /// outage.
  private mutating func fixTime(from now: Instant) -> Instant {
    var begin = now
    while true {
      if let outage = outages.first(where: { $0.contains(begin) }) {
        begin = outage.upperBound
        continue
      }
      let due = begin + Interval(seconds: timeToFix_s(from: begin))
      guard let outage = outages.first(where: { $0.lowerBound >= begin && $0.lowerBound < due })
      else { return due }
      begin = outage.upperBound
    }
  }

  private mutating func timeToFix_s(from begin: Instant) -> Double {
    let median = timeToFirstFix.median_s(
      off: lastFixTime.map { begin - $0 }, ephemerisAge: ephemerisTime.map { begin - $0 })
    guard isSampled, timeToFirstFix.p90Ratio > 1 else { return median }
    // The 90th percentile of a log-normal distribution is 1.2816 sigma above its median.
    let sigma = log(timeToFirstFix.p90Ratio) / 1.281_551_565_5
    return min(median * exp(sigma * random.normal()), median * 20)
  }
}
