import LocationEngine
import LocationPolicy
import LocationTypes

/// Independent check of the low-battery guarantees for one client (PWR-10): computes from the charges alone which
/// service levels must be shed.
struct BatteryAudit {
  /// Thresholds at which each service level is shed, one after another.
  static let thresholds: BatteryThresholds = {
    var thresholds = BatteryThresholds()
    thresholds.everyFix = 50
    thresholds.accuracy = 45
    thresholds.updates = 40
    thresholds.visits = 30
    thresholds.regions = 20
    thresholds.significantChange = 10
    return thresholds
  }()

  /// Time at which updates were shed; nil while they are available.
  private(set) var updatesShedSince: Instant?
  /// Time at which updates last became available again; nil before the first time.
  private(set) var updatesRestoredAt: Instant?
  private var shedLevels: Set<UInt8> = []
  /// Whether region monitoring is available.
  var hasRegions: Bool { !shedLevels.contains(ServiceLevel.regions.rawValue) }
  private var reported: ServiceLevelSet = .none
  /// Whether a reported level was restored since the last report. The client received no notice of the restoration if
  /// it did not use the level at that time.
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

  /// Resets the reported levels, because a new process has received no report.
  mutating func resetProcess() {
    reported = .none
    wasRestored = false
  }

  /// Checks a notice of shed levels; returns a description of the violation, or nil.
  ///
  /// - Parameter isExact: Whether ``update(_:at:)`` was called with each charge. Otherwise nothing can be checked: a level
  ///   may be reported twice, because it may have been restored meanwhile.
  mutating func check(_ shed: ServiceLevelSet, isExact: Bool) -> String? {
    defer {
      reported = shed
      wasRestored = false
    }
    guard isExact else { return nil }
    if shed == reported && !wasRestored {
      return "PWR-10: the levels \(shed.rawValue) were reported as shed twice"
    }
    for number: UInt8 in 0..<8
    where shed.rawValue & (1 << number) != 0 && !shedLevels.contains(number) {
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
