// The deepest sleep: off, until an alarm.

extension BoardScenario {
  static var off: [BoardScenario] {
    [
      BoardScenario(
        name: "off until an alarm, and why it is on again", limit: 300, run: switchedOff)
    ]
  }

  /// Nobody is there and nothing is to be done for minutes: the board switches itself off, with an alarm set and
  /// the reason on its disk (RNG-8). Its next start knows it, and what the client asked for goes on.
  private static func switchedOff(_ bench: Bench) throws {
    try bench.start(Bench.goingOff)
    let client = try bench.client("off")
    try client.say("significant")
    try bench.wait("it is told where it is", within: 20) { !client.reports.isEmpty }
    let first = client.reports[0]
    try bench.waits(for: "GNSS_SUPPLY", true, within: 5)
    try bench.waits(for: "GNSS_SUPPLY", false, within: 20)
    try bench.shell("kill -9 $client0; wait $client0; client0=", fails: true)
    let left = Clock.now
    try bench.wait("it switches itself off", within: 150) { bench.isOff }
    try expect(
      Clock.now - left > 119, "it was off \(Clock.now - left) s after the last client left")
    try bench.hears("the board is switched off for", within: 1)
    try bench.switchOn()
    let alarm = try bench.shell("sed -n 's/^alrm_time.*: //p' /proc/driver/rtc")
    let until = try bench.shell("sed -n 's/^until_utc_us=//p' /data/state/wake-intent")
    try expectAlarm(alarm, before: Double(until).map { $0 / 1e6 } ?? 0)
    try bench.serve()
    try bench.hears("the board was off, and was switched on", within: 5)
    let again = try bench.client("off")
    try bench.wait("it is told how far it came", within: 20) { !again.reports.isEmpty }
    try expect(
      again.reports[0].generation > first.generation, "\(again.reports[0]) after \(first)")
    try bench.shell("[ ! -e /data/state/wake-intent ]")
  }

  /// The clock's alarm, a time of day, lies the boot's time and a second before the moment that was noted, give or take
  /// the parts of a second that both clocks leave out.
  private static func expectAlarm(_ alarm: String, before until: Double) throws {
    let parts = alarm.split(separator: ":").compactMap { Int($0) }
    guard parts.count == 3 else { throw Failure("the clock's alarm is '\(alarm)'") }
    let lead = Int(until) % 86_400 - (parts[0] * 3_600 + parts[1] * 60 + parts[2])
    let distance = (lead + 86_400) % 86_400
    try expect(
      (Bench.bootSeconds - 1...Bench.bootSeconds + 3).contains(distance),
      "the clock's alarm is \(alarm), \(distance) s before it is needed")
  }
}

extension Bench {
  /// From its alarm until its service runs.
  static let bootSeconds = 20

  /// A board that may be off.
  static var goingOff: Wish {
    let table = """
      [board.off]
      power_mw = 1
      resume_s = \(bootSeconds)
      alarm_resolution_s = 1
      shortest_s = 120

      [receiver]
      """
    return Wish(edits: [("[receiver]", table), ("[motion]\nline = \"MOTION\"\n\n", "")])
  }
}
