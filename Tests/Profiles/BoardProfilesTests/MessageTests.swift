import Testing

@testable import BoardProfiles

/// A changed line of the sample profile, and the exact error message.
struct Bad: Sendable, CustomTestStringConvertible {
  var path: String
  var line: String
  var message: String
  var testDescription: String { line }

  init(_ path: String, _ line: String, _ message: String) {
    self.path = path
    self.line = line
    self.message = message
  }
}

@Suite("Messages about an invalid profile")
struct MessageTests {
  static let rules: [Bad] = [
    Bad(
      "name", "name = \"My Board\"",
      "@:8: name: \"My Board\" is not a portable folder name; "
        + "expected lower-case letters, digits and hyphens"),
    Bad(
      "board.awake.power_mw", "power_mw = 0",
      "@:12: board.awake.power_mw: 0 mW is not possible while code runs; "
        + "expected more than 0, measured with one core busy"),
    Bad("board.awake.power_mw", "power_mw = 0.001", ""),
    Bad(
      "board.idle.power_mw", "power_mw = 1000.5",
      "\(line("board.awake.power_mw")):12: board.awake.power_mw: 1000 mW is less than the 1000.5 mW"
        + " of [board.idle]; expected at least 1000.5, measured with one core busy"),
    Bad("board.idle.power_mw", "power_mw = 1000", ""),
    Bad(
      "board.suspended.power_mw", "power_mw = 0.5",
      "@:12: board.suspended.power_mw: 0.5 mW is more than the 0 mW of [board.idle], so the state would save"
        + " nothing; expected at most 0, or no table [board.suspended]"),
    Bad(
      "board.off.power_mw", "power_mw = 7",
      "@:12: board.off.power_mw: 7 mW is more than the 0 mW of [board.idle], so the state would save"
        + " nothing; expected at most 0, or no table [board.off]"),
    Bad(
      "cache.deferral_limit_fixes", "deferral_limit_fixes = 51",
      "@:24: cache.deferral_limit_fixes: 51 is more than half of capacity_fixes; "
        + "expected at most 50"),
    Bad("cache.deferral_limit_fixes", "deferral_limit_fixes = 50", ""),
    Bad(
      "receiver.batch.watermark_fixes", "watermark_fixes = 300",
      "@:19: receiver.batch.watermark_fixes: 300 is not below capacity_fixes; "
        + "expected at most 299"),
    Bad("receiver.batch.watermark_fixes", "watermark_fixes = 299", ""),
    Bad(
      "receiver.batch.capacity_fixes", "capacity_fixes = 310",
      "@:18: receiver.batch.capacity_fixes: 310 is more than a u-blox M10 holds with extra_pvt; "
        + "expected at most 309"),
    Bad("receiver.batch.capacity_fixes", "capacity_fixes = 309", ""),
    Bad(
      "receiver.batch.pio", "# none",
      "\(header("receiver.batch")):11: receiver.batch.pio: is missing, but `line` is set; "
        + "expected the receiver's PIO number of the batch pin"),
    Bad(
      "receiver.batch.line", "# none",
      "\(line("board.suspended.wakes_on")):12: board.suspended.wakes_on: \"batch_pin\" is not wired; "
        + "expected `line` and `pio` in [receiver.batch]\n"
        + "\(header("receiver.batch")):11: receiver.batch.line: is missing, but `pio` is set; "
        + "expected the GPIO line that the batch pin is connected to"),
    Bad(
      "board.suspended.wakes_on", "wakes_on = [\"bytes\"]",
      "@:12: board.suspended.wakes_on: \"alarm\" is missing; "
        + "expected \"alarm\", which the service needs to wake in time"),
    Bad(
      "board.suspended.wakes_on", "wakes_on = [\"alarm\", \"bites\"]",
      "@:22: board.suspended.wakes_on[1]: unknown word \"bites\" (did you mean \"bytes\"?); "
        + "expected a list of \"alarm\", \"bytes\", \"batch_pin\", \"motion\""),
    Bad(
      "board.suspended.wakes_on", "wakes_on = [\"alarm\", \"alarm\"]",
      "@:22: board.suspended.wakes_on[1]: \"alarm\" is listed twice; "
        + "expected a list of \"alarm\", \"bytes\", \"batch_pin\", \"motion\""),
    Bad(
      "board.suspended.wakes_on", "wakes_on = [\"alarm\", 3]",
      "@:22: board.suspended.wakes_on[1]: is a whole number; "
        + "expected a list of \"alarm\", \"bytes\", \"batch_pin\", \"motion\""),
    Bad(
      "board.suspended.wakes_on", "wakes_on = []",
      "@:12: board.suspended.wakes_on: is empty; "
        + "expected a list of \"alarm\", \"bytes\", \"batch_pin\", \"motion\""),
    Bad(
      "receiver.fix_interval_ms", "fix_interval_ms = 104",
      "@:19: receiver.fix_interval_ms: transmission of a fix lasts 105 ms at 9600 baud; "
        + "expected a longer interval or a faster line"),
    Bad("receiver.fix_interval_ms", "fix_interval_ms = 105", ""),
    Bad(
      "receiver.time_to_fix.cold_s", "cold_s = 8.5",
      "@:10: receiver.time_to_fix.cold_s: 8.5 s is less than the last fix_s of after_off; "
        + "expected at least 9"),
    Bad("receiver.time_to_fix.cold_s", "cold_s = 9", ""),
    Bad(
      "receiver.family", "family = \"nmea\"",
      "\(line("receiver.output")):10: receiver.output: a receiver of the family \"nmea\" sends no UBX; expected \"nmea\"\n"
        + "\(header("receiver.batch")):11: receiver.batch: a receiver of the family \"nmea\" cannot batch; "
        + "expected no table [receiver.batch], or the family \"ublox-m10\" or \"ublox-m8\""),
    Bad(
      "receiver.family", "family = \"ublox-m9\"",
      "@:10: receiver.family: unknown word \"ublox-m9\" (did you mean \"ublox-m8\"?); "
        + "expected \"ublox-m10\", \"ublox-m8\", \"mtk\", \"airoha\", \"casic\", \"teseo\" or \"nmea\""
    ),
    Bad(
      "receiver.family", "family = \"mtk\"",
      "\(line("receiver.output")):10: receiver.output: a receiver of the family \"mtk\" sends no UBX; expected \"nmea\"\n"
        + "\(header("receiver.batch")):11: receiver.batch: a receiver of the family \"mtk\" cannot batch; "
        + "expected no table [receiver.batch], or the family \"ublox-m10\" or \"ublox-m8\""),
    Bad("receiver.family", "family = \"ublox-m8\"", ""),
    Bad(
      "receiver.line_speed_baud", "line_speed_baud = 115000",
      "@:19: receiver.line_speed_baud: 115000 is not an allowed value; expected 4800, 9600, 19200, 38400, "
        + "57600, 115200, 230400, 460800 or 921600"),
    Bad(
      "receiver.power.track_mw", "track_mw = -0.5",
      "@:12: receiver.power.track_mw: -0.5 is out of range; "
        + "expected a number of milliwatts, 0 to 100000"),
    Bad(
      "receiver.power.track_mw", "track_mw = \"24.6 mW\"",
      "@:12: receiver.power.track_mw: is text; expected a number of milliwatts, 0 to 100000"),
    Bad(
      "receiver.power.track_mw", "mw_track = 1",
      "@:1: receiver.power.mw_track: unknown key; did you mean `track_mw`?"),
    Bad(
      "receiver.power.track_mw", "track_power_mw = 1",
      "@:1: receiver.power.track_power_mw: unknown key; did you mean `track_mw`?"),
    Bad(
      "receiver.power.track_mw", "TRACK_MW = 1",
      "@:1: receiver.power.TRACK_MW: unknown key; did you mean `track_mw`?"),
    Bad(
      "policy.search_limit_s", "track_mw = 1",
      "@:1: policy.track_mw: unknown key; `track_mw` belongs in [receiver.power]"),
    Bad(
      "policy.search_limit_s", "colour = 1", "@:1: policy.colour: unknown key"),
    Bad(
      "policy.search_limit_s", "search_limit_min = 2",
      "@:1: policy.search_limit_min: unknown key; write the value in seconds as `search_limit_s`"),
    Bad(
      "policy.search_limit_s", "search_time_s = 2",
      "@:1: policy.search_time_s: unknown key; did you mean `search_limit_s`?"),
    Bad(
      "policy.search_limit_s", "\"sea\\u001brch\" = 2", "@:1: policy.sea�rch: unknown key"),
    Bad(
      "board.delivery_hold_s", "idle_power_mw = 3",
      "\(header("board")):2: board.delivery_hold_s: is missing; expected a number of seconds, 0 to 60\n"
        + "@:1: board.idle_power_mw: unknown key; did you mean `power_mw` in [board.idle]?"),
  ]

  static let pairs: [(String, String)] = [
    (
      "[3]",
      "@:14: receiver.time_to_fix.after_off[0]: is a whole number; expected { off_s = …, fix_s = … }"
    ),
    (
      "[{ off_s = 0, fix_s = 1 }, { off_s = 5 }]",
      "@:40: receiver.time_to_fix.after_off[1].fix_s: is missing; "
        + "expected a number of seconds, 0 to 10000000"
    ),
    (
      "[{ off_s = 0, fix_s = nan }]",
      "@:35: receiver.time_to_fix.after_off[0].fix_s: is not a number; "
        + "expected a number of seconds, 0 to 10000000"
    ),
    (
      "[{ off_s = 0, fix_ms = 1 }]",
      "@:27: receiver.time_to_fix.after_off[0].fix_ms: unknown key; "
        + "expected off_s and fix_s, both in seconds; did you mean `fix_s`?"
    ),
    (
      "[{ off_s = 1, fix_s = 1 }]",
      "@:14: receiver.time_to_fix.after_off[0]: starts at 1 s; expected off_s = 0 in the first pair"
    ),
    (
      "[{ off_s = 0, fix_s = 1 }, { off_s = 5, fix_s = 2 }, { off_s = 4, fix_s = 2 }]",
      "@:66: receiver.time_to_fix.after_off[2]: is less than the pair before it; "
        + "expected off_s and fix_s that do not decrease from pair to pair"
    ),
    (
      "[{ off_s = 0, fix_s = 2 }, { off_s = 5, fix_s = 1 }]",
      "@:40: receiver.time_to_fix.after_off[1]: is less than the pair before it; "
        + "expected off_s and fix_s that do not decrease from pair to pair"
    ),
    (
      "[{ off_s = 0, fix_s = 1 }, { off_s = 0, fix_s = 2 }, { off_s = 0, fix_s = 3 }]",
      "@:66: receiver.time_to_fix.after_off[2]: is the third pair with off_s = 0; "
        + "expected the same off_s at most twice, which forms a step"
    ),
    ("[{ off_s = 0, fix_s = 1 }, { off_s = 0, fix_s = 2 }]", ""),
  ]

  @Test("RNG-1, DEF-33: invalid values and conflicting values are reported", arguments: rules)
  func message(_ bad: Bad) throws {
    let own = try #require(Sample.line(of: bad.path))
    check(Sample.replacing(bad.path, with: bad.line), bad.message, own)
  }

  @Test("invalid tables of times to fix are reported", arguments: pairs)
  func pair(_ value: String, _ message: String) throws {
    let path = "receiver.time_to_fix.after_off"
    let own = try #require(Sample.line(of: path))
    check(Sample.replacing(path, with: "after_off = " + value), message, own)
  }

  /// Compares the whole output; a leading `@` in `message` stands for the changed line.
  private func check(_ text: String, _ message: String, _ own: Int) {
    let expected = message.split(separator: "\n").map { line in
      line.hasPrefix("@") ? "p.toml:\(own)" + line.dropFirst() : "p.toml:" + line
    }
    #expect(report(text) == expected.joined(separator: "\n"))
  }

  private static func header(_ table: String) -> Int { Sample.header(of: table) ?? 0 }
  private static func line(_ path: String) -> Int { Sample.line(of: path) ?? 0 }

  @Test("all errors of a profile are reported, from top to bottom")
  func together() {
    let text = """
      name = 3
      [board]
      [board.idle]
      power_w = 1
      resume_ms = 3
      [bord]
      [receiver]
      family = "ublox-m9"
      [receiver.power]
      trak_mw = 4
      acquire_mw = nan
      """
    let found = report(text).split(separator: "\n").map(String.init)
    #expect(
      found == [
        "p.toml:1:1: description: is missing; expected text of 1 to 200 characters",
        "p.toml:1:1: cache: is missing; expected a table [cache]",
        "p.toml:1:8: name: is a whole number; expected text of 1 to 64 characters",
        "p.toml:2:2: board.delivery_hold_s: is missing; expected a number of seconds, 0 to 60",
        "p.toml:2:2: board.awake: is missing; expected a table [board.awake]",
        "p.toml:3:8: board.idle.alarm_resolution_s: is missing; "
          + "expected a number of seconds, 0 to 60",
        "p.toml:4:1: board.idle.power_w: unknown key; write the value in milliwatts as `power_mw`",
        "p.toml:5:1: board.idle.resume_ms: unknown key; write the value in seconds as `resume_s`",
        "p.toml:6:2: bord: no such table; did you mean `board`?",
        "p.toml:7:2: receiver.output: is missing; expected \"ubx\" or \"nmea\"",
        "p.toml:7:2: receiver.line_speed_baud: is missing; expected 4800, 9600, 19200, 38400, "
          + "57600, 115200, 230400, 460800 or 921600",
        "p.toml:7:2: receiver.default_line_speed_baud: is missing; expected 4800, 9600, 19200, "
          + "38400, 57600, 115200, 230400, 460800 or 921600",
        "p.toml:7:2: receiver.fix_interval_ms: is missing; "
          + "expected a whole number of milliseconds, 100 to 60000",
        "p.toml:7:2: receiver.time_to_fix: is missing; expected a table [receiver.time_to_fix]",
        "p.toml:8:10: receiver.family: unknown word \"ublox-m9\" (did you mean \"ublox-m8\"?); "
          + "expected \"ublox-m10\", \"ublox-m8\", \"mtk\", \"airoha\", \"casic\", \"teseo\" or \"nmea\"",
        "p.toml:9:11: receiver.power.standby_mw: is missing; "
          + "expected a number of milliwatts, 0 to 100000",
        "p.toml:10:1: receiver.power.trak_mw: unknown key; did you mean `track_mw`?",
        "p.toml:11:14: receiver.power.acquire_mw: is not a number; "
          + "expected a number of milliwatts, 0 to 100000",
      ])
  }

  @Test("at most 20 problems are listed, and the others are counted")
  func bounded() throws {
    let many = (1...30).map { "zzz\($0) = 1" }.joined(separator: "\n") + "\n" + Sample.profile.text
    let found = report(many).split(separator: "\n")
    #expect(found.count == 21)
    #expect(found.first == "p.toml:1:1: zzz1: unknown key")
    #expect(found.last == "p.toml: and 10 more")
    #expect(ProfileErrors.exitCode == 78)
  }

  @Test("a wake source must be wired: motion needs its table only")
  func wiredWaking() {
    let prefix = "p.toml:\(Self.line("board.suspended.wakes_on")):12: board.suspended.wakes_on: "
    #expect(
      report(Sample.without(table: "motion"))
        == prefix + "\"motion\" is not wired; expected a table [motion]")
    #expect(
      report(Sample.without(table: "receiver"))
        == prefix + "\"bytes\" and \"batch_pin\" need a receiver; "
        + "expected neither of these, or a table [receiver]")
    func without(_ words: String) -> String {
      report(
        Sample.without(table: "receiver").replacing(
          "wakes_on = [\"alarm\", \"bytes\", \"batch_pin\", \"motion\"]",
          with: "wakes_on = [\(words)]"))
    }
    #expect(without("\"alarm\", \"motion\"").isEmpty && without("\"alarm\"").isEmpty)
    #expect(without("\"alarm\", \"bytes\"").contains("need a receiver"))
    #expect(without("\"alarm\", \"batch_pin\"").contains("need a receiver"))
  }

  @Test("a table instead of a value, and a value instead of a table, are reported")
  func tables() {
    #expect(
      report("[[receiver]]\n" + Sample.without(table: "receiver")).contains(
        "p.toml:1:3: receiver: is a list; expected one table [receiver]"))
    #expect(
      report("receiver = 4\n" + Sample.without(table: "receiver")).contains(
        "p.toml:1:1: receiver: is a whole number; expected one table [receiver]"))
    #expect(
      report(Sample.replacing("cache.sync_s", with: "sync_s = { s = 1 }")).contains(
        "cache.sync_s: is a table; expected a number of seconds, 1 to 3600"))
  }
}
