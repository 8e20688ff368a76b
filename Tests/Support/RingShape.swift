/// A ring's history in a test: how many fixes it held when it was opened, and how many were appended then.
public struct RingShape: Sendable {
  /// The ring's capacity in fixes.
  public let capacity: Int
  /// Fixes that were there at the start.
  public let start: Int
  /// Fixes that came after it.
  public let count: Int

  /// Every start up to `starts` and every count up to twice the capacity and one: the ring is empty, partly
  /// full, full, passed once, and passed more than once by what is appended.
  ///
  /// - Parameters:
  ///   - capacity: The ring's capacity.
  ///   - starts: The largest start; twice the capacity if not given.
  public static func every(capacity: Int, starts: Int? = nil) -> [RingShape] {
    (0...(starts ?? 2 * capacity)).flatMap { start in
      (0...2 * capacity + 1).map { RingShape(capacity: capacity, start: start, count: $0) }
    }
  }
}
