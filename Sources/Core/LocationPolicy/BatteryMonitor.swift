/// Battery charge, in percent, below which each service level is shed; 0 means never.
///
/// The level with the highest threshold is shed first (PWR-10).
public struct BatteryThresholds: Equatable, Sendable {
  /// Threshold of ``ServiceLevel/everyFix``.
  public var everyFix: UInt8 = 0
  /// Threshold of ``ServiceLevel/accuracy``.
  public var accuracy: UInt8 = 0
  /// Threshold of ``ServiceLevel/updates``.
  public var updates: UInt8 = 0
  /// Threshold of ``ServiceLevel/visits``.
  public var visits: UInt8 = 0
  /// Threshold of ``ServiceLevel/regions``.
  public var regions: UInt8 = 0
  /// Threshold of ``ServiceLevel/significantChange``.
  public var significantChange: UInt8 = 0
  /// Hysteresis, percentage points: a shed level is restored when the charge is this far above its threshold, so that a
  /// fluctuating gauge reading does not toggle it. A charge of 100 % restores every level.
  public var hysteresis: UInt8 = 3

  /// Creates thresholds of 0: no level is ever shed.
  public init() {}

  /// The charge, percent, below which `level` is shed.
  public func threshold(of level: ServiceLevel) -> UInt8 {
    switch level {
    case .everyFix: everyFix
    case .accuracy: accuracy
    case .updates: updates
    case .visits: visits
    case .regions: regions
    case .significantChange: significantChange
    }
  }
}

/// Decides which service levels are shed at the battery's charge, with hysteresis (PWR-10).
///
/// Pure value without clock or I/O: `Engine` passes in each gauge reading. O(number of levels).
public struct BatteryMonitor: Equatable, Sendable {
  /// Thresholds and hysteresis.
  public let thresholds: BatteryThresholds
  /// Last gauge reading, percent; nil before the first reading and on a board without a gauge.
  public private(set) var charge: UInt8?
  /// Levels that are shed now; none before the first gauge reading.
  public private(set) var shed = ServiceLevelSet.none

  /// Creates a monitor without a gauge reading.
  public init(_ thresholds: BatteryThresholds) { self.thresholds = thresholds }

  /// Applies a gauge reading, percent; values above 100 count as 100. The only writer of the state.
  public mutating func update(charge: UInt8) {
    let charge = min(charge, 100)
    var next = ServiceLevelSet.none
    for number in 0..<ServiceLevel.count {
      if let level = ServiceLevel(rawValue: number), isShed(level, at: charge) {
        next.insert(level)
      }
    }
    self.charge = charge
    shed = next
  }

  private func isShed(_ level: ServiceLevel, at charge: UInt8) -> Bool {
    let threshold = Int(thresholds.threshold(of: level))
    if charge < threshold { return true }
    return shed.contains(level) && charge < min(threshold + Int(thresholds.hysteresis), 100)
  }
}
