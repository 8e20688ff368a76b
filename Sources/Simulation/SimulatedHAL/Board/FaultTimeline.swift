import LocationTypes

/// Events of a fault plan in ascending order of time. ``SimulatedReceiver`` executes them; it reads faults without an
/// event, such as ``FaultPlan/commandLoss``, from ``plan``.
struct FaultTimeline: Sendable {
  enum Fault: Equatable, Sendable {
    case signalLost
    case configurationLost
    case garbage(Int)
    case deviceRemoved
    case deviceReturned
  }

  let plan: FaultPlan
  private var events: [(time: Instant, fault: Fault)] = []
  private var index = 0

  init(_ plan: FaultPlan) {
    self.plan = plan
    // The end of an outage needs no event: `AcquisitionModel` already plans the next fix after it.
    for range in plan.signalOutages where !range.isEmpty {
      events.append((range.lowerBound, .signalLost))
    }
    for time in plan.configurationLosses { events.append((time, .configurationLost)) }
    for garbage in plan.garbage { events.append((garbage.time, .garbage(garbage.count))) }
    for range in plan.deviceAbsent where !range.isEmpty {
      events.append((range.lowerBound, .deviceRemoved))
      events.append((range.upperBound, .deviceReturned))
    }
    events.sort { $0.time < $1.time }
  }

  /// Time of the next fault; `.distantFuture` for none.
  var nextTime: Instant { index < events.count ? events[index].time : .distantFuture }

  /// Removes and returns the next fault.
  mutating func removeNext() -> Fault {
    defer { index += 1 }
    return events[index].fault
  }
}
