import LocationTypes

/// Pairs of coordinates, the same in every run.
private struct CoordinatePairs {
  /// Number of pairs. It divides the counted turns, so that every pair is counted equally often.
  static let count = 300
  var coordinates: [Coordinate] = []

  /// Creates pairs that are up to `reach` billionths of a degree apart per axis; anywhere on the globe if nil.
  init(reach: Int64?) {
    var seed: UInt64 = 1_736
    /// A pseudo-random number from −limit to limit (Knuth's MMIX generator).
    func random(_ limit: Int64) -> Int64 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64(seed >> 2) % (2 * limit + 1) - limit
    }
    for _ in 0..<CoordinatePairs.count {
      let first = Coordinate(
        latitude_e9: random(80_000_000_000), longitude_e9: random(179_000_000_000))
      var second = Coordinate(
        latitude_e9: random(90_000_000_000), longitude_e9: random(180_000_000_000))
      if let reach {
        second.latitude_e9 = first.latitude_e9 + random(reach)
        second.longitude_e9 = first.longitude_e9 + random(reach)
      }
      coordinates += [first, second]
    }
  }
}

/// One turn is the distance between two coordinates.
struct DistancePath: HotPath {
  let unit = "distance"
  private let pairs: CoordinatePairs
  private let isLocal: Bool
  private var position = 0

  private init(_ pairs: CoordinatePairs, isLocal: Bool) {
    self.pairs = pairs
    self.isLocal = isLocal
  }

  /// The approximation for distances up to a kilometre.
  static func local() -> DistancePath {
    DistancePath(CoordinatePairs(reach: 10_000_000), isLocal: true)
  }
  /// The exact geodesic of the same pairs.
  static func near() -> DistancePath {
    DistancePath(CoordinatePairs(reach: 10_000_000), isLocal: false)
  }
  /// The exact geodesic between coordinates anywhere on the globe.
  static func far() -> DistancePath { DistancePath(CoordinatePairs(reach: nil), isLocal: false) }

  mutating func run(_ turns: Int) -> UInt64 {
    let coordinates = pairs.coordinates
    var sum: UInt64 = 0
    for _ in 0..<turns {
      let (a, b) = (coordinates[position], coordinates[position + 1])
      sum &+= (isLocal ? a.localDistance(to: b) : a.distance(to: b)).bitPattern
      position = position + 2 == coordinates.count ? 0 : position + 2
    }
    return sum
  }
}
