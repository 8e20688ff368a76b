import Testing

@testable import BoardProfiles

@Suite("The table [battery]")
struct BatteryProfileTests {
  /// The problems if these keys have these values.
  private func problemTexts(_ values: [(String, Int)]) -> [String] {
    var text = Sample.profile.text
    for (name, value) in values {
      let line = Sample.lines.first { $0.hasPrefix(name + " = ") } ?? "?"
      text = text.replacing(line + "\n", with: "\(name) = \(value)\n")
    }
    return problems(text).map { "\($0.key):\($0.line): \($0.message)" }
  }

  @Test("PWR-10: a charge for each service level; more demanding levels have higher thresholds")
  func order() throws {
    let line = { (key: String) in Sample.line(of: "battery." + key) ?? 0 }
    #expect(problemTexts([("accuracy_percent", 60), ("updates_percent", 60)]).isEmpty)
    #expect(problemTexts([("visits_percent", 100), ("regions_percent", 0)]).isEmpty)
    #expect(
      problemTexts([("accuracy_percent", 61)]) == [
        "battery.accuracy_percent:\(line("accuracy_percent")): 61 is above the 60 of "
          + "every_fix_percent; expected at most 60; services that need more accuracy are shed first"
      ])
    #expect(
      problemTexts([("updates_percent", 51)]) == [
        "battery.updates_percent:\(line("updates_percent")): 51 is above the 50 of "
          + "accuracy_percent; expected at most 50; services that need more accuracy are shed first"
      ])
    #expect(problemTexts([("updates_percent", 61), ("accuracy_percent", 0)]).count == 2)
    #expect(
      problems(Sample.replacing("battery.every_fix_percent", with: "")).map(\.problem) == [
        "every_fix_percent is missing, so clients that want every fix would lose nothing"
      ])
  }

  @Test("PWR-10: a service level without a key is never shed, nor is any without the table")
  func absent() throws {
    var text = Sample.without(table: "battery")
    #expect(try BoardProfile.parse(text, file: "p").battery == nil)
    text += "\n[battery]\n"
    text += "visits_percent = 20\n"
    let battery = try BoardProfile.parse(text, file: "p").battery
    #expect(battery?.visits == 20 && battery?.updates == nil && battery?.margin == 3)
  }

  @Test("PWR-10: a table without thresholds is reported at its line")
  func empty() {
    let text = Sample.without(table: "battery") + "\n[battery]\n"
    let line = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
    for more in ["", "gauge = \"BAT0\"\nmargin_percent = 5\n", "visits_percent = 0\n"] {
      let found = problems(text + more)
      #expect(found.map(\.key) == ["battery"] && found.map(\.line) == [line])
      #expect(found.first?.message.hasPrefix("sets no threshold, so it has no effect") == true)
      #expect(found.first?.message.contains("or no table [battery]") == true)
    }
    // A misspelt key is reported once.
    #expect(problems(text + "visit_percent = 5\n").map(\.key) == ["battery.visit_percent"])
  }

  @Test("a misspelt key and another unit are reported with the right key")
  func misspelt() {
    func suggestion(_ line: String) -> [String] {
      problems(Sample.replacing("battery.visits_percent", with: line)).map(\.suggestion)
    }
    #expect(suggestion("visit_percent = 5") == ["did you mean `visits_percent`?"])
    #expect(suggestion("visits_pct = 5") == ["did you mean `visits_percent`?"])
    #expect(suggestion("visits_s = 5") == ["write the value in percent as `visits_percent`"])
  }
}
