import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

@Suite("Every state and event of a receiver commanded by sentences") struct SentencePairTests {
  private typealias State = SentenceDriver.State

  private static let states: [State] = (0...14).compactMap { State(rawValue: $0) }

  private static let setup = ReceiverSetup(
    family: .airoha, lineSpeed: 38_400, output: .nmea, hasWakePin: true, hasSupplySwitch: true)

  private static func result(_ command: UInt16, _ outcome: CommandResult.Outcome) -> DriverEvent {
    .message(.commandResult(CommandResult(family: .airoha, command: command, outcome: outcome)))
  }

  /// The events that lead from no goal to a state; nil means the deadline.
  private static func steps(to state: State) -> [DriverEvent?] {
    let configured: [DriverEvent?] =
      [.goal(.tracking), nil, result(2, .done)]
      + Array(repeating: result(62, .done), count: 6) + [result(50, .done)]
    let asleep: [DriverEvent?] = configured + [.goal(.standby), result(3, .done), nil]
    let unanswered: [DriverEvent?] = [.goal(.tracking), nil, nil, nil, nil]
    switch state {
    case .idle: return []
    case .unpowered: return [.goal(.off)]
    case .powering: return [.goal(.tracking)]
    case .probing: return [.goal(.tracking), nil]
    case .probingDefault: return unanswered
    case .changingSpeed: return unanswered + [result(2, .done)]
    case .restarting: return unanswered + [result(2, .done), result(864, .done)]
    case .configuring: return Array(configured.prefix(3))
    case .tracking: return configured
    case .fallingAsleep: return configured + [.goal(.standby)]
    case .standby: return asleep
    case .pulsing: return asleep + [.goal(.tracking)]
    case .waking: return asleep + [.goal(.tracking), nil]
    case .lost: return configured + [.lineFault]
    case .switchingSatellites: return configured + [.satellites(true)]
    }
  }

  /// A driver in a state, with the time at which it got there; all observations are consumed.
  private static func driver(in state: State) -> (SentenceDriver, Instant) {
    var driver = SentenceDriver(setup)
    var now = Instant.boot
    for event in steps(to: state) {
      now = event == nil ? max(now, driver.deadline ?? now) : now + .milliseconds(1)
      _ = driver.handle(event ?? .deadline, at: now)
      while !driver.link.pending.isEmpty { _ = driver.handle(.drain, at: now) }
    }
    return (driver, now)
  }

  private static let events: [(name: String, event: DriverEvent)] = [
    ("off", .goal(.off)), ("standby", .goal(.standby)), ("tracking", .goal(.tracking)),
    ("powersave", .goal(.powersave)), ("batching", .goal(.batching(watermark: 7))),
    ("drain", .drain), ("pin", .batchPin), ("fault", .lineFault),
    ("wake-fault", .pinFault(.receiverWake)), ("supply-fault", .pinFault(.receiverSupply)),
    ("deadline", .deadline), ("rmc", .message(.rmc(RMC()))),
    ("gsv", .message(.gsv(GSV(sentences: 1, number: 1, inView: 0)))),
    ("started", .message(.receiverNotice(.started))), ("probe-ack", result(2, .done)),
    ("speed-ack", result(864, .done)), ("ack", result(62, .done)), ("nak", result(62, .failed)),
    ("busy", result(62, .busy)), ("sleep-ack", result(3, .done)),
    ("sleep-nak", result(3, .unsupported)), ("other", .message(.malformed)),
    ("watch", .satellites(true)), ("unwatch", .satellites(false)),
  ]

  @Test("each event has the listed effect in each state")
  func table() {
    var lines: [String] = []
    for state in Self.states {
      let (sample, at) = Self.driver(in: state)
      #expect(sample.state == state)
      var changes: [String] = []
      for (name, event) in Self.events {
        var now = at + .milliseconds(1)
        if name == "deadline", let due = sample.deadline { now = max(due, now) }
        // The command under way has ended, and its answer timeout has passed.
        if ["rmc", "gsv", "started"].contains(name) { now = now + .seconds(2) }
        var driver = sample
        let effects = driver.handle(event, at: now)
        var outcome = driver.state == state ? "" : "\(driver.state)"
        if driver.hasOutgoing { outcome += "!" }
        if let pin = effects.pin { outcome += pin.pin == .receiverWake ? "^" : "#" }
        if effects.observation != .none { outcome += "(\(effects.observation.word))" }
        if !driver.isQuiescent { #expect(driver.deadline != nil, "\(state) \(name)") }
        if !outcome.isEmpty { changes.append("\(name):\(outcome)") }
      }
      lines.append("\(state) | " + changes.joined(separator: " "))
    }
    for (line, expected) in zip(lines, Self.expected) { #expect(line == expected) }
    #expect(lines.count == Self.expected.count, "\n\(lines.joined(separator: "\n"))")
  }

  /// State | event: next state (none: unchanged), ! writes, ^ wake pin, # supply, (reported).
  static let expected = [
    "idle | off:unpowered# standby:powering# tracking:powering# powersave:powering# "
      + "batching:powering# drain:(drained)",
    "unpowered | off:(settled) drain:(drained) supply-fault:lost(lost) deadline:(settled)",
    "powering | drain:(drained) \(PairTable.faults) deadline:probing!",
    "pulsing | drain:(drained) fault:lost^(lost) wake-fault:lost^(lost) "
      + "supply-fault:lost^(lost) deadline:waking!^",
    "waking | drain:(drained) \(PairTable.faults) deadline:probing!",
    "probing | drain:(drained) \(PairTable.faults) deadline:! probe-ack:configuring!",
    "probingDefault | drain:(drained) \(PairTable.faults) deadline:! probe-ack:changingSpeed!",
    "changingSpeed | drain:(drained) \(PairTable.faults) deadline:restarting! "
      + "speed-ack:restarting!",
    "restarting | drain:(drained) \(PairTable.faults) deadline:probing!",
    "configuring | drain:(drained) \(PairTable.faults) deadline:! started:! ack:! nak:!",
    "tracking | off:fallingAsleep! standby:fallingAsleep! tracking:(settled) "
      + "powersave:(refused) batching:(refused) drain:(drained) \(PairTable.faults) "
      + "deadline:probing! gsv:configuring! started:configuring! watch:switchingSatellites!",
    "fallingAsleep | drain:(drained) \(PairTable.faults) deadline:standby(settled) rmc:! "
      + "gsv:! started:! sleep-nak:!",
    "standby | off:unpowered# standby:(settled) tracking:pulsing^ "
      + "powersave:pulsing^ batching:pulsing^ drain:(drained) \(PairTable.faults) "
      + "rmc:fallingAsleep! gsv:fallingAsleep! started:fallingAsleep!",
    "lost | off:fallingAsleep! drain:(drained) deadline:pulsing^",
    "switchingSatellites | off:fallingAsleep! standby:fallingAsleep! drain:(drained) "
      + "\(PairTable.faults) deadline:! started:configuring! ack:tracking nak:tracking",
  ]
}
