import GNSSProtocols
import LocationTypes
import TestSupport
import Testing

@testable import UplinkPayload

@Suite("Messages of the uplink")
struct PayloadTests {
  @Test("a message decodes to itself", arguments: SampleMessages.all.indices)
  func samples(index: Int) throws {
    let message = SampleMessages.all[index]
    let bytes = try message.encoded()
    #expect(try UplinkMessage(decoding: bytes) == message)
  }

  @Test("any values of a fix are exact")
  func random() throws {
    var random = SplitMix64(seed: 1)
    for count in 1...300 {
      let message = SampleMessages.message(SampleMessages.extremes(count, &random))
      #expect(try UplinkMessage(decoding: message.encoded()) == message)
    }
  }

  @Test("a message that was cut anywhere is rejected", arguments: SampleMessages.all.indices)
  func cuts(index: Int) throws {
    let bytes = try SampleMessages.all[index].encoded()
    for count in 0..<bytes.count {
      #expect(throws: UplinkDecodingError.self) {
        try UplinkMessage(decoding: Array(bytes[..<count]))
      }
    }
    #expect(throws: UplinkDecodingError.wrongLength) { try UplinkMessage(decoding: bytes + [0]) }
  }

  @Test("a message with a changed bit is rejected", arguments: SampleMessages.all.indices)
  func flips(index: Int) throws {
    let bytes = try SampleMessages.all[index].encoded()
    for bit in 0..<8 * bytes.count {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: UplinkDecodingError.self) { try UplinkMessage(decoding: changed) }
    }
  }

  @Test("a message with a correct checksum and any other content is rejected or decodes to itself")
  func forged() throws {
    var random = SplitMix64(seed: 3)
    var decoded = 0
    for message in SampleMessages.all {
      let bytes = try message.encoded()
      for _ in 0..<300 {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let i = Int.random(in: 12..<bytes.count - 4, using: &random)
          changed[i] = UInt8(truncatingIfNeeded: random.next())
        }
        changed.replaceSubrange(
          (bytes.count - 4)..., with: checksum(of: changed[..<(bytes.count - 4)]))
        guard let other = try? UplinkMessage(decoding: changed) else { continue }
        decoded += 1
        #expect(try UplinkMessage(decoding: other.encoded()) == other)
      }
    }
    #expect(decoded > 100)
  }

  private func checksum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
    let value = MessageChecksum.value(of: bytes)
    return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  @Test("the checksum is CRC-32")
  func checksumOfDigits() {
    #expect(MessageChecksum.value(of: Array("123456789".utf8)[...]) == 0xCBF4_3926)
  }

  @Test("3,600 fixes with the resolution of UBX need at most 11 bytes each")
  func rideSize() throws {
    var random = SplitMix64(seed: 2)
    let bytes = try SampleMessages.message(SampleMessages.ride(3_600, &random)).encoded()
    #expect(bytes.count <= 11 * 3_600)
  }

  @Test(
    "3,600 recorded fixes need at most 10 bytes each",
    .enabled(if: RecordedData.isPresent, RecordedData.missing),
    arguments: [
      ("car_nevada_garmin_2005-09-25_3h", 3_600), ("boat_amsterdam_gps_20min", 1_202),
      ("sailing_gulf_of_finland_1h", 1_891),
    ])
  func recordedSize(name: String, count: Int) throws {
    let folder = try #require(RecordedData.folder)
    let fixes = recordedFixes("\(folder)/nmea/\(name).nmea").prefix(3_600)
    #expect(fixes.count == count)
    let message = SampleMessages.message(Array(fixes))
    let bytes = try message.encoded()
    #expect(bytes.count <= 10 * fixes.count, "\(name): \(bytes.count)")
    #expect(try UplinkMessage(decoding: bytes) == message)
  }

  /// The fixes of a recording; their boot time is that of UTC, with a constant difference.
  private func recordedFixes(_ path: String) -> [StoredFix] {
    let bytes = readFile(path)
    var decoder = GNSSDecoder()
    var assembler = EpochAssembler(EpochOptions())
    var fixes: [StoredFix] = []
    func add(_ epoch: Epoch?) {
      guard var fix = epoch?.fix else { return }
      if let utc = fix.utc { fix.acquired = Instant(microseconds: utc.microseconds - 1 << 50) }
      fixes.append(
        StoredFix(name: FixName(generation: 1, sequence: UInt64(fixes.count)), fix: fix))
    }
    var offset = 0
    while let message = decoder.next(bytes.span, &offset) {
      add(assembler.add(message, at: .boot))
      while let epoch = assembler.next() { add(epoch) }
    }
    while assembler.isOpen { add(assembler.close()) }
    return fixes
  }

  @Test("fixes that do not fit in one message are refused with the reason")
  func refused() {
    var random = SplitMix64(seed: 4)
    var fixes = SampleMessages.ride(UplinkLimits.fixes + 1, &random)
    func error(_ fixes: [StoredFix]) -> UplinkEncodingError? {
      do throws(UplinkEncodingError) {
        _ = try SampleMessages.message(fixes).encoded()
        return nil
      } catch { return error }
    }
    #expect(error([]) == .isEmpty)
    #expect(error(fixes) == .isTooLong(limit: UplinkLimits.fixes))
    fixes = Array(fixes.prefix(3))
    fixes[2].name.sequence = fixes[1].name.sequence
    #expect(error(fixes) == .hasWrongSequence(at: 2))
    fixes[1].name.generation += 1
    #expect(error(fixes) == .hasOtherGeneration(at: 1))
    fixes[0].name.sequence = FixName.sequenceLimit
    #expect(error([fixes[0]]) == .hasWrongSequence(at: 0))
    #expect("\(UplinkEncodingError.isTooLong(limit: 5))".contains("send several messages"))
  }

  @Test("the longest message of fixes with random values is within the limit")
  func longest() throws {
    var random = SplitMix64(seed: 5)
    var fixes = SampleMessages.extremes(UplinkLimits.fixes, &random)
    for i in fixes.indices { fixes[i].name.sequence = UInt64(i) * 200_000_000 }
    let bytes = try SampleMessages.message(fixes).encoded()
    #expect(bytes.count < UplinkLimits.message)
  }

  @Test(
    "a device's name has letters, digits, _ and -, at most 64",
    arguments: [
      ("", false), ("a", true), ("A_z-09", true), ("a.b", false), ("a b", false), ("a/b", false),
      ("ü", false), ("+", false), ("#", false), (String(repeating: "a", count: 64), true),
      (String(repeating: "a", count: 65), false),
    ])
  func names(name: String, isValid: Bool) {
    #expect((DeviceName(name) != nil) == isValid)
    if isValid { #expect(DeviceName(name)?.description == name) }
  }
}
