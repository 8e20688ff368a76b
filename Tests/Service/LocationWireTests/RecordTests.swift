import LocationTypes
import Testing
import TextFormats

@testable import LocationWire

@Suite("Records of an upgraded connection") struct RecordTests {
  static func record(_ fix: StoredFix) -> [UInt8] {
    var output = JSONOutput()
    FixRecord.append(fix, to: &output)
    return output.bytes
  }

  static func decode(_ bytes: [UInt8]) -> StoredFix? { FixRecord.decode(bytes.span) }
  static func header(_ bytes: [UInt8]) -> FixRecordHeader? { FixRecordHeader(bytes.span) }

  @Test("a record survives encoding and decoding")
  func roundTrip() {
    for fix in [Samples.full, Samples.longest, Samples.fix(0)] {
      let bytes = Self.record(fix)
      #expect(bytes.count == FixRecord.size)
      #expect(Self.decode(bytes) == fix)
    }
  }

  @Test("the layout is the one in Docs/Reference/socket.md")
  func layout() {
    let bytes = Self.record(Samples.full)
    func number<N: FixedWidthInteger>(_ offset: Int, _: N.Type) -> N {
      var value: N = 0
      for i in 0..<N.bitWidth / 8 { value |= N(truncatingIfNeeded: bytes[offset + i]) << N(8 * i) }
      return value
    }
    #expect(number(0, UInt64.self) == 41)
    #expect(number(8, UInt32.self) == 7)
    #expect(Array(bytes[12..<16]) == [3, 2, 0, 17])
    #expect(number(16, Int64.self) == 123_456_789_012)
    #expect(number(24, Int64.self) == 1_767_225_600_250_000)
    #expect(number(32, Int64.self) == 52_516_274_500)
    #expect(number(40, Int64.self) == -13_377_704_101)
    #expect(number(48, Int32.self) == -1_500)
    #expect(number(52, Int32.self) == 77_123)
    #expect(number(56, Int32.self) == 13_890)
    #expect(number(60, Int32.self) == 3_141_592)
    #expect(number(64, Int32.self) == 2_500)
    #expect(number(68, Int32.self) == 0)
    #expect(number(72, Int32.self) == 400)
    #expect(number(76, Int32.self) == 1_250)
    let bare = Self.record(Samples.fix(1))
    #expect(Array(bare[24..<32]) == [0, 0, 0, 0, 0, 0, 0, 0x80])
    #expect(Array(bare[12..<16]) == [3, 0, 0, 0xFF])
    #expect(Array(bare[76..<80]) == [0, 0, 0, 0x80])
  }

  @Test("a header contains version, sizes and count")
  func headers() {
    var json = JSONOutput()
    FixRecordHeader(count: 258).append(to: &json)
    let expected =
      Array("TORPFIXS".utf8) + [1, 0, 32, 0, 80, 0, 0, 0, 2, 1] + [UInt8](repeating: 0, count: 14)
    #expect(json.bytes == expected)
    #expect(Self.header(json.bytes) == FixRecordHeader(count: 258))
    for i in 0..<16 {
      var mutated = json.bytes
      mutated[i] ^= 1
      #expect(Self.header(mutated) == nil)
    }
    #expect(Self.header(Array(json.bytes.dropLast())) == nil)
  }

  @Test("invalid records are refused")
  func wrong() {
    let bytes = Self.record(Samples.full)
    #expect(Self.decode(Array(bytes.dropLast())) == nil)
    for (offset, value) in [(12, UInt8(1)), (13, 10), (37, 1), (45, 1)] {
      var mutated = bytes
      mutated[offset] = value
      #expect(Self.decode(mutated) == nil)
    }
  }
}
