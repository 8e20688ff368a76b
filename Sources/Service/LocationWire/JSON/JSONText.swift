/// Encoding of strings and numbers in JSON (RFC 8259), shared by all writers of JSON.
public enum JSONText {
  /// Appends a string with its quotation marks. Escapes quotation marks, backslashes and control characters below
  /// U+0020, so the output contains no NUL byte.
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

  /// Appends a number with the fewest digits that convert back to the same value.
  ///
  /// - Precondition: The number is finite; JSON has no infinity and no NaN.
  public static func append(_ value: Double, to bytes: inout [UInt8]) {
    precondition(value.isFinite, "JSON has neither infinity nor NaN")
    // An integer needs no ".0". For others, Swift's description is the shortest that converts back.
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
