/// What a client may be promised, and a low battery takes back in the order that the board's profile
/// declares (PWR-10).
public enum Promise: UInt8, Sendable {
  /// Every fix, or one nearer than 100 m: without it, the position within 100 m.
  case everyFix = 0
  /// A position nearer than a kilometre: without it, the position within a kilometre.
  case accuracy = 1
  /// Updates, deferred or not, live updates, and single requests.
  case updates = 2
  /// Visits.
  case visits = 3
  /// Regions and monitor conditions.
  case regions = 4
  /// Significant change.
  case significantChange = 5

  /// How many there are; their raw values are below.
  static let count: UInt8 = 6
}

/// A set of promises. No `OptionSet`, whose array literals need a heap.
public struct PromiseSet: Equatable, Sendable {
  /// One bit for each ``Promise``.
  public private(set) var rawValue: UInt8 = 0

  /// None.
  public static let none = PromiseSet()

  /// The empty set.
  public init() {}

  /// A set of one.
  public init(_ promise: Promise) { insert(promise) }

  /// Whether it holds no promise.
  public var isEmpty: Bool { rawValue == 0 }

  /// Whether `promise` is among it.
  public func contains(_ promise: Promise) -> Bool {
    rawValue & PromiseSet.bit(promise) != 0
  }

  /// Takes `promise` in.
  public mutating func insert(_ promise: Promise) { rawValue |= PromiseSet.bit(promise) }

  /// What is in one of them.
  public func union(_ other: PromiseSet) -> PromiseSet {
    var all = self
    all.rawValue |= other.rawValue
    return all
  }

  /// What is in both.
  public func intersection(_ other: PromiseSet) -> PromiseSet {
    var both = self
    both.rawValue &= other.rawValue
    return both
  }

  private static func bit(_ promise: Promise) -> UInt8 { 1 << promise.rawValue }
}
