extension FixedWidthInteger where Self: UnsignedInteger {
  /// Parses a number with all its hexadecimal digits, 16 for 64 bits; nil for any other text, also one with a sign.
  public init?(hexadecimalDigits text: String) {
    guard text.utf8.count == Self.bitWidth / 4, text.utf8.first != UInt8(ascii: "+"),
      text.utf8.first != UInt8(ascii: "-"), let number = Self(text, radix: 16)
    else { return nil }
    self = number
  }

  /// All hexadecimal digits of the number in lower case, 16 for 64 bits.
  public var hexadecimalDigits: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
  }
}
