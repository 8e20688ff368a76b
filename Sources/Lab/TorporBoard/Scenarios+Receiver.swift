// Scenarios with a working receiver, and with a faulty one.

extension BoardScenario {
  static var receiver: [BoardScenario] {
    [
      BoardScenario(name: "supply line, bytes, fix", run: supply),
      BoardScenario(name: "a pulse per second", run: pulse),
      BoardScenario(name: "the system clock by pulse", run: systemClock),
      BoardScenario(name: "steps of the system clock", run: clockSteps),
      BoardScenario(name: "standby by command, EXTINT wake", run: standby),
      BoardScenario(name: "batch drained by its pin", run: batch),
      BoardScenario(name: "an L76 that streams: NMEA and a supply line", run: streaming),
      BoardScenario(name: "an L76 that is controlled by PMTK", run: sentenceCommands),
      BoardScenario(name: "a silent receiver", limit: 120, run: silence),
      BoardScenario(name: "a storm of bad checksums", run: badChecksums),
    ]
  }

  /// Start to first fix: the service drives the supply line and sets the line speed; the client receives fixes.
  private static func supply(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.client("supply")
    try client.execute("start")
    try bench.waitForLine("GNSS_SUPPLY", true, within: 5)
    try bench.wait("output of the board", within: 5) { bench.receiver.bytesReceived > 0 }
    try client.waitForFixes(3, within: 20)
    try expect(try bench.level("GNSS_SUPPLY"), "the supply line was switched off again")
    try expect(bench.receiver.speed == 115_200, "the line is at \(bench.receiver.speed) baud")
    try expectOrder(client.received)
  }

  /// A fix's time is that of its pulse, not that of its bytes. No pulse wakes the service.
  private static func pulse(_ bench: Bench) throws {
    try bench.start(Bench.BoardSetup(receiver: { $0.receiver.outputLatency = .milliseconds(450) }))
    let client = try bench.updatingClient("pulse", fixes: 4)
    let byArrival = client.bootUTC.last ?? 0
    bench.generatesPulses = true
    try client.waitForFixes(1, within: 5)
    let count = client.bootUTC.count
    try client.waitForFixes(5, within: 10)
    // The gain is less than 450 ms by the time that the guest's shell needs to change the line.
    let gained = (client.bootUTC[count...].max() ?? 0) - byArrival
    try expect((200_000...900_000).contains(gained), "the pulse gains \(gained) µs")
    try expectOrder(client.received)
    bench.generatesPulses = false
    try client.execute("stop")
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    try bench.advance(2)
    let before = try client.countWakes()
    for _ in 0..<20 { bench.pulse() }
    try bench.advance(1)
    let after = try client.countWakes()
    // The query itself is one wake.
    let woken = zip(before[..<5], after).reduce(0) { $0 + $1.1 - $1.0 }
    try expect(woken <= 2, "twenty pulses woke the board \(woken) times")
    try client.execute("start")
    try client.waitForFixes(2, within: 20)
    try expectOrder(client.received)
  }

  /// A sample for chronyd has the time of the edge by the guest's clock, and the edge's second of the receiver's UTC.
  /// The guest generates the pulses, because the host cannot know when an edge reaches the guest: at the whole seconds
  /// of the receiver, as far as the arrivals of its fixes show them.
  private static func systemClock(_ bench: Bench) throws {
    let latency = 450_000
    try bench.start(
      Bench.BoardSetup(receiver: {
        $0.receiver.outputLatency = .milliseconds(Int64(latency / 1_000))
      }),
      options: "--clock /run/clock.sock")
    let client = try bench.updatingClient("clock", fixes: 4)
    guard let line = bench.pullPath(of: "GNSS_PULSE"), let byArrival = client.bootUTC.max() else {
      throw Failure("no pulse line, or no fix")
    }
    let utcAtBoot = byArrival + latency
    let output = try bench.shell(
      "ClientProbe clock /run/clock.sock \(line) \(utcAtBoot) 25", within: 50)
    let found = ClockSamples(output)
    try expect(found.samples.count >= 6, "only \(found.samples.count) samples: \(output)")
    for sample in found.samples {
      let distance =
        found.edges.map { max($0.before - sample.time, sample.time - $0.after, 0) }.min() ?? .max
      try expect(distance <= 1_000, "a sample is \(distance) µs from its edge: \(output)")
      // The edge's UTC by the arrivals, which are exact enough to distinguish seconds.
      let utc = sample.time - found.clock + utcAtBoot
      let second = (utc + 500_000) / 1_000_000 * 1_000_000
      try expect(
        abs(sample.time + sample.offset - second) <= 2,
        "a sample at \(sample.time) is not of the second \(second): \(output)")
    }
  }

  /// The guest's clock is set by decades and back between fixes: fixes, their order and their times do not change.
  private static func clockSteps(_ bench: Bench) throws {
    try bench.start(options: "--clock /run/clock.sock")
    let client = try bench.updatingClient("steps", fixes: 3)
    let atBoot = client.bootUTC.max() ?? 0
    for seconds in [100_000, 1_790_000_000, 100_000, Int(HostClock.wall)] {
      try bench.shell("date -s @\(seconds) >/dev/null")
      try client.waitForFixes(3, within: 15)
    }
    try expectOrder(client.received)
    let seconds = client.received.map { ($0.utc + 500_000) / 1_000_000 }
    try expect(
      zip(seconds, seconds.dropFirst()).allSatisfy { $1 - $0 == 1 },
      "seconds are missing: \(seconds)")
    try expect(
      client.bootUTC.allSatisfy { abs($0 - atBoot) < 500_000 },
      "fixes have other times: \(client.bootUTC)")
    try expect(client.failures.isEmpty && client.gaps.isEmpty, "\(client.lines)")
  }

  /// The last client stops: the driver sends RXM-PMREQ. The client starts again: an edge of EXTINT wakes the receiver.
  private static func standby(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.updatingClient("standby", fixes: 2)
    bench.changes.removeAll()
    try client.execute("stop")
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    try bench.advance(2)
    try expect(bench.receiver.state == "standby", "the receiver did not stay in standby")
    try expect(bench.changes.isEmpty, "a line was driven to put it to sleep")
    let bytes = bench.receiver.bytesReceived
    try client.execute("start")
    try bench.waitForLine("GNSS_WAKE", true, within: 5)
    try expect(
      bench.receiver.bytesReceived == bytes, "bytes woke the receiver instead of its pin")
    try bench.waitForLine("GNSS_WAKE", false, within: 5)
    try client.waitForFixes(2, within: 20)
    try expectOrder(client.received)
  }

  /// Two watermarks and a timeout: each pin edge causes a drain, and the client is not woken.
  private static func batch(_ bench: Bench) throws {
    try bench.start(Bench.BoardSetup(edits: [("watermark_fixes = 240", "watermark_fixes = 5")]))
    let client = try bench.updatingClient("batch", fixes: 1)
    try client.execute("background")
    try client.execute("defer far 18")
    try bench.wait("the receiver batches", within: 8) { bench.receiver.state == "batching" }
    let delivered = client.received.count
    for _ in 0..<2 {
      try bench.wait("the batch pin is up", within: 10) { bench.receiver.isBatchPinActive }
      try bench.wait("the batch is drained", within: 4) { !bench.receiver.isBatchPinActive }
    }
    try expect(client.received.count == delivered, "a fix was delivered during the deferral")
    try bench.wait("the deferral ends", within: 20) { !client.finishes.isEmpty }
    try bench.wait("its batch is delivered", within: 4) { client.batches.last ?? 0 >= 10 }
    try expect(client.finishes == ["ok"], "the deferral finished with \(client.finishes)")
    try expectOrder(client.received)
    let times = client.received.map { ($0.utc + 500_000) / 1_000_000 }
    try expect(
      times.last.map { $0 - times[0] + 1 } == times.count, "seconds are missing in \(times)")
    let wakes = try client.countWakes()
    try expect(wakes[2] >= 2, "the pin woke the board \(wakes[2]) times")
  }

  /// A receiver without commands: it sends NMEA at 9600 baud while it is powered.
  private static func streaming(_ bench: Bench) throws {
    try bench.start(Bench.streaming)
    let client = try bench.client("nmea")
    try client.execute("start")
    try bench.waitForLine("GNSS_SUPPLY", true, within: 5)
    try client.waitForFixes(3, within: 20)
    try expectOrder(client.received)
    try expect(bench.receiver.bytesReceived == 0, "bytes were sent to the receiver")
    try client.execute("stop")
    try bench.waitForLine("GNSS_SUPPLY", false, within: 10)
    let before = client.received.count
    try client.execute("start")
    try bench.wait("fixes are delivered again", within: 20) { client.received.count >= before + 2 }
    try expectOrder(client.received)
  }

  /// A receiver with a permanent supply: the driver changes its speed, puts it to standby by PMTK161, and wakes it by
  /// a byte.
  private static func sentenceCommands(_ bench: Bench) throws {
    try bench.start(Bench.sentences)
    let client = try bench.updatingClient("pmtk", fixes: 3)
    try expect(bench.receiver.speed == 115_200, "the line is at \(bench.receiver.speed) baud")
    try client.execute("stop")
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    let sent = bench.receiver.bytesSent
    try bench.advance(3)
    try expect(
      bench.receiver.state == "standby" && bench.receiver.bytesSent == sent,
      "the receiver did not stay in standby")
    let received = bench.receiver.bytesReceived
    try client.execute("start")
    try client.waitForFixes(2, within: 20)
    try expect(bench.receiver.bytesReceived > received, "the receiver woke without a byte")
    try expectOrder(client.received)
    try expect(bench.changes.isEmpty, "lines were driven: \(bench.changes)")
  }

  /// A receiver that stops responding is reported as lost and retried, and delivers fixes when it responds again.
  private static func silence(_ bench: Bench) throws {
    try bench.start(
      Bench.BoardSetup(edits: [
        ("backup_supply = true", "backup_supply = true\nacknowledge_timeout_s = 0.3")
      ]))
    bench.receiver.fault = .silent
    let client = try bench.client("silence")
    try client.execute("start")
    try bench.wait("the client is notified that there is no fix", within: 40) {
      client.failures.contains(0)
    }
    try expect(client.received.isEmpty, "a fix from a silent receiver")
    bench.receiver.fault = .none
    try client.waitForFixes(2, within: 40)
    bench.receiver.fault = .silent
    try bench.wait("the receiver is lost while it tracks", within: 60) { client.failures.count > 1 }
    bench.receiver.fault = .none
    try client.waitForFixes(2, within: 40)
    try expectOrder(client.received)
  }

  /// Wrong bytes at the full line speed: none becomes a fix, and the service continues.
  private static func badChecksums(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.updatingClient("storm", fixes: 2)
    let delivered = client.received.count
    bench.receiver.fault = .badChecksums
    try bench.advance(6)
    try expect(client.received.count <= delivered + 1, "a fix was decoded from wrong checksums")
    bench.receiver.fault = .none
    try client.waitForFixes(3, within: 30)
    try expectOrder(client.received)
    try expect(
      bench.receiver.bytesSent > 40_000, "only \(bench.receiver.bytesSent) bytes were sent")
  }
}

/// What `ClientProbe clock` has printed, in microseconds of the guest's system clock.
struct ClockSamples {
  /// System clock minus boot clock.
  private(set) var clock = 0
  private(set) var edges: [(before: Int, after: Int)] = []
  private(set) var samples: [(time: Int, offset: Int)] = []

  init(_ output: String) {
    for words in output.split(separator: "\n").map({ $0.split(separator: " ") }) {
      let numbers = words.dropFirst().compactMap { Int($0) }
      switch (words.first, numbers.count) {
      case ("clock", 1): clock = numbers[0]
      case ("pulse", 2): edges.append((numbers[0], numbers[1]))
      case ("sample", 2): samples.append((numbers[0], numbers[1]))
      default: break
      }
    }
  }
}

extension Bench {
  /// A profile of a receiver that streams NMEA.
  static var streaming: BoardSetup {
    var setup = sending("nmea", "simulated receiver")
    setup.edits.append(("line_speed_baud = 115200", "line_speed_baud = 9600"))
    return setup
  }

  /// A profile of a receiver with sentence commands and without a supply switch.
  static var sentences: BoardSetup {
    var setup = sending("mtk", "simulated L76")
    setup.edits.append(("supply_line = \"GNSS_SUPPLY\"\nbackup_supply = true\n", ""))
    return setup
  }

  private static func sending(_ family: String, _ model: String) -> BoardSetup {
    BoardSetup(
      edits: [
        (
          "family = \"ublox-m10\"\noutput = \"ubx\"",
          "family = \"\(family)\"\noutput = \"nmea\""
        ),
        ("simulated M10", model), ("wake_line = \"GNSS_WAKE\"\n", ""),
      ],
      removed: ["[receiver.batch]"])
  }

  /// Waits until the board drives a line to a level, and discards the changes up to then.
  func waitForLine(_ line: String, _ isUp: Bool, within seconds: Double) throws {
    func index() -> Int? { changes.firstIndex { $0.line == line && $0.isUp == isUp } }
    try wait("\(line) is \(isUp ? "up" : "down")", within: seconds) { index() != nil }
    if let last = index() { changes.removeSubrange(...last) }
  }
}
