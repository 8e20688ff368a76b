import LocationTypes

/// Where a fix lies with regard to a circle, from the middle outwards.
public enum RegionPlace: UInt8, Sendable {
  /// Inside, and past the boundary by the minimum distance.
  case wellInside = 0
  /// Inside, but nearer to the boundary than that.
  case justInside = 1
  /// The fix's circle of accuracy touches the boundary: it decides nothing.
  case astride = 2
  /// Outside, but nearer to the boundary than the minimum distance.
  case justOutside = 3
  /// Outside, and past the boundary by the minimum distance.
  case wellOutside = 4

  /// Metres past the boundary that count at least (REG-5).
  public static let minimumDistance = 10.0

  /// Metres that a fix of the best accuracy must be past the boundary: 10, at most half a radius.
  static func leastMargin(radius: Double) -> Double { min(minimumDistance, radius / 2) }

  /// Classifies a fix.
  ///
  /// The margin is max(accuracy, 10 m), at most half a radius (REG-5), and never less than the
  /// accuracy: a fix less accurate than half a radius counts when all its circle is past.
  ///
  /// - Parameters:
  ///   - distance: Metres from the fix to the centre.
  ///   - accuracy: The fix's horizontal accuracy in metres, 0 or more.
  ///   - radius: Metres, above 0.
  public init(distance: Double, accuracy: Double, radius: Double) {
    let margin = max(accuracy, RegionPlace.leastMargin(radius: radius))
    if distance + margin <= radius {
      self = .wellInside
    } else if distance - margin >= radius {
      self = .wellOutside
    } else if distance + accuracy <= radius {
      self = .justInside
    } else if distance - accuracy >= radius {
      self = .justOutside
    } else {
      self = .astride
    }
  }
}

/// The state machine of one circle: `unknown → inside ⇄ outside`.
///
/// A crossing is under way from the first fix that is past the boundary by the minimum distance; it
/// counts with the first such fix ``dwell`` later, if none between was nearer (REG-4).
public struct RegionCrossing: Equatable, Sendable {
  /// How long the far side must be kept (REG-4).
  public static let dwell = Interval.seconds(20)

  /// What a fix changed.
  public enum Change: UInt8, Sendable {
    /// No state changed.
    case none = 0
    /// The first decision: the state was not known (REG-6).
    case decided = 1
    /// The boundary was crossed.
    case crossed = 2
  }

  /// Where the client is, as far as it counts.
  public private(set) var state: RegionState
  /// Since when a crossing is under way.
  public private(set) var pendingSince: Instant?

  /// Starts; a known state is one that comes back from disk.
  public init(state: RegionState = .unknown) {
    self.state = state
    pendingSince = nil
  }

  /// Takes a fix of that place; the one that writes the state. O(1).
  public mutating func handle(_ place: RegionPlace, at time: Instant) -> Change {
    #if REACHED
      RegionCrossing.machine.reach(row, Int(place.rawValue))
    #endif
    switch (state, place) {
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

#if REACHED
  extension RegionCrossing {
    /// A crossing that is under way makes two rows more.
    static let machine = Machine(
      "RegionCrossing", states: "unknown inside outside leaving entering",
      events: "wellInside justInside astride justOutside wellOutside")

    var row: Int { state.rawValue + (pendingSince == nil ? 0 : 2) }
  }
#endif
