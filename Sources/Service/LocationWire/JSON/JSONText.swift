/// How text and numbers are written in JSON (RFC 8259), by whoever writes some.
public enum JSONText {
  /// Adds a string with its quotation marks: escaped are quotation mark, backslash and the controls below
  /// U+0020. So no NUL byte is within.
  public static func append(quoted value: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for unit in value.utf8 {
      switch unit {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): escape(unit, &bytes)
      case 0x08: escape(UInt8(ascii: "b"), &bytes)
      case 0x09: escape(UInt8(ascii: "t"), &bytes)
      case 0x0A: escape(UInt8(ascii: "n"), &bytes)
      case 0x0C: escape(UInt8(ascii: "f"), &bytes)
      case 0x0D: escape(UInt8(ascii: "r"), &bytes)
      case 0..<0x20:
        escape(UInt8(ascii: "u"), &bytes)
        for nibble in [0, 0, unit >> 4, unit & 0x0F] { bytes.append(hexadecimal(nibble)) }
      default: bytes.append(unit)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Adds a number with the fewest digits that read back as the same one.
  ///
  /// - Precondition: it is finite, for JSON knows no other.
  public static func append(_ value: Double, to bytes: inout [UInt8]) {
    precondition(value.isFinite, "JSON knows neither infinity nor NaN")
    // A whole number needs no ".0"; Swift's own description is the shortest that reads back.
    let isWhole =
      value == value.rounded() && value.magnitude < 1e15 && !(value == 0 && value.sign == .minus)
    bytes.append(contentsOf: isWhole ? Int64(value).description.utf8 : value.description.utf8)
  }

  private static func escape(_ letter: UInt8, _ bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(letter)
  }

  private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }
}
