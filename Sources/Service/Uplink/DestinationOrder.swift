import LocationTypes
import UplinkPayload

/// In which order uploads try the destinations, and for how long each.
///
/// # Problem
///
/// An upload ends after a fixed time. A destination that does not answer must not use the time of the others, and must not
/// cost time in each upload; the first of the settings is preferred nevertheless.
///
/// # Invariants
///
/// - ``indices(at:)`` has each destination once: first the one that worked last, for at most ``lifetime``, then the others in the
///   order of the settings.
/// - Each destination gets an equal part of the time that is left, so the last one gets all of it.
struct DestinationOrder {
  /// Longest time for which uploads begin with another destination than the first one.
  static let lifetime = Interval.seconds(86_400)

  /// Number of destinations.
  let count: Int
  /// The destination that worked last, unless it is the first one of the settings.
  private var preferred: Int?
  /// When it was tried first since the first one did not work.
  private var start = Instant.boot

  init(count: Int) { self.count = count }

  /// The destinations in the order in which an upload at `now` tries them.
  func indices(at now: Instant) -> [Int] {
    guard let preferred, now - start < DestinationOrder.lifetime else { return Array(0..<count) }
    return [preferred] + (0..<count).filter { $0 != preferred }
  }

  /// A destination has received everything.
  mutating func succeed(_ index: Int, at now: Instant) {
    guard index != preferred || now - start >= DestinationOrder.lifetime else { return }
    preferred = index == 0 ? nil : index
    start = now
  }

  /// When the attempt with a destination ends, if `remaining` destinations are left, including it.
  static func end(of upload: Instant, remaining: Int, at now: Instant) -> Instant {
    now + max(.zero, upload - now) / Int64(max(1, remaining))
  }
}
