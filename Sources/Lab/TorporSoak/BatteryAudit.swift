import LocationEngine
import LocationPolicy
import LocationTypes

/// What must hold for one client while the battery runs low (PWR-10), reckoned anew.
struct BatteryAudit {
  /// Every promise can go.
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

  /// Since when there are no updates; nil while there are.
  private(set) var unservedSince: Instant?
  /// Until when there were none, the last time; nil before the first.
  private(set) var unservedUntil: Instant?
  private var low: Set<UInt8> = []
  /// Regions are looked at.
  var servesRegions: Bool { !low.contains(Promise.regions.rawValue) }
  private var told: PromiseSet = .none
  /// Something that it was told of was given back since; it was not told if it did not use it then.
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

  /// A new process knows nothing.
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
      return "PWR-10: told twice that \(givenUp.rawValue) is given up"
    }
    guard isExact else { return nil }
    for number: UInt8 in 0..<8 where givenUp.rawValue & (1 << number) != 0 && !low.contains(number)
    {
      return "PWR-10: promise \(number) is said to be given up and is not"
    }
    return nil
  }

  /// Nothing that was made without updates is given to anybody.
  func look(at sequence: UInt64, from engine: borrowing Engine) -> String? {
    guard let unservedSince, let fix = engine.stored(at: sequence)?.fix else { return nil }
    if fix.acquired <= unservedSince { return nil }
    return "PWR-10: a batch with a fix of \(fix.acquired.seconds) s, without updates since "
      + "\(unservedSince.seconds) s"
  }
}
