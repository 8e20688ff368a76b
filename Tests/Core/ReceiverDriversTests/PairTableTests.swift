import GNSSProtocols
import LocationTypes
import Testing

@testable import ReceiverDrivers

@Suite("Every state and event") struct PairTableTests {
  /// A driver in each state, on a board with all lines, and the time at which it was reached.
  static func samples() -> [UBloxDriver.State: (driver: UBloxDriver, at: Instant)] {
    var found: [UBloxDriver.State: (driver: UBloxDriver, at: Instant)] = [:]
    var setup = Setups.switched
    setup.hasPowerSave = true
    setup.aiding = AidingSetup(capacity: 8)
    let bench = DriverBench(setup)
    found[.idle] = (bench.driver, bench.now)
    func watch(_ event: DriverEvent, _ seconds: Double) {
      bench.step(event)
      let end = bench.now + Interval(seconds: seconds)
      while bench.now < end {
        let state = bench.driver.state
        if found[state] == nil, bench.driver.link.pending.isEmpty {
          found[state] = (bench.driver, bench.now)
        }
        bench.run(0.002)
      }
    }
    watch(.goal(.tracking), 15)
    watch(.goal(.powersave), 5)
    watch(.goal(.batching(watermark: 50)), 5)
    watch(.goal(.batching(watermark: 60)), 30)
    watch(.drain, 3)
    watch(.goal(.tracking), 5)
    watch(.goal(.standby), 5)
    watch(.goal(.tracking), 5)
    watch(.goal(.off), 5)
    watch(.goal(.tracking), 20)
    watch(.goal(.off), 8)
    watch(.goal(.tracking), 10)
    watch(.satellites(true), 3)
    watch(.satellites(false), 3)
    bench.receiver.isSilent = true
    watch(.drain, 60)
    return found
  }

  @Test("Each event has the listed effect in each state")
  func table() {
    let samples = PairTableTests.samples()
    var lines: [String] = []
    for state in allStates {
      guard let sample = samples[state] else {
        Issue.record("\(state) was not reached")
        continue
      }
      var changes: [String] = []
      for (name, event) in zip(Pairs.names, Pairs.events) {
        var now = sample.at + .milliseconds(1)
        // The deadline event occurs when it is due; messages after the command under way has ended.
        if name == "deadline", let due = sample.driver.deadline { now = max(due, now) }
        if case .message = event { now = now + .milliseconds(800) }
        var driver = sample.driver
        let effects = driver.handle(event, at: now)
        var outcome = driver.state == state ? "" : "\(driver.state)"
        if driver.hasOutgoing { outcome += "!" }
        if let pin = effects.pin { outcome += pin.pin == .receiverWake ? "^" : "#" }
        if effects.observation != .none {
          outcome += "(\(effects.observation.word))"
        }
        if !outcome.isEmpty { changes.append("\(name):\(outcome)") }
      }
      lines.append("\(state) | " + changes.joined(separator: " "))
    }
    for (line, expected) in zip(lines, PairTableTests.expected) { #expect(line == expected) }
    #expect(lines.count == PairTableTests.expected.count)
  }

  /// State | event: next state (none: unchanged), ! writes, ^ wake pin, # supply, (reported).
  static let expected = [
    "idle | off:unpowered# standby:powering# tracking:powering# "
      + "powersave:powering# batching:powering# drain:(drained)",
    "unpowered | off:(settled) drain:(drained) supply-fault:lost(lost)",
    "powering | \(PairTable.faults) deadline:probing!",
    "pulsing | drain:(drained) fault:lost^(lost) wake-fault:lost^(lost) "
      + "supply-fault:lost^(lost) deadline:waking^",
    "waking | drain:(drained) \(PairTable.faults) deadline:probing!",
    "probing | \(PairTable.faults) deadline:! version:configuring! "
      + "values:configuring! nak-poll:configuring!",
    "probingDefault | \(PairTable.faults) deadline:! version:changingSpeed!",
    "changingSpeed | \(PairTable.faults) deadline:probing! ack:probing! nak:probing!",
    "configuring | \(PairTable.faults) deadline:! ack:leaving! nak:!",
    "tracking | off:fallingAsleep! standby:fallingAsleep! tracking:(settled) "
      + "powersave:changingPower! batching:enabling! drain:(drained) \(PairTable.faults) deadline:probing! "
      + "rmc:configuring! sat:switchingSatellites! watch:switchingSatellites!",
    "enabling | drain:(drained) \(PairTable.faults) deadline:! ack:muting! nak:tracking(refused)",
    "muting | \(PairTable.faults) deadline:! ack:batching(settled) nak:!",
    "batching | off:unmuting! standby:unmuting! tracking:unmuting! "
      + "powersave:unmuting! batching:changingWatermark! drain:draining! pin:draining! \(PairTable.faults) "
      + "pvt:configuring! rmc:configuring!",
    "changingWatermark | \(PairTable.faults) deadline:! ack:batching(settled) nak:!",
    "draining | \(PairTable.faults) deadline:! pvt:configuring! rmc:configuring! "
      + "nak-batch:configuring! empty:enabling!(drained)",
    "unmuting | \(PairTable.faults) deadline:! ack:leaving! nak:!",
    "leaving | \(PairTable.faults) deadline:! nak-batch:disabling! empty:disabling!",
    "disabling | \(PairTable.faults) deadline:! ack:tracking(settled) nak:tracking(settled)",
    "fallingAsleep | drain:(drained) \(PairTable.faults) deadline:standby(settled) pvt:! "
      + "rmc:! ack:! nak:! ack-pmreq:! nak-pmreq:! nak-batch:! version:! values:! nak-poll:! "
      + "empty:! filled:! entry:! other:! dbd:! mga-ack:! mga-nak:! sat:!",
    "standby | off:unpowered# standby:(settled) tracking:pulsing^ "
      + "powersave:pulsing^ batching:pulsing^ drain:(drained) \(PairTable.faults) pvt:fallingAsleep! "
      + "rmc:fallingAsleep! ack:fallingAsleep! nak:fallingAsleep! ack-pmreq:fallingAsleep! "
      + "nak-pmreq:fallingAsleep! nak-batch:fallingAsleep! version:fallingAsleep! "
      + "values:fallingAsleep! nak-poll:fallingAsleep! "
      + "empty:fallingAsleep! filled:fallingAsleep! entry:fallingAsleep! other:fallingAsleep! "
      + "dbd:fallingAsleep! mga-ack:fallingAsleep! mga-nak:fallingAsleep! sat:fallingAsleep!",
    "lost | off:fallingAsleep! drain:(drained) deadline:pulsing^",
    "changingPower | drain:(drained) \(PairTable.faults) deadline:! ack:tracking(settled) "
      + "nak:tracking(refused)",
    "saving | standby:fallingAsleep! tracking:tracking(settled) powersave:changingPower! "
      + "batching:enabling! drain:(drained) \(PairTable.faults) deadline:! rmc:fallingAsleep! ack:! nak:!",
    "restoring | off:fallingAsleep! standby:fallingAsleep! drain:(drained) \(PairTable.faults) deadline:! "
      + "rmc:configuring! ack:! nak:tracking(settled)",
    "switchingSatellites | off:fallingAsleep! standby:fallingAsleep! powersave:changingPower! "
      + "drain:(drained) \(PairTable.faults) deadline:! rmc:configuring! ack:tracking nak:tracking",
  ]
}
