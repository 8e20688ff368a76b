import LocationEngine
import LocationPolicy
import LocationTypes

/// Independent check of the low-battery guarantees for one client (PWR-10): computes which service levels
/// must be shed from the charges alone.
struct BatteryAudit {
  /// Thresholds at which each service level is shed, one after another.
  static let thresholds: BatteryThresholds = {
    var terms = BatteryThresholds()
    terms.everyFix = 50
    terms.accuracy = 45
    terms.updates = 40
    terms.visits = 30
    terms.regions = 20
    terms.significantChange = 10
    return terms
  }()

  /// Time at which updates were shed; nil while they are available.
  private(set) var updatesShedSince: Instant?
  /// Time at which updates last became available again; nil before the first time.
  private(set) var updatesRestoredAt: Instant?
  private var shedLevels: Set<UInt8> = []
  /// Whether region monitoring is available.
  var hasRegions: Bool { !shedLevels.contains(ServiceLevel.regions.rawValue) }
  private var reported: ServiceLevelSet = .none
  /// Whether a reported level was restored since the last report. The client may have received no
  /// notice of that if it did not use the level then.
  private var wasRestored = false

  mutating func update(_ charge: UInt8, at now: Instant) {
    for number: UInt8 in 0..<6 {
      guard let level = ServiceLevel(rawValue: number) else { continue }
      let minimum = BatteryAudit.thresholds.threshold(of: level)
      if charge < minimum { shedLevels.insert(number) }
      if charge >= minimum + BatteryAudit.thresholds.hysteresis, shedLevels.remove(number) != nil {
        wasRestored = wasRestored || reported.contains(level)
      }
    }
    if updatesShedSince != nil { updatesRestoredAt = now }
    updatesShedSince =
      shedLevels.contains(ServiceLevel.updates.rawValue) ? updatesShedSince ?? now : nil
  }

  /// Resets what was reported: a new process has received nothing.
  mutating func resetProcess() {
    reported = .none
    wasRestored = false
  }

  mutating func check(_ givenUp: ServiceLevelSet, isExact: Bool) -> String? {
    defer {
      reported = givenUp
      wasRestored = false
    }
    if givenUp == reported && !wasRestored {
      return "PWR-10: the levels \(givenUp.rawValue) were reported as shed twice"
    }
    guard isExact else { return nil }
    for number: UInt8 in 0..<8
    where givenUp.rawValue & (1 << number) != 0 && !shedLevels.contains(number) {
      return "PWR-10: service level \(number) is reported as shed, but is available"
    }
    return nil
  }

  /// Checks that a batch contains no fix acquired while updates were shed.
  func checkFix(at sequence: UInt64, from engine: borrowing Engine) -> String? {
    guard let updatesShedSince, let fix = engine.stored(at: sequence)?.fix else { return nil }
    if fix.acquired <= updatesShedSince { return nil }
    return "PWR-10: a batch with a fix of \(fix.acquired.seconds) s, though updates were shed at "
      + "\(updatesShedSince.seconds) s"
  }
}
