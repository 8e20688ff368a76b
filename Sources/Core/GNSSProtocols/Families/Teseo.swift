import LocationTypes

// STMicroelectronics Teseo-LIV3F and Teseo-LIV3FL: `$PSTM` sentences. Sources: UM2229, *Teseo-LIV3 GNSS module software
// manual*, and UM2791 Rev 3, *Teseo-VIC3 software instructions*, for the same commands on the same chip; sections below
// are those of UM2791. More in Docs/Reference/receivers.md.

/// Teseo: answers a command with its name and `OK` or `ERROR`. Baud rate, sentences and rate are parameters of a
/// configuration that a start loads from flash (§2.1.1), so the driver reads them and writes them only if they differ. In
/// standby the UART is off: only the wake pin, or the end of the time, ends it.
enum Teseo: SentenceFamily {
  static var descriptor: FamilyDescriptor {
    var descriptor = FamilyDescriptor(
      name: "teseo", maker: "STMicroelectronics Teseo", commandProtocol: .sentences)
    descriptor.capabilities = .configurationInFlash.union(.speedAtRestart).union(.needsWakePin)
    // Codes of parameter 102 (§12.2). Rates of the data sheet of the Teseo-LIV3FL, DS13881: 1, 2, 5, 10 Hz.
    descriptor.maximumBaudRate = 921_600
    descriptor.intervals = .list([100, 200, 500, 1_000, 0])
    // §10.1.21: the version of the binary image, `BINIMG_4.5.5_ARM`.
    descriptor.identity = IdentityQuery(query: "PSTMGETSWVER,6", answer: "PSTMVER")
    descriptor.configurationParts = 3
    descriptor.standbyLimit = .seconds(standbyLimit_s)
    // The list of sentences is in flash, which wears out; a request has no effect on it.
    descriptor.satelliteOutput = .requested
    return descriptor
  }

  static func answer(to command: SentenceCommand, part: UInt8) -> UInt16? {
    switch command {
    case .none, .wakeUp, .restart, .satellites: nil
    case .probe: Answer.version
    case .lineSpeed: part == 0 ? Answer.set : Answer.save
    case .configuration: parameter(part)
    case .storage: part < 3 ? Answer.set : Answer.save
    case .standby: Answer.standby
    }
  }

  static func expectedValue(part: UInt8, interval_ms: UInt16) -> UInt32? {
    switch part {
    case 0: sentenceList
    case 1: 0
    case _: UInt32(interval_ms)
    }
  }

  static func append(
    _ command: SentenceCommand, part: UInt8, interval_ms: UInt16, to buffer: inout FrameBuffer
  ) {
    switch command {
    case .none: break
    case .probe: buffer.append("PSTMGETSWVER", 6)
    // No effect: the wake pin has woken the receiver.
    case .wakeUp: buffer.appendWakeBytes()
    case .lineSpeed(let speed) where part == 0:
      buffer.appendParameter(1_102, hexadecimal: baudRateCode(speed))
    case .configuration: buffer.append("PSTMGETPAR", Int64(parameter(part)))
    case .storage where part == 0: buffer.appendParameter(1_201, hexadecimal: sentenceList)
    case .storage where part == 1: buffer.appendParameter(1_228, hexadecimal: 0)
    case .storage where part == 2: buffer.appendPeriod(interval_ms)
    case .lineSpeed, .storage: buffer.append("PSTMSAVEPAR")
    case .restart: buffer.append("PSTMSRR")
    // UM2229 §10.2.38: sends the sentences of the list once.
    case .satellites: buffer.appendSatelliteRequest()
    case .standby: buffer.append("PSTMFORCESTANDBY", standbyLimit_s)
    }
  }

  static func decode(_ fields: inout NMEAFields) -> GNSSMessage? {
    guard fields.hasAddressPrefix("PSTM") else { return nil }
    if fields.hasAddress("PSTMVER") { return result(Answer.version, .done) }
    // §10.2.2 calls the answer `$PSTMSET`; Teseo-LIV3 modules send `$PSTMSETPAR`.
    if fields.hasAddress("PSTMSETPAR") || fields.hasAddress("PSTMSET") { return report(&fields) }
    if fields.hasAddress("PSTMSETPAROK") { return result(Answer.set, .done) }
    if fields.hasAddress("PSTMSETPARERROR") { return result(Answer.set, .failed) }
    if fields.hasAddress("PSTMSAVEPAROK") { return result(Answer.save, .done) }
    if fields.hasAddress("PSTMSAVEPARERROR") { return result(Answer.save, .failed) }
    if fields.hasAddress("PSTMFORCESTANDBYOK") { return result(Answer.standby, .done) }
    return fields.hasAddress("PSTMFORCESTANDBYERROR") ? result(Answer.standby, .failed) : nil
  }

  /// Numbers of the answers; a report of a parameter has the parameter's number instead.
  private enum Answer {
    static var version: UInt16 { 0 }
    static var set: UInt16 { 1 }
    static var save: UInt16 { 2 }
    static var standby: UInt16 { 3 }
  }

  /// Parameters of the configuration, in the block of those in use (1…): sentences, low and high half of the list
  /// (§12.17), and the time between two fixes.
  private static func parameter(_ part: UInt8) -> UInt16 {
    switch part {
    case 0: 1_201
    case 1: 1_228
    case _: 1_303
    }
  }

  /// GGA, GSA and RMC (§12.17).
  private static var sentenceList: UInt32 { 0x46 }

  /// Longest standby that is not *for ever*, 18 hours (§10.1.40). A receiver whose wake pin fails then comes back.
  private static var standbyLimit_s: Int64 { 65_535 }

  /// Code of a baud rate in parameter 102 (§12.2): from 4 for 4,800 baud in ascending order, with 6 for 14,400 baud.
  /// Unsupported rates map to 9,600 baud.
  private static func baudRateCode(_ speed: UInt32) -> UInt32 {
    let index = UInt32(BaudRate.index(of: speed) ?? 1)
    return index + (index < 2 ? 4 : 5)
  }

  private static func result(_ answer: UInt16, _ outcome: CommandResult.Outcome) -> GNSSMessage {
    .commandResult(CommandResult(family: .teseo, command: answer, outcome: outcome))
  }

  /// Fields: block and number of the parameter, value: seconds for 303, otherwise hexadecimal.
  private static func report(_ fields: inout NMEAFields) -> GNSSMessage {
    guard let parameter = fields.whole(0, as: UInt16.self) else { return .malformed }
    let value =
      parameter % 1_000 == 303
      ? fields.thousandths(1).map { UInt32(truncatingIfNeeded: $0) } : fields.hexadecimalNumber(1)
    guard let value else { return .malformed }
    return .commandResult(
      CommandResult(family: .teseo, command: parameter, outcome: .done, value: value))
  }
}

extension FrameBuffer {
  fileprivate mutating func append(_ command: StaticString, _ value: Int64? = nil) {
    let start = beginSentence(command)
    if let value { appendField(value) }
    endSentence(start)
  }

  /// Appends `$PSTMSETPAR` with an integer, in hexadecimal digits without `0x` (§10.2.1).
  fileprivate mutating func appendParameter(_ parameter: Int64, hexadecimal value: UInt32) {
    let start = beginSentence("PSTMSETPAR")
    appendField(parameter)
    append(UInt8(ascii: ","))
    var shift: UInt32 = 28
    while shift > 0, value >> shift == 0 { shift -= 4 }
    while true {
      append(hexadecimal(UInt8(truncatingIfNeeded: value >> shift) & 15))
      if shift == 0 { break }
      shift -= 4
    }
    endSentence(start)
  }

  /// Appends `$PSTMNMEAREQUEST` with the low and the high half of the list of sentences: GSV (§12.17).
  fileprivate mutating func appendSatelliteRequest() {
    let start = beginSentence("PSTMNMEAREQUEST")
    append(ascii: ",80000,0")
    endSentence(start)
  }

  /// Appends `$PSTMSETPAR` with the time between two fixes, in seconds.
  fileprivate mutating func appendPeriod(_ interval_ms: UInt16) {
    let start = beginSentence("PSTMSETPAR")
    appendField(1_303)
    appendField(Int64(interval_ms), from: 3, to: 2)
    endSentence(start)
  }
}

extension NMEAFields {
  /// A number of at most eight hexadecimal digits, with or without `0x`; nil for anything else.
  fileprivate func hexadecimalNumber(_ i: Int) -> UInt32? {
    var offset = byte(1, ofField: i).map { $0 | 0x20 } == UInt8(ascii: "x") ? 2 : 0
    guard length(i) > offset, length(i) <= offset + 8 else { return nil }
    var value: UInt32 = 0
    while let byte = byte(offset, ofField: i) {
      let digit: UInt8
      switch byte | 0x20 {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte &- UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = (byte | 0x20) &- UInt8(ascii: "a") &+ 10
      case _: return nil
      }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }
}
