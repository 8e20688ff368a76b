import GNSSProtocols

// What every command that reads a recording says of input that is none.

extension RecordingDecoder {
  /// What to say of input in which there is nothing a receiver would say, or that is of another kind; nil
  /// where there is something.
  ///
  /// - Parameter reader: The command that reads such input from a pipe.
  func inputError(of name: String, reader: String, hint: String = "") -> CommandError? {
    if let foreign { return CommandError(.data, foreign.message(about: name, reader: reader)) }
    return hasMessages ? nil : emptyInputError(of: name, hint: hint)
  }

  /// The kind of input from which no epoch came, if it is recognised.
  private var foreign: ForeignFormat? {
    guard epochs == 0, let format = ForeignFormat(beginning, counters.otherFormats) else {
      return nil
    }
    // Sentences that tell no position may have such frames beside them.
    return hasMessages && format != .lowerCase ? nil : format
  }

  private func emptyInputError(of name: String, hint: String) -> CommandError {
    let missing =
      counters.brokenOff > 0
      ? "; where its sentences have no checksum, --allow-missing-checksum takes them" : ""
    let wrong = Int(clamping: counters.checksumErrors)
    let damaged =
      wrong > 0 ? "; \(HumanFormat.count(wrong, of: "wrong checksum")): it is damaged" : ""
    return CommandError(
      .data,
      """
      nothing in \(name) is NMEA or UBX \
      (\(HumanFormat.count(Int(clamping: counters.skippedBytes))) bytes passed over): \
      it should be what a receiver sent, bytes untouched\(damaged)\(missing)\(hint)
      """)
  }
}

extension ForeignFormat {
  /// What to say of the input `name`, which is of this kind.
  ///
  /// - Parameter reader: The command that reads input from a pipe.
  func message(about name: String, reader: String) -> String {
    "\(name) \(advice(name == "standard input" ? nil : name, reader: reader))"
  }
}
