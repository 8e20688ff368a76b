// Commands of a host to MediaTek (PMTK), Airoha (PAIR) and CASIC (PCAS) receivers, for `SentenceDriver`.
// Each method appends a sentence of at most 64 bytes, and traps if the buffer has too little free space.

extension FrameBuffer {
  /// Appends `$PMTK` with a three-digit number, and a value if the command has one.
  public mutating func appendPMTK(_ command: UInt16, _ value: Int64? = nil) {
    let start = beginCommand("PMTK", command, digits: 3)
    if let value { appendField(value) }
    endSentence(start)
  }

  /// Appends `$PMTK314`: RMC, GGA and GSA with each fix, none of the other sixteen sentences.
  public mutating func appendPMTKOutput() {
    let start = beginCommand("PMTK", 314, digits: 3)
    // GLL, RMC, VTG, GGA, GSA, and 14 more that stay off.
    for field in 0..<19 { appendField(field == 1 || field == 3 || field == 4 ? 1 : 0) }
    endSentence(start)
  }

  /// Appends `$PAIR` with a three-digit number and the values of the command.
  public mutating func appendPAIR(
    _ command: UInt16, _ first: Int64? = nil, _ second: Int64? = nil, _ third: Int64? = nil
  ) {
    let start = beginCommand("PAIR", command, digits: 3)
    if let first { appendField(first) }
    if let second { appendField(second) }
    if let third { appendField(third) }
    endSentence(start)
  }

  /// Appends `$PCAS` with a two-digit number, and a value if the command has one.
  public mutating func appendPCAS(_ command: UInt16, _ value: Int64? = nil) {
    let start = beginCommand("PCAS", command, digits: 2)
    if let value { appendField(value) }
    endSentence(start)
  }

  /// Appends `$PCAS03`: GGA, GSA and RMC with each fix, no other sentence.
  public mutating func appendPCASOutput() {
    let start = beginCommand("PCAS", 3, digits: 2)
    // GGA, GLL, GSA, GSV, RMC, VTG, ZDA, ANT, DHV, LPS, two reserved, UTC, GST.
    for field in 0..<14 {
      switch field {
      case 0, 2, 4: appendField(1)
      case 10, 11: append(UInt8(ascii: ","))
      case _: appendField(0)
      }
    }
    endSentence(start)
  }

  private mutating func beginCommand(
    _ kind: StaticString, _ command: UInt16, digits: Int
  ) -> Int {
    let start = beginSentence(kind)
    appendDecimal(Int64(command), decimals: 0, integers: digits)
    return start
  }
}
