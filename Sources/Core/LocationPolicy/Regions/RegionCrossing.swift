import LocationTypes

/// Position of a fix relative to the boundary of a region, from the inside outwards.
public enum RegionPlacement: UInt8, Sendable {
  /// Inside, and past the boundary by the minimum distance.
  case wellInside = 0
  /// Inside, but nearer to the boundary than that.
  case justInside = 1
  /// The fix's circle of accuracy touches the boundary: the fix decides nothing.
  case astride = 2
  /// Outside, but nearer to the boundary than the minimum distance.
  case justOutside = 3
  /// Outside, and past the boundary by the minimum distance.
  case wellOutside = 4

  /// Smallest distance past the boundary that counts, metres (REG-5).
  public static let minimumDistance = 10.0

  /// Classifies a fix.
  ///
  /// The margin is max(accuracy, 10 m), limited to half a circle's radius (REG-5) but never less than the accuracy: a
  /// fix less accurate than half a radius counts if its whole circle of accuracy is past the boundary.
  ///
  /// - Parameters:
  ///   - beyondBoundary: Distance from the boundary, metres: positive outside, negative inside.
  ///   - accuracy: Horizontal accuracy of the fix in metres, 0 or more.
  ///   - leastMargin: How far past the boundary a fix of the best accuracy must be, metres.
  init(beyondBoundary: Double, accuracy: Double, leastMargin: Double) {
    let margin = max(accuracy, leastMargin)
    if beyondBoundary <= -margin {
      self = .wellInside
    } else if beyondBoundary >= margin {
      self = .wellOutside
    } else if beyondBoundary <= -accuracy {
      self = .justInside
    } else if beyondBoundary >= accuracy {
      self = .justOutside
    } else {
      self = .astride
    }
  }
}

/// State machine of one region: `unknown → inside` or `outside`, then `inside ⇄ outside`.
///
/// A crossing starts with the first fix that is past the boundary by the minimum distance. It counts with the first
/// such fix at least ``dwell`` later, if no fix between them was nearer to the boundary (REG-4). Fixes astride the
/// boundary do not count.
public struct RegionCrossing: Equatable, Sendable {
  /// How long the device must stay on the other side (REG-4).
  public static let dwell = Interval.seconds(20)

  /// Effect of a fix.
  public enum Change: UInt8, Sendable {
    /// The state did not change.
    case none = 0
    /// First decision: the state was unknown (REG-6).
    case decided = 1
    /// The boundary was crossed.
    case crossed = 2
  }

  /// Decided state of the device; one other than `unknown` may have been restored from disk.
  public private(set) var state = RegionState.unknown
  /// Start of a crossing that does not count yet; nil if none exists.
  public private(set) var pendingSince: Instant?

  /// Handles a fix with this placement; the only writer of the state. O(1).
  public mutating func handle(_ placement: RegionPlacement, at time: Instant) -> Change {
    #if REACHED
      RegionCrossing.machine.record(row, Int(placement.rawValue))
    #endif
    switch (state, placement) {
    case (.unknown, .wellInside), (.unknown, .justInside):
      state = .inside
      return .decided
    case (.unknown, .justOutside), (.unknown, .wellOutside):
      state = .outside
      return .decided
    case (.unknown, .astride), (.inside, .astride), (.outside, .astride):
      return .none
    case (.inside, .wellInside), (.inside, .justInside), (.inside, .justOutside),
      (.outside, .wellOutside), (.outside, .justOutside), (.outside, .justInside):
      pendingSince = nil
      return .none
    case (.inside, .wellOutside), (.outside, .wellInside):
      guard let since = pendingSince else {
        pendingSince = time
        return .none
      }
      guard time - since >= RegionCrossing.dwell else { return .none }
      pendingSince = nil
      state = state.opposite
      return .crossed
    }
  }
}

extension RegionCrossing {
  /// Distance that a device `beyondBoundary` metres outside a shape can travel before a fix can change the region,
  /// metres.
  ///
  /// Only a fix past the boundary by the least margin starts a crossing, whatever its accuracy; and only a fix that is
  /// not past it by that much can end a started crossing before its 20 s are over.
  func distanceToChange(_ beyondBoundary: Double, leastMargin: Double) -> Double {
    let past: Double
    switch state {
    case .unknown: return 0
    case .inside: past = beyondBoundary - leastMargin
    case .outside: past = -beyondBoundary - leastMargin
    }
    return pendingSince == nil ? -past : past
  }
}

#if REACHED
  extension RegionCrossing {
    /// A started crossing has rows of its own.
    static let machine = TransitionCoverage(
      "RegionCrossing", states: "unknown inside outside leaving entering",
      events: "wellInside justInside astride justOutside wellOutside")

    var row: Int { state.rawValue + (pendingSince == nil ? 0 : 2) }
  }
#endif
