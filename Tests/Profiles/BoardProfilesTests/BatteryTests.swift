import Testing

@testable import BoardProfiles

@Suite("The table [battery]")
struct BatteryProfileTests {
  /// What is wrong when these keys have these values.
  private func said(_ values: [(String, Int)]) -> [String] {
    var text = Sample.profile.text
    for (name, value) in values {
      let line = Sample.lines.first { $0.hasPrefix(name + " = ") } ?? "?"
      text = text.replacing(line + "\n", with: "\(name) = \(value)\n")
    }
    return problems(text).map { "\($0.key):\($0.line): \($0.message)" }
  }

  @Test("PWR-10: a charge for each promise, in any order but that the finer goes first")
  func order() throws {
    let line = { (key: String) in Sample.line(of: "battery." + key) ?? 0 }
    #expect(said([("accuracy_percent", 60), ("updates_percent", 60)]).isEmpty)
    #expect(said([("visits_percent", 100), ("regions_percent", 0)]).isEmpty)
    #expect(
      said([("accuracy_percent", 61)]) == [
        "battery.accuracy_percent:\(line("accuracy_percent")): 61 is above the 60 of "
          + "every_fix_percent; expected at most 60; services that need more accuracy are shed first"
      ])
    #expect(
      said([("updates_percent", 51)]) == [
        "battery.updates_percent:\(line("updates_percent")): 51 is above the 50 of "
          + "accuracy_percent; expected at most 50; services that need more accuracy are shed first"
      ])
    #expect(said([("updates_percent", 61), ("accuracy_percent", 0)]).count == 2)
    #expect(
      problems(Sample.replacing("battery.every_fix_percent", with: "")).map(\.problem) == [
        "every_fix_percent is missing, so clients that want every fix would lose nothing"
      ])
  }

  @Test("PWR-10: a key that is left out is never given up, nor is anything without the table")
  func absent() throws {
    var text = Sample.without(table: "battery")
    #expect(try BoardProfile.parse(text, file: "p").battery == nil)
    text += "\n[battery]\n"
    text += "visits_percent = 20\n"
    let battery = try BoardProfile.parse(text, file: "p").battery
    #expect(battery?.visits == 20 && battery?.updates == nil && battery?.margin == 3)
  }

  @Test("PWR-10: a table that gives nothing up is told at its place")
  func empty() {
    let text = Sample.without(table: "battery") + "\n[battery]\n"
    let line = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
    for more in ["", "gauge = \"BAT0\"\nmargin_percent = 5\n", "visits_percent = 0\n"] {
      let told = problems(text + more)
      #expect(told.map(\.key) == ["battery"] && told.map(\.line) == [line])
      #expect(told.first?.message.hasPrefix("sets no threshold, so it has no effect") == true)
      #expect(told.first?.message.contains("or no table [battery]") == true)
    }
    // One that was misspelt is told once.
    #expect(problems(text + "visit_percent = 5\n").map(\.key) == ["battery.visit_percent"])
  }

  @Test("a slip of the fingers and another unit are told with the right key")
  func slips() {
    func suggestion(_ line: String) -> [String] {
      problems(Sample.replacing("battery.visits_percent", with: line)).map(\.suggestion)
    }
    #expect(suggestion("visit_percent = 5") == ["did you mean `visits_percent`?"])
    #expect(suggestion("visits_pct = 5") == ["did you mean `visits_percent`?"])
    #expect(suggestion("visits_s = 5") == ["write the value in percent as `visits_percent`"])
  }
}
