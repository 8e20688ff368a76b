import LocationTypes

/// The faults of a plan that start at a point in time, in ascending order.
struct FaultTimeline: Sendable {
  enum Fault: Equatable, Sendable {
    case skyLost
    case configurationLost
    case garbage(Int)
    case gone
    case back
  }

  let plan: FaultPlan
  private var moments: [(time: Instant, fault: Fault)] = []
  private var index = 0

  init(_ plan: FaultPlan) {
    self.plan = plan
    // The end of an outage needs no event: `AcquisitionModel` already plans the next fix after it.
    for range in plan.noSky where !range.isEmpty { moments.append((range.lowerBound, .skyLost)) }
    for time in plan.configurationLosses { moments.append((time, .configurationLost)) }
    for garbage in plan.garbage { moments.append((garbage.time, .garbage(garbage.count))) }
    for range in plan.gone where !range.isEmpty {
      moments.append((range.lowerBound, .gone))
      moments.append((range.upperBound, .back))
    }
    moments.sort { $0.time < $1.time }
  }

  /// Time of the next fault; `.distantFuture` for none.
  var next: Instant { index < moments.count ? moments[index].time : .distantFuture }

  /// Removes and returns the next fault.
  mutating func take() -> Fault {
    defer { index += 1 }
    return moments[index].fault
  }
}
