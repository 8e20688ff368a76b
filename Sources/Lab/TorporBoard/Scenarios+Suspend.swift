// Suspend to RAM.

extension BoardScenario {
  static var suspend: [BoardScenario] {
    [
      BoardScenario(name: "suspended while it batches, woken by an alarm", limit: 150, run: alarm),
      BoardScenario(name: "woken by a serial byte", limit: 150, run: byte),
      BoardScenario(name: "no suspend near an alarm", run: near),
      BoardScenario(name: "events racing the suspend", limit: 180, run: race),
      BoardScenario(name: "a lock against sleep", limit: 150, run: lock),
    ]
  }

  /// The board suspends while the receiver batches; an alarm ends that before the buffer is full; the
  /// client is told nothing until its time is over, and then all.
  private static func alarm(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let client = try bench.client("alarm")
    let begin = try bench.engage(client, for: 28)
    let told = client.told.count
    let suspends = bench.suspends
    var awake = begin
    for number in 1...2 {
      try bench.wait("suspend \(number)", within: 14) { bench.isSuspended }
      let asleep = bench.now
      try bench.wait("the alarm", within: 14) { bench.suspends >= suspends + number }
      // What a busy host withheld on the way to sleep, the sleep is shorter.
      let slept = (bench.resumedAt - asleep).clock + (asleep - awake).withheld
      try expect(slept > 2, "it slept for \(slept) s")
      awake = bench.resumedAt
    }
    try expect(client.told.count == told, "a client that deferred was told a fix")
    try bench.expectBatch(client, begin, 28)
  }

  /// A byte of a receiver that should be silent ends the suspend, and is lost; nothing else is.
  private static func byte(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let client = try bench.client("byte")
    let begin = try bench.engage(client, for: 26)
    let told = client.told.count
    // The first suspend is cut short by the ring's file, which is synced.
    let before = bench.suspends
    try bench.wait("a long suspend", within: 16) { bench.suspends > before && bench.isSuspended }
    try bench.pass(1)
    try expect(bench.isSuspended, "it woke by itself")
    let suspends = bench.suspends
    let poked = bench.now
    bench.receiver.poke()
    try bench.wait("it wakes", within: 3) { bench.suspends > suspends }
    let taken = bench.resumedAt - poked
    try expect(taken.guest < 1, "it took \(taken.text)")
    try expect(client.told.count == told, "a client that deferred was told a fix")
    try bench.expectBatch(client, begin, 26)
    let wakes = try client.countWakes()
    try expect(wakes[7] > 3_000, "it was suspended for \(wakes[7]) ms")
  }

  /// The kernel refuses an alarm that is two seconds away, and the service does not ask it.
  private static func near(_ bench: Bench) throws {
    var wish = Bench.suspending
    wish.edits += [
      ("shortest_s = 4", "shortest_s = 0.2"),
      ("resume_s = 0.5\nalarm_resolution_s = 1", "resume_s = 0.1\nalarm_resolution_s = 0.1"),
    ]
    try bench.start(wish)
    let client = try bench.client("near")
    try client.say("start")
    try client.fixes(1, within: 20)
    try client.say("background")
    let suspends = bench.suspends
    for _ in 0..<3 {
      let finishes = client.finishes.count
      let begin = bench.now
      try client.say("defer far 2")
      try bench.wait("its end", within: 6) { client.finishes.count > finishes }
      let taken = bench.now - begin
      try expect(taken.guest < 4, "2 s took \(taken.text)")
    }
    try expect(bench.suspends == suspends && !bench.isSuspended, "it was suspended")
    try expect(client.finishes == ["ok", "ok", "ok"], "\(client.finishes)")
  }

  /// Alarms of another program and requests of a client, at any moment of the way to sleep and back.
  private static func race(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let client = try bench.client("race")
    let begin = try bench.engage(client, for: 36)
    let suspends = bench.suspends
    try bench.shell(
      "( for i in $(seq 11); do usleep $((i * 370000 % 900000)); "
        + "echo 0 > /sys/class/rtc/rtc0/wakealarm; echo +2 > /sys/class/rtc/rtc0/wakealarm; "
        + "sleep 2; done ) >/dev/null 2>&1 &")
    while Clock.now - begin.clock < 28 {
      client.murmur("wakes")
      try bench.pass(0.73)
    }
    try expect(bench.suspends > suspends, "it was never suspended")
    try bench.expectBatch(client, begin, 36)
    try bench.wait("all requests were answered", within: 10) { client.isQuiet }
  }

  /// Somebody has a lock of systemd's: the board stays, so fixes are told as they are made (DEF-28). Without it
  /// the board suspends, and they are kept.
  private static func lock(_ bench: Bench) throws {
    try bench.start(Bench.suspending)
    let file = "/run/systemd/inhibit/1"
    let make =
      "mkdir -p /run/systemd/inhibit; printf 'WHAT=sleep\\nWHO=apt\\nMODE=block\\n' > \(file)"
    try bench.shell(make)
    let client = try bench.client("lock")
    _ = try bench.engage(client, for: 60)
    let suspends = bench.suspends
    try client.fixes(6, within: 12)
    try expect(bench.suspends == suspends && !bench.isSuspended, "it was suspended")
    try bench.shell("rm \(file)")
    // The end of a lock is seen with the next thing that happens.
    try bench.wait("it is suspended", within: 20) { bench.isSuspended }
    try expect(client.finishes.isEmpty, "the deferral ended: \(client.finishes)")
    // One that comes while the board waits is met on the way to the next sleep.
    try bench.wait("it is back", within: 14) { !bench.isSuspended }
    let told = client.told.count
    try bench.shell(make)
    try bench.wait("fixes are told again", within: 20) { client.told.count > told + 2 }
    try expectOrder(client.told)
  }
}

extension Bench {
  /// A board that suspends, and hears of the batch by the clock alone, for its lines do not wake it.
  static var suspending: Wish {
    Wish(
      edits: [
        ("watermark_fixes = 240", "watermark_fixes = 8"),
        ("line = \"GNSS_BATCH\"\npio = 4\n", ""),
      ], suspends: true)
  }

  /// Has a client defer for so many seconds; gives when that began.
  func engage(_ client: GuestClient, for seconds: Int) throws -> Moment {
    try client.say("start")
    try client.fixes(2, within: 20)
    try client.say("background")
    try client.say("defer far \(seconds)")
    return now
  }

  /// Waits for the end of a deferral, and for its batch with a fix for each second.
  func expectBatch(_ client: GuestClient, _ begin: Moment, _ seconds: Double) throws {
    try wait("the deferral ends", within: seconds + 4 - (now - begin).guest) {
      !client.finishes.isEmpty
    }
    let lasted = now - begin
    try BoardScenario.expect(
      lasted.clock > seconds - 0.5 && lasted.guest < seconds + 3,
      "\(seconds) s lasted \(lasted.text) (DEF-18)")
    try BoardScenario.expect(client.finishes == ["ok"], "it ended with \(client.finishes)")
    try wait("its batch is told", within: 5) { client.batches.last ?? 0 > Int(seconds) / 2 }
    try BoardScenario.expectOrder(client.told)
    let times = client.told.map { ($0.utc + 500_000) / 1_000_000 }
    for (a, b) in zip(times, times.dropFirst()) where b != a + 1 {
      throw Failure("of the seconds from \(a) to \(b) there is no fix")
    }
  }
}
