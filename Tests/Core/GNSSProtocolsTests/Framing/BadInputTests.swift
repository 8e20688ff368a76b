import LocationTypes
import Testing

@testable import GNSSProtocols

/// One input that other decoders failed on, and the expected result.
struct BadInput: Sendable, CustomTestStringConvertible {
  /// Where the case, or a similar one, was published.
  enum Source: String {
    /// kosma/minmea, tests.c.
    case minmea
    /// gpsd, tests/test_packet.c, and its rules for times and dates in driver_nmea0183.c.
    case gpsd
    /// Knio/pynmea2, test/test_pynmea.py.
    case pynmea2
    /// adrianmo/go-nmea, sentence_test.go and types_test.go.
    case goNMEA = "go-nmea"
    /// AeroRust/nmea, tests/fuzz_regression.rs.
    case rustNMEA = "nmea crate"
    /// Ferry Huberts' nmealib: its parser's unit test takes `$*00`.
    case nmealib
    /// mikalhart/TinyGPSPlus reads numbers with atol and any character as a checksum's digit.
    case tinyGPS = "TinyGPS++"
    /// SlashDevin/NeoGPS, NMEAtest.ino: characters dropped, inserted and mangled.
    case neoGPS = "NeoGPS"
    /// ublox-rs/ublox, the parser's tests.
    case ubloxRS = "ublox-rs"
    /// semuconsulting/pyubx2, tests/test_exceptions.py.
    case pyubx2
    /// Torpor's own cases.
    case torpor
  }

  var name: String
  var source: Source
  var bytes: [UInt8]
  var messages: [GNSSMessage]
  var counters: DecoderCounters
  var testDescription: String { "\(source.rawValue): \(name)" }

  /// Literal bytes, with `\r`, `\n`, `\\` and `\xHH` as escapes.
  static func raw(
    _ name: String, _ source: Source, _ text: String, _ messages: [GNSSMessage],
    _ counters: DecoderCounters
  ) -> BadInput {
    BadInput(
      name: name, source: source, bytes: unescaped(text), messages: messages, counters: counters)
  }

  /// Literal bytes that yield no message.
  static func raw(
    _ name: String, _ source: Source, _ text: String, _ counters: DecoderCounters
  ) -> BadInput { raw(name, source, text, [], counters) }

  /// Hexadecimal bytes that yield no message.
  static func hex(
    _ name: String, _ source: Source, _ digits: String, _ counters: DecoderCounters
  ) -> BadInput { hex(name, source, digits, [], counters) }

  /// Hexadecimal bytes.
  static func hex(
    _ name: String, _ source: Source, _ digits: String, _ messages: [GNSSMessage],
    _ counters: DecoderCounters
  ) -> BadInput {
    BadInput(
      name: name, source: source, bytes: GNSSProtocolsTests.bytes(hex: digits), messages: messages,
      counters: counters)
  }

  /// A sentence with this body and a valid checksum that yields this message.
  static func read(
    _ name: String, _ source: Source, _ body: String, _ message: GNSSMessage
  ) -> BadInput {
    BadInput(
      name: name, source: source, bytes: sentence(body), messages: [message],
      counters: counts(sentences: 1))
  }

  /// A sentence of a supported type with a valid checksum that is malformed.
  static func malformed(_ name: String, _ source: Source, _ body: String) -> BadInput {
    BadInput(
      name: name, source: source, bytes: sentence(body), messages: [.malformed],
      counters: counts(sentences: 1, malformed: 1))
  }

  /// A sentence of an unsupported type with a valid checksum.
  static func unread(_ name: String, _ source: Source, _ body: String) -> BadInput {
    BadInput(
      name: name, source: source, bytes: sentence(body), messages: [.unknown(named(body))],
      counters: counts(sentences: 1, unknown: 1))
  }

  /// A NAV-PVT with a valid checksum and a payload of zeros.
  static func navPVT(_ length: Int, _ source: Source) -> BadInput {
    BadInput(
      name: "NAV-PVT of \(length) bytes", source: source,
      bytes: ubx(0x01, 0x07, [UInt8](repeating: 0, count: length)), messages: [.malformed],
      counters: counts(frames: 1, malformed: 1))
  }

  private static func unescaped(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var remaining = Array(text.utf8)[...]
    while let byte = remaining.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      switch remaining.popFirst() {
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
      case UInt8(ascii: "x"):
        let digits = String(decoding: remaining.prefix(2), as: UTF8.self)
        guard let value = UInt8(digits, radix: 16) else { preconditionFailure(text) }
        bytes.append(value)
        remaining = remaining.dropFirst(2)
      case _: preconditionFailure("no such escape in \(text)")
      }
    }
    return bytes
  }
}

/// The name of a sentence with this body; a body without fields has no address.
func named(_ body: String) -> MessageName {
  let address = body.contains(",") ? body.prefix { $0 != "," } : ""
  return .sentence(address.utf8.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
}

/// Counters with these values; the others are zero.
func counts(
  sentences: UInt32 = 0, frames: UInt32 = 0, checksumErrors: UInt32 = 0, malformed: UInt32 = 0,
  unknown: UInt32 = 0, brokenOff: UInt32 = 0, overlong: UInt32 = 0, skipped: UInt64 = 0
) -> DecoderCounters {
  var counters = DecoderCounters()
  counters.sentences = sentences
  counters.frames = frames
  counters.checksumErrors = checksumErrors
  counters.malformed = malformed
  counters.unknown = unknown
  counters.truncated = brokenOff
  counters.overlong = overlong
  counters.skippedBytes = skipped
  return counters
}

@Suite("Bad input") struct BadInputTests {
  @Test("each gives the expected messages and counters, in any chunks", arguments: BadInput.all)
  func table(input: BadInput) {
    for size in [0, 1, 2, 3, 7, 64] {
      let decoded = decode(input.bytes, chunk: size)
      #expect(decoded.messages == input.messages, "chunks of \(size)")
      #expect(decoded.counters == input.counters, "chunks of \(size)")
    }
  }

  @Test("the valid message after each input is decoded", arguments: BadInput.all)
  func recovers(input: BadInput) {
    let frame = ubx(0x05, 0x01, [0x06, 0x8A])
    let line = sentence("GPVTG,,T,,M,0.0,N,0.0,K,A")
    var vtg = VTG(talker: .gps)
    vtg.speed_mmps = 0
    vtg.mode = .autonomous
    let good: [GNSSMessage] = [.vtg(vtg), .acknowledged(.cfgVALSET)]
    #expect(decode(input.bytes + line + frame).messages == input.messages + good)
    #expect(decode(line + frame + input.bytes).messages == good + input.messages)
  }

  @Test("each case has a unique name")
  func names() {
    let names = BadInput.all.map(\.testDescription)
    #expect(Set(names).count == names.count)
  }
}
