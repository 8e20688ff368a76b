import GNSSProtocols

/// Decodes the bytes that arrive at one line speed, to detect and identify a receiver.
struct BaudProbe {
  /// Maximum length of a sentence, in bytes.
  private static let maxSentenceLength = 512
  /// Minimum number of complete messages; fewer may result from noise.
  private static let minimumMessages = 2

  private var decoder = GNSSDecoder()
  /// Bytes of the current sentence after its `$`; nil between sentences.
  private var sentence: [UInt8]?
  /// Number of bytes received, valid or not.
  private(set) var byteCount = 0
  /// Identity that the receiver reported.
  private(set) var identity: ReceiverIdentity?
  /// Whether the last message with a fix status reported a fix; nil before the first such message.
  private(set) var hasFix: Bool?
  /// Number of satellites used in the last fix.
  private(set) var satellites: Int?

  private var counters: DecoderCounters { decoder.counters }

  /// Whether the input is recognised as the output of a receiver at this speed.
  var isRecognised: Bool {
    counters.frames > 0
      || counters.sentences + counters.otherFrames >= UInt32(BaudProbe.minimumMessages)
  }

  /// Output protocols of the receiver, in words.
  var format: String {
    var words: [String] = []
    if counters.sentences > 0 { words.append("NMEA") }
    if counters.frames > 0 { words.append("UBX") }
    if counters.otherFrames > 0 { words.append("a binary format") }
    return words.isEmpty ? "nothing" : words.joined(separator: " and ")
  }

  /// Decodes received bytes.
  mutating func decode(_ bytes: [UInt8]) {
    byteCount += bytes.count
    var offset = 0
    while let message = decoder.next(bytes.span, &offset) { handle(message) }
    for byte in bytes { collectSentence(byte) }
  }

  private mutating func handle(_ message: GNSSMessage) {
    switch message {
    case .rmc(let m): hasFix = m.isValid && m.coordinate != nil
    case .gga(let m):
      hasFix = (m.quality ?? 0) > 0 && m.coordinate != nil
      satellites = m.satellites.map(Int.init)
    case .navPVT(let m):
      hasFix = m.isFixOK
      satellites = m.satellites.map(Int.init)
    case .receiverVersion(let version): identity = ReceiverIdentity(version)
    case _: break
    }
  }

  // MARK: Responses that the decoder does not parse

  private mutating func collectSentence(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "$"): sentence = []
    case 0x0D, 0x0A:
      if let whole = sentence { handle(whole) }
      sentence = nil
    case 0x20...0x7E:
      sentence?.append(byte)
      if let count = sentence?.count, count > BaudProbe.maxSentenceLength { sentence = nil }
    case _: sentence = nil
    }
  }

  private mutating func handle(_ line: [UInt8]) {
    guard line.count > 3, line[line.count - 3] == UInt8(ascii: "*") else { return }
    let body = line.dropLast(3)
    let checksum = UInt8(String(decoding: line.suffix(2), as: UTF8.self), radix: 16)
    guard checksum == body.reduce(0, { $0 ^ $1 }) else { return }
    guard let newIdentity = ReceiverIdentity(sentence: String(decoding: body, as: UTF8.self)) else {
      return
    }
    // Keep the identity from MON-VER, which has the most detail.
    if identity?.hardware == nil { identity = newIdentity }
  }
}
