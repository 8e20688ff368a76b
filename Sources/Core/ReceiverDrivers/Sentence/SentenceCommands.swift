import GNSSProtocols

// The sentences of each family are in GNSSProtocols/Families.

/// Number of the answer to a command, in ``CommandResult/command``.
struct SentenceAnswer: CommandAnswer {
  let kind: UInt16
}

extension SentenceCommand: ReceiverCommand {
  func partCount(for setup: ReceiverSetup) -> UInt8 {
    let family = setup.family.descriptor
    return switch self {
    case .none, .probe, .wakeUp, .restart, .satellites, .standby: 1
    // The second part saves it.
    case .lineSpeed: family.capabilities.contains(.configurationInFlash) ? 2 : 1
    case .configuration: family.configurationParts
    case .storage: family.configurationParts + 1
    }
  }

  func answer(part: UInt8, for setup: ReceiverSetup) -> SentenceAnswer? {
    setup.family.answer(to: self, part: part).map(SentenceAnswer.init)
  }

  /// Whether the receiver may reject a part without consequence: a rate that equals its fixed rate.
  func isOptional(part: UInt8, for setup: ReceiverSetup) -> Bool {
    self == .configuration && part == setup.family.descriptor.fixedRatePart
      && setup.interval_ms == 1_000
  }

  func frame(part: UInt8, for setup: ReceiverSetup) -> FrameBuffer {
    var buffer = FrameBuffer()
    setup.family.append(self, part: part, interval_ms: setup.interval_ms, to: &buffer)
    return buffer
  }
}
