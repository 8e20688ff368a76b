// A receiver that works, and one that does not.

extension BoardScenario {
  static var receiver: [BoardScenario] {
    [
      BoardScenario(name: "supply line, bytes, fix", run: supply),
      BoardScenario(name: "a pulse per second", run: pulse),
      BoardScenario(name: "standby by command, EXTINT wake", run: standby),
      BoardScenario(name: "batch drained by its pin", run: batch),
      BoardScenario(name: "an L76 that streams: NMEA and a supply line", run: streaming),
      BoardScenario(name: "an L76 that is told by PMTK", run: told),
      BoardScenario(name: "a silent receiver", limit: 120, run: silence),
      BoardScenario(name: "a storm of bad checksums", run: storm),
    ]
  }

  /// From nothing to a fix: the service drives the supply line, sets the line's speed, a client is told fixes.
  private static func supply(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.client("supply")
    try client.say("start")
    try bench.waits(for: "GNSS_SUPPLY", true, within: 5)
    try bench.wait("bytes of the board", within: 5) { bench.receiver.bytesReceived > 0 }
    try client.fixes(3, within: 20)
    try expect(try bench.level("GNSS_SUPPLY"), "the supply line fell again")
    try expect(bench.receiver.speed == 115_200, "the line is at \(bench.receiver.speed) baud")
    try expectOrder(client.told)
  }

  /// A fix was made at its pulse, and not when its bytes came. No pulse wakes the service.
  private static func pulse(_ bench: Bench) throws {
    try bench.start(Bench.Wish(receiver: { $0.receiver.outputLatency = .milliseconds(450) }))
    let client = try bench.client("pulse")
    try client.say("start")
    try client.fixes(4, within: 20)
    let byArrival = client.bootUTC.last ?? 0
    bench.givesPulses = true
    try client.fixes(1, within: 5)
    let count = client.bootUTC.count
    try client.fixes(5, within: 10)
    // What of the 450 ms the guest's shell takes to pull the line is missing.
    let gained = (client.bootUTC[count...].max() ?? 0) - byArrival
    try expect((200_000...900_000).contains(gained), "the pulse gains \(gained) µs")
    try expectOrder(client.told)
    bench.givesPulses = false
    try client.say("stop")
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    try bench.pass(2)
    let before = try client.countWakes()
    for _ in 0..<20 { bench.pulse() }
    try bench.pass(1)
    let after = try client.countWakes()
    // That it is asked is one.
    let woken = zip(before[..<5], after).reduce(0) { $0 + $1.1 - $1.0 }
    try expect(woken <= 2, "twenty pulses woke it \(woken) times")
    try client.say("start")
    try client.fixes(2, within: 20)
    try expectOrder(client.told)
  }

  /// Nobody wants fixes any more: RXM-PMREQ. Somebody does again: an edge of EXTINT.
  private static func standby(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.client("standby")
    try client.say("start")
    try client.fixes(2, within: 20)
    bench.changes.removeAll()
    try client.say("stop")
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    try bench.pass(2)
    try expect(bench.receiver.state == "standby", "it did not stay in standby")
    try expect(bench.changes.isEmpty, "a line was driven to put it to sleep")
    let bytes = bench.receiver.bytesReceived
    try client.say("start")
    try bench.waits(for: "GNSS_WAKE", true, within: 5)
    try expect(
      bench.receiver.bytesReceived == bytes, "bytes woke it, and not the edge of its pin")
    try bench.waits(for: "GNSS_WAKE", false, within: 5)
    try client.fixes(2, within: 20)
    try expectOrder(client.told)
  }

  /// Two watermarks and a timeout: the pin is answered by a drain, and the client sleeps on.
  private static func batch(_ bench: Bench) throws {
    try bench.start(Bench.Wish(edits: [("watermark_fixes = 240", "watermark_fixes = 5")]))
    let client = try bench.client("batch")
    try client.say("start")
    try client.fixes(1, within: 20)
    try client.say("background")
    try client.say("defer far 18")
    try bench.wait("the receiver batches", within: 8) { bench.receiver.state == "batching" }
    let told = client.told.count
    for _ in 0..<2 {
      try bench.wait("the batch pin is up", within: 10) { bench.receiver.isBatchPinActive }
      try bench.wait("the batch is drained", within: 4) { !bench.receiver.isBatchPinActive }
    }
    try expect(client.told.count == told, "a client that deferred was told a fix")
    try bench.wait("the deferral ends", within: 20) { !client.finishes.isEmpty }
    try bench.wait("its batch is told", within: 4) { client.batches.last ?? 0 >= 10 }
    try expect(client.finishes == ["ok"], "it ended with \(client.finishes)")
    try expectOrder(client.told)
    let times = client.told.map { ($0.utc + 500_000) / 1_000_000 }
    try expect(
      times.last.map { $0 - times[0] + 1 } == times.count, "of \(times) there are some missing")
    let wakes = try client.countWakes()
    try expect(wakes[2] >= 2, "the pin woke it \(wakes[2]) times")
  }

  /// A receiver that takes no commands: it sends NMEA at 9600 baud for as long as it has supply.
  private static func streaming(_ bench: Bench) throws {
    try bench.start(Bench.streaming)
    let client = try bench.client("nmea")
    try client.say("start")
    try bench.waits(for: "GNSS_SUPPLY", true, within: 5)
    try client.fixes(3, within: 20)
    try expectOrder(client.told)
    try expect(bench.receiver.bytesReceived == 0, "it was written to")
    try client.say("stop")
    try bench.waits(for: "GNSS_SUPPLY", false, within: 10)
    let told = client.told.count
    try client.say("start")
    try bench.wait("it is told fixes again", within: 20) { client.told.count >= told + 2 }
    try expectOrder(client.told)
  }

  /// A receiver that has its supply always: its speed is changed, it is put to standby by PMTK161, and a byte
  /// wakes it.
  private static func told(_ bench: Bench) throws {
    try bench.start(Bench.sentences)
    let client = try bench.client("pmtk")
    try client.say("start")
    try client.fixes(3, within: 20)
    try expect(bench.receiver.speed == 115_200, "the line is at \(bench.receiver.speed) baud")
    try client.say("stop")
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    let sent = bench.receiver.bytesSent
    try bench.pass(3)
    try expect(
      bench.receiver.state == "standby" && bench.receiver.bytesSent == sent,
      "it did not stay in standby")
    let got = bench.receiver.bytesReceived
    try client.say("start")
    try client.fixes(2, within: 20)
    try expect(bench.receiver.bytesReceived > got, "it woke by itself")
    try expectOrder(client.told)
    try expect(bench.changes.isEmpty, "lines were driven: \(bench.changes)")
  }

  /// It does not answer, then it does: told as lost, tried again, found again.
  private static func silence(_ bench: Bench) throws {
    try bench.start(
      Bench.Wish(edits: [
        ("backup_supply = true", "backup_supply = true\nacknowledge_timeout_s = 0.3")
      ]))
    bench.receiver.trouble = .silent
    let client = try bench.client("silence")
    try client.say("start")
    try bench.wait("the client hears that there is no fix", within: 40) {
      client.failures.contains(0)
    }
    try expect(client.told.isEmpty, "a fix of a silent receiver")
    bench.receiver.trouble = .none
    try client.fixes(2, within: 40)
    bench.receiver.trouble = .silent
    try bench.wait("it is lost while it tracks", within: 60) { client.failures.count > 1 }
    bench.receiver.trouble = .none
    try client.fixes(2, within: 40)
    try expectOrder(client.told)
  }

  /// As many wrong bytes as the line takes: none becomes a fix, and the service goes on.
  private static func storm(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.client("storm")
    try client.say("start")
    try client.fixes(2, within: 20)
    let told = client.told.count
    bench.receiver.trouble = .badChecksums
    try bench.pass(6)
    try expect(client.told.count <= told + 1, "a fix came out of a storm")
    bench.receiver.trouble = .none
    try client.fixes(3, within: 30)
    try expectOrder(client.told)
    try expect(
      bench.receiver.bytesSent > 40_000, "only \(bench.receiver.bytesSent) bytes were sent")
  }
}

extension Bench {
  /// A profile of a receiver that streams NMEA.
  static var streaming: Wish {
    var wish = sending("nmea", "simulated receiver")
    wish.edits.append(("line_speed_baud = 115200", "line_speed_baud = 9600"))
    return wish
  }

  /// A profile of a receiver that is told by sentences, and cannot be switched off.
  static var sentences: Wish {
    var wish = sending("mtk", "simulated L76")
    wish.edits.append(("supply_line = \"GNSS_SUPPLY\"\nbackup_supply = true\n", ""))
    return wish
  }

  private static func sending(_ family: String, _ model: String) -> Wish {
    Wish(
      edits: [
        (
          "family = \"ublox-m10\"\noutput = \"ubx\"",
          "family = \"\(family)\"\noutput = \"nmea\""
        ),
        ("simulated M10", model), ("wake_line = \"GNSS_WAKE\"\n", ""),
      ],
      without: ["[receiver.batch]"])
  }

  /// Waits until the board drives a line so, and forgets the changes up to there.
  func waits(for line: String, _ isUp: Bool, within seconds: Double) throws {
    func index() -> Int? { changes.firstIndex { $0.line == line && $0.isUp == isUp } }
    try wait("\(line) is \(isUp ? "up" : "down")", within: seconds) { index() != nil }
    if let last = index() { changes.removeSubrange(...last) }
  }
}
