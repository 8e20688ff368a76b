import GNSSProtocols
import LocationTypes

/// Each frame decodes to one message, and an encoded message decodes to the same message.
///
/// Input: one byte of options; then frames from class to payload, in UBX order.
enum FrameProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let options = EpochOptions(fuzzed: reader.byte())
    var count = 0
    let stream = frames(&reader, &count)
    let decoded = StreamProperty.decode(stream, nil)
    trial.require(decoded.counters.frames == UInt32(count), "a frame was not decoded")
    trial.require(decoded.messages.count == count, "not one message per frame")
    trial.require(decoded.counters.skippedBytes == 0, "a byte of a frame was skipped")
    for message in decoded.messages where message.isDecoded {
      trial.countDecoded()
      expectRoundTrip(message, &trial)
    }
    SatelliteProperty.check(decoded.satellites.views, &trial)
    EpochProperty.check(decoded.messages, options, .milliseconds(20), &trial)
  }

  /// UBX frames with correct checksums, composed of class, identifier, length and payload.
  static func frames(_ reader: inout InputReader, _ count: inout Int) -> [UInt8] {
    var stream: [UInt8] = []
    while !reader.isAtEnd {
      let head = [reader.byte(), reader.byte()]
      let length = Int(reader.integer(UInt16.self)) % (GNSSDecoder.longestPayload + 1)
      let payload = reader.nextBytes(length)
      let lengthField = [UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)]
      let content = head + lengthField + payload
      var a: UInt8 = 0
      var b: UInt8 = 0
      for byte in content {
        a &+= byte
        b &+= a
      }
      stream += [0xB5, 0x62] + content + [a, b]
      count += 1
    }
    return stream
  }

  private static func expectRoundTrip(_ message: GNSSMessage, _ trial: inout PropertyResult) {
    var buffer = FrameBuffer()
    switch message {
    case .navPVT(let solution): buffer.appendNavPVT(solution)
    case .batchEntry(let entry): buffer.appendBatchEntry(entry)
    case .batchStatus(let status): buffer.appendBatchStatus(status)
    case .acknowledged(let identity): buffer.appendAcknowledgement(of: identity)
    case .refused(let identity): buffer.appendAcknowledgement(of: identity, isAccepted: false)
    case .receiverVersion(let version): buffer.appendVersion(version)
    case .aidingAnswer(let answer): buffer.append(answer)
    case .configurationValues(let values):
      var items = UBXConfiguration(layers: .ram)
      for i in 0..<values.count { items.set(values[i].key, values[i].value) }
      buffer.appendConfigurationValues(items, layer: values.layer)
    // No encoder exists for the others.
    case _: return
    }
    let again = StreamProperty.decode(buffer.bytes, nil)
    trial.require(
      again.messages == [message], "\(message) was encoded and decoded to \(again.messages)")
  }
}

/// Chunk boundaries do not change the decoded commands, and an encoded command decodes to the same command.
///
/// Input: one byte of chunk lengths; a byte that selects framed or raw input; then the frames or bytes.
enum CommandProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let chunks = ChunkLengths(reader.byte())
    let isFramed = reader.byte() & 1 == 0
    var count = 0
    let stream = isFramed ? FrameProperty.frames(&reader, &count) : reader.remainingBytes()
    let whole = decode(stream, nil)
    let parts = decode(stream, chunks)
    trial.require(whole.commands == parts.commands, "chunk boundaries change the commands")
    trial.require(whole.counters == parts.counters, "chunk boundaries change the counters")
    trial.require(whole.commands.count == Int(whole.counters.frames), "a frame without a command")
    if isFramed { trial.require(whole.commands.count == count, "a frame was not decoded") }
    for command in whole.commands { expectRoundTrip(command, &trial) }
  }

  private static func decode(
    _ bytes: [UInt8], _ chunks: ChunkLengths?
  ) -> (commands: [UBXCommand], counters: DecoderCounters) {
    var commands: [UBXCommand] = []
    var decoder = UBXCommandDecoder()
    for range in chunkRanges(bytes.count, chunks) {
      var offset = 0
      let chunk = bytes.span.extracting(range)
      while let command = decoder.next(chunk, &offset) { commands.append(command) }
    }
    return (commands, decoder.counters)
  }

  private static func expectRoundTrip(_ command: UBXCommand, _ trial: inout PropertyResult) {
    var buffer = FrameBuffer()
    switch command {
    case .valset(let configuration): buffer.appendConfiguration(configuration)
    case .valget(let poll): buffer.appendConfigurationPoll(poll)
    case .powerRequest(let request): buffer.appendPowerRequest(request)
    case .retrieveBatch(let first): buffer.appendRetrieveBatch(sendsStatusFirst: first)
    case .poll(let identity): buffer.appendPoll(identity)
    case .port(let port): buffer.append(port)
    case .messageRate(let identity, let rate):
      buffer.appendMessageRate(identity, onUART1: rate)
    case .rate(let period, let ratio):
      guard ratio == 1 else { return }
      buffer.appendRate(period_ms: period)
    case .powerManagement(let power): buffer.append(power)
    case .receiverPower(let saves): buffer.appendReceiverPower(saves: saves)
    case .save: buffer.appendSave()
    case .batch(let batch): buffer.append(batch)
    case .aidingAcknowledgement(let isOn): buffer.appendAidingAcknowledgement(isOn)
    case .aidingTime(let utc): buffer.appendAidingTime(utc)
    // `StreamProperty` checks the bytes of these entries.
    case .aidingEntry: return
    case .unknown, .malformed: return
    }
    trial.countDecoded()
    let again = decode(buffer.bytes, nil).commands
    trial.require(again == [command], "\(command) was encoded and decoded to \(again)")
  }
}
