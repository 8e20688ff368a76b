// Scenarios with input lines, lines held by other programs, and the session light.

extension BoardScenario {
  static var lines: [BoardScenario] {
    [
      BoardScenario(name: "both versions of libgpiod", run: library),
      BoardScenario(name: "a line of another program", run: heldLine),
      BoardScenario(name: "a stuck supply line", run: stuckSupply),
      BoardScenario(name: "a stuck batch line", run: stuckBatch),
      BoardScenario(name: "motion, battery low, light", run: inputs),
      BoardScenario(name: "a normal stop", run: normalStop),
    ]
  }

  /// The shim for libgpiod behaves the same with version 1 and version 2: `cgpio-check.c`.
  private static func library(_ bench: Bench) throws {
    try bench.clear()
    let programs = try text(of: bench.folders.built + "/gpio/built").split {
      $0 == " " || $0 == "\n"
    }
    try expect(programs.contains("cgpio-check2"), "version 2 is not among \(programs)")
    for program in programs {
      let output = try bench.shell(String(program))
      try expect(output.hasPrefix("libgpiod \(program.suffix(1))."), output)
    }
  }

  /// A line held by another program: the service names the holder, suggests how to fix it, and does not serve.
  private static func heldLine(_ bench: Bench) throws {
    try bench.start()
    try bench.shell("kill $torpord; wait $torpord", within: 10)
    try expect(try bench.holdLine("GNSS_SUPPLY"), "gpioset does not hold the supply line")
    try bench.launch()
    let code = try bench.shell("wait $torpord; echo $?")
    try expect(code == "69", "the exit code is \(code) instead of 69")
    let log = try bench.log
    try expect(
      log.contains(
        "GPIO line 'GNSS_SUPPLY' is held by 'gpioset': end that program, or use another line"),
      "the log is: \(log)")
    try bench.releaseLine()
    try bench.serve()
    try bench.shell("kill $torpord; wait $torpord")
    // An input line is reported in the same way.
    try expect(try bench.holdLine("MOTION"), "gpioset does not hold the motion line")
    try bench.launch()
    try bench.waitForLog("GPIO line 'MOTION' is held by 'gpioset'", within: 10)
    try bench.releaseLine()
  }

  /// The supply line cannot be driven for a while: the log reports it, no byte is sent to a receiver without supply,
  /// and the driver retries until the line can be driven (PWR-4, PWR-5).
  private static func stuckSupply(_ bench: Bench) throws {
    try startStuck(bench)
    bench.changes.removeAll()
    let client = try bench.client("stuck")
    try client.execute("start")
    try bench.waitForLog("the receiver does not answer", within: 10)
    try bench.advance(4)
    try expect(client.received.isEmpty, "a fix from a receiver without supply")
    try expect(bench.receiver.bytesReceived == 0, "bytes were sent to a receiver without supply")
    try expect(!bench.changes.contains { $0.isUp }, "a pin of a receiver without supply was driven")
    try bench.releaseLine()
    try bench.waitForLine("GNSS_SUPPLY", true, within: 20)
    try client.waitForFixes(2, within: 20)
  }

  /// Starts a service that cannot drive its supply line. The service does not start if another program holds that
  /// line, and drives it about 50 ms after it begins to listen; so the start is repeated until the other program
  /// requests the line in between.
  private static func startStuck(_ bench: Bench) throws {
    for _ in 0..<20 {
      try bench.start()
      if try bench.holdLine("GNSS_SUPPLY") {
        try bench.wait("torpord serves or ends", within: 10) {
          (try? bench.log.contains("serving")) == true
            || (try? bench.log.contains("held by")) == true
        }
        if try !bench.log.contains("held by") { return }
      }
      try bench.releaseLine()
    }
    throw Failure("gpioset never requested the line between torpord's check and its first use")
  }

  /// The batch pin never rises: the buffer is drained by time before it overflows. It never falls: no
  /// additional drains.
  private static func stuckBatch(_ bench: Bench) throws {
    for isUp in [false, true] {
      try bench.start(
        Bench.BoardSetup(edits: [
          ("watermark_fixes = 240", "watermark_fixes = 4"),
          ("capacity_fixes = 300", "capacity_fixes = 8"),
        ]))
      bench.followsBatchPin = false
      bench.pull("GNSS_BATCH", isUp)
      let client = try bench.updatingClient("stuck-\(isUp)", fixes: 1)
      try client.execute("background")
      try client.execute("defer far 10")
      try bench.wait("the deferral ends", within: 20) { !client.finishes.isEmpty }
      try bench.wait("its batch is delivered", within: 4) { client.batches.last ?? 0 >= 8 }
      try expectOrder(client.received)
      let wakes = try client.countWakes()
      try expect(wakes[2] <= 2, "a pin without edges woke the board \(wakes[2]) times")
    }
  }

  private static func inputs(_ bench: Bench) throws {
    try bench.start()
    let client = try bench.client("lines")
    try client.execute("light")
    try bench.waitForLine("SESSION_LIGHT", true, within: 5)
    try client.execute("dark")
    try bench.waitForLine("SESSION_LIGHT", false, within: 5)

    let before = try client.countWakes()
    for isUp in [true, false, true] {
      bench.pull("MOTION", isUp)
      try bench.advance(0.5)
    }
    let after = try client.countWakes()
    try expect(after[4] > before[4], "edges of the motion line do not wake the board")

    try client.execute("start")
    try client.waitForFixes(2, within: 20)
    bench.pull("BATTERY_LOW", true)
    try bench.wait("shed levels are reported", within: 5) { client.shedLevels != 0 }
    try bench.wait("the receiver is in standby", within: 10) { bench.receiver.state == "standby" }
    bench.pull("BATTERY_LOW", false)
    try bench.wait("restored levels are reported", within: 5) { client.shedLevels == 0 }
    try client.waitForFixes(2, within: 20)
  }

  /// SIGTERM: the receiver sleeps, the exit code is 0, and the next start reports no crash.
  private static func normalStop(_ bench: Bench) throws {
    try bench.start()
    _ = try bench.updatingClient("end", fixes: 2)
    let code = try bench.shell("kill $torpord; wait $torpord; echo $?")
    try expect(code == "0", "the exit code is \(code)")
    try expect(bench.receiver.state == "standby", "the receiver is '\(bench.receiver.state)'")
    try bench.waitForLog("stopped; the receiver is asleep", within: 1)
    try bench.serve()
    try expect(!(try bench.log.contains("did not stop normally")), "it reports its stop as a crash")
  }
}

extension Bench {
  /// Starts another program that holds a line at low.
  ///
  /// - Returns: Whether it holds the line; false if torpord requested the line first.
  func holdLine(_ line: String) throws -> Bool {
    guard let number = lineNames.firstIndex(of: line) else { throw Failure("no line '\(line)'") }
    try shell(
      "gpioset -m signal gpiochip0 \(number)=0 & other=$!; "
        + "until gpioinfo gpiochip0 | grep -q '\(line).*gpioset'; do "
        + "kill -0 $other || break; usleep 20000; done")
    return try shell("kill -0 $other 2>/dev/null; echo $?") == "0"
  }

  /// Makes the other program release the line.
  func releaseLine() throws { try shell("kill $other; wait $other", fails: true) }
}
