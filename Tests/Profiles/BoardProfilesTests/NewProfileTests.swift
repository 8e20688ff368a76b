import LocationTypes
import TestSupport
import Testing

@testable import BoardProfiles

@Suite("A profile created from answers")
struct NewProfileTests {
  /// Answers questions from `answers` by path, others with ""; returns the paths of all questions.
  static func ask(
    _ new: inout NewProfile, _ answers: [String: String]
  ) throws -> [String] {
    var questions: [String] = []
    while let question = new.next {
      try #require(questions.count < 100, "endless questions")
      questions.append(question.path)
      try new.answer(question.path, answers[question.path] ?? "")
    }
    return questions
  }

  static func rejection(_ new: inout NewProfile, _ path: String, _ answer: String) -> String? {
    do throws(NewProfile.Rejection) {
      try new.answer(path, answer)
      return nil
    } catch { return error.message }
  }

  @Test("a name alone gives a valid board that only idles, with a receiver that streams")
  func proposed() throws {
    var new = NewProfile()
    let questions = try NewProfileTests.ask(&new, ["name": "mine"])
    #expect(questions.first == "name" && questions.contains("board.suspended"))
    for path in [
      "receiver.output", "receiver.wake_line", "receiver.batch", "receiver.power.standby_mw",
    ] {
      #expect(!questions.contains(path), "a receiver that streams has no \(path)")
    }
    let profile = try new.profile(file: "p.toml")
    #expect(profile.name == "mine" && profile.receiver?.family == .passive)
    #expect(profile.board.suspended == nil && profile.board.off == nil)
    #expect(profile.receiver?.batch == nil && profile.cache.deferralLimit == 4_096)
    #expect(profile.board.awake_mw == 1_000 && profile.receiver?.lineSpeed_baud == 9_600)
  }

  @Test("every optional table and every key has the given answer")
  func everything() throws {
    let answers = [
      "name": "all-of-it", "description": "A \"quoted\" board", "receiver.family": "ublox-m10",
      "receiver.model": "M10", "receiver.device": "/dev/ttyS1", "receiver.wake_line": "W",
      "receiver.supply_line": "S", "receiver.backup_supply": "y", "receiver.batch": "Yes",
      "receiver.batch.extra_pvt": "no", "receiver.batch.pio": "4", "receiver.batch.line": "B",
      "board.suspended": "y", "board.suspended.wakes_on": "[\"alarm\", batch_pin]",
      "motion": "yes", "motion.line": "GPIO27",
      "board.off": "yes", "board.off.power_mw": "3", "receiver.time_to_fix.cold_s": "2",
      "cache.capacity_fixes": "100", "battery": "yes", "battery.gauge": "BAT0",
      "battery.updates_percent": "25",
    ]
    var new = NewProfile()
    let questions = Set(try NewProfileTests.ask(&new, answers))
    #expect(questions == Set(NewProfile.questionOrder))
    let profile = try new.profile(file: "p.toml")
    let receiver = try #require(profile.receiver), batch = try #require(receiver.batch)
    #expect(profile.summary == "A \"quoted\" board" && receiver.hasBackupSupply)
    #expect(batch.capacity == 600 && batch.watermark == 540 && batch.line == "B" && batch.pio == 4)
    #expect(profile.board.suspended?.wakeSources == [.alarm, .batchPin])
    #expect(profile.motion == .init(line: "GPIO27", stillAfter: .seconds(10)))
    #expect(new.wiring.contains { $0.key == "motion line" && $0.name == "GPIO27" })
    let battery = try #require(profile.battery)
    #expect(battery.gauge == "BAT0" && battery.everyFix == 30 && battery.significantChange == 4)
    #expect(battery.accuracy == 25 && battery.updates == 25, "the proposal is lowered to fit")
    #expect(profile.board.off?.power_mw == 3 && profile.cache.deferralLimit == 50)
    // The proposal follows the answer: no start is slower than a cold start.
    #expect(receiver.timeToFix.afterOff.allSatisfy { $0.fix <= .seconds(2) })
    #expect(receiver.lineSpeed_baud == 115_200 && receiver.output == .ubx)
  }

  @Test("a board without a receiver gets no questions about it")
  func noReceiver() throws {
    var new = NewProfile()
    let questions = try NewProfileTests.ask(
      &new, ["name": "a", "receiver": "n", "board.suspended": "y"])
    #expect(!questions.contains { $0.hasPrefix("receiver.") })
    #expect(questions.contains("motion") && !questions.contains("motion.line"))
    #expect(try new.profile(file: "p.toml").receiver == nil && new.wiring.isEmpty)
  }

  @Test("an invalid answer is reported with the schema's expectation and changes nothing")
  func rejected() throws {
    var new = NewProfile()
    try new.answer("name", "a")
    for key in ProfileSchema.keys {
      let before = new.draft
      for bad in ["\u{1B}[2J", "1 # x", "1\nb = 2", "nan", "1, 2", "{}"] {
        guard let message = NewProfileTests.rejection(&new, key.path, bad) else {
          // Any line of printable characters is valid text.
          guard case .text = key.constraint else {
            Issue.record("\(key.path) = \(bad) was accepted")
            continue
          }
          new.draft = before
          continue
        }
        #expect(
          message.hasSuffix("; expected " + key.expectation) || key.path == "name"
            || (key.name.hasSuffix("line") && message.contains("is not a GPIO line")), "\(message)")
        #expect(new.draft.profile == before.profile)
      }
    }
    #expect(
      NewProfileTests.rejection(&new, "receiver.power.track_mw", "-1")
        == "-1 is out of range; expected a number of milliwatts, 0 to 100000")
    #expect(
      NewProfileTests.rejection(&new, "receiver.family", "ublox")
        == "unknown word \"ublox\"; expected \"ublox-m10\", \"ublox-m8\", \"mtk\", \"airoha\", \"casic\", \"teseo\" or \"nmea\""
    )
    #expect(
      NewProfileTests.rejection(&new, "board.off", "perhaps")
        == "\"perhaps\" is neither yes nor no")
    #expect(
      NewProfileTests.rejection(&new, "board.idle", "no")
        == "every profile needs the table [board.idle]; the answer must be yes")
    #expect(
      NewProfileTests.rejection(&new, "board.idle.powr_mw", "1")
        == "unknown key; did you mean `board.idle.power_mw`?")
    #expect(NewProfileTests.rejection(&new, "", "1") == "unknown key")
    #expect(
      NewProfileTests.rejection(&new, "name", "My Board")?.contains(
        "lower-case letters") == true)
  }

  @Test("RNG-1, DEF-33: a conflict with an earlier answer is reported immediately")
  func rules() throws {
    var new = NewProfile()
    try new.answer("name", "a")
    try new.answer("receiver.family", "ublox-m10")
    try new.answer("receiver.batch", "yes")
    try new.answer("board.awake.power_mw", "500")
    // No conflict until both are answered: the other value is still a proposal.
    try new.answer("receiver.batch.extra_pvt", "")
    try new.answer("receiver.batch.capacity_fixes", "100")
    try new.answer("cache.capacity_fixes", "100")
    func rejection(_ path: String, _ answer: String) -> String? {
      NewProfileTests.rejection(&new, path, answer)
    }
    #expect(
      rejection("receiver.batch.watermark_fixes", "100")
        == "100 is not below capacity_fixes; expected at most 99")
    #expect(
      rejection("cache.deferral_limit_fixes", "51")
        == "51 is more than half of capacity_fixes; expected at most 50")
    #expect(
      rejection("board.idle.power_mw", "501")
        == "board.awake.power_mw: 500 mW is less than the 501 mW of [board.idle]; "
        + "expected at least 501, measured with one core busy")
    #expect(rejection("board.idle.power_mw", "500") == nil)
    try new.answer("board.suspended", "y")
    #expect(rejection("board.suspended.power_mw", "501")?.contains("save nothing") == true)
    try new.answer("receiver.batch.pio", "")
    #expect(
      rejection("receiver.batch.line", "B")?.hasPrefix("receiver.batch.pio: is missing") == true)
  }

  @Test("any accepted answers give a valid profile")
  func anyAnswers() throws {
    var random = SplitMix64(seed: 7)
    let words = [
      "", "", "", "y", "n", "0", "1", "2", "5", "0.5", "100", "700", "90000", "ublox-m10", "nmea",
      "ubx", "4800", "921600", "alarm", "alarm bytes", "GPIO4", "x\"y\\z", "é", "-1", "1e9", "#",
    ]
    var accepted = 0
    for round in 0..<60 {
      var new = NewProfile()
      try new.answer("name", "b\(round)")
      var steps = 0
      while let question = new.next, steps < 2_000 {
        steps += 1
        let answer = words[random.below(words.count)]
        if NewProfileTests.rejection(&new, question.path, answer) == nil { accepted += 1 }
      }
      #expect(new.next == nil)
      #expect(throws: Never.self) { try new.profile(file: "p.toml") }
    }
    #expect(accepted > 1_000)
  }

  @Test("the text of a proposal, entered as an answer, gives the same value")
  func typed() throws {
    for key in ProfileSchema.keys {
      guard let value = key.get(ProfileDraft(Sample.profile)) else { continue }
      #expect(try key.value(of: value.answerText) == value, "\(key.path)")
    }
  }

  @Test("the template has every key and table; uncommented, it is a complete profile")
  func template() throws {
    let example = ProfileTemplate.example
    #expect(throws: Never.self) { try BoardProfile.parse(example, file: "p.toml") }
    #expect(example.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.contains(" = ") })
    let lines = example.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let remainder = line.dropFirst(2)
      let isKey =
        line.hasPrefix("# ")
        && (remainder.hasPrefix("[") || remainder.wholeMatch(of: /[a-z0-9_]+ = .*/) != nil)
      return isKey ? remainder : line
    }
    let text = lines.joined(separator: "\n")
      .replacing("family = \"nmea\"", with: "family = \"ublox-m10\"")
    let profile = try BoardProfile.parse(text, file: "p.toml")
    #expect(ProfileDraft(profile).tables == Set(ProfileSchema.tables.map(\.path)))
    for setting in profile.settings {
      #expect(setting.value != nil, "\(setting.key.path)")
      #expect(example.contains(ProfileTemplate.comment(setting.key.meaning).dropLast().prefix(40)))
    }
  }

  @Test("proposed values are marked, given values are not")
  func origins() throws {
    var new = NewProfile()
    _ = try NewProfileTests.ask(&new, ["name": "a", "receiver.power.track_mw": "66"])
    let values = new.values
    let track = try #require(values.first { $0.path == "receiver.power.track_mw" })
    let acquire = try #require(values.first { $0.path == "receiver.power.acquire_mw" })
    #expect(track.isGiven && !acquire.isGiven && acquire.value == "82.5")
    #expect(!values.contains { $0.path == "cache.capacity_fixes" })
    let text = ProfileTemplate.text(new)
    // Join wrapped comment lines.
    let words = text.split { $0 == "\n" || $0 == "#" || $0 == " " }.joined(separator: " ")
    let mark = "Measure this: the proposed value is only an order of magnitude."
    #expect(
      words.contains(
        "Acquisition: searching for satellites. Value: a number of milliwatts, 0 to 100000. \(mark)"
      )
    )
    #expect(
      !words.contains(
        "Tracking, with a fix per interval. Value: a number of milliwatts, 0 to 100000. \(mark)"))
    #expect(words.contains("921600. Look this up: the value is only proposed."))
  }
}
