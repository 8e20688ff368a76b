import LocationTypes
import Testing
import TextFormats

@testable import LocationWire

@Suite("Reading records of an upgraded connection") struct RecordReaderTests {
  private let fixes = [Samples.full, Samples.longest, Samples.fix(43)]

  private func stream() -> [UInt8] {
    var output = JSONOutput()
    FixRecordHeader(count: 3).append(to: &output)
    for fix in fixes { FixRecord.append(fix, to: &output) }
    return output.bytes
  }

  @Test("chunks of any size give the same fixes and a complete end")
  func pieces() throws {
    for size in [1, 7, 31, 32, 80, 112, 1_000] {
      var reader = FixRecordReader(announced: 3)
      var received: [StoredFix] = []
      let bytes = stream()
      for start in stride(from: 0, to: bytes.count, by: size) {
        reader.add(bytes[start..<min(start + size, bytes.count)])
        while let fix = try reader.next() { received.append(fix) }
      }
      try reader.finish()
      #expect(received == fixes, "\(size)")
    }
  }

  @Test("a truncated stream fails with the number of fixes received")
  func cut() throws {
    var reader = FixRecordReader(announced: 3)
    reader.add(stream().dropLast(81))
    while try reader.next() != nil {}
    #expect(throws: FixRecordError.truncated(after: 1, of: 3)) { try reader.finish() }
    #expect(throws: FixRecordError.truncated(after: 0, of: 2)) {
      try FixRecordReader(announced: 2).finish()
    }
  }

  @Test("an invalid header, another count and an invalid record are refused")
  func wrong() {
    var other = stream()
    other[0] = 0
    for (bytes, announced) in [(other, UInt64(3)), (stream(), 4)] {
      var reader = FixRecordReader(announced: announced)
      reader.add(bytes)
      #expect(throws: FixRecordError.header) { _ = try reader.next() }
    }
    var broken = stream()
    broken[32 + 80 + 12] = 9
    var reader = FixRecordReader(announced: 3)
    reader.add(broken)
    #expect(throws: FixRecordError.record(1)) { while try reader.next() != nil {} }
  }
}
