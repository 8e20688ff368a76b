/// A ring's history in a test: number of fixes when it was opened, and number appended after that.
public struct RingShape: Sendable {
  /// The ring's capacity in fixes.
  public let capacity: Int
  /// Number of fixes when the ring was opened.
  public let start: Int
  /// Number of fixes appended after that.
  public let count: Int

  /// Every start up to `starts` and every count up to twice the capacity plus one: the ring is
  /// empty, partly full, full, and overwritten once and more than once.
  ///
  /// - Parameters:
  ///   - capacity: The ring's capacity.
  ///   - starts: The largest start; by default twice the capacity.
  public static func every(capacity: Int, starts: Int? = nil) -> [RingShape] {
    (0...(starts ?? 2 * capacity)).flatMap { start in
      (0...2 * capacity + 1).map { RingShape(capacity: capacity, start: start, count: $0) }
    }
  }
}
