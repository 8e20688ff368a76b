import GNSSProtocols

/// What was heard of a receiver at one speed.
struct ReceiverEar {
  /// The longest sentence that is kept.
  private static let longest = 512
  /// Fewer whole messages may be chance.
  private static let enough = 2

  private var decoder = GNSSDecoder()
  /// The sentence that arrives, from behind its `$` on.
  private var sentence: [UInt8]?
  /// All bytes, whether they mean anything or not.
  private(set) var byteCount = 0
  /// What it says it is.
  private(set) var identity: ReceiverIdentity?
  /// Whether the last message that tells of a fix tells of one; nil before the first.
  private(set) var hasFix: Bool?
  /// Satellites in the last fix.
  private(set) var satellites: Int?

  private var counters: DecoderCounters { decoder.counters }

  /// Whether what it sends is understood at this speed.
  var isUnderstood: Bool {
    counters.frames > 0 || counters.sentences + counters.otherFrames >= UInt32(ReceiverEar.enough)
  }

  /// In which format it talks, in words.
  var format: String {
    var words: [String] = []
    if counters.sentences > 0 { words.append("NMEA") }
    if counters.frames > 0 { words.append("UBX") }
    if counters.otherFrames > 0 { words.append("a binary format") }
    return words.isEmpty ? "nothing" : words.joined(separator: " and ")
  }

  /// Takes what has come.
  mutating func hear(_ bytes: [UInt8]) {
    byteCount += bytes.count
    var offset = 0
    while let message = decoder.next(bytes.span, &offset) { take(message) }
    for byte in bytes { spell(byte) }
  }

  private mutating func take(_ message: GNSSMessage) {
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

  // MARK: Sentences that no decoder reads

  private mutating func spell(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "$"): sentence = []
    case 0x0D, 0x0A:
      if let whole = sentence { take(whole) }
      sentence = nil
    case 0x20...0x7E:
      sentence?.append(byte)
      if let count = sentence?.count, count > ReceiverEar.longest { sentence = nil }
    case _: sentence = nil
    }
  }

  private mutating func take(_ line: [UInt8]) {
    guard line.count > 3, line[line.count - 3] == UInt8(ascii: "*") else { return }
    let body = line.dropLast(3)
    let told = UInt8(String(decoding: line.suffix(2), as: UTF8.self), radix: 16)
    guard told == body.reduce(0, { $0 ^ $1 }) else { return }
    guard let said = ReceiverIdentity(sentence: String(decoding: body, as: UTF8.self)) else {
      return
    }
    // MON-VER says most; it is not replaced.
    if identity?.maker != .ublox { identity = said }
  }
}
