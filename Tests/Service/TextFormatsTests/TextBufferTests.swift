import LocationTypes
import Testing
import TextFormats

@Suite("Numbers and times as text")
struct TextBufferTests {
  func text(_ body: (inout TextBuffer) -> Void) -> String {
    var text = TextBuffer()
    body(&text)
    return text.string
  }

  @Test(
    "scaled integers are written with fixed decimals, halves rounded away from zero",
    arguments: [
      (0, 9, 9, "0.000000000"), (-37_784_788_333, 9, 9, "-37.784788333"), (5, 1, 0, "1"),
      (4, 1, 0, "0"), (-4, 1, 0, "0"), (-5, 1, 0, "-1"), (83_600, 3, 4, "83.6000"),
      (1_499, 3, 2, "1.50"), (1_494, 3, 2, "1.49"), (1_495, 3, 2, "1.50"),
      (-1, 9, 9, "-0.000000001"),
      (-1, 9, 3, "0.000"), (7, 0, 2, "7.00"), (Int64.max, 0, 0, "9223372036854775807"),
      (Int64.min, 0, 0, "-9223372036854775808"), (15, 2, 1, "0.2"), (999, 3, 2, "1.00"),
    ] as [(Int64, Int, Int, String)])
  func fixedDecimals(value: Int64, scale: Int, places: Int, expected: String) {
    #expect(text { $0.add(value, scale: scale, places: places) } == expected)
  }

  @Test("hexadecimal digits are as many as the integer has, also with leading zeros")
  func hexadecimalDigits() {
    #expect(UInt64(0x12AB).hexadecimalDigits == "00000000000012ab")
    #expect(UInt64.max.hexadecimalDigits == "ffffffffffffffff")
    #expect(UInt32(hexadecimalDigits: "0000012A") == 0x12A)
    for text in ["12a", "+000012a", "-0000000", "0000012g", ""] {
      #expect(UInt32(hexadecimalDigits: text) == nil)
    }
  }

  @Test(
    "scaled integers are written without trailing zeros",
    arguments: [
      (0, 9, "0"), (1_500_000, 6, "1.5"), (100, 0, "100"), (-200_000_000, 9, "-0.2"),
      (10_000_000, 6, "10"), (1, 6, "0.000001"), (0, 3, "0"), (-1, 9, "-0.000000001"),
      (12_500, 3, "12.5"), (-12_000, 3, "-12"), (Int64.min, 2, "-92233720368547758.08"),
    ] as [(Int64, Int, String)])
  func trimmed(value: Int64, scale: Int, expected: String) {
    #expect(text { $0.add(trimmed: value, scale: scale) } == expected)
  }

  @Test("a time is rounded to the nearest millisecond, as in gpsd")
  func times() {
    let start = UTCTime(microseconds: 1_396_515_251_000_000)
    #expect(text { $0.add(iso8601: start) } == "2014-04-03T08:54:11.000Z")
    let before = UTCTime(microseconds: start.microseconds - 499)
    #expect(text { $0.add(iso8601: before) } == "2014-04-03T08:54:11.000Z")
    let after = UTCTime(microseconds: start.microseconds + 500)
    #expect(text { $0.add(iso8601: after) } == "2014-04-03T08:54:11.001Z")
    let newYear = UTCTime(microseconds: -1)
    #expect(text { $0.add(iso8601: newYear) } == "1970-01-01T00:00:00.000Z")
    let old = UTCTime(microseconds: -1_500)
    #expect(text { $0.add(iso8601: old) } == "1969-12-31T23:59:59.999Z")
    for (microseconds, expected) in [
      (-501, "1969-12-31T23:59:59.999Z"), (-500, "1970-01-01T00:00:00.000Z"),
      (951_868_799_999_500, "2000-03-01T00:00:00.000Z"),
    ] as [(Int64, String)] {
      #expect(text { $0.add(iso8601: UTCTime(microseconds: microseconds)) } == expected)
    }
  }

  @Test("integers are padded with zeros, and text is appended and removed")
  func texts() {
    #expect(text { $0.add(-7, width: 3) } == "-007")
    #expect(text { $0.add(.min, width: 30) } == "-0" + String(Int64.min.magnitude))
    var buffer = TextBuffer()
    buffer.add(word: "")
    #expect(buffer.isEmpty && buffer.capacity == 0)
    buffer.add(word: "é…")
    buffer.add("a")
    buffer.add(byte: 98)
    var other = TextBuffer()
    other.add(buffer)
    other.add(buffer)
    #expect(other.string == "é…abé…ab" && other.count == 14)
    other.truncate(to: 7)
    #expect(other.bytes == buffer.bytes)
  }
}
