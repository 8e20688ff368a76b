import LocationTypes

/// Generated tracks for simulations and tests without a recording.
///
/// The seed determines streets, traffic lights and stops. The same seed and duration give the same track. Every
/// scenario starts on 2026-03-01 at 00:00:00 UTC near 52.52° N, 13.40° E.
public enum Scenario: String, CaseIterable, Sendable {
  /// Stays at one position. One hour.
  case still
  /// A walk through streets, with stops. One hour.
  case walk
  /// A run, repeatedly around the same block. One hour.
  case loop
  /// From home to work by car: streets, a fast road, traffic lights. One hour, with several minutes of standstill at
  /// both ends.
  case commute
  /// A long drive: town, motorway, town. Two hours.
  case drive
  /// A whole day: night at home, to work, a walk at noon, back, an evening walk. 24 hours.
  case day

  /// UTC at the start of every scenario: 2026-03-01T00:00:00Z.
  public static let start = UTCTime(microseconds: 1_772_323_200_000_000)
  /// Position at the start of every scenario.
  public static let home = Coordinate(latitude_e9: 52_520_000_000, longitude_e9: 13_400_000_000)
  /// Longest supported duration: 31 days.
  public static let maximumDuration = Interval.seconds(31 * 86_400)

  /// Duration if none is requested.
  public var defaultDuration: Interval {
    switch self {
    case .still, .walk, .loop, .commute: .seconds(3_600)
    case .drive: .seconds(7_200)
    case .day: .seconds(86_400)
    }
  }

  /// Description in one line, for help texts.
  public var summary: String {
    switch self {
    case .still: "lies still (1 h)"
    case .walk: "a walk through streets, with pauses (1 h)"
    case .loop: "a run round the same block (1 h)"
    case .commute: "from home by car to work (1 h)"
    case .drive: "town, motorway, town (2 h)"
    case .day: "home, work, a walk at noon, home, an evening walk (24 h)"
    }
  }

  /// Generates the track. A duration longer than the default continues the scenario (there and back, another day),
  /// and a shorter one truncates it. O(seconds of movement).
  ///
  /// - Precondition: `duration` is positive and at most ``maximumDuration``.
  public func track(seed: UInt64, duration: Interval? = nil) -> Track {
    let length = duration ?? defaultDuration
    precondition(
      length > .zero && length <= Scenario.maximumDuration, "a scenario lasts up to 31 days")
    var builder = RouteBuilder(seed: seed, until: length)
    while !builder.isDone {
      switch self {
      case .still: builder.stay(86_400)
      case .walk: addWalk(&builder)
      case .loop: addLoop(&builder)
      case .commute: addCommute(&builder)
      case .drive: addDrive(&builder)
      case .day: addDay(&builder)
      }
    }
    return builder.track(start: Scenario.start)
  }

  private func addWalk(_ builder: inout RouteBuilder) {
    var route = builder.emptyRoute()
    builder.addStreets(to: &route, count: 16, length: 60...180, straight: 0.4, .walking)
    builder.move(along: route)
    builder.stay(builder.random.uniform(60, 240))
    builder.move(along: route.reversed)
    builder.stay(builder.random.uniform(30, 120))
  }

  private func addLoop(_ builder: inout RouteBuilder) {
    var route = builder.emptyRoute()
    let start = route.end
    for _ in 0..<20 {
      for corner in [(160.0, 0.0), (160.0, 110.0), (0.0, 110.0), (0.0, 0.0)] {
        let point = RoutePoint(east: start.east + corner.0, north: start.north + corner.1)
        route.legs.append(Route.Leg(to: point, travelMode: .running))
      }
    }
    builder.move(along: route)
  }

  private func addCommute(_ builder: inout RouteBuilder) {
    let route = builder.commuteRoute()
    builder.stay(300)
    builder.move(along: route)
    builder.stay(2_400)
    builder.move(along: route.reversed)
    builder.stay(2_400)
  }

  private func addDrive(_ builder: inout RouteBuilder) {
    var route = builder.emptyRoute()
    builder.addStreets(to: &route, count: 20, length: 120...400, straight: 0.6, .driving)
    builder.addBends(to: &route, count: 50, length: 900...2_400, turn: 14, .motorway)
    builder.addStreets(to: &route, count: 20, length: 120...400, straight: 0.6, .driving)
    builder.move(along: route)
    builder.stay(600)
    builder.move(along: route.reversed)
    builder.stay(600)
  }

  private func addDay(_ builder: inout RouteBuilder) {
    let midnight = builder.time_s
    let toWork = builder.commuteRoute()
    builder.stay(until: midnight + 7.5 * 3_600 + builder.random.uniform(0, 900))
    builder.move(along: toWork)
    builder.stay(until: midnight + 12 * 3_600 + builder.random.uniform(0, 1_200))
    addWalk(&builder)
    builder.stay(until: midnight + 17 * 3_600 + builder.random.uniform(0, 1_800))
    builder.move(along: toWork.reversed)
    builder.stay(until: midnight + 19.5 * 3_600 + builder.random.uniform(0, 900))
    addWalk(&builder)
    builder.stay(until: midnight + 86_400)
  }
}
