import BoardHardware
import Testing

@testable import BoardProfiles

@Suite("GPIO lines in a profile")
struct LineTests {
  private static let keys = [
    "receiver.wake_line", "receiver.supply_line", "receiver.pulse_line", "receiver.batch.line",
    "motion.line", "battery.low_line", "board.session_light_line",
  ]

  @Test("every key that names a line says so when it names none", arguments: keys)
  func named(_ key: String) {
    let name = key.split(separator: ".").last ?? ""
    let told = problems(Sample.replacing(key, with: "\(name) = \"GPIO1, upside-down\""))
    #expect(told.map(\.key) == [key])
    #expect(
      told.first?.problem.contains(
        "'upside-down' is no attribute of a line; the attributes "
          + "are active-low")
        == true)
    #expect(told.first?.line == Sample.line(of: key))
    #expect(problems(Sample.replacing(key, with: "\(name) = \"gpiochip1:8, active-low\"")).isEmpty)
  }

  @Test(
    "an attribute that is misspelt, or not behind a comma, has its place, and what was meant",
    arguments: ["GPIO1 active-lwo", "GPIO1, active-lwo", "GPIO1:active-low", "!GPIO1"])
  func meant(_ text: String) throws {
    let told = problems(Sample.replacing("motion.line", with: "line = \"\(text)\""))
    let problem = try #require(told.first)
    #expect(told.count == 1 && problem.key == "motion.line")
    #expect(problem.line == Sample.line(of: "motion.line"))
    #expect(
      problem.problem.contains("did you mean active-low?")
        || problem.problem.contains("as in \"GPIO1, active-low\""), "\(problem.problem)")
  }

  @Test(
    "every line that the page on wiring quotes can be read",
    arguments: ["HowTo/wire-a-receiver.md", "Reference/board-profile.md"])
  func quoted(_ page: String) throws {
    let text = try ReferencePageTests.text("Docs/" + page)
    let quotes = text.matches(of: #/"((?:GPIO|gpiochip)[^"\n]*)"/#).map { String($0.output.1) }
    #expect(!quotes.isEmpty)
    for quote in quotes { #expect(throws: Never.self, "\(quote)") { try GPIOLine(quote) } }
    #expect(!text.contains("?active-low"))
  }

  @Test("a line does one thing", arguments: keys)
  func twice(_ key: String) {
    let name = key.split(separator: ".").last ?? ""
    let other = key == "motion.line" ? "WAKE" : "MOTION"
    let told = problems(Sample.replacing(key, with: "\(name) = \"\(other), active-low\""))
    #expect(told.count == 1 && told.first?.problem.contains("is already used for") == true)
  }
}
