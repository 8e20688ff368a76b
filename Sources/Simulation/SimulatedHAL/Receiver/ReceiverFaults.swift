import GNSSProtocols
import LocationTypes

/// The faults of one run: the events of a fault plan in ascending order of time, and the random choices of faults
/// without an event, such as a lost command.
///
/// Owner: ``SimulatedReceiver``, which executes the events. All random numbers of the receiver's faults are drawn here,
/// in the order of the calls, so that a run is the same for the same seed.
struct ReceiverFaults: Sendable {
  /// A fault at a time of the plan.
  enum Event: Equatable, Sendable {
    case signalLost
    case configurationLost
    case garbage(Int)
    case deviceRemoved
    case deviceReturned
  }

  private let plan: FaultPlan
  private var events: [(time: Instant, event: Event)] = []
  private var index = 0
  private var random: SimulationRandom
  /// Number of acknowledgements that were sent or lost.
  private var acknowledgements = 0

  init(_ plan: FaultPlan, seed: UInt64) {
    self.plan = plan
    random = SimulationRandom(seed: seed, stream: 3)
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

  /// Time of the next event; `.distantFuture` for none.
  var nextTime: Instant { index < events.count ? events[index].time : .distantFuture }

  /// Removes and returns the next event.
  mutating func removeNext() -> Event {
    defer { index += 1 }
    return events[index].event
  }

  /// Whether received bytes are lost before they are decoded.
  mutating func losesCommand() -> Bool {
    plan.commandLoss > 0 && random.uniform() < plan.commandLoss
  }

  /// Whether the acknowledgement that would be sent now is lost.
  mutating func losesAcknowledgement() -> Bool {
    acknowledgements += 1
    if acknowledgements <= plan.firstAcknowledgementsLost { return true }
    let loss = plan.acknowledgementLoss
    return loss > 0 && random.uniform() < loss
  }

  /// A byte on the line that the receiver did not send.
  mutating func garbageByte() -> UInt8 { UInt8(truncatingIfNeeded: random.next() >> 56) }

  /// Whether the receiver rejects valid configuration items now.
  func rejects(_ items: UBXConfiguration, at now: Instant) -> Bool {
    if plan.batchingRejected.contains(where: { $0.contains(now) }),
      items.value(of: ConfigurationKey.batchEnable) == 1
    {
      return true
    }
    return plan.powerModeRejected.contains { $0.contains(now) }
      && items.value(of: ConfigurationKey.powerMode) != nil
  }

  /// Whether the receiver rejects a poll of its configuration now.
  func rejects(_ poll: UBXConfigurationPoll, at now: Instant) -> Bool {
    if plan.rejectsConfigurationPoll { return true }
    guard plan.powerModeRejected.contains(where: { $0.contains(now) }) else { return false }
    return (0..<poll.count).contains { poll[$0] == ConfigurationKey.powerMode }
  }

  /// Whether requests for standby without an end time are ignored, by a receiver with sentences all requests.
  var ignoresUnlimitedStandby: Bool { plan.ignoresUnlimitedStandby }
}
