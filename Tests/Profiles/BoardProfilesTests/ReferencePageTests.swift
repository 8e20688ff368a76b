import Foundation
import TestSupport
import Testing

@testable import BoardProfiles

@Suite("The reference page and the template agree with the schema")
struct ReferencePageTests {
  /// A row of the page's tables, and the profile table of its heading.
  struct Row: Equatable {
    var table: String
    var cells: [String]
  }

  static func text(_ path: String) throws -> String {
    try String(contentsOfFile: packageRoot + "/" + path, encoding: .utf8)
  }

  /// The rows of all tables of keys, in the order of the page.
  static func rows(of page: String) -> [Row] {
    var table: String?
    var rows: [Row] = []
    for line in page.split(separator: "\n") {
      if line.hasPrefix("## ") {
        table = line == "## Top of the file" ? "" : nil
        if line.hasPrefix("## `["), line.hasSuffix("]`") {
          table = String(line.dropFirst(5).dropLast(2))
        }
      }
      guard let table, line.hasPrefix("| `") else { continue }
      let cells = line.split(separator: " | ", omittingEmptySubsequences: false).map(String.init)
      rows.append(
        Row(
          table: table,
          cells: cells.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "| ")) }))
    }
    return rows
  }

  @Test("every key has its row and every row its key, with range, unit, default and meaning")
  func rows() throws {
    let rows = ReferencePageTests.rows(
      of: try ReferencePageTests.text("Docs/Reference/board-profile.md"))
    let paths = rows.map { $0.table + "." + ($0.cells.first ?? "") }
    #expect(paths == ProfileSchema.keys.map { $0.table + ".`" + $0.name + "`" })
    for (row, key) in zip(rows, ProfileSchema.keys) {
      try #require(row.cells.count == 4, "\(key.path)")
      #expect(row.cells[1] == ReferencePageTests.expectedValues(key), "\(key.path)")
      #expect(row.cells[2] == ReferencePageTests.defaultValue(key), "\(key.path)")
      #expect(row.cells[3] == key.meaning, "\(key.path)")
    }
  }

  @Test("the row of a key has the value that applies without the key")
  func defaults() throws {
    let page = try ReferencePageTests.text("Docs/Reference/board-profile.md")
    for (row, key) in zip(ReferencePageTests.rows(of: page), ProfileSchema.keys) {
      let without = Sample.replacing(key.path, with: "# nothing")
      // These keys are only valid together with another key.
      let both = [
        "receiver.batch.pio", "receiver.batch.line", "battery.every_fix_percent",
      ].contains(key.path)
      let found = both ? nil : try? BoardProfile.parse(without, file: "p.toml")
      guard let found else {
        #expect(both || row.cells[2] == "required", "\(key.path)")
        continue
      }
      let value = found.settings.first { $0.key.path == key.path }?.value
      #expect(row.cells[2] == (value.map { "`\($0)`" } ?? "not set"), "\(key.path)")
    }
  }

  @Test("every table has its heading, its meaning and whether it is required")
  func tables() throws {
    let page = try ReferencePageTests.text("Docs/Reference/board-profile.md")
    for table in ProfileSchema.tables {
      let title = table.path.isEmpty ? "Top of the file" : "`[\(table.path)]`"
      let presence = table.path.isEmpty || table.isRequired ? "" : " Optional."
      #expect(page.contains("\n## \(title)\n\n\(table.meaning)\(presence)\n"), "\(table.path)")
    }
    #expect(page.hasSuffix(ProfileSchema.reference), "regenerate it from ProfileSchema.reference")
  }

  @Test("the documented template is what the program writes")
  func template() throws {
    let file = try ReferencePageTests.text("Docs/Reference/board-template.toml")
    #expect(file == ProfileTemplate.example, "regenerate it with: torpor board new my-board --yes")
  }

  /// The expected values of a key, composed here and not by the code under test.
  private static func expectedValues(_ key: ProfileKey) -> String {
    let units = [
      "mw": "milliwatts", "s": "seconds", "ms": "milliseconds", "m": "metres",
      "mps": "metres per second", "fixes": "fixes", "percent": "percent",
    ]
    let suffix = key.name.split(separator: "_").last.map(String.init) ?? ""
    let unit = key.name.contains("_") ? units[suffix].map { " of " + $0 } ?? "" : ""
    func quoted(_ words: [String]) -> [String] { words.map { "\"" + $0 + "\"" } }
    func number(_ value: Double) -> String {
      value == value.rounded() ? String(Int(value)) : String(value)
    }
    switch key.constraint {
    case .text(let range): return "text of \(range.lowerBound) to \(range.upperBound) characters"
    case .word(let words):
      return quoted(words).dropLast().joined(separator: ", ") + " or " + (quoted(words).last ?? "")
    case .words(let words): return "a list of " + quoted(words).joined(separator: ", ")
    case .boolean: return "true or false"
    case .integer(let range):
      return "a whole number\(unit), \(range.lowerBound) to \(range.upperBound)"
    case .integerAmong(let numbers):
      return numbers.dropLast().map(String.init).joined(separator: ", ")
        + " or \(numbers.last ?? 0)"
    case .number(let range):
      return "a number\(unit), \(number(range.lowerBound)) to \(number(range.upperBound))"
    case .points(_, let most):
      return "a list of 1 to \(most) pairs { off_s = …, fix_s = … }"
    }
  }

  private static func defaultValue(_ key: ProfileKey) -> String {
    if key.isRequired { return "required" }
    return key.get(ProfileDraft()).map { "`\($0.text)`" } ?? "not set"
  }
}
