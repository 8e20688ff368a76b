import BoardHardware
import Testing

@testable import BoardProfiles

@Suite("GPIO lines in a profile")
struct LineTests {
  private static let keys = [
    "receiver.wake_line", "receiver.supply_line", "receiver.pulse_line", "receiver.batch.line",
    "motion.line", "battery.low_line", "board.session_light_line",
  ]

  @Test("every key for a line reports an invalid line", arguments: keys)
  func named(_ key: String) {
    let name = key.split(separator: ".").last ?? ""
    let found = problems(Sample.replacing(key, with: "\(name) = \"GPIO1, upside-down\""))
    #expect(found.map(\.key) == [key])
    #expect(
      found.first?.problem.contains(
        "'upside-down' is no attribute of a line; the attributes are active-low")
        == true)
    #expect(found.first?.line == Sample.line(of: key))
    #expect(problems(Sample.replacing(key, with: "\(name) = \"gpiochip1:8, active-low\"")).isEmpty)
  }

  @Test(
    "a misspelt attribute, or one without a comma, is reported with line and suggestion",
    arguments: ["GPIO1 active-lwo", "GPIO1, active-lwo", "GPIO1:active-low", "!GPIO1"])
  func misspelt(_ text: String) throws {
    let found = problems(Sample.replacing("motion.line", with: "line = \"\(text)\""))
    let problem = try #require(found.first)
    #expect(found.count == 1 && problem.key == "motion.line")
    #expect(problem.line == Sample.line(of: "motion.line"))
    #expect(
      problem.problem.contains("did you mean active-low?")
        || problem.problem.contains("as in \"GPIO1, active-low\""), "\(problem.problem)")
  }

  @Test(
    "every line that the page on wiring quotes is valid",
    arguments: ["HowTo/wire-a-receiver.md", "Reference/board-profile.md"])
  func quoted(_ page: String) throws {
    let text = try ReferencePageTests.text("Docs/" + page)
    let quotes = text.matches(of: #/"((?:GPIO|gpiochip)[^"\n]*)"/#).map { String($0.output.1) }
    #expect(!quotes.isEmpty)
    for quote in quotes { #expect(throws: Never.self, "\(quote)") { try GPIOLine(quote) } }
    #expect(!text.contains("?active-low"))
  }

  @Test("a line can be used by one key only", arguments: keys)
  func twice(_ key: String) {
    let name = key.split(separator: ".").last ?? ""
    let other = key == "motion.line" ? "WAKE" : "MOTION"
    let found = problems(Sample.replacing(key, with: "\(name) = \"\(other), active-low\""))
    #expect(found.count == 1 && found.first?.problem.contains("is already used for") == true)
  }
}
