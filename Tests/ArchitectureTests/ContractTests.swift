import Testing

@Suite("The contract agrees with its citations and tests")
struct ContractTests {
  /// The implemented statements; each is in the name of a test that fails without it.
  static let implemented: [String] =
    deferral + services + (1...7).map { "RNG-\($0)" } + (1...4).map { "LOC-\($0)" }
    + ["LOC-6", "LOC-7", "LOC-8", "LOC-9", "AUT-3", "AUT-5", "AUT-6"]

  private static let deferral =
    (1...35).map { "DEF-\($0)" } + (37...44).map { "DEF-\($0)" }

  private static let services =
    (1...13).map { "STD-\($0)" } + [1, 2, 3, 4, 5, 6, 7, 9, 10].map { "SLC-\($0)" }
    + [1, 2, 3, 4, 5, 6, 7, 9, 10, 11].map { "VIS-\($0)" } + (1...10).map { "PAU-\($0)" }
    + [4, 5, 7, 8, 9].map { "LIV-\($0)" } + ((1...8) + [10, 11]).map { "PWR-\($0)" }
    + ((1...10) + [12, 14, 15, 16]).map { "REG-\($0)" }

  static func contract() throws -> ContractText {
    ContractText(try Repository.text("Docs/Contract.md"))
  }

  @Test("each number is used by exactly one statement of Docs/Contract.md")
  func numbersAreUnique() throws {
    let numbers = try Self.contract().statements.map(\.number)
    #expect(numbers.count > 100)
    #expect(Set(numbers).count == numbers.count)
  }

  @Test("every cited number exists")
  func citationsExist() throws {
    let numbers = Set(try Self.contract().statements.map(\.number))
    let texts =
      try RepositoryTests.everything()
      + Repository.files(in: ["Docs", "Boards"], endings: ["md", "toml"])
    for file in texts where !file.path.hasPrefix("Tests/ArchitectureTests/") {
      for number in ContractText.citations(in: file.text) {
        #expect(numbers.contains(number), "\(file.path) cites \(number)")
      }
    }
  }

  @Test("every implemented statement is in the name of a test", arguments: implemented)
  func isTested(_ number: String) throws {
    let names = try Self.testNames.get()
    #expect(names.contains(number), "no test is named after \(number)")
  }

  @Test("the marks in the contract agree with the tests")
  func marksAgree() throws {
    let marked = try Self.contract().statements.filter(\.isImplemented).map(\.number)
    let names = try Self.testNames.get()
    #expect(Set(Self.implemented).subtracting(marked).isEmpty, "tested and not marked ●")
    #expect(Set(marked).subtracting(names).isEmpty, "marked ● and in no test's name")
  }

  /// Every number in a display name of a test, except in the checkers' own examples.
  static let testNames = Result {
    var numbers: Set<String> = []
    for file in try Repository.files(in: ["Tests"], endings: ["swift"])
    where !file.path.hasSuffix("ArchitectureTests/CheckerTests.swift") {
      for name in SwiftText(file.text).testNames {
        numbers.formUnion(ContractText.citations(in: name))
      }
    }
    return numbers
  }
}

/// The parts of Docs/Contract.md that these tests need.
struct ContractText {
  /// One numbered statement.
  struct Statement {
    var number: String
    /// Whether it is marked with ●: implemented and tested.
    var isImplemented: Bool
  }

  private(set) var statements: [Statement] = []

  init(_ text: String) {
    for line in text.split(separator: "\n") {
      guard let match = line.firstMatch(of: /^- (?<mark>[●○]) (?<number>[A-Z]{3}-[0-9]+)\s/) else {
        continue
      }
      statements.append(
        Statement(number: String(match.output.number), isImplemented: match.output.mark == "●"))
    }
  }

  /// The beginnings of all numbers.
  private static let sections: Set<String> = [
    "RNG", "DEF", "STD", "SLC", "VIS", "PAU", "LIV", "BKG", "REG", "AUT", "LOC", "PWR", "RES",
    "GPD",
  ]

  /// The numbers that `text` cites: a section, a hyphen and digits, as a whole word.
  ///
  /// Splits at hyphens instead of matching a regular expression, which takes ten times as long.
  static func citations(in text: String) -> Set<String> {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    var found: Set<String> = []
    for (before, after) in zip(parts, parts.dropFirst()) {
      let section = String(before.suffix(3))
      guard sections.contains(section), !(before.dropLast(3).last?.isWordCharacter ?? false) else {
        continue
      }
      let digits = after.prefix { $0.isASCII && $0.isNumber }
      guard !digits.isEmpty, !(after.dropFirst(digits.count).first?.isWordCharacter ?? false) else {
        continue
      }
      found.insert("\(section)-\(digits)")
    }
    return found
  }
}
