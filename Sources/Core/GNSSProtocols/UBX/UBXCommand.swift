import LocationTypes

/// A command of a host to a u-blox receiver, as decoded by the simulated receiver.
public enum UBXCommand: Equatable, Sendable {
  /// CFG-VALSET, version 0 or 1 without transaction.
  case valset(UBXConfiguration)
  /// CFG-VALGET.
  case valget(UBXConfigurationPoll)
  /// RXM-PMREQ in the 16-byte form, or the 8-byte one, which has no wake-up sources.
  case powerRequest(UBXPowerRequest)
  /// LOG-RETRIEVEBATCH; `sendsStatusFirst` requests a MON-BATCH before the entries.
  case retrieveBatch(sendsStatusFirst: Bool)
  /// CFG-PRT of UART 1.
  case port(UBXPort)
  /// CFG-MSG in its 8-byte form: on UART 1, the message is sent once per `onUART1` epochs (0 never).
  case messageRate(UBXIdentity, onUART1: UInt8)
  /// CFG-RATE: measurement period, ms, and measurements per fix.
  case rate(period_ms: UInt16, ratio: UInt16)
  /// CFG-PM2 of version 2.
  case powerManagement(UBXPowerManagement)
  /// CFG-RXM.
  case receiverPower(saves: Bool)
  /// CFG-CFG that saves the whole configuration in battery-backed RAM.
  case save
  /// CFG-BATCH.
  case batch(UBXBatchConfiguration)
  /// CFG-NAVX5 that enables or disables acknowledgement of assistance data.
  case aidingAcknowledgement(Bool)
  /// MGA-INI-TIME_UTC.
  case aidingTime(UTCTime)
  /// MGA-DBD; ``UBXCommandDecoder/frame(of:)`` returns its bytes.
  case aidingEntry(UBXAidingEntry)
  /// Any message without payload: a poll.
  case poll(UBXIdentity)
  /// An unsupported message with valid framing and checksum.
  case unknown(UBXIdentity)
  /// A supported message with invalid content; a receiver answers with a NAK.
  case malformed(UBXIdentity)
}

/// Decodes the byte stream of a host into commands, in chunks of any size; NMEA sentences are skipped.
///
/// The counterpart of ``GNSSDecoder`` for simulated receivers.
public struct UBXCommandDecoder: Sendable {
  private var stream = StreamDecoder()

  /// Creates a decoder at the start of a stream.
  public init() {}

  /// Counts of what was decoded and discarded since creation.
  public var counters: DecoderCounters { stream.counters }

  /// Consumes bytes from `offset` on and returns the first complete command; nil when all are consumed.
  ///
  /// - Precondition: `offset` is 0 to `bytes.count`.
  public mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) -> UBXCommand? {
    var reader = CommandReader()
    var command: UBXCommand?
    _ = stream.next(bytes, &offset, &reader, into: &command)
    return command
  }

  /// The received bytes of the last entry returned; valid until the next call of ``next(_:_:)``.
  public func frame(of entry: UBXAidingEntry) -> ByteChunk {
    stream.lastFrame(Int(entry.frameLength))
  }
}

/// Decodes UBX frames of hosts into commands.
struct CommandReader: FrameHandler {
  mutating func handleSentence(
    _ fields: inout NMEAFields, _ counters: inout DecoderCounters, into command: inout UBXCommand?
  ) -> Bool {
    counters.unknown.incrementSaturating()
    return false
  }

  mutating func handleFrame(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters,
    into command: inout UBXCommand?
  ) -> Bool {
    command = CommandReader.command(identity, payload, &counters)
    return true
  }

  private static func command(
    _ identity: UBXIdentity, _ payload: Span<UInt8>, _ counters: inout DecoderCounters
  ) -> UBXCommand {
    if payload.count == 0 { return .poll(identity) }
    let command: UBXCommand? =
      switch identity {
      case .cfgVALSET: configuration(payload).map { .valset($0) }
      case .cfgVALGET: UBXConfigurationPoll(payload).map { .valget($0) }
      case .rxmPMREQ: powerRequest(payload).map { .powerRequest($0) }
      case .logRETRIEVEBATCH:
        payload.count == 4 ? .retrieveBatch(sendsStatusFirst: payload[1] & 1 != 0) : nil
      case .cfgPRT: UBXPort(payload).map { .port($0) }
      case .cfgMSG: messageRate(payload)
      case .cfgRATE:
        payload.count == 6 ? .rate(period_ms: payload.u2(0), ratio: payload.u2(2)) : nil
      case .cfgPM2: UBXPowerManagement(payload).map { .powerManagement($0) }
      case .cfgRXM: payload.count == 2 ? .receiverPower(saves: payload[1] == 1) : nil
      case .cfgCFG: isSave(payload) ? .save : nil
      case .cfgBATCH: UBXBatchConfiguration(payload).map { .batch($0) }
      case .cfgNAVX5: aidingAcknowledgement(payload)
      case .mgaINI:
        payload[0] == UBXAidingTime.type
          ? UBXAidingTime.time(payload).map { .aidingTime($0) } : .unknown(identity)
      case .mgaDBD: UBXAidingEntry(payload).map { .aidingEntry($0) }
      case _: .unknown(identity)
      }
    if command == nil { counters.malformed.incrementSaturating() }
    return command ?? .malformed(identity)
  }

  private static func messageRate(_ p: Span<UInt8>) -> UBXCommand? {
    guard p.count == 8 else { return nil }
    return .messageRate(UBXIdentity(p[0], p[1]), onUART1: p[3])
  }

  /// Reads a CFG-NAVX5; one that changes anything else is unsupported.
  private static func aidingAcknowledgement(_ p: Span<UInt8>) -> UBXCommand? {
    guard p.count == 40, p.u2(0) <= 3 else { return nil }
    guard p.u2(2) == 1 << 10, p.u4(4) == 0 else { return .unknown(.cfgNAVX5) }
    return .aidingAcknowledgement(p[17] != 0)
  }

  /// Whether a CFG-CFG saves to battery-backed RAM, and clears and loads nothing.
  private static func isSave(_ p: Span<UInt8>) -> Bool {
    p.count == 13 && p.u4(0) == 0 && p.u4(4) != 0 && p.u4(8) == 0 && p[12] & 1 != 0
  }

  private static func configuration(_ p: Span<UInt8>) -> UBXConfiguration? {
    // Version 1 adds transactions in the third byte; without one it equals version 0.
    guard p.count >= 4, p[0] == 0 || (p[0] == 1 && p[2] & 3 == 0) else { return nil }
    var configuration = UBXConfiguration(layers: UBXLayers(rawValue: p[1]))
    var i = 4
    while i < p.count {
      guard p.count - i >= 4, configuration.count < UBXConfiguration.capacity else { return nil }
      let key = p.u4(i)
      guard let size = UBXConfigurationItem.valueSize(of: key), p.count - i >= 4 + size else {
        return nil
      }
      var value: UInt64 = 0
      for j in 0..<size { value |= UInt64(p[i + 4 + j]) << UInt64(8 * j) }
      configuration.set(key, value)
      i += 4 + size
    }
    return configuration
  }

  private static func powerRequest(_ p: Span<UInt8>) -> UBXPowerRequest? {
    switch p.count {
    case 8:
      let flags = p.u4(4)
      var request = UBXPowerRequest(
        duration_ms: p.u4(0), isBackup: flags & 2 != 0, isForced: flags & 4 != 0, wakeupSources: 0)
      request.isShortForm = true
      return request
    case 16 where p[0] == 0:
      let flags = p.u4(8)
      return UBXPowerRequest(
        duration_ms: p.u4(4), isBackup: flags & 2 != 0, isForced: flags & 4 != 0,
        wakeupSources: p.u4(12))
    case _: return nil
    }
  }
}
