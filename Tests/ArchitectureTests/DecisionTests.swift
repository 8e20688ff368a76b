import Foundation
import Testing

@Suite("Decision records have one form and an index")
struct DecisionTests {
  static let sections = ["## Context", "## Decision", "## Consequences", "## Measured"]

  /// The parts that a record lacks, or has in another order.
  static func problems(in text: String, named name: String) -> [String] {
    var problems: [String] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if !(lines.first ?? "").hasPrefix("# \(name.prefix(4)). ") { problems.append("title") }
    let date = lines.first { $0.hasPrefix("- Date: ") } ?? ""
    if date.wholeMatch(of: /- Date: \d{4}-\d{2}-\d{2}/) == nil { problems.append("date") }
    let states = ["accepted", "revised by ", "superseded by "]
    let status = lines.first { $0.hasPrefix("- Status: ") }?.dropFirst("- Status: ".count) ?? ""
    if !states.contains(where: { status.hasPrefix($0) }) { problems.append("status") }
    let found = lines.filter { $0.hasPrefix("## ") }.map(String.init)
    if found != sections { problems.append("sections \(found)") }
    return problems
  }

  static func records() throws -> [Repository.File] {
    try Repository.files(in: ["Docs/Decisions"], endings: ["md"]).filter { $0.name != "README.md" }
  }

  @Test("every record has title, date, status, context, decision, consequences and measurements")
  func form() throws {
    let records = try Self.records()
    #expect(records.count > 50)
    for record in records {
      let problems = Self.problems(in: record.text, named: record.name)
      #expect(problems.isEmpty, "\(record.path): \(problems.joined(separator: ", "))")
    }
  }

  @Test("the index lists each record with its title, in the order of the numbers")
  func index() throws {
    let index = try Repository.text("Docs/Decisions/README.md")
    let listed = index.matches(of: /\| (\d{4}) \| \[(.*?)\]\((\S+\.md)\) \|/)
      .map { "\($0.output.3): # \($0.output.1). \($0.output.2)" }
    let expected = try Self.records().map { "\($0.name): \($0.text.prefix { $0 != "\n" })" }
    #expect(listed == expected)
  }

  @Test("the check finds each missing part")
  func checker() {
    let good = """
      # 0007. Do this

      - Date: 2026-01-02
      - Status: accepted

      ## Context
      ## Decision
      ## Consequences
      ## Measured
      """
    #expect(Self.problems(in: good, named: "0007-do-this.md").isEmpty)
    for part in good.split(separator: "\n") where !part.isEmpty {
      let text = good.replacing(part, with: "")
      #expect(!Self.problems(in: text, named: "0007-do-this.md").isEmpty, "\(part)")
    }
    #expect(!Self.problems(in: good, named: "0008-do-this.md").isEmpty)
  }
}
