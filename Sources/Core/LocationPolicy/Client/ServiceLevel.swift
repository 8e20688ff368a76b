/// A level of service that clients use. When the battery's charge falls below the level's threshold in the board's
/// profile, the level is shed (PWR-10).
public enum ServiceLevel: UInt8, Sendable {
  /// Every fix, or an accuracy bound below 100 m; without it, the position is known within 100 m.
  case everyFix = 0
  /// An accuracy bound below one kilometre; without it, the position is known within one kilometre.
  case accuracy = 1
  /// Updates, deferred or not, live updates, and single requests.
  case updates = 2
  /// Visits.
  case visits = 3
  /// Regions and monitor conditions.
  case regions = 4
  /// Significant change.
  case significantChange = 5

  /// Number of levels; their raw values are below it.
  static let count: UInt8 = 6
}

/// A set of service levels. Not an `OptionSet`, because its array literals allocate on the heap.
public struct ServiceLevelSet: Equatable, Sendable {
  /// One bit per ``ServiceLevel``.
  public private(set) var rawValue: UInt8 = 0

  /// The empty set.
  public static let none = ServiceLevelSet()

  /// Creates the empty set.
  public init() {}

  /// Creates a set with one level.
  public init(_ level: ServiceLevel) { insert(level) }

  /// Whether the set is empty.
  public var isEmpty: Bool { rawValue == 0 }

  /// Whether the set contains `level`.
  public func contains(_ level: ServiceLevel) -> Bool {
    rawValue & ServiceLevelSet.bit(level) != 0
  }

  /// Adds `level` to the set.
  public mutating func insert(_ level: ServiceLevel) { rawValue |= ServiceLevelSet.bit(level) }

  /// Returns the union of both sets.
  public func union(_ other: ServiceLevelSet) -> ServiceLevelSet {
    var all = self
    all.rawValue |= other.rawValue
    return all
  }

  /// Returns the intersection of both sets.
  public func intersection(_ other: ServiceLevelSet) -> ServiceLevelSet {
    var both = self
    both.rawValue &= other.rawValue
    return both
  }

  private static func bit(_ level: ServiceLevel) -> UInt8 { 1 << level.rawValue }
}
