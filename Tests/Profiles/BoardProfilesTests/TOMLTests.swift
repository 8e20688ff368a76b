import TOMLFiles
import Testing

@testable import BoardProfiles

/// Invalid texts in the categories of toml-test (`invalid/…`), newly written, each with the
/// position of its error, and unusual texts that are valid.
@Suite("TOML: rejected texts with their positions, and accepted texts")
struct TOMLTests {
  /// A text and the position of its error, `line:column`.
  typealias Case = (text: String, position: String)

  static let arrays: [Case] = [
    ("a = [1, 2\n", "1:11"), ("a = [1 2]\n", "1:8"), ("a = [,]\n", "1:6"),
    ("a = [1,,2]\n", "1:8"), ("a = [1]]\n", "1:8"), ("a = [1}\n", "1:7"),
    ("a = [ \"x\" \"y\" ]\n", "1:11"), ("a = [1]\n[[a]]\n", "2:1"), ("[a]\n[[a]]\n", "2:1"),
    ("[[a]]\n[a]\n", "2:1"), ("[[a.b]]\n[a]\nb.y = 2\n", "3:1"),
    ("a = [{ b = 1 }]\n[a.c]\n", "2:1"),
    ("a = []\n[[a]]\n", "2:1"), ("[[a.b]]\n[[a]]\n", "2:1"),
  ]
  static let bools: [Case] = [
    ("a = TRUE\n", "1:5"), ("a = True\n", "1:5"), ("a = tru\n", "1:8"), ("a = truer\n", "1:9"),
    ("a = falsely\n", "1:10"), ("a = f\n", "1:6"), ("a = yes\n", "1:5"),
  ]
  static let controls: [Case] = [
    ("a = \"\u{0}\"\n", "1:6"), ("a = \"\u{1F}\"\n", "1:6"), ("a = '\u{7F}'\n", "1:6"),
    ("a = \"\"\"\u{1}\"\"\"\n", "1:8"), ("a = '''\u{1}'''\n", "1:8"), ("# \u{0}\n", "1:3"),
    ("# \u{7F}\n", "1:3"), ("a = 1\rb = 2\n", "1:7"), ("# x\ry\n", "1:5"), ("a = 1\u{C}\n", "1:6"),
    ("\u{B}\n", "1:1"), ("a = \"x\ry\"\n", "1:7"), ("a = 1 \u{0}\n", "1:7"),
  ]
  static let datetimes: [Case] = [
    ("a = 1979-13-01\n", "1:10"), ("a = 1979-02-29\n", "1:13"), ("a = 2000-02-30\n", "1:13"),
    ("a = 1979-04-31T00:00:00Z\n", "1:13"), ("a = 1979-00-01\n", "1:10"),
    ("a = 1979-1-01\n", "1:11"), ("a = 79-01-01\n", "1:7"), ("a = 1979-01-01T24:00:00Z\n", "1:16"),
    ("a = 1979-01-01T23:60:00Z\n", "1:19"), ("a = 1979-01-01T23:59:61Z\n", "1:22"),
    ("a = 1979-01-01T23:59Z\n", "1:21"), ("a = 1979-01-01T23:59:59+24:00\n", "1:25"),
    ("a = 1979-01-01T23:59:59+01:60\n", "1:28"), ("a = 1979-01-01T23:59:59.Z\n", "1:25"),
    ("a = 1979-01-01T\n", "1:5"), ("a = 1979-01-01  01:00:00\n", "1:17"),
    ("a = 1979-01-01T01:00:00ZZ\n", "1:25"), ("a = 1979/01/01\n", "1:9"),
  ]
  static let localTimes: [Case] = [
    ("a = 24:00:00\n", "1:5"), ("a = 23:60:00\n", "1:8"), ("a = 23:59:60\n", "1:11"),
    ("a = 1:00:00\n", "1:6"), ("a = 01:00\n", "1:10"), ("a = 23:59:59.\n", "1:14"),
    ("a = 23:59:59Z\n", "1:5"), ("a = 1979-02-30T01:00:00\n", "1:13"), ("a = 1979-01\n", "1:12"),
  ]
  static let floats: [Case] = [
    ("a = 1.\n", "1:7"), ("a = .1\n", "1:5"), ("a = 1.e1\n", "1:7"), ("a = 1e\n", "1:7"),
    ("a = 1e1.5\n", "1:8"), ("a = 1_.5\n", "1:7"), ("a = 1._5\n", "1:7"), ("a = 1.5_\n", "1:9"),
    ("a = 01.5\n", "1:6"), ("a = 1.2.3\n", "1:8"), ("a = Inf\n", "1:5"), ("a = NaN\n", "1:5"),
    ("a = --1.5\n", "1:6"), ("a = 1e_1\n", "1:7"), ("a = 1__0.5\n", "1:7"),
    ("a = infinity\n", "1:8"),
  ]
  static let integers: [Case] = [
    ("a = 01\n", "1:7"), ("a = -01\n", "1:8"), ("a = 1_\n", "1:6"), ("a = _1\n", "1:5"),
    ("a = 1__2\n", "1:7"), ("a = 0x\n", "1:7"), ("a = 0xg\n", "1:7"), ("a = 0o8\n", "1:7"),
    ("a = 0b2\n", "1:7"), ("a = 0X1\n", "1:6"), ("a = +0x1\n", "1:5"), ("a = -0b1\n", "1:7"),
    ("a = 0x_1\n", "1:7"), ("a = ++1\n", "1:6"), ("a = +\n", "1:5"), ("a = 12 34\n", "1:8"),
    ("a = 1x\n", "1:6"), ("a = 9223372036854775808\n", "1:5"),
    ("a = -9223372036854775809 # x\n", "1:5"), ("a = [1,\n  0x8000000000000000]\n", "2:3"),
  ]
  static let inlineTables: [Case] = [
    ("a = { b = 1\n}\n", "1:12"), ("a = { b = 1, }\n", "1:14"), ("a = { , }\n", "1:7"),
    ("a = { b = 1,, c = 2 }\n", "1:13"), ("a = { b = 1 c = 2 }\n", "1:13"),
    ("a = { b }\n", "1:9"), ("a = { b = }\n", "1:11"), ("a = {\n", "1:6"),
    ("a = { b = 1, b = 2 }\n", "1:14"), ("a = { b = 1, b.c = 2 }\n", "1:14"),
    ("a = { b.c = 1, b = 2 }\n", "1:16"), ("a = { b = 1 }\n[a]\n", "2:1"),
    ("a = { b = 1 }\n[a.c] # x\n\n[d]\n", "2:1"), ("a = { b = 1 }\na.c = 1\n", "2:1"),
    ("a = { b = 1 }\n[[a]]\n", "2:1"), ("a = { b = { c = 1, d = [{ e = 1 }] }, b = 2 }\n", "1:39"),
  ]
  static let keys: [Case] = [
    ("= 1\n", "1:1"), ("a\n", "1:2"), ("a = \n", "1:5"), ("a = 1 b = 2\n", "1:7"),
    ("a b = 1\n", "1:3"),
    ("a. = 1\n", "1:4"), (".a = 1\n", "1:1"), ("a..b = 1\n", "1:3"), ("\"a = 1\n", "1:7"),
    ("\"\"\"a\"\"\" = 1\n", "1:1"), ("a == 1\n", "1:4"), ("a : 1\n", "1:3"), ("a! = 1\n", "1:2"),
    ("a = 1\na = 2\n", "2:1"), ("a = 1\n\"a\" = 2\n", "2:1"), ("a.b = 1\na = 2\n", "2:1"),
    ("a = 1\na.b = 2\n", "2:1"), ("a = 1\n  a = [\n  1,\n  2 ]\n", "2:3"), ("a = b\n", "1:5"),
    ("{ a = 1 }\n", "1:1"), ("a\n= 1\n", "1:2"), ("\\u0061 = 1\n", "1:1"),
  ]
  static let strings: [Case] = [
    ("a = \"x\n", "1:7"), ("a = 'x\n", "1:7"), ("a = \"\"\"x\n", "1:10"), ("a = '''x\n", "1:10"),
    ("a = \"\\a\"\n", "1:7"), ("a = \"\\x41\"\n", "1:7"), ("a = \"\\u12\"\n", "1:10"),
    ("a = \"\\ud800\"\n", "1:12"), ("a = \"\\U00110000\"\n", "1:16"), ("a = \"\\\"\n", "1:8"),
    ("a = \"x\" y\n", "1:9"), ("a = \"x\"\"y\"\n", "1:8"), ("a = \"\"\"x\"\"\"\"\"\"\n", "1:14"),
    ("a = \"\"\"\\ x\"\"\"\n", "1:10"), ("a = \"\\/\"\n", "1:7"), ("a = \"x\ny\"\n", "1:7"),
  ]
  static let tables: [Case] = [
    ("[]\n", "1:2"), ("[a\n", "1:3"), ("[a]]\n", "1:4"), ("[a.]\n", "1:4"), ("[.a]\n", "1:1"),
    ("[a..b]\n", "1:4"), ("[a b]\n", "1:4"), ("[a] b = 1\n", "1:5"), ("[a]\n[a]\n", "2:1"),
    ("[a]\nb = 1\n[a.b]\n", "3:1"), ("[a]\nb.c = 1\n[a.b]\n", "3:1"), ("a.b = 1\n[a]\n", "2:1"),
    ("[a.b.c]\n[a]\nb.c.d = 1\n", "3:3"), ("[a.b]\n[a]\nb = 1\n", "3:1"), ("[[a]\n", "1:5"),
    ("[ [a]]\n", "1:3"), ("[[a] ]\n", "1:5"), ("a = 1\n[a.b]\n\n[c]\n", "2:1"),
    ("a = 1\n[a.b]\n[c]\n", "2:1"), ("[[]]\n", "1:3"), ("[a\n]\n", "1:3"), ("[a#]\n", "1:3"),
  ]
  static let encodings: [Case] = [
    ("é = 1\n", "1:1"), ("a = “x”\n", "1:5"), ("a = 1\u{A0}\n", "1:6"),
    ("a = 1\n\u{FEFF}b = 2\n", "2:1"),
    ("a =\n\né = 1\n", "1:4"), ("a = [\n1,\né]\n", "3:1"),
  ]

  static let all = [
    arrays, bools, controls, datetimes, localTimes, floats, integers, inlineTables, keys, strings,
    tables, encodings,
  ]

  @Test(
    "an invalid text is rejected at the position of its error, in any context", arguments: all)
  func invalid(_ cases: [Case]) {
    for (text, position) in cases {
      #expect(TOMLTests.refusal(text) == position, "\(text)")
      // The error is the same further down and after a byte order mark.
      let below = "# é\n\n[other]\nx = 'é' # é\n"
      if !text.contains("\n[") && !text.hasPrefix("[") {
        let line = (Int(position.prefix { $0 != ":" }) ?? 0) + 4
        let column = position.drop { $0 != ":" }
        #expect(TOMLTests.refusal(below + text) == "\(line)\(column)", "\(text)")
      }
      #expect(TOMLTests.refusal("\u{FEFF}" + text) == position, "\(text)")
    }
  }

  static let odd: [String] = [
    "", "\n", "# only a remark", "\r\n# x\r\n", "a = 1", "a = 1 # x", " \t a \t = \t 1 \t ",
    "a = 1_000", "a = +1", "a = -0", "a = 0xdead_BEEF", "a = 0o7_1", "a = 0b1_0",
    "a = -9223372036854775808", "a = 9223372036854775807", "a = 1e5", "a = 1E-05", "a = 1_0.0_1",
    "a = -0.0", "a = inf", "a = -nan", "a = 1e00", "a = 2000-02-29", "a = 1979-05-27t07:32:00z",
    "a = 1979-05-27 07:32:00.999999-07:00", "a = 07:32:00.5", "a = \"\"", "a = ''''''",
    "a = \"\"\"\"x\"\"\"\"\"", "a = ''''x'''''", "a = \"\"\"x\\\n\n   y\"\"\"",
    "a = \"\\u0000\\U0010FFFF\"",
    "a = '\t'", "a = \"\t\"", "\"\" = 1", "'' = 1", "1 = 2", "- = 1", "1.2 = 3", "true = false",
    "inf = 1", "1979-05-27 = 1", "\"a b\".'c.d' . e = 1", "a.b = 1\na.c = 2",
    "a.b = 1\nc = 1\na.d = 2",
    "[ a . \"b\" ]", "[\"\"]", "[a.b]\n[a]", "[a.b.c]\n[a]\n[a.b]", "[[a]]\n[a.b]\n[[a]]\n[a.b]",
    "[[a]]\n[[a.b]]\n[[a.b]]", "a = [1, 2,]", "a = [\n1, # x\n\n2\n]", "a = [1, 'x', [{}], 2.5]",
    "a = {}", "a = { b.c = 1, b.d = 2 }", "a = { b = [\n1,\n2 ] }", "[a]\nb.c = 1\n[a.d]",
    "[a]\nb = { c = 1 }\n[a.d]", "[[a]]\nb.c = 1", "\"é\" = 1",
    "\u{FEFF}a = 1",
    // The one invalid text of toml-test that toml++ accepts; profiles have no dates.
    "a = 0000-01-01",
  ]

  @Test("unusual valid texts are accepted", arguments: odd)
  func valid(_ text: String) {
    #expect(TOMLTests.refusal(text) == nil)
    #expect(TOMLTests.refusal(text + "\n") == nil)
  }

  @Test("a duplicate key is reported by its name, in any table")
  func twice() {
    #expect(
      report("k = { c = {}, b = [{ e = 1 }, { e = 2, e = 3 }] }\n")
        == "p.toml:1:40: e: is defined twice; it is a whole number above; remove one of them")
    #expect(
      report("[x]\na = '''\n[x]\n'''\n  a = \"\"\"\n\n\"\"\"\n")
        == "p.toml:5:3: a: is defined twice; it is text above; remove one of them")
    #expect(
      report("\"a.b\" = 1\n\"a.b\" = 2\n")
        == "p.toml:2:1: is defined twice; it is a whole number above; remove one of them")
  }

  private static func refusal(_ text: String) -> String? {
    do throws(TOMLParseError) {
      _ = try TOMLText(Array(text.utf8))
      return nil
    } catch {
      return "\(error.position.line):\(error.position.column)"
    }
  }
}
