import LocationTypes

@testable import LocationPolicy

/// Reference for region monitoring without optimisations: measures each circle at each fix with the
/// exact distance, as REG-4 to REG-6 specify.
struct RegionOracle {
  struct Circle {
    var region: Region
    var addedAt: Instant
    var isInside: Bool?
    var farSince: Instant?
    var reported: Bool?
  }

  var circles: [Circle] = []
  var newest: Fix?
  var isInactive = false

  mutating func add(_ region: Region, at now: Instant) -> [RegionEvent] {
    if let i = circles.firstIndex(where: { $0.region.identifier == region.identifier }) {
      guard circles[i].region.shape != region.shape else {
        circles[i].region = region
        circles[i].reported = nil
        guard region.identifier.kind == .condition, circles[i].isInside != nil else { return [] }
        return report(i, at: now)
      }
      circles.remove(at: i)
    }
    circles.append(Circle(region: region, addedAt: now))
    guard let newest, !isInactive, now - newest.acquired <= .seconds(10) else { return [] }
    return check(circles.count - 1, newest)
  }

  mutating func remove(_ identifier: RegionIdentifier) {
    circles.removeAll { $0.region.identifier == identifier }
  }

  mutating func setInactive(_ isInactive: Bool, at now: Instant) {
    guard isInactive != self.isInactive else { return }
    self.isInactive = isInactive
    newest = nil
    for i in circles.indices {
      circles[i].isInside = nil
      circles[i].farSince = nil
      circles[i].addedAt = now
    }
  }

  mutating func accept(_ fix: Fix) -> [RegionEvent] {
    guard !isInactive, newest.map({ fix.acquired > $0.acquired }) ?? true else { return [] }
    newest = fix
    var events: [RegionEvent] = []
    for i in circles.indices where fix.acquired >= circles[i].addedAt { events += check(i, fix) }
    return events
  }

  private mutating func check(_ i: Int, _ fix: Fix) -> [RegionEvent] {
    let circle = circles[i].region.circle
    let radius = circle.radius
    let distance = circle.center.distance(to: fix.coordinate)
    let accuracy = fix.horizontalAccuracy ?? 10
    guard abs(distance - radius) >= accuracy else { return [] }
    let isInside = distance <= radius
    guard let wasInside = circles[i].isInside else {
      circles[i].isInside = isInside
      guard circles[i].region.identifier.kind == .condition else { return [] }
      return circles[i].reported == isInside ? [] : report(i, at: fix.acquired)
    }
    let least = max(accuracy, min(10, radius / 2))
    guard isInside != wasInside, abs(distance - radius) >= least else {
      circles[i].farSince = nil
      return []
    }
    guard let since = circles[i].farSince else {
      circles[i].farSince = fix.acquired
      return []
    }
    guard (fix.acquired - since).seconds >= 20 else { return [] }
    circles[i].farSince = nil
    circles[i].isInside = isInside
    return report(i, at: fix.acquired)
  }

  private mutating func report(_ i: Int, at time: Instant) -> [RegionEvent] {
    let region = circles[i].region
    let isInside = circles[i].isInside == true
    circles[i].reported = isInside
    switch region.identifier.kind {
    case .condition:
      return [.monitor(region.identifier, isInside ? .satisfied : .unsatisfied, nil, at: time)]
    case .region:
      let state = isInside ? RegionState.inside : .outside
      guard isInside ? region.notifyOnEntry : region.notifyOnExit else {
        return [.crossedSilently(region.identifier, state)]
      }
      let crossing =
        isInside
        ? RegionEvent.entered(region.identifier, at: time) : .exited(region.identifier, at: time)
      return [crossing, .determined(region.identifier, state)]
    }
  }
}
