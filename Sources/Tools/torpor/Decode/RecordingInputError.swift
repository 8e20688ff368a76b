import GNSSProtocols

// Error messages for input that is no recording, shared by all commands that read recordings.

extension RecordingDecoder {
  /// The error (code 65) for input that is of another format or contains neither NMEA nor UBX; nil for a recording.
  ///
  /// - Parameters:
  ///   - name: Name of the input in the message.
  ///   - pipeCommand: Command line that reads such input from a pipe.
  ///   - hint: Text to add to the message for input without any message.
  func inputError(of name: String, pipeCommand: String, hint: String = "") -> CommandError? {
    if let foreignFormat {
      return CommandError(.data, foreignFormat.message(about: name, pipeCommand: pipeCommand))
    }
    return hasMessages ? nil : emptyInputError(of: name, hint: hint)
  }

  /// Format of an input without any epoch; nil if it has epochs or is not recognised.
  private var foreignFormat: ForeignFormat? {
    guard epochs == 0, let format = ForeignFormat(firstBytes, counters.otherFormats) else {
      return nil
    }
    // A recording of sentences without positions may also contain frames of another format.
    return hasMessages && format != .lowerCase ? nil : format
  }

  private func emptyInputError(of name: String, hint: String) -> CommandError {
    let checksumHint =
      counters.truncated > 0
      ? "; if its sentences have no checksum, use --allow-missing-checksum" : ""
    let wrong = Int(clamping: counters.checksumErrors)
    let damaged =
      wrong > 0 ? "; it is damaged (\(HumanFormat.count(wrong, of: "wrong checksum")))" : ""
    return CommandError(
      .data,
      """
      \(name) contains no NMEA and no UBX \
      (\(HumanFormat.count(Int(clamping: counters.skippedBytes))) bytes skipped); \
      expected the unmodified output of a receiver\(damaged)\(checksumHint)\(hint)
      """)
  }
}

extension ForeignFormat {
  /// The error message for the input `name` of this format.
  ///
  /// - Parameter pipeCommand: Command line that reads the input from a pipe.
  func message(about name: String, pipeCommand: String) -> String {
    "\(name) \(advice(name == "standard input" ? nil : name, pipeCommand: pipeCommand))"
  }
}
