import BoardProfiles
import GNSSProtocols
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// Reference implementation of the filter's rules, byte by byte.
private struct PlainFilter {
  private enum State {
    case lineStart
    case insideLine
    case header(HeaderLine)
  }

  private var state = State.lineStart
  private var frameHead = 0
  private var frameLength = 0
  private var frameRemainder = 0

  /// The pieces of one block.
  mutating func pieces(_ bytes: [UInt8]) -> [RecordingFilter.Piece] {
    var pieces: [RecordingFilter.Piece] = []
    var start = 0
    for (i, byte) in bytes.enumerated() {
      if case .header(var line) = state {
        start = i + 1
        switch line.consume(byte) {
        case .incomplete: state = .header(line)
        case .ended(let date):
          state = .lineStart
          if let date { pieces.append(.date(date)) }
        case .endedWithInvalidDate:
          state = .lineStart
          pieces.append(.invalidDate)
        case .notHeader:
          start = i
          follow(byte)
        }
      } else if case .lineStart = state, byte == UInt8(ascii: "#") {
        if i > start { pieces.append(.bytes(start..<i)) }
        state = .header(HeaderLine())
        start = i + 1
      } else {
        follow(byte)
      }
    }
    if start < bytes.count { pieces.append(.bytes(start..<bytes.count)) }
    return pieces
  }

  private mutating func follow(_ byte: UInt8) {
    state = .insideLine
    if frameRemainder > 0 {
      frameRemainder -= 1
      return
    }
    switch frameHead {
    case 1 where byte == 0x62: frameHead = 2
    case 2, 3: frameHead += 1
    case 4:
      frameLength = Int(byte)
      frameHead = 5
    case 5:
      let length = frameLength | Int(byte) << 8
      frameHead = 0
      if length <= 4_096 { frameRemainder = length + 2 }
    case _:
      frameHead = byte == 0xB5 ? 1 : 0
      if byte == UInt8(ascii: "\n") { state = .lineStart }
    }
  }
}

@Suite("Bytes of a recording") struct RecordingBytesTests {
  /// Fragments for test streams that are easily confused with each other.
  private static let parts: [[UInt8]] = [
    [0x0A], [0x0D, 0x0A], [0x23], [0xB5], [0x62], [0xB5, 0x62], [0xB5, 0xB5, 0x62],
    [0xB5, 0x62, 1, 7, 0, 0], [0xB5, 0x62, 0x0A, 0x23, 3, 0, 0x0A, 0x23, 0x0A, 0x23, 0x0A],
    [0xB5, 0x62, 1, 7, 0xFF, 0xFF], [0xB5, 0x62, 1, 7, 0x00, 0x10], [0xB5, 0x62, 1, 7, 0x01, 0x10],
    [0x22], [0x24], [0xA3], [0x80], [0], Array("# Date: 2014-12-31\n".utf8),
    Array("#Date: 2015-01-02\r\n".utf8), Array("#\u{1}".utf8), Array(repeating: 0x41, count: 15),
    Array(repeating: 0x2C, count: 40), Array("$GPTXT,#,1\r\n".utf8), Array("\n#".utf8),
  ]

  @Test("the filter equals the reference implementation for any division into blocks")
  func filter() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<3_000 {
      var stream: [UInt8] = []
      for _ in 0..<Int.random(in: 1...24, using: &random) {
        stream += Self.parts[Int.random(in: 0..<Self.parts.count, using: &random)]
      }
      var plain = PlainFilter()
      var filter = RecordingFilter()
      var start = 0
      while start < stream.count {
        let end = min(stream.count, start + Int.random(in: 1...90, using: &random))
        let block = Array(stream[start..<end])
        var offset = 0
        var pieces: [RecordingFilter.Piece] = []
        while let piece = filter.next(block.span, &offset) { pieces.append(piece) }
        #expect(pieces == plain.pieces(block), "\(stream), \(start)..<\(end)")
        start = end
      }
    }
  }

  @Test("a line of text inside the longest UBX frame is data", arguments: [1_025, 4_096])
  func longFrame(payload: Int) {
    let text = Array("\n# Date: 2014-12-31\n".utf8)
    let length = [UInt8(payload & 0xFF), UInt8(payload >> 8)]
    let frame = [0xB5, 0x62, 0x02, 0x15] + length + text + Array(repeating: 0, count: payload)
    let bytes = Array(frame.prefix(6 + payload + 2))
    var filter = RecordingFilter()
    var offset = 0
    #expect(filter.next(bytes.span, &offset) == .bytes(0..<bytes.count))
  }

  private static let bodies = [
    "GPRMC,1000TT.00,A,5231.2000,N,01324.0000,E,10.0,90.0,010326,,,A",
    "GPGGA,1000TT.00,5231.2000,N,01324.0000,E,1,08,0.9,40.0,M,40.0,M,,",
    "GPGLL,5231.2000,N,01324.0000,E,1000TT.00,A,A",
    "GNGLL,5231.2000,N,01324.0000,E,1000TT.00,A",
    "GPGLL,5231.2000,N,01324.0000,E,1000TT.00,A,N", "GPGLL,,,,,1000TT.00,V,N",
    "GPGGA,1000TT.00,5231.2000,N,01324.0000,E,0,08,0.9,40.0,M,40.0,M,,",
    "GPGGA,1000TT.00,,,,,,,,,,,,,",
    "GNGGA,1000TT.00,5231.2000,N,01324.0000,E,12,08,0.9,40.0,M,40.0,M,,",
    "GPGGA,1000TT.0,5231.2000,N,01324.0000,E,1,08,x,40.0,M,40.0,M,,", "GPGGA,1000TT.00,5231.2000",
    "GPRMC,1000TT.00,A,5231.2000,N,01324.0000,E,10.0,90.0,010326,,,N",
    "GPRMC,1000TT.00,V,,,,,,,010326,,,N",
    "GPZDA,1000TT.00,01,03,2026,00,00", "GPGSV,1,1,01,05,45,120,40", "GPGSV,1,1,x",
    "GPGSA,A,3,05,,,,,,,,,,,,2.0,1.0,1.7", "GPVTG,90.0,T,,M,10.0,N,18.5,K,A",
    "PGRME,3.0,M,4.0,M,5.0,M",
    "PGRMZ,131,f,3", "GPRTE,1,1,c,0,A B+C", "GPBOD,,T,,M,,", "GPTXT,01,01,02,a",
    "PUBX,00,1000TT.00",
    "GPGSV", "GPGST,1000TT.00,1,2,3,4,5,6,7", "GPRMB,A,,,,,,,,,,,,V",
  ]

  private static func stream(_ random: inout some RandomNumberGenerator) -> [UInt8] {
    var stream: [UInt8] = []
    var second = 0
    for _ in 0..<Int.random(in: 1...60, using: &random) {
      if Int.random(in: 0..<6, using: &random) == 0 { second = min(second + 1, 59) }
      let body = bodies[Int.random(in: 0..<bodies.count, using: &random)].replacing(
        "TT", with: second < 10 ? "0\(second)" : "\(second)")
      let sum = body.utf8.reduce(UInt8(0), ^)
      let kind = Int.random(in: 0..<30, using: &random)
      let checksum = kind == 0 ? sum ^ 1 : sum
      var digits = String(checksum, radix: 16, uppercase: kind != 1)
      if digits.count < 2 { digits = "0" + digits }
      let end = kind == 2 ? "" : kind == 3 ? "\n" : kind == 4 ? "\r" : "\r\n"
      var bytes = Array("$\(body)*\(digits)\(end)".utf8)
      // Truncated, or with a foreign byte inside.
      if kind == 5 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
      if kind == 6 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = 0xB5 }
      if kind == 7 { bytes = Array("$\(body)\r\n".utf8) }
      if kind == 8, Bool.random(using: &random) {
        bytes = [0xB5, 0x62, 0x01, 0x07, 0x03, 0x00, 0x0A, 0x24, 0x0A, 0x43, 0x21]
      }
      stream += bytes
    }
    return stream
  }

  @Test("skipping sentences without a time gives the same send times")
  func timeless() {
    var random = SplitMix64(seed: 1)
    for round in 0..<1_500 {
      let stream = Self.stream(&random)
      var decoding = DecoderOptions()
      decoding.allowsMissingChecksum = round % 3 == 0
      func scan(readsAll: Bool) -> RecordingScan {
        RecordingScan(
          stream, date: nil, interval: .seconds(1), lineSpeed: 115_200, decoding,
          decodesAll: readsAll)
      }
      let quick = scan(readsAll: false)
      let plain = scan(readsAll: true)
      let text = String(decoding: stream, as: UTF8.self)
      #expect(quick.recording.chunks == plain.recording.chunks, "\(text)")
      #expect(quick.epochs == plain.epochs && quick.end == plain.end)
    }
  }

  @Test("a GGA or GLL with a known time is skipped only if it reports a valid position")
  func repeatedTime() {
    func whole(_ body: String) -> String {
      let sum = String(body.utf8.reduce(UInt8(0), ^), radix: 16, uppercase: true)
      return "$\(body)*\(sum.count < 2 ? "0" : "")\(sum)\r\n"
    }
    let opener = whole("GPRMC,100000,A,5231.2000,N,01324.0000,E,10.0,90.0,010326,,,A")
    var rmc = RMC(time_us: 36_000_000_000, isValid: true)
    rmc.coordinate = Coordinate(latitude_e9: 52_520_000_000, longitude_e9: 13_400_000_000)
    func isSkipped(_ body: String) -> Bool {
      let bytes = Array((opener + whole(body) + "$GPRMC,").utf8)
      let repeatedTime = RepeatedTimeField(.rmc(rmc), in: bytes.span, from: 0)
      let start = opener.utf8.count
      let end = TimelessSentence.end(of: bytes.span, from: start, repeatedTime)
      #expect(end == nil || end == bytes.count - 7)
      #expect(TimelessSentence.end(of: bytes.span, from: start) == nil)
      return end != nil
    }
    let position = "5231.2000,N,01324.0000,E"
    #expect(isSkipped("GPGGA,100000,\(position),1,08,0.9,40.0,M,40.0,M,,"))
    #expect(isSkipped("GNGGA,100000,\(position),9,08,0.9,40.0,M,40.0,M,,"))
    #expect(isSkipped("GPGLL,\(position),100000,A"))
    #expect(isSkipped("GPGLL,\(position),100000,A,A"))
    for body in [
      "GPGGA,100000,\(position),0,08,0.9,40.0,M,40.0,M,,",
      "GPGGA,100000,\(position),12,08,0.9,40.0,M,,,,",
      "GPGGA,100000,\(position),,08,0.9,40.0,M,40.0,M,,",
      "GPGGA,100001,\(position),1,08,0.9,40.0,M,,M,,",
      "GPGGA,100000.0,\(position),1,08,0.9,40.0,M,,M,,",
      "GPGGA,10000,\(position),1,08,0.9,40.0,M,,M,,",
      "GPGGA,100000,\(position)", "GPGLL,\(position),100000,V", "GPGLL,\(position),100000,A,N",
      "GPGLL,\(position),100001,A,A", "GPGLL,\(position),100000", "GPGST,100000,1,2,3,4,5,6,7",
      "GPRMC,100000,A,\(position),10.0,90.0,010326,,,A",
      "GPGNS,100000,\(position),A,08,0.9,40.0,40.0,,",
    ] { #expect(!isSkipped(body), "\(body)") }
    rmc.isValid = false
    #expect(!isSkipped("GPGLL,\(position),100000,A"))
    rmc.isValid = true
    rmc.mode = .notValid
    #expect(!isSkipped("GPGLL,\(position),100000,A"))
    rmc.mode = nil
    rmc.coordinate = nil
    #expect(!isSkipped("GPGLL,\(position),100000,A"))
  }

  @Test("a sentence is skipped together with its line end, whatever its checksum")
  func skipped() {
    func end(_ text: String) -> Int? {
      TimelessSentence.end(of: Array(text.utf8).span, from: 0)
    }
    func whole(_ body: String) -> String {
      let sum = String(body.utf8.reduce(UInt8(0), ^), radix: 16, uppercase: true)
      return "$\(body)*\(sum.count < 2 ? "0" : "")\(sum)\r\n"
    }
    let sentence = "$GPGSV,1,1,01,05,45,120,40*4B\r\n"
    #expect(whole("GPGSV,1,1,01,05,45,120,40") == sentence)
    let count = sentence.utf8.count
    // A sentence with too few bytes after it is left to the decoder.
    #expect(end(sentence) == nil)
    #expect(end(sentence + "$GPRMC") == count)
    #expect(end(sentence.filter { $0 != "\r\n" } + "\n$GPRMC,") == count - 1)
    #expect(end(sentence.filter { $0 != "\r\n" } + "\r$GPRMC,") == nil)
    #expect(end(sentence.filter { $0 != "\r\n" } + "$GPRMC,123456,A") == nil)
    #expect(end(sentence.filter { $0 != "\r\n" }) == nil)
    #expect(end("$GPGSV,1,1,01,05,45,120,41*4B\r\n$GPRMC,") == count)
    #expect(end("$GPGSV,1,1,01,05,45,120,40*4b\r\n$GPRMC,") == count)
    #expect(end("$GPGSV,1,1,01,05,45,120,40\r\n$GPRMC,") == count - 3)
    let more = "$GPRMC,"
    #expect(end(whole("GPGSV,1,1,01,05,$5,120,40") + more) == nil)
    for byte in ["!", " ", "\u{1F}", "\u{7F}", "\u{B5}"] {
      #expect(end(whole("GPGSV,1,1,01,05,\(byte)5,120,40") + more) == nil)
    }
    #expect(end(whole("GPGSV,1,1,01,05,~%,120,40") + more) == count)
    for kind in ["RMC", "GGA", "GLL", "GST", "ZDA", "GNS", "GBS", "QQQ"] {
      #expect(end(whole("GP\(kind),1,1,01,05,45,120,40") + more) == nil)
    }
    #expect(end(whole("PUBX,00,1,1,01,05,45,120,40") + more) == nil)
  }
}
