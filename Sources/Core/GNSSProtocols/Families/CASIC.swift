import LocationTypes

// CASIC AT6558 and compatible chips: `$PCAS` sentences. Sources: Docs/Reference/receivers.md.

/// CASIC: answers only `$PCAS06`, the firmware query. The driver therefore appends this query to each command; its answer
/// shows that the receiver has processed the line up to there.
enum CASIC: SentenceFamily {
  static var descriptor: FamilyDescriptor {
    var descriptor = FamilyDescriptor(name: "casic", maker: "CASIC", commandProtocol: .sentences)
    // `$PCAS01` accepts at most 115,200 baud, `$PCAS02` five values.
    descriptor.maximumBaudRate = 115_200
    descriptor.intervals = .list([100, 200, 250, 500, 1_000])
    // Answer: number of texts, index, severity, `SW=` with the chip, version.
    descriptor.identity = IdentityQuery(
      query: "PCAS06,0", answer: "TXT", releaseField: 4, lastReleaseField: 5, prefix: "SW=")
    descriptor.configurationParts = 2
    descriptor.standbyLimit = .seconds(standbyLimit_s)
    descriptor.satelliteOutput = .switched(longestRate: 9)
    return descriptor
  }

  /// The longest possible time: 18 hours.
  private static var standbyLimit_s: Int64 { 65_535 }

  static func answer(to command: SentenceCommand, part: UInt8) -> UInt16? {
    switch command {
    case .none, .wakeUp, .restart, .storage, .standby: nil
    case .probe, .lineSpeed, .configuration, .satellites: 6
    }
  }

  static func append(
    _ command: SentenceCommand, part: UInt8, interval_ms: UInt16, to buffer: inout FrameBuffer
  ) {
    switch command {
    case .none, .restart, .storage: break
    case .probe: buffer.appendPCAS(6, 0)
    case .wakeUp: buffer.appendWakeBytes()
    case .lineSpeed(let speed): buffer.appendPCAS(1, baudRateCode(speed))
    case .configuration:
      if part == 0 {
        buffer.appendPCASOutput(satellites: 0)
      } else {
        buffer.appendPCAS(2, Int64(interval_ms))
      }
    case .satellites(let rate): buffer.appendPCASOutput(satellites: rate)
    case .standby: buffer.appendPCAS(12, standbyLimit_s)
    }
    if command != .probe, answer(to: command, part: part) != nil { buffer.appendPCAS(6, 0) }
  }

  /// TXT. Fields: number of texts, index, severity, text: `MA=` manufacturer, after a start; `SW=` firmware, after a start
  /// and in response to `$PCAS06`.
  static func decode(_ fields: inout NMEAFields) -> GNSSMessage? {
    guard fields.addressLength == 5, fields.address >> 16 == 0x54_58_54,
      fields.byte(2, ofField: 3) == UInt8(ascii: "=")
    else { return nil }
    switch (fields.byte(0, ofField: 3), fields.byte(1, ofField: 3)) {
    case (UInt8(ascii: "M"), UInt8(ascii: "A")): return .receiverNotice(.started)
    case (UInt8(ascii: "S"), UInt8(ascii: "W")):
      return .commandResult(CommandResult(family: .casic, command: 6, outcome: .done))
    case _: return nil
    }
  }

  /// Code of a baud rate in `$PCAS01`: from 0 for 4,800 baud in ascending order. Unsupported rates map to 9,600 baud.
  private static func baudRateCode(_ speed: UInt32) -> Int64 {
    guard speed <= descriptor.maximumBaudRate, let index = BaudRate.index(of: speed) else {
      return 1
    }
    return Int64(index)
  }
}

extension FrameBuffer {
  fileprivate mutating func appendPCAS(_ command: UInt16, _ value: Int64) {
    appendCommand("PCAS", command, digits: 2, value)
  }

  /// Appends `$PCAS03`: GGA, GSA and RMC with each fix, GSV with each nth one, no other sentence.
  fileprivate mutating func appendPCASOutput(satellites rate: UInt8) {
    let start = beginCommand("PCAS", 3, digits: 2)
    // GGA, GLL, GSA, GSV, RMC, VTG, ZDA, ANT, DHV, LPS, two reserved, UTC, GST.
    for field in 0..<14 {
      switch field {
      case 0, 2, 4: appendField(1)
      case 3: appendField(Int64(rate))
      case 10, 11: append(UInt8(ascii: ","))
      case _: appendField(0)
      }
    }
    endSentence(start)
  }
}
