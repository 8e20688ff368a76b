import LocationTypes
import Testing

@testable import BoardProfiles

@Suite("Every key of the schema")
struct SchemaTests {
  @Test("the sample has every key, and parsing and writing it gives the same text")
  func roundTrip() throws {
    for key in ProfileSchema.keys { #expect(Sample.line(of: key.path) != nil, "\(key.path)") }
    let again = try BoardProfile.parse(Sample.profile.text, file: "p.toml")
    #expect(again == Sample.profile)
    #expect(again.text == Sample.profile.text)
  }

  @Test("a key sets its own field and no other")
  func ownField() throws {
    for key in ProfileSchema.keys {
      var draft = ProfileDraft()
      let value = try #require(SchemaTests.otherValue(key, than: key.get(draft)))
      key.put(&draft, value)
      #expect(key.get(draft) == value, "\(key.path)")
      for other in ProfileSchema.keys where other.path != key.path {
        #expect(other.get(draft) == other.get(ProfileDraft()), "\(key.path) → \(other.path)")
      }
    }
  }

  @Test("names of keys and tables are unique, and each key's table exists")
  func names() {
    let paths = ProfileSchema.keys.map(\.path), tables = ProfileSchema.tables.map(\.path)
    #expect(Set(paths).count == paths.count && Set(tables).count == tables.count)
    for key in ProfileSchema.keys { #expect(tables.contains(key.table)) }
    #expect(paths.count == 73)
  }

  @Test("for every key, a value of another type is rejected at its position")
  func wrongType() throws {
    for key in ProfileSchema.keys {
      let line = try #require(Sample.line(of: key.path))
      for (wrong, kind) in SchemaTests.wrongTypes(key) {
        let found = problems(Sample.replacing(key.path, with: "\(key.name) = \(wrong)"))
        let error = try #require(found.first { $0.key == key.path }, "\(key.path) = \(wrong)")
        #expect(error.line == line && error.column == key.name.count + 4)
        #expect(error.problem == "is " + kind)
        #expect(error.expected == key.expectation)
      }
    }
  }

  @Test("a value just outside the range is rejected, the limits are accepted")
  func outOfRange() throws {
    for key in ProfileSchema.keys {
      for (value, isIn) in SchemaTests.edges(key) {
        let found = problems(Sample.replacing(key.path, with: "\(key.name) = \(value)"))
        let error = found.first { $0.key == key.path && $0.expected == key.expectation }
        #expect((error == nil) == isIn, "\(key.path) = \(value): \(found)")
        if let error { #expect(error.line == Sample.line(of: key.path)) }
      }
    }
  }

  @Test("a missing required key is reported at its table, an optional one is not")
  func missing() throws {
    for key in ProfileSchema.keys {
      let found = problems(Sample.replacing(key.path, with: "# nothing"))
      let error = found.first { $0.key == key.path && $0.problem == "is missing" }
      #expect((error != nil) == key.isRequired, "\(key.path): \(found)")
      guard let error else { continue }
      #expect(found.count == 1)
      #expect(error.expected == key.expectation)
      #expect(error.line == (key.table.isEmpty ? 1 : Sample.header(of: key.table)))
    }
  }

  @Test("a missing required table is reported at its parent, an optional one is not")
  func missingTable() {
    for table in ProfileSchema.tables where !table.path.isEmpty {
      let found = problems(Sample.without(table: table.path))
      let error = found.first { $0.key == table.path && $0.problem == "is missing" }
      #expect((error != nil) == table.isRequired, "\(table.path): \(found)")
    }
    #expect(problems(Sample.without(table: "receiver")).map(\.key) == ["board.suspended.wakes_on"])
    #expect(problems(Sample.without(table: "motion")).map(\.key) == ["board.suspended.wakes_on"])
    #expect(problems(Sample.without(table: "battery")).isEmpty)
    #expect(problems(Sample.without(table: "policy")).isEmpty)
    #expect(problems(Sample.without(table: "board.off")).isEmpty)
  }

  @Test("a key with a wrong letter is reported with the right key")
  func typos() throws {
    for key in ProfileSchema.keys where key.name.count > 4 {
      var letters = Array(key.name)
      letters.swapAt(1, 2)
      guard letters != Array(key.name) else { continue }
      let found = problems(Sample.replacing(key.path, with: "\(String(letters)) = 1"))
      let error = try #require(found.first { $0.problem == "unknown key" }, "\(key.path)")
      #expect(error.suggestion == "did you mean `\(key.name)`?")
      #expect(error.line == Sample.line(of: key.path) && error.column == 1)
      #expect(found.count == 1, "the misspelt key is not reported as missing as well")
    }
  }

  @Test("a wrong unit is reported with the right one")
  func units() throws {
    let others = ["s": "ms", "ms": "s", "mw": "w", "m": "km", "mps": "kmh", "baud": "bps"]
    var suffixes: Set<String> = []
    for key in ProfileSchema.keys {
      guard let unit = Unit.of(key.name), let other = others[unit.suffix] else { continue }
      suffixes.insert(unit.suffix)
      let name = Unit.stem(of: key.name) + "_" + other
      let found = problems(Sample.replacing(key.path, with: "\(name) = 1"))
      #expect(
        found.map(\.suggestion) == ["write the value in \(unit.word) as `\(key.name)`"],
        "\(key.path)")
    }
    #expect(suffixes.count == others.count)
  }

  private static func otherValue(_ key: ProfileKey, than old: ProfileValue?) -> ProfileValue? {
    let candidates: [ProfileValue]
    switch key.constraint {
    case .text: candidates = [.text("other")]
    case .word(let words): candidates = words.map { .text($0) }
    case .words: candidates = [.words(["alarm", "bytes"])]
    case .boolean: candidates = [.boolean(true), .boolean(false)]
    case .integer(let range): candidates = [.integer(range.upperBound - 1)]
    case .integerAmong(let numbers): candidates = numbers.map { .integer($0) }
    case .number(let range): candidates = [.number(range.upperBound - 0.5)]
    case .points: candidates = [.points([.init(off: .seconds(1), fix: .seconds(2))])]
    }
    return candidates.first { $0 != old }
  }

  private static func wrongTypes(_ key: ProfileKey) -> [(String, String)] {
    let all = [
      ("\"1\"", "text"), ("true", "true or false"), ("7", "a whole number"),
      ("7.5", "a number with a fraction"), ("nan", "not a number"), ("-inf", "infinite"),
      ("[]", "a list"), ("{}", "a table"), ("2024-01-01", "a date or time"),
    ]
    let right: Set<String>
    switch key.constraint {
    case .text, .word: right = ["text"]
    case .boolean: right = ["true or false"]
    case .integer, .integerAmong: right = ["a whole number"]
    case .number: right = ["a whole number", "a number with a fraction"]
    case .words, .points: right = ["a list"]
    }
    return all.filter { !right.contains($0.1) }
  }

  private static func edges(_ key: ProfileKey) -> [(String, Bool)] {
    switch key.constraint {
    case .text(let range):
      let maximum = range.upperBound
      return [
        ("\"\"", false), ("\"a\"", true),
        ("\"" + String(repeating: "a", count: maximum) + "\"", true),
        ("\"" + String(repeating: "é", count: maximum + 1) + "\"", false), ("\"a\\nb\"", false),
        ("\"\\u001B[2J\"", false),
      ]
    case .word(let words):
      return words.map { ("\"\($0)\"", true) } + [("\"\"", false), ("\"UBX\"", false)]
    case .words:
      return [("[\"alarm\"]", true)]
    case .boolean: return [("true", true), ("false", true)]
    case .integer(let range):
      return [
        ("\(range.lowerBound - 1)", false), ("\(range.lowerBound)", true),
        ("\(range.upperBound)", true), ("\(range.upperBound + 1)", false),
        ("-9223372036854775808", false), ("9223372036854775807", false),
      ]
    case .integerAmong(let numbers):
      return numbers.map { ("\($0)", true) } + [("0", false), ("-9600", false), ("9601", false)]
    case .number(let range):
      return [
        ("\(range.lowerBound)", true), ("\(range.upperBound)", true), ("-1e-9", false),
        ("\(range.upperBound.nextUp)", false), ("\(range.lowerBound - 0.001)", false),
        ("1e308", false), ("-9223372036854775808", false),
      ]
    case .points:
      let pair = "{ off_s = 0, fix_s = 1 }"
      return [
        ("[]", false), ("[\(pair)]", true),
        ("[" + Array(repeating: pair, count: 17).joined(separator: ", ") + "]", false),
      ]
    }
  }
}
