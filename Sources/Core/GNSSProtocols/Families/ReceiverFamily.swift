/// Receiver family, which determines the commands that a receiver accepts.
///
/// Everything else that is known of a family is in its ``descriptor``, so this is the only closed list of families in
/// the product. To add one: `Docs/HowTo/add-a-receiver.md`.
@frozen public enum ReceiverFamily: UInt8, Sendable {
  /// u-blox M10 with CFG-VALSET and data batching (protocol 34 and later).
  case ubloxM10
  /// u-blox 8 and M8 with separate CFG messages; data batching from protocol 23.01 on.
  case ubloxM8
  /// MediaTek MT3333 and MT3339, with `$PMTK` sentences.
  case mtk
  /// Airoha AG3335 and AG3352, with `$PAIR` sentences.
  case airoha
  /// CASIC AT6558 and compatible receivers, with `$PCAS` sentences.
  case casic
  /// STMicroelectronics Teseo-LIV3F and -LIV3FL, with `$PSTM` sentences.
  case teseo
  /// Sends epochs and accepts no commands: plain NMEA receivers, recordings.
  case passive

  /// What is known of the family. O(1).
  public var descriptor: FamilyDescriptor {
    switch self {
    case .ubloxM10: UBlox.m10
    case .ubloxM8: UBlox.m8
    case .mtk: MediaTek.descriptor
    case .airoha: Airoha.descriptor
    case .casic: CASIC.descriptor
    case .teseo: Teseo.descriptor
    case .passive: FamilyDescriptor(name: "nmea")
    }
  }
}

// MARK: Proprietary sentences

extension ReceiverFamily {
  /// Number of the answer to part `part` of a command; nil if the receiver sends none that can be distinguished.
  public func answer(to command: SentenceCommand, part: UInt8) -> UInt16? {
    switch self {
    case .mtk: MediaTek.answer(to: command, part: part)
    case .airoha: Airoha.answer(to: command, part: part)
    case .casic: CASIC.answer(to: command, part: part)
    case .teseo: Teseo.answer(to: command, part: part)
    case .ubloxM10, .ubloxM8, .passive: nil
    }
  }

  /// Appends part `part` of a command, at most 128 bytes; nothing for a family without proprietary sentences.
  public func append(
    _ command: SentenceCommand, part: UInt8, interval_ms: UInt16, to buffer: inout FrameBuffer
  ) {
    switch self {
    case .mtk: MediaTek.append(command, part: part, interval_ms: interval_ms, to: &buffer)
    case .airoha: Airoha.append(command, part: part, interval_ms: interval_ms, to: &buffer)
    case .casic: CASIC.append(command, part: part, interval_ms: interval_ms, to: &buffer)
    case .teseo: Teseo.append(command, part: part, interval_ms: interval_ms, to: &buffer)
    case .ubloxM10, .ubloxM8, .passive: break
    }
  }

  /// Value that the receiver should report in the answer to part `part` of ``SentenceCommand/configuration``; nil if that
  /// answer has no value.
  public func expectedValue(part: UInt8, interval_ms: UInt16) -> UInt32? {
    switch self {
    case .mtk: MediaTek.expectedValue(part: part, interval_ms: interval_ms)
    case .airoha: Airoha.expectedValue(part: part, interval_ms: interval_ms)
    case .casic: CASIC.expectedValue(part: part, interval_ms: interval_ms)
    case .teseo: Teseo.expectedValue(part: part, interval_ms: interval_ms)
    case .ubloxM10, .ubloxM8, .passive: nil
    }
  }

  /// Decodes an answer or a notice of this family; nil for every other sentence.
  func decode(_ fields: inout NMEAFields) -> GNSSMessage? {
    switch self {
    case .mtk: MediaTek.decode(&fields)
    case .airoha: Airoha.decode(&fields)
    case .casic: CASIC.decode(&fields)
    case .teseo: Teseo.decode(&fields)
    case .ubloxM10, .ubloxM8, .passive: nil
    }
  }
}

// MARK: Abbreviations

extension ReceiverFamily {
  /// Value of `family` in a board's profile.
  public var name: StaticString { descriptor.name }

  /// Whether receivers of the family accept commands, and so can be put to sleep by one.
  public var acceptsCommands: Bool { self != .passive }

  /// Whether a receiver can be put to standby, because bytes on its RX or a wake pin wake it.
  public func canStandby(hasWakePin: Bool) -> Bool {
    acceptsCommands && (hasWakePin || !has(.needsWakePin))
  }

  /// Whether the command protocol is UBX.
  public var isUBlox: Bool { descriptor.commandProtocol == .ubx }

  /// Whether receivers of the family have all of these capabilities.
  public func has(_ capabilities: ReceiverCapabilities) -> Bool {
    descriptor.capabilities.contains(capabilities)
  }
}
