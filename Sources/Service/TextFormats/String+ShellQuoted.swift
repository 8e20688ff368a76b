extension String {
  /// The text as one word of a POSIX shell, in quotation marks.
  ///
  /// Bytes are compared: a quotation mark and a combining mark after it are one `Character`, but two for the shell.
  ///
  /// - Complexity: O(length).
  public var shellQuoted: String {
    var word: [UInt8] = [UInt8(ascii: "'")]
    for byte in utf8 {
      // End the quoted text, add an escaped mark, and start quoted text again.
      if byte == UInt8(ascii: "'") { word += "'\\'".utf8 }
      word.append(byte)
    }
    return String(decoding: word, as: UTF8.self) + "'"
  }
}
