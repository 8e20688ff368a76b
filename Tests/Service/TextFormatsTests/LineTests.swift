import LocationTypes
import Testing
import TextFormats

@Suite("JSON Lines")
struct LineTests {
  func line(_ body: (inout JSONOutput) -> Void) -> String {
    var writer = JSONOutput()
    writer.line(body)
    return writer.text.string
  }

  @Test("quotation marks, backslashes and control characters are escaped, and nothing else")
  func escaping() {
    let line = line { $0.member("ab", "q\"\\\n\r\t\u{8}\u{C}\u{0}\u{1F}\u{7F}é…😀/") }
    #expect(
      line == "{\"ab\":\"q\\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001f\u{7F}é…😀/\"}\n")
    #expect(self.line { $0.member(name: "a\"b", 15, scale: 1) } == "{\"a\\\"b\":1.5}\n")
  }

  @Test(
    "a number has the fewest digits that give the same value when parsed",
    arguments: [
      (0.1, "0.1"), (25, "25"), (-0.0, "-0.0"), (1e-7, "1e-07"), (1.0 / 3, "0.3333333333333333"),
      (1e300, "1e+300"), (123_456.75, "123456.75"), (-2.5, "-2.5"),
    ] as [(Double, String)])
  func numbers(value: Double, expected: String) {
    #expect(line { $0.member("x", value) } == "{\"x\":\(expected)}\n")
  }

  @Test("NaN and infinity are omitted, because JSON has no such numbers")
  func notANumber() {
    let line = line {
      $0.member("a", Double.nan)
      $0.member("b", Double.infinity)
      $0.member("c", 1 as Int64)
    }
    #expect(line == "{\"c\":1}\n")
  }

  @Test("objects and arrays nest, with commas only between members")
  func nesting() {
    let line = line { writer in
      writer.object("o") { inner in
        inner.member("a", 1 as Int64)
        inner.member("b", true)
      }
      writer.object("empty") { _ in }
      writer.list("l") { list in
        list.element { $0.member("x", 1 as Int64) }
        list.element { $0.member("y", json: "null") }
        list.element(word: "w")
        list.element(text: "t\"")
        list.element(-1_500, scale: 3)
      }
      writer.member("end", json: "[1,2]")
    }
    #expect(
      line
        == "{\"o\":{\"a\":1,\"b\":true},\"empty\":{},\"l\":[{\"x\":1},{\"y\":null},\"w\",\"t\\\"\",-1.5],"
        + "\"end\":[1,2]}\n")
  }

  @Test("a scaled integer has fixed decimals if their number is given")
  func places() {
    let line = line {
      $0.member("a", 83_600, scale: 3, places: 4)
      $0.member("b", nil as Int32?, scale: 3)
      $0.string("c") { $0.add(iso8601: UTCTime(microseconds: 0)) }
    }
    #expect(line == #"{"a":83.6000,"c":"1970-01-01T00:00:00.000Z"}"# + "\n")
  }
}
