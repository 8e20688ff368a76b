// MediaTek MT3333 and MT3339: `$PMTK` sentences. Sources: Docs/Reference/receivers.md.

/// MediaTek: answers each command with `$PMTK001`.
enum MediaTek: SentenceFamily {
  static var descriptor: FamilyDescriptor {
    var descriptor = FamilyDescriptor(
      name: "mtk", maker: "MediaTek", commandProtocol: .sentences)
    // `$PMTK251` accepts at most 115,200 baud, `$PMTK220` 100 to 10,000 ms.
    descriptor.maximumBaudRate = 115_200
    descriptor.intervals = .upTo(ms: 10_000)
    // Answer: release, build, model, version.
    descriptor.identity = IdentityQuery(query: "PMTK605", answer: "PMTK705", model: .field(3))
    descriptor.configurationParts = 2
    descriptor.satelliteOutput = .switched(longestRate: 5)
    return descriptor
  }

  static func answer(to command: SentenceCommand, part: UInt8) -> UInt16? {
    switch command {
    case .none, .wakeUp, .restart, .storage: nil
    case .probe: 0
    case .lineSpeed: 251
    case .configuration: part == 0 ? 314 : 220
    case .satellites: 314
    case .standby: 161
    }
  }

  static func append(
    _ command: SentenceCommand, part: UInt8, interval_ms: UInt16, to buffer: inout FrameBuffer
  ) {
    switch command {
    case .none, .restart, .storage: break
    case .probe: buffer.appendPMTK(0)
    case .wakeUp: buffer.appendWakeBytes()
    case .lineSpeed(let speed): buffer.appendPMTK(251, Int64(speed))
    case .configuration:
      if part == 0 {
        buffer.appendPMTKOutput(satellites: 0)
      } else {
        buffer.appendPMTK(220, Int64(interval_ms))
      }
    case .satellites(let rate): buffer.appendPMTKOutput(satellites: rate)
    case .standby: buffer.appendPMTK(161, 0)
    }
  }

  static func decode(_ fields: inout NMEAFields) -> GNSSMessage? {
    if fields.hasAddress("PMTK001") { return result(&fields) }
    // Number: 1 started, 2 requests aiding, 3 back in normal operation.
    if fields.hasAddress("PMTK010") {
      return .receiverNotice(fields.whole(0, as: UInt16.self) == 1 ? .started : .awake)
    }
    return fields.hasAddress("PMTK011") ? .receiverNotice(.started) : nil
  }

  /// Fields: command, result (0 invalid, 1 unsupported, 2 failed, 3 done).
  private static func result(_ fields: inout NMEAFields) -> GNSSMessage {
    let command = fields.whole(0, as: UInt16.self)
    let flag = fields.whole(1, as: UInt8.self)
    guard let command, let flag, flag <= 3 else { return .malformed }
    let outcome: CommandResult.Outcome =
      switch flag {
      case 0: .invalid
      case 1: .unsupported
      case 2: .failed
      case _: .done
      }
    return .commandResult(CommandResult(family: .mtk, command: command, outcome: outcome))
  }
}

extension FrameBuffer {
  fileprivate mutating func appendPMTK(_ command: UInt16, _ value: Int64? = nil) {
    appendCommand("PMTK", command, digits: 3, value)
  }

  /// Appends `$PMTK314`: RMC, GGA and GSA with each fix, GSV with each nth one, none of the other fifteen sentences.
  fileprivate mutating func appendPMTKOutput(satellites rate: UInt8) {
    let start = beginCommand("PMTK", 314, digits: 3)
    // GLL, RMC, VTG, GGA, GSA, GSV, and 13 more that stay off.
    for field in 0..<19 {
      switch field {
      case 1, 3, 4: appendField(1)
      case 5: appendField(Int64(rate))
      case _: appendField(0)
      }
    }
    endSentence(start)
  }
}
