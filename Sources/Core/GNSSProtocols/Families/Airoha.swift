// Airoha AG3335 and AG3352: `$PAIR` sentences. Sources: Docs/Reference/receivers.md.

/// Airoha: answers each command with `$PAIR001`, and applies a new baud rate with a restart.
enum Airoha: SentenceFamily {
  static var descriptor: FamilyDescriptor {
    var descriptor = FamilyDescriptor(
      name: "airoha", maker: "Airoha", commandProtocol: .sentences)
    descriptor.capabilities = .speedAtRestart
    descriptor.otherDefaultBaudRate = 115_200
    // `$PAIR050` accepts 100 to 1,000 ms.
    descriptor.intervals = .upTo(ms: 1_000)
    // Answer: release `AG3335M_V2.5.0.…`, and fields without a use here.
    descriptor.identity = IdentityQuery(
      query: "PAIR020", answer: "PAIR020", model: .release(upTo: UInt8(ascii: "_")))
    descriptor.configurationParts = sentenceCount + 1
    // LC76G of variants PA and PB have a fixed rate of 1 Hz.
    descriptor.fixedRatePart = sentenceCount
    // `$PAIR062` accepts 0 to 20.
    descriptor.satelliteOutput = .switched(longestRate: 20)
    return descriptor
  }

  /// Number of sentence types that are configured individually: GGA, GLL, GSA, GSV, RMC, VTG, numbered from 0.
  private static var sentenceCount: UInt8 { 6 }

  static func answer(to command: SentenceCommand, part: UInt8) -> UInt16? {
    switch command {
    case .none, .wakeUp, .restart, .storage: nil
    case .probe: 2
    case .lineSpeed: 864
    case .configuration: part < sentenceCount ? 62 : 50
    case .satellites: 62
    case .standby: 3
    }
  }

  static func append(
    _ command: SentenceCommand, part: UInt8, interval_ms: UInt16, to buffer: inout FrameBuffer
  ) {
    switch command {
    case .none, .storage: break
    // The Airoha's processor accepts commands in standby. A receiver that is already on also answers `$PAIR002`.
    case .probe, .wakeUp: buffer.appendPAIR(2)
    case .lineSpeed(let speed): buffer.appendPAIR(864, 0, 0, Int64(speed))
    case .restart: buffer.appendPAIR(23)
    case .configuration:
      if part < sentenceCount {
        // GGA, GSA and RMC.
        buffer.appendPAIR(62, Int64(part), part == 0 || part == 2 || part == 4 ? 1 : 0)
      } else {
        buffer.appendPAIR(50, Int64(interval_ms))
      }
    // GSV.
    case .satellites(let rate): buffer.appendPAIR(62, 3, Int64(rate))
    case .standby: buffer.appendPAIR(3)
    }
  }

  /// Fields: command, result (0 done, 1 pending, 2 failed, 3 unsupported, 4 parameters, 5 busy).
  static func decode(_ fields: inout NMEAFields) -> GNSSMessage? {
    guard fields.hasAddress("PAIR001") else { return nil }
    let command = fields.whole(0, as: UInt16.self)
    let result = fields.whole(1, as: UInt8.self)
    guard let command, let result, let outcome = CommandResult.Outcome(rawValue: result) else {
      return .malformed
    }
    return .commandResult(CommandResult(family: .airoha, command: command, outcome: outcome))
  }
}

extension FrameBuffer {
  fileprivate mutating func appendPAIR(
    _ command: UInt16, _ first: Int64? = nil, _ second: Int64? = nil, _ third: Int64? = nil
  ) {
    appendCommand("PAIR", command, digits: 3, first, second, third)
  }
}
