import LocationEngine
import LocationPolicy
import LocationTypes

/// Independent check of the low-battery guarantees for one client (PWR-10): computes which service levels
/// must be shed from the charges alone.
struct BatteryAudit {
  /// Thresholds at which each service level is shed, one after another.
  static let terms: BatteryTerms = {
    var terms = BatteryTerms()
    terms.everyFix = 50
    terms.accuracy = 45
    terms.updates = 40
    terms.visits = 30
    terms.regions = 20
    terms.significantChange = 10
    return terms
  }()

  /// Time at which updates were shed; nil while they are available.
  private(set) var unservedSince: Instant?
  /// Time at which updates last became available again; nil before the first time.
  private(set) var unservedUntil: Instant?
  private var low: Set<UInt8> = []
  /// Whether region monitoring is available.
  var servesRegions: Bool { !low.contains(Promise.regions.rawValue) }
  private var told: PromiseSet = .none
  /// Whether a reported level was restored since the last report. The client may have received no
  /// notice of that if it did not use the level then.
  private var wasGivenBack = false

  mutating func hear(_ charge: UInt8, at now: Instant) {
    for number: UInt8 in 0..<6 {
      guard let promise = Promise(rawValue: number) else { continue }
      let least = BatteryAudit.terms.threshold(of: promise)
      if charge < least { low.insert(number) }
      if charge >= least + BatteryAudit.terms.margin, low.remove(number) != nil {
        wasGivenBack = wasGivenBack || told.contains(promise)
      }
    }
    if unservedSince != nil { unservedUntil = now }
    unservedSince = low.contains(Promise.updates.rawValue) ? unservedSince ?? now : nil
  }

  /// Resets what was reported: a new process has received nothing.
  mutating func leave() {
    told = .none
    wasGivenBack = false
  }

  mutating func take(_ givenUp: PromiseSet, isExact: Bool) -> String? {
    defer {
      told = givenUp
      wasGivenBack = false
    }
    if givenUp == told && !wasGivenBack {
      return "PWR-10: the levels \(givenUp.rawValue) were reported as shed twice"
    }
    guard isExact else { return nil }
    for number: UInt8 in 0..<8 where givenUp.rawValue & (1 << number) != 0 && !low.contains(number)
    {
      return "PWR-10: service level \(number) is reported as shed, but is available"
    }
    return nil
  }

  /// Checks that a batch contains no fix acquired while updates were shed.
  func look(at sequence: UInt64, from engine: borrowing Engine) -> String? {
    guard let unservedSince, let fix = engine.stored(at: sequence)?.fix else { return nil }
    if fix.acquired <= unservedSince { return nil }
    return "PWR-10: a batch with a fix of \(fix.acquired.seconds) s, though updates were shed at "
      + "\(unservedSince.seconds) s"
  }
}
