import CTOML
import LocationTypes
import TOMLFiles
import TestSupport
import Testing

@testable import BoardProfiles

@Suite("Any text gives a profile or an error with a position")
struct TextTests {
  static let broken: [(String, String)] = [
    (
      "",
      "1:1: the profile is empty; create one with `torpor board new`, which writes all keys with explanations"
    ),
    (
      "# nothing but a remark\n\n",
      "1:1: the profile is empty; create one with `torpor board new`, which writes all keys with explanations"
    ),
    ("a = 1\na = 2\n", "2:1: a: is defined twice; it is a whole number above; remove one of them"),
    (
      "[x]\n  power = 1.5\n  power = power\n",
      "3:3: power: is defined twice; it is a number above; remove one of them"
    ),
    (
      "[x]\n  power = 1.5\n  power  = 2 # power = 3\n",
      "3:3: power: is defined twice; it is a number above; remove one of them"
    ),
    (
      "k = { b = 1, b = 2 }\n",
      "1:14: b: is defined twice; it is a whole number above; remove one of them"
    ),
    (
      "[board]\n[cache]\n[board]\n",
      "3:1: board: is defined twice; it is a table above; remove one of them"
    ),
    ("x = [\n", "1:7: not valid TOML: array: encountered end-of-file"),
    ("x =\n", "1:4: not valid TOML: key-value pair: expected value, saw '\\n'"),
    (
      "x = 1 2\n",
      "1:7: not valid TOML: key-value pair: expected a comment or whitespace, saw '2'"
    ),
    (
      "ok = 1\nx = 99999999999999999999\n",
      "2:5: not valid TOML: decimal integer: '99999999999999999999' is not representable in 64 bits"
    ),
    ("x = \"abc\n", ""),
    ("a\u{0}b = 1\n", "1:2: not valid TOML: key-value pair: expected '=', saw '\\u0000'"),
    (
      "é = 1\n",
      "1:1: not valid TOML: this letter is allowed only in quotes or in a comment"
    ),
    (
      "ok = \"é\"\nü = 1\n",
      "2:1: not valid TOML: this letter is allowed only in quotes or in a comment"
    ),
    ("ok = 1\n[[[\n", "2:1: not valid TOML: this line is not TOML"),
  ]

  @Test(
    "text without quotes is reported with the quotes",
    arguments: [
      ("ok = 1\ndefault = ask\n", "p.toml:2:", "; text needs quotes: \"ask\""),
      ("names = [anna]\n", "p.toml:1:", "; text needs quotes: \"anna\""),
      ("default=ask # words\n", "p.toml:1:", "; text needs quotes: \"ask\""),
    ])
  func unquoted(_ text: String, _ position: String, _ suggestion: String) {
    let error = #expect(throws: FileProblems.self) {
      try TOMLText(Array(text.utf8), file: "p.toml")
    }
    let message = error?.description ?? ""
    #expect(message.hasPrefix(position) && message.hasSuffix(suggestion), "\(message)")
  }

  @Test("invalid TOML is reported with its position", arguments: broken)
  func syntax(_ text: String, _ message: String) {
    let found = report(text)
    if message.isEmpty {
      #expect(found.hasPrefix("p.toml:1:"))
    } else {
      #expect(found == "p.toml:" + message)
    }
  }

  @Test("input that would exhaust stack or memory is rejected with its position")
  func bounds() {
    func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
    #expect(
      report("ok = 1\na = " + many("[", 40_000))
        == "p.toml:2:21: not valid TOML: value: exceeded maximum nested value depth of 16")
    #expect(
      report("ok = 1\na" + many(".a", 20_000) + " = 1")
        == "p.toml:2:66: not valid TOML: more than 32 names joined by dots")
    #expect(
      report("x = \"" + many("x", 70_000) + "\"")
        == "p.toml: is longer than 64 KiB; check that this is the right file")
    #expect(report("[a" + many(".a", 32) + "]\n").contains("a: no such table"))
    // Four quotes end a string that ends in a quote; a key follows.
    #expect(
      report("x = [\"\"\"x\"\"\"\", {a" + many(".a", 40) + " = 1}, \"\"]")
        .hasSuffix("more than 32 names joined by dots"))
    #expect(report("a = " + many("[", 15) + many("]", 15)).hasPrefix("p.toml:1:1: a: unknown key"))
  }

  @Test("bytes that are not UTF-8 are reported with their position")
  func encoding() {
    let bad: [[UInt8]] = [
      [0xFF], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
      [0xF0, 0x80, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80], [0xF5, 0x80, 0x80, 0x80],
    ]
    for bytes in bad {
      for (before, column) in [("a = 1\n", 1), ("a = 1\n# é", 4), ("a = 1\nb = \"€", 7)] {
        do throws(ProfileErrors) {
          _ = try BoardProfile.parse(bytes: Array(before.utf8) + bytes, file: "p.toml")
          Issue.record("\(bytes) was accepted")
        } catch {
          #expect(error.description == "p.toml:2:\(column): not valid TOML: this is not UTF-8")
        }
      }
    }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    #expect(throws: Never.self) {
      try BoardProfile.parse(bytes: mark + Array(Sample.profile.text.utf8), file: "p.toml")
    }
  }

  @Test("dots and letters inside strings and comments are not parsed as keys")
  func hidden() throws {
    let dots = String(repeating: ".", count: 50)
    let text = """
      # \(dots) é
      a = "\(dots) é \\" \(dots)" # \(dots)
      b = '\(dots) é \\'
      c = \"\"\"
      \(dots) é " "" \\\"\"\" \(dots)
      \"\"\"\"\"
      d = '''
      \(dots) é ' '' \\
      '''
      "é" = 1
      'ü'.x = 1.5
      """
    let nodes = try TOMLText(Array(text.utf8)).nodes
    #expect(nodes.map(\.key) == ["a", "b", "c", "d", "é", "ü", "x"])
    #expect(nodes[4].keyPosition == TOMLPosition(line: 10, column: 1))
    #expect(nodes[6].position == TOMLPosition(line: 11, column: 9))
  }

  @Test("values have the order of the text, each with its parent and positions")
  func positions() throws {
    let text = "z = 1\n[t]\nb = [true, 2.5]\na = 1979-05-27\n[t.u]\nc = 'x'\n"
    let nodes = try TOMLText(Array(text.utf8)).nodes
    #expect(nodes.map(\.key) == ["z", "t", "b", "", "", "a", "u", "c"])
    #expect(nodes.map(\.parent) == [-1, -1, 1, 2, 2, 1, 1, 6])
    #expect(nodes.map(\.keyPosition.line) == [1, 2, 3, 3, 3, 4, 5, 6])
    #expect(nodes.map(\.keyPosition.column) == [1, 2, 1, 6, 12, 1, 4, 1])
    #expect(nodes.map(\.position.column) == [5, 1, 5, 6, 12, 5, 1, 5])
    #expect(
      nodes.map(\.value) == [
        .integer(1), .table, .array, .boolean(true), .float(2.5), .datetime, .table, .string("x"),
      ])
  }

  @Test("the C shim accepts empty input and indices past the end")
  func shim() {
    guard let document = unsafe ctoml_parse(nil, 0) else {
      Issue.record("no memory")
      return
    }
    defer { unsafe ctoml_free(document) }
    #expect(unsafe !ctoml_failed(document) && ctoml_count(document) == 0)
    #expect(unsafe ctoml_entry_at(document, 7).key.length == 0)
    ctoml_free(nil)
  }

  @Test("random bytes and corrupted profiles never trap, and errors have positions")
  func fuzz() {
    var random = SplitMix64(seed: 20_240_229)
    let sample = Array(Sample.profile.text.utf8)
    let bits = [
      "[", "]", "{", "}", "\"", "'''", "\"\"\"", "=", ".", ",", "\n", "#", "\\", "nan", "-inf",
      "1e999",
      "9223372036854775808", "0x", "\u{0}", "é", "[[", "a.b.c", "\u{FCFF}", "1979-05-27T07:32:00Z",
    ].map { Array($0.utf8) }
    for round in 0..<4_000 {
      var bytes: [UInt8] = []
      if round % 4 == 0 {
        bytes = (0..<random.below(200)).map { _ in UInt8(random.below(256)) }
      } else if round % 4 == 1 {
        for _ in 0..<random.below(40) { bytes += bits[random.below(bits.count)] }
      } else {
        bytes = sample
        for _ in 0...random.below(6) {
          let index = random.below(bytes.count)
          switch random.below(4) {
          case 0: bytes[index] = UInt8(random.below(256))
          case 1: bytes.remove(at: index)
          case 2: bytes.insert(contentsOf: bits[random.below(bits.count)], at: index)
          default: bytes = Array(bytes[index...]) + Array(bytes[..<index])
          }
        }
      }
      do throws(ProfileErrors) {
        let profile = try BoardProfile.parse(bytes: bytes, file: "p.toml")
        // An accepted profile can be written and parsed again.
        #expect((try? BoardProfile.parse(profile.text, file: "p.toml")) == profile)
      } catch {
        #expect(error.problems.allSatisfy { $0.line > 0 && $0.column > 0 && !$0.message.isEmpty })
        #expect(!error.description.utf8.contains { $0 < 0x20 && $0 != 0x0A })
      }
    }
  }
}

extension SplitMix64 {
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(limit, 1))) }
}
