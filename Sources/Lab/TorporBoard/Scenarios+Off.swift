// Scenario of the deepest sleep: off until an alarm.

extension BoardScenario {
  static var off: [BoardScenario] {
    [
      BoardScenario(
        name: "off until an alarm, and why it is on again", limit: 300, run: switchedOff)
    ]
  }

  /// Without clients and deadlines for minutes the board powers itself off, with an alarm set and
  /// the reason on its disk (RNG-8). At the next start the service reads the reason and continues the services.
  private static func switchedOff(_ bench: Bench) throws {
    try bench.start(Bench.goingOff)
    let client = try bench.client("off")
    try client.execute("significant")
    try bench.wait("the first report", within: 20) { !client.reports.isEmpty }
    let first = client.reports[0]
    try bench.waitForLine("GNSS_SUPPLY", true, within: 5)
    try bench.waitForLine("GNSS_SUPPLY", false, within: 20)
    try bench.shell("kill -9 $client0; wait $client0; client0=", fails: true)
    let clientEnd = HostClock.now
    try bench.wait("the board powers itself off", within: 150) { bench.isOff }
    try expect(
      HostClock.now - clientEnd > 119,
      "powered off \(HostClock.now - clientEnd) s after the last client left")
    try bench.waitForLog("the board is switched off for", within: 1)
    try bench.switchOn()
    let alarm = try bench.shell("sed -n 's/^alrm_time.*: //p' /proc/driver/rtc")
    let until = try bench.shell("sed -n 's/^until_utc_us=//p' /data/state/wake-intent")
    try expectAlarm(alarm, before: Double(until).map { $0 / 1e6 } ?? 0)
    try bench.serve()
    try bench.waitForLog("the board was off, and was switched on", within: 5)
    let secondClient = try bench.client("off")
    // Significant change continues (PWR-14), so that no report follows the start; updates show that fixes arrive.
    try secondClient.execute("start")
    try secondClient.waitForFixes(1, within: 20)
    try expect(secondClient.reports.isEmpty, "\(secondClient.reports) after \(first)")
    try expect(
      secondClient.received[0].generation > first.generation,
      "\(secondClient.received[0]) after \(first)")
    try bench.shell("[ ! -e /data/state/wake-intent ]")
  }

  /// Checks that the RTC alarm, a time of day, precedes the recorded time by the boot time plus one second, within the
  /// fractions of a second that both clocks omit.
  private static func expectAlarm(_ alarm: String, before until: Double) throws {
    let parts = alarm.split(separator: ":").compactMap { Int($0) }
    guard parts.count == 3 else { throw Failure("the RTC alarm is '\(alarm)'") }
    let lead = Int(until) % 86_400 - (parts[0] * 3_600 + parts[1] * 60 + parts[2])
    let distance = (lead + 86_400) % 86_400
    try expect(
      (Bench.bootSeconds - 1...Bench.bootSeconds + 3).contains(distance),
      "the RTC alarm is \(alarm), \(distance) s before the needed time")
  }
}

extension Bench {
  /// Seconds from the alarm until the service runs.
  static let bootSeconds = 20

  /// A board that can power itself off.
  static var goingOff: BoardSetup {
    let table = """
      [board.off]
      power_mw = 1
      resume_s = \(bootSeconds)
      alarm_resolution_s = 1
      shortest_s = 120

      [receiver]
      """
    // A sleep of high power, so that a few minutes off save more than the boot costs (PWR-14).
    return BoardSetup(edits: [
      ("[receiver]", table), ("[motion]\nline = \"MOTION\"\n\n", ""),
      ("power_mw = 100\n", "power_mw = 600\n"), ("power_mw = 10\n", "power_mw = 500\n"),
    ])
  }
}
