import BoardHardware
import BoardProfiles
import LinuxHAL
import LocationTypes
import GNSSProtocols
import Testing

@testable import BoardDoctor

@Suite("The profile that a doctor proposes")
struct ProposedProfileTests {
  /// A profile of an M10 with measured values.
  private static func measured(_ settings: [(String, String)] = []) throws -> BoardProfile {
    try DoctorTests.profile(
      "/dev/ttyAMA0",
      [
        ("description", "A board with a MAX-M10S"), ("receiver.family", "ublox-m10"),
        ("receiver.output", "ubx"), ("receiver.model", "u-blox MAX-M10S"),
        ("receiver.wake_line", "WAKE"), ("receiver.power.acquire_mw", "27.5"),
        ("receiver.power.track_mw", "21.5"), ("receiver.power.powersave_mw", "9.5"),
        ("receiver.range_error_m", "2.5"), ("receiver.time_to_fix.cold_s", "24"),
        ("receiver.time_to_fix.p90_ratio", "1.25"), ("receiver.batch", "yes"),
        ("receiver.batch.line", "BATCH"), ("receiver.batch.pio", "4"),
        ("board.suspended", "yes"), ("board.suspended.wakes_on", "alarm, batch_pin"),
      ] + settings)
  }

  private static func propose(
    _ profile: BoardProfile?, _ change: (inout Doctor.Facts) -> Void
  ) throws -> (text: String, profile: BoardProfile) {
    var doctor = Doctor(
      DoctorTests.options(profile), files: FakeBoard().files, gpio: GPIOAccess.none,
      timeouts: .init())
    doctor.facts.device = "/dev/ttyAMA0"
    doctor.facts.speed_baud = 9_600
    change(&doctor.facts)
    let proposal = try #require(try ProposedProfile(doctor, name: nil))
    let text = try proposal.text(file: "a.toml")
    return (text, try BoardProfile.parse(text, file: "a.toml"))
  }

  @Test("another receiver: no values, model or output of the previous one remain")
  func replaced() throws {
    let before = try Self.measured()
    let casic = try #require(ReceiverIdentity(sentence: "GPTXT,01,01,02,SW=URANUS5,V5.3.0.0"))
    let (text, profile) = try Self.propose(before) { $0.identity = casic }
    let receiver = try #require(profile.receiver)
    #expect(receiver.family == .casic && receiver.output == .nmea && receiver.model == "CASIC")
    #expect(receiver.lineSpeed_baud == 9_600 && receiver.defaultLineSpeed_baud == 9_600)
    #expect(receiver.batch == nil && profile.board.suspended?.wakeSources == .alarm)
    #expect(receiver.power.powersave_mw == nil)
    // Optional keys are reset to their defaults.
    let blank = try #require(try DoctorTests.profile("/dev/ttyAMA0").receiver)
    #expect(receiver.rangeError_m == blank.rangeError_m)
    #expect(receiver.timeToFix.p90Ratio == blank.timeToFix.p90Ratio)
    for figure in ["27.5", "21.5", "9.5", "24", "MAX-M10S"] {
      #expect(!text.contains(" = \(figure)\n") && !text.contains("\"u-blox \(figure)"), "\(figure)")
    }
    for key in ["acquire_mw", "track_mw", "standby_mw", "cold_s"] {
      #expect(Self.comment(above: key, in: text).contains("Measure this"), "\(key)")
    }
    #expect(profile.summary == "A board with CASIC on /dev/ttyAMA0")
    // Wiring and board settings are kept.
    #expect(receiver.device == "/dev/ttyAMA0" && receiver.wakeLine == "WAKE")
    #expect(Self.comment(above: "wake_line", in: text).contains("wired to the previous receiver"))
    #expect(profile.board.suspended?.power_mw == before.board.suspended?.power_mw)
  }

  @Test("the same receiver at another speed: all measured values are kept")
  func otherSpeed() throws {
    let before = try Self.measured()
    let same = ReceiverIdentity(ublox: "MAX-M10S", hardware: "000A0000", firmware: "x")
    let (_, profile) = try Self.propose(before) {
      $0.identity = same
      $0.speed_baud = 38_400
    }
    var expected = before
    expected.receiver?.defaultLineSpeed_baud = 38_400
    #expect(profile == expected)
  }

  @Test("a speed set by a program changes the line speed, not the default speed")
  func setSpeed() throws {
    let before = try Self.measured([("receiver.line_speed_baud", "57600")])
    let same = ReceiverIdentity(ublox: "MAX-M10S", hardware: "000A0000", firmware: "x")
    let (text, profile) = try Self.propose(before) {
      $0.identity = same
      $0.speed_baud = 115_200
    }
    var expected = before
    expected.receiver?.lineSpeed_baud = 115_200
    #expect(profile == expected && profile.receiver?.defaultLineSpeed_baud == 9_600)
    #expect(Self.comment(above: "line_speed_baud", in: text).contains("a program may have set"))
    let (_, new) = try Self.propose(nil) {
      $0.identity = same
      $0.speed_baud = 115_200
    }
    #expect(new.receiver?.lineSpeed_baud == 115_200 && new.receiver?.defaultLineSpeed_baud == 9_600)
  }

  @Test(
    "another model is detected by family, and by the model that a u-blox reports",
    arguments: [
      ("ublox-m10", "u-blox MAX-M10S", "MAX-M10S", false),
      ("ublox-m10", "an M10", "MAX-M10S", false),
      ("ublox-m10", "u-blox NEO-M9N", "MAX-M10S", true),
      ("ublox-m8", "u-blox MAX-M8Q", "MAX-M10S", true),
      ("nmea", "u-blox NEO-6M", "MAX-M10S", true), ("nmea", "anything", "MAX-M10S", true),
    ])
  func other(_ family: String, _ profiled: String, _ reported: String, _ isOther: Bool) throws {
    var receiver = try #require(try DoctorTests.profile("/dev/ttyAMA0").receiver)
    receiver.family = try #require(ReceiverFamily.allCases.first { "\($0.name)" == family })
    receiver.model = profiled
    let identity = ReceiverIdentity(ublox: reported, hardware: "000A0000", firmware: "x")
    #expect(ProposedProfile.isOtherModel(identity, than: receiver) == isOther)
    receiver.model = nil
    #expect(ProposedProfile.isOtherModel(identity, than: receiver) == (family == "ublox-m8"))
  }

  @Test("PWR-10: a service level that the profile never sheds is not shed by a proposed one")
  func battery() throws {
    let before = try DoctorTests.profile(
      "/dev/ttyAMA0", [("battery.gauge", "BAT0"), ("battery.updates_percent", "15")])
    var bare = before
    bare.battery?.everyFix = nil
    bare.battery?.accuracy = nil
    bare.battery?.visits = nil
    bare.battery?.regions = nil
    bare.battery?.significantChange = nil
    let (_, profile) = try Self.propose(bare) { $0.speed_baud = 38_400 }
    #expect(profile.battery == bare.battery)
  }

  @Test("a new profile: detected values, but no battery or suspended state, which need values")
  func new() throws {
    let (text, profile) = try Self.propose(nil) {
      $0.identity = ReceiverIdentity(ublox: "MAX-M10S", hardware: "000A0000", firmware: "x")
      $0.gauge = "BAT\u{7}0"
      $0.canSuspend = true
    }
    #expect(profile.receiver?.family == .ubloxM10 && profile.receiver?.model == "u-blox MAX-M10S")
    #expect(profile.receiver?.output == .ubx && profile.receiver?.lineSpeed_baud == 9_600)
    #expect(profile.battery == nil && profile.board.suspended == nil)
    // Join wrapped comment lines.
    let words = text.split { $0 == "\n" || $0 == "#" || $0 == " " }.joined(separator: " ")
    #expect(words.contains("The kernel has the gauge \"BAT\u{FFFD}0\""))
    #expect(words.contains("The kernel supports it; omitted until its values are measured"))
    #expect(Self.comment(above: "acquire_mw", in: text).contains("Measure this"))
    #expect(Self.comment(above: "model", in: text).contains("As reported by the receiver"))
  }

  @Test("lines that do not exist on the board are removed, with the settings that need them")
  func missing() throws {
    let before = try Self.measured([
      ("motion.line", "MOTION"), ("receiver.supply_line", "SUPPLY"),
      ("board.suspended.wakes_on", "alarm, batch_pin, motion"),
    ])
    let board = FakeBoard()
    let doctor = board.examined(
      DoctorTests.options(before),
      pins: .chip { line throws(GPIOFault) in
        if line.text != "SUPPLY" { throw .noLine(line) }
        return nil
      })
    let proposal = try #require(try ProposedProfile(doctor, name: nil))
    #expect(
      proposal.changedPaths.starts(
        with: ["receiver.wake_line", "receiver.batch.line", "motion.line"]))
    let text = try proposal.text(file: "a.toml")
    let profile = try BoardProfile.parse(text, file: "a.toml")
    #expect(profile.receiver?.wakeLine == nil && profile.receiver?.batch?.line == nil)
    #expect(profile.receiver?.supplyLine == "SUPPLY" && profile.motion == nil)
    #expect(Self.comment(above: "wake_line", in: text).contains("does not exist on this board"))
    // Lines that cannot be checked are not assumed to be missing.
    let closed = board.examined(
      DoctorTests.options(before),
      pins: .chip { line throws(GPIOFault) in
        throw .notPermitted(path: "/dev/gpiochip0", group: nil)
      })
    #expect(closed.facts.missingLines.isEmpty)
  }

  /// The comment above the first line of `key`, on one line.
  private static func comment(above key: String, in text: String) -> String {
    var words = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("\(key) = ") || line.hasPrefix("# \(key) = ") { return words }
      let isComment = line.hasPrefix("# ") && !line.contains(" = ")
      words = isComment ? words + line.dropFirst(1) : ""
    }
    return ""
  }
}
