import LocationTypes

/// Parser for one `#` line that recordings contain before and between the receiver's data.
///
/// It consumes the line byte by byte and stops if the line turns out to be binary data: a control byte means that the
/// `#` was not the start of a header line.
struct HeaderLine: Sendable {
  /// State of the line after a byte.
  enum Outcome: Equatable {
    /// The line is incomplete.
    case incomplete
    /// The line is complete; the date is that of a `# Date:` line.
    case ended(CalendarDate?)
    /// The line is a complete `# Date:` line with an invalid date.
    case endedWithInvalidDate
    /// The data is not a header line; the byte belongs to the receiver's data.
    case notHeader
  }

  /// Number of bytes stored from the start of the line. A date is near the start; the input may have any length.
  private static let prefixLength = 64
  private var prefix: [UInt8] = []

  /// Creates a parser that starts after the `#`.
  init() {}

  /// Consumes the next byte.
  mutating func consume(_ byte: UInt8) -> Outcome {
    switch byte {
    case UInt8(ascii: "\n"): return outcome
    case UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
    case 0..<0x20, 0x7F: return .notHeader
    default: break
    }
    if prefix.count < HeaderLine.prefixLength { prefix.append(byte) }
    return .incomplete
  }

  /// State at the end of the line.
  private var outcome: Outcome {
    if let date = HeaderLine.date(in: prefix) { return .ended(date) }
    var input = prefix[...]
    return HeaderLine.skipKey(&input) ? .endedWithInvalidDate : .ended(nil)
  }

  /// Returns the date in a line such as ` Date: 2014-12-31`, ` Date = 2015-03-18` or ` Date: 2019-04 23`.
  static func date(in line: [UInt8]) -> CalendarDate? {
    var input = line[...]
    guard skipKey(&input) else { return nil }
    guard let year = number(&input, digits: 4...4), separator(&input),
      let month = number(&input, digits: 1...2), separator(&input),
      let day = number(&input, digits: 1...2)
    else { return nil }
    return CalendarDate(year: year, month: month, day: day)
  }

  /// Skips `Date:` or `Date =`, with optional blanks; returns false if the text differs.
  private static func skipKey(_ input: inout ArraySlice<UInt8>) -> Bool {
    skipBlanks(&input)
    for expected in "date".utf8 {
      // Setting bit 5 converts a letter to lower case.
      guard let byte = input.popFirst(), byte | 0x20 == expected else { return false }
    }
    skipBlanks(&input)
    guard let mark = input.popFirst(), mark == UInt8(ascii: ":") || mark == UInt8(ascii: "=") else {
      return false
    }
    skipBlanks(&input)
    return true
  }

  private static func skipBlanks(_ input: inout ArraySlice<UInt8>) {
    input = input.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  private static func separator(_ input: inout ArraySlice<UInt8>) -> Bool {
    guard let byte = input.popFirst() else { return false }
    return byte == UInt8(ascii: "-") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: " ")
  }

  private static func number(_ input: inout ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
    let text = input.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard digits.contains(text.count) else { return nil }
    input.removeFirst(text.count)
    return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }
}
