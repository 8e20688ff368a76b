import LocationTypes

@testable import LocationPolicy

let home = RegionIdentifier(.region, 1)
let gate = RegionIdentifier(.condition, 1)

func circle(
  _ identifier: RegionIdentifier, east: Double = 0, north: Double = 0, radius: Double = 100,
  entry: Bool = true, exit: Bool = true
) -> Region {
  Region(
    identifier, center: equator.moved(east: east, north: north), radius: radius,
    notifyOnEntry: entry, notifyOnExit: exit)
}

/// A monitor for positions east of (0, 0), with times in seconds.
struct RegionBench: ~Copyable {
  var monitor = RegionMonitor()

  mutating func add(
    _ region: Region, assuming: MonitorState = .unknown, at seconds: Double = 0
  ) -> RegionEvent? {
    monitor.add(region, assuming: assuming, at: Instant(seconds: seconds))
  }

  /// Accepts fixes at these seconds and metres east.
  mutating func accept(_ steps: (Double, Double)..., accuracy_mm: Int32? = 3_000) {
    for (seconds, east) in steps {
      monitor.accept(fix(at: seconds, east: east, accuracy_mm: accuracy_mm))
    }
  }

  mutating func requestState(
    _ identifier: RegionIdentifier = home, at seconds: Double, timeout: Int64 = 10
  ) -> RegionEvent? {
    monitor.requestState(
      of: identifier, at: Instant(seconds: seconds), timeout: .seconds(timeout))
  }

  /// Seconds from `now` until the next fix is needed.
  func wait(
    at now: Double = 0, fastest: Double = 10, _ line: MotionLine = .moving
  ) -> Double {
    let next = monitor.nextFix(at: Instant(seconds: now), speed: .constant(fastest), line: line)
    return next == .distantFuture ? .infinity : next.seconds - now
  }

  mutating func elapse(_ seconds: Double) { monitor.elapse(to: Instant(seconds: seconds)) }

  /// All pending events.
  mutating func events() -> [RegionEvent] {
    var events: [RegionEvent] = []
    while true {
      let hadEvents = monitor.hasEvents
      guard let event = monitor.nextEvent() else {
        precondition(!hadEvents, "hasEvents without an event")
        return events
      }
      precondition(hadEvents, "an event without hasEvents")
      events.append(event)
    }
  }
}

func entered(_ identifier: RegionIdentifier = home, _ seconds: Double) -> RegionEvent {
  .entered(identifier, at: Instant(seconds: seconds))
}

func exited(_ identifier: RegionIdentifier = home, _ seconds: Double) -> RegionEvent {
  .exited(identifier, at: Instant(seconds: seconds))
}

func monitored(_ state: MonitorState, _ seconds: Double) -> RegionEvent {
  .monitor(gate, state, nil, at: Instant(seconds: seconds))
}

extension RegionMonitor {
  /// State of a region; `unknown` if it is not monitored.
  func state(of identifier: RegionIdentifier) -> RegionState {
    guard let i = slot(of: identifier), slots[i].use == .live else { return .unknown }
    return slots[i].state
  }
}

extension Region {
  /// The circle that the region is.
  var circle: Circle {
    switch shape {
    case .circle(let circle): circle
    }
  }
}
