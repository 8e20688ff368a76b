import LocationTypes

/// The lines starting with `#` that recordings carry before and between what the receiver said.
///
/// Takes one header line byte by byte and ends by itself where it turns out to be none: a control
/// byte means that binary data happened to look like a line's start.
struct HeaderLine: Sendable {
  /// What became of it.
  enum Outcome: Equatable {
    /// Its end is still to come.
    case open
    /// It is complete; the date is what a `# Date:` line says.
    case ended(CalendarDate?)
    /// It is complete, and a `# Date:` line whose day cannot be read.
    case endedUnread
    /// It is no header; the byte belongs to what follows.
    case abandoned
  }

  /// The longest beginning that is kept: a date comes early, the rest may be as long as it likes.
  private static let keptLength = 64
  private var kept: [UInt8] = []

  /// Begins after the `#`.
  init() {}

  /// Takes the next byte.
  mutating func take(_ byte: UInt8) -> Outcome {
    switch byte {
    case UInt8(ascii: "\n"): return outcome
    case UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
    case 0..<0x20, 0x7F: return .abandoned
    default: break
    }
    if kept.count < HeaderLine.keptLength { kept.append(byte) }
    return .open
  }

  /// What a line adds up to that has come to its end.
  private var outcome: Outcome {
    if let date = HeaderLine.date(in: kept) { return .ended(date) }
    var rest = kept[...]
    return HeaderLine.skipKey(&rest) ? .endedUnread : .ended(nil)
  }

  /// The date of a line such as ` Date: 2014-12-31`, ` Date = 2015-03-18` or ` Date: 2019-04 23`.
  static func date(in line: [UInt8]) -> CalendarDate? {
    var rest = line[...]
    guard skipKey(&rest) else { return nil }
    guard let year = number(&rest, digits: 4...4), separator(&rest),
      let month = number(&rest, digits: 1...2), separator(&rest),
      let day = number(&rest, digits: 1...2)
    else { return nil }
    return CalendarDate(year: year, month: month, day: day)
  }

  /// Passes over `Date:` or `Date =`, with blanks wherever; false where something else stands there.
  private static func skipKey(_ rest: inout ArraySlice<UInt8>) -> Bool {
    skipBlanks(&rest)
    for expected in "date".utf8 {
      // Setting bit 5 makes a letter small.
      guard let byte = rest.popFirst(), byte | 0x20 == expected else { return false }
    }
    skipBlanks(&rest)
    guard let mark = rest.popFirst(), mark == UInt8(ascii: ":") || mark == UInt8(ascii: "=") else {
      return false
    }
    skipBlanks(&rest)
    return true
  }

  private static func skipBlanks(_ rest: inout ArraySlice<UInt8>) {
    while rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: "\t") { rest.removeFirst() }
  }

  private static func separator(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let byte = rest.popFirst() else { return false }
    return byte == UInt8(ascii: "-") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: " ")
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
    var value = 0
    var count = 0
    while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      guard count < digits.upperBound else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      count += 1
      rest.removeFirst()
    }
    return count >= digits.lowerBound ? value : nil
  }
}
