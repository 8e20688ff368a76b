/// The charge of the battery, in percent, below which each promise is given up; 0 is never. Their
/// order is the order in which promises go (PWR-10).
public struct BatteryTerms: Equatable, Sendable {
  /// For ``Promise/everyFix``.
  public var everyFix: UInt8 = 0
  /// For ``Promise/accuracy``.
  public var accuracy: UInt8 = 0
  /// For ``Promise/updates``.
  public var updates: UInt8 = 0
  /// For ``Promise/visits``.
  public var visits: UInt8 = 0
  /// For ``Promise/regions``.
  public var regions: UInt8 = 0
  /// For ``Promise/significantChange``.
  public var significantChange: UInt8 = 0
  /// How far above its threshold the charge must be to give a promise back, percentage points: a
  /// gauge that wavers by less turns nothing on and off. A full battery always gives it back.
  public var margin: UInt8 = 3

  /// Nothing is ever given up.
  public init() {}

  /// The charge below which `promise` is given up.
  public func threshold(of promise: Promise) -> UInt8 {
    switch promise {
    case .everyFix: everyFix
    case .accuracy: accuracy
    case .updates: updates
    case .visits: visits
    case .regions: regions
    case .significantChange: significantChange
    }
  }
}

/// What is given up at the battery's charge, with a hysteresis: pure, O(promises).
public struct BatteryMonitor: Equatable, Sendable {
  /// When what is given up.
  public let terms: BatteryTerms
  /// What the gauge said last, percent; nil as long as it said nothing, and on a board without one.
  public private(set) var charge: UInt8?
  /// What is given up now; nothing before the gauge has said something.
  public private(set) var givenUp = PromiseSet.none

  /// Nothing is known of the battery yet.
  public init(_ terms: BatteryTerms) { self.terms = terms }

  /// Takes what the gauge says, percent; more than 100 counts as 100. The one place that writes the
  /// state.
  public mutating func take(_ charge: UInt8) {
    let charge = min(charge, 100)
    var next = PromiseSet.none
    for number in 0..<Promise.count {
      guard let promise = Promise(rawValue: number), isWithheld(promise, at: charge) else {
        continue
      }
      next.insert(promise)
    }
    self.charge = charge
    givenUp = next
  }

  private func isWithheld(_ promise: Promise, at charge: UInt8) -> Bool {
    let threshold = Int(terms.threshold(of: promise))
    if charge < threshold { return true }
    return givenUp.contains(promise) && charge < min(threshold + Int(terms.margin), 100)
  }
}
