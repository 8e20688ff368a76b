// Lines that the board hears, lines that somebody else has, a light.

extension BoardScenario {
  static var lines: [BoardScenario] {
    [
      BoardScenario(name: "both versions of libgpiod", run: library),
      BoardScenario(name: "a line of another program", run: held),
      BoardScenario(name: "a stuck supply line", run: stuckSupply),
      BoardScenario(name: "a stuck batch line", run: stuckBatch),
      BoardScenario(name: "motion, battery low, light", run: inputs),
      BoardScenario(name: "an end in order", run: end),
    ]
  }

  /// What we make of libgpiod does the same with version 1 and version 2 of it: `cgpio-check.c`.
  private static func library(_ bench: Bench) throws {
    try bench.clear()
    let programs = try text(of: bench.parts.built + "/gpio/built").split { $0 == " " || $0 == "\n" }
    try expect(programs.contains("cgpio-check2"), "version 2 is not among \(programs)")
    for program in programs {
      let said = try bench.shell(String(program))
      try expect(said.hasPrefix("libgpiod \(program.suffix(1))."), said)
    }
  }

  /// Held by another program, a line is told with what helps, and nothing is served.
  private static func held(_ bench: Bench) throws {
    try bench.start()
    try bench.shell("kill $torpord; wait $torpord", within: 10)
    try expect(try bench.hold("GNSS_SUPPLY"), "gpioset does not hold the supply line")
    try bench.launch()
    let code = try bench.shell("wait $torpord; echo $?")
    try expect(code == "69", "it ended with \(code) and not 69")
    let said = try bench.log
    try expect(
      said.contains(
        "GPIO line 'GNSS_SUPPLY' is held by 'gpioset': end that program, or use another line"),
      "it said: \(said)")
    try bench.release()
    try bench.serve()
    try bench.shell("kill $torpord; wait $torpord")
    // One that is heard is told of in the same way.
    try expect(try bench.hold("MOTION"), "gpioset does not hold the motion line")
    try bench.launch()
    try bench.hears("GPIO line 'MOTION' is held by 'gpioset'", within: 10)
    try bench.release()
  }

  /// It cannot be driven for a while: the log says so, nothing is written to a receiver without supply, and
  /// it is tried again until it obeys (PWR-4, PWR-5).
  private static func stuckSupply(_ bench: Bench) throws {
    try startStuck(bench)
    bench.changes.removeAll()
    let client = try bench.client("stuck")
    try client.say("start")
    try bench.hears("the receiver does not answer", within: 10)
    try bench.pass(4)
    try expect(client.told.isEmpty, "a fix of a receiver without supply")
    try expect(bench.receiver.bytesReceived == 0, "bytes went into a receiver without supply")
    try expect(!bench.changes.contains { $0.isUp }, "a pin was driven into it")
    try bench.release()
    try bench.waits(for: "GNSS_SUPPLY", true, within: 20)
    try client.fixes(2, within: 20)
  }

  /// A service that cannot drive its supply line. It does not start where another program holds that line, and drives
  /// it some 50 ms after it listens; so it is started again until the other program came in between.
  private static func startStuck(_ bench: Bench) throws {
    for _ in 0..<20 {
      try bench.start()
      if try bench.hold("GNSS_SUPPLY") {
        try bench.wait("torpord serves or ends", within: 10) {
          (try? bench.log.contains("serving")) == true
            || (try? bench.log.contains("held by")) == true
        }
        if try !bench.log.contains("held by") { return }
      }
      try bench.release()
    }
    throw Failure("torpord was always sooner than gpioset, or later")
  }

  /// Its pin never rises: the buffer is emptied by the clock before it overflows. It never falls: no more
  /// drains than the clock wants.
  private static func stuckBatch(_ bench: Bench) throws {
    for isUp in [false, true] {
      try bench.start(
        Bench.Wish(edits: [
          ("watermark_fixes = 240", "watermark_fixes = 4"),
          ("capacity_fixes = 300", "capacity_fixes = 8"),
        ]))
      bench.followsBatchPin = false
      bench.pull("GNSS_BATCH", isUp)
      let client = try bench.client("stuck-\(isUp)")
      try client.say("start")
      try client.fixes(1, within: 20)
      try client.say("background")
      try client.say("defer far 10")
      try bench.wait("the deferral ends", within: 20) { !client.finishes.isEmpty }
      try bench.wait("its batch is told", within: 4) { client.batches.last ?? 0 >= 8 }
      try expectOrder(client.told)
      let wakes = try client.countWakes()
      try expect(wakes[2] <= 2, "a pin that does not move woke the board \(wakes[2]) times")
    }
  }

  private static func inputs(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.client("lines")
    try client.say("light")
    try bench.waits(for: "SESSION_LIGHT", true, within: 5)
    try client.say("dark")
    try bench.waits(for: "SESSION_LIGHT", false, within: 5)

    let before = try client.countWakes()
    for isUp in [true, false, true] {
      bench.pull("MOTION", isUp)
      try bench.pass(0.5)
    }
    let after = try client.countWakes()
    try expect(after[4] > before[4], "edges of motion do not wake it")

    try client.say("start")
    try client.fixes(2, within: 20)
    bench.pull("BATTERY_LOW", true)
    try bench.wait("the client hears what is given up", within: 5) { client.degraded != 0 }
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    bench.pull("BATTERY_LOW", false)
    try bench.wait("the client hears that all is as it was", within: 5) { client.degraded == 0 }
    try client.fixes(2, within: 20)
  }

  /// SIGTERM: the receiver rests, the exit code is 0, and the next run says nothing of a crash.
  private static func end(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.client("end")
    try client.say("start")
    try client.fixes(2, within: 20)
    let code = try bench.shell("kill $torpord; wait $torpord; echo $?")
    try expect(code == "0", "it ended with \(code)")
    try expect(bench.receiver.state == "standby", "the receiver is '\(bench.receiver.state)'")
    try bench.hears("stopped; the receiver rests", within: 1)
    try bench.serve()
    try expect(!(try bench.log.contains("did not end in order")), "it takes its end for a crash")
  }
}

extension Bench {
  /// Has another program hold a line at low.
  ///
  /// - Returns: Whether it holds it; false where torpord was sooner.
  func hold(_ line: String) throws -> Bool {
    guard let number = lineNames.firstIndex(of: line) else { throw Failure("no line '\(line)'") }
    try shell(
      "gpioset -m signal gpiochip0 \(number)=0 & other=$!; "
        + "until gpioinfo gpiochip0 | grep -q '\(line).*gpioset'; do "
        + "kill -0 $other || break; usleep 20000; done")
    return try shell("kill -0 $other 2>/dev/null; echo $?") == "0"
  }

  /// Has it let the line go.
  func release() throws { try shell("kill $other; wait $other", fails: true) }
}
