// Scenarios with suspend to RAM.

extension BoardScenario {
  static var suspend: [BoardScenario] {
    [
      BoardScenario(name: "suspended while it batches, woken by an alarm", limit: 150, run: alarm),
      BoardScenario(name: "woken by a serial byte", limit: 150, run: byte),
      BoardScenario(name: "no suspend near an alarm", run: nearAlarm),
      BoardScenario(name: "events racing the suspend", limit: 180, run: race),
      BoardScenario(
        name: "the system clock of a board that suspends", limit: 180, run: systemClock),
      BoardScenario(name: "a sleep inhibitor", limit: 150, run: sleepInhibitor),
    ]
  }

  /// The board suspends while the receiver batches; an alarm ends the suspend before the buffer is full; the
  /// client receives nothing until its timeout, and then all fixes.
  private static func alarm(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let client = try bench.client("alarm")
    let begin = try bench.startDeferral(client, for: 28)
    let delivered = client.received.count
    let suspends = bench.suspends
    var awake = begin
    for number in 1...2 {
      try bench.wait("suspend \(number)", within: 14) { bench.isSuspended }
      let asleep = bench.now
      try bench.wait("the alarm", within: 14) { bench.suspends >= suspends + number }
      // The suspend is shorter by the time that a busy host withheld before it.
      let slept = (bench.resumedAt - asleep).clock + (asleep - awake).withheld
      try expect(slept > 2, "the suspend lasted \(slept) s")
      awake = bench.resumedAt
    }
    try expect(client.received.count == delivered, "a fix was delivered during the deferral")
    try bench.expectBatch(client, begin, 28)
  }

  /// A byte of a receiver that should be silent ends the suspend and is lost; no fix is lost.
  private static func byte(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let client = try bench.client("byte")
    let begin = try bench.startDeferral(client, for: 26)
    let delivered = client.received.count
    // The first suspend is short, because the ring's file is synced.
    let before = bench.suspends
    try bench.wait("a long suspend", within: 16) { bench.suspends > before && bench.isSuspended }
    try bench.advance(1)
    try expect(bench.isSuspended, "the board woke without a byte")
    let suspends = bench.suspends
    let sendTime = bench.now
    bench.receiver.sendWakeByte()
    try bench.wait("the board wakes", within: 3) { bench.suspends > suspends }
    let duration = bench.resumedAt - sendTime
    try expect(duration.guest < 1, "the wake-up took \(duration.text)")
    try expect(client.received.count == delivered, "a fix was delivered during the deferral")
    try bench.expectBatch(client, begin, 26)
    let wakes = try client.countWakes()
    try expect(wakes[7] > 3_000, "the board was suspended for \(wakes[7]) ms")
  }

  /// The kernel rejects an alarm two seconds ahead, and the service does not set one.
  private static func nearAlarm(_ bench: Bench) throws {
    var setup = Bench.suspending
    setup.edits += [
      ("shortest_s = 4", "shortest_s = 0.2"),
      ("resume_s = 0.5\nalarm_resolution_s = 1", "resume_s = 0.1\nalarm_resolution_s = 0.1"),
    ]
    try bench.start(setup)
    let client = try bench.updatingClient("near", fixes: 1)
    try client.execute("background")
    let suspends = bench.suspends
    for _ in 0..<3 {
      let finishes = client.finishes.count
      let begin = bench.now
      try client.execute("defer far 2")
      try bench.wait("the deferral ends", within: 6) { client.finishes.count > finishes }
      let duration = bench.now - begin
      try expect(duration.guest < 4, "a deferral of 2 s took \(duration.text)")
    }
    try expect(bench.suspends == suspends && !bench.isSuspended, "the board was suspended")
    try expect(client.finishes == ["ok", "ok", "ok"], "\(client.finishes)")
  }

  /// Alarms of another program and requests of a client at any time while the board suspends and resumes.
  private static func race(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let client = try bench.client("race")
    let begin = try bench.startDeferral(client, for: 36)
    let suspends = bench.suspends
    try bench.shell(
      "( for i in $(seq 11); do usleep $((i * 370000 % 900000)); "
        + "echo 0 > /sys/class/rtc/rtc0/wakealarm; echo +2 > /sys/class/rtc/rtc0/wakealarm; "
        + "sleep 2; done ) >/dev/null 2>&1 &")
    while HostClock.now - begin.clock < 28 {
      client.send("wakes")
      try bench.advance(0.73)
    }
    try expect(bench.suspends > suspends, "the board was never suspended")
    try bench.expectBatch(client, begin, 36)
    try bench.wait("all requests were answered", within: 10) { client.isIdle }
  }

  /// While a systemd inhibitor lock exists, the board does not suspend and fixes are delivered immediately
  /// (DEF-28). Without it the board suspends, and fixes are deferred.
  private static func sleepInhibitor(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let file = "/run/systemd/inhibit/1"
    let createLock =
      "mkdir -p /run/systemd/inhibit; printf 'WHAT=sleep\\nWHO=apt\\nMODE=block\\n' > \(file)"
    try bench.shell(createLock)
    let client = try bench.client("lock")
    _ = try bench.startDeferral(client, for: 60)
    let suspends = bench.suspends
    try client.waitForFixes(6, within: 12)
    try expect(bench.suspends == suspends && !bench.isSuspended, "the board was suspended")
    try bench.shell("rm \(file)")
    // The service detects the removal of a lock at its next wake.
    try bench.wait("the board is suspended", within: 20) { bench.isSuspended }
    try expect(client.finishes.isEmpty, "the deferral ended: \(client.finishes)")
    // A lock created while the board is suspended takes effect before the next suspend.
    try bench.wait("the board is awake", within: 14) { !bench.isSuspended }
    let before = client.received.count
    try bench.shell(createLock)
    try bench.wait("fixes are delivered again", within: 20) { client.received.count > before + 2 }
    try expectOrder(client.received)
  }

  /// Samples for chronyd before, between and after two suspends to RAM: those of a time awake agree with each other,
  /// with one exception for each suspend at most. Fixes of the batch are no samples.
  private static func systemClock(_ bench: Bench) throws {
    var setup = Bench.suspending
    setup.removed = ["pulse_line"]
    try bench.start(setup, options: "--clock /run/clock.sock")
    try bench.shell("ClientProbe clock /run/clock.sock - 0 600 >/run/samples 2>&1 & probe=$!")
    let client = try bench.client("clock")
    try client.execute("start")
    try client.waitForFixes(8, within: 30)
    try client.execute("background")
    for number in 1...2 {
      let suspends = bench.suspends
      try client.execute("defer far 20")
      try bench.wait("deferral \(number) ends", within: 30) { client.finishes.count == number }
      try expect(bench.suspends > suspends, "the board was not suspended")
      try bench.advance(9)
    }
    let output = try bench.shell("kill $probe; cat /run/samples")
    var groups: [[(time: Int, offset: Int)]] = []
    for sample in ClockSamples(output).samples {
      if let last = groups.last?.last, sample.time - last.time < 4_000_000 {
        groups[groups.count - 1].append(sample)
      } else {
        groups.append([sample])
      }
    }
    try expect(groups.count >= 3, "no samples after a suspend: \(output)")
    var rejected = 0
    for group in groups {
      let offsets = group.map(\.offset).sorted()
      rejected += offsets.count { abs($0 - offsets[offsets.count / 2]) > 300_000 }
    }
    try expect(rejected <= 2, "\(rejected) samples do not agree: \(output)")
  }
}

extension Bench {
  /// A board that suspends and has no batch line, so that only alarms start drains.
  static var suspending: BoardSetup {
    BoardSetup(
      edits: [
        ("watermark_fixes = 240", "watermark_fixes = 8"),
        ("line = \"GNSS_BATCH\"\npio = 4\n", ""),
      ], canSuspend: true)
  }

  /// Starts a client's deferral of `seconds`; returns its start.
  func startDeferral(_ client: GuestClient, for seconds: Int) throws -> Moment {
    try client.execute("start")
    try client.waitForFixes(2, within: 20)
    try client.execute("background")
    try client.execute("defer far \(seconds)")
    return now
  }

  /// Waits for the end of a deferral and for its batch, with one fix per second.
  func expectBatch(_ client: GuestClient, _ begin: Moment, _ seconds: Double) throws {
    try wait("the deferral ends", within: seconds + 4 - (now - begin).guest) {
      !client.finishes.isEmpty
    }
    let duration = now - begin
    try BoardScenario.expect(
      duration.clock > seconds - 0.5 && duration.guest < seconds + 3,
      "\(seconds) s lasted \(duration.text) (DEF-18)")
    try BoardScenario.expect(
      client.finishes == ["ok"], "the deferral finished with \(client.finishes)")
    try wait("its batch is delivered", within: 5) { client.batches.last ?? 0 > Int(seconds) / 2 }
    try BoardScenario.expectOrder(client.received)
    let times = client.received.map { ($0.utc + 500_000) / 1_000_000 }
    for (a, b) in zip(times, times.dropFirst()) where b != a + 1 {
      throw Failure("no fixes for the seconds from \(a) to \(b)")
    }
  }
}
