import TestSupport
import Testing

@testable import LocationWire

@Suite("Frames") struct FrameTests {
  /// The splitter's frames for these chunks; nil for an oversized frame.
  static func split(_ chunks: [[UInt8]], limit: Int) -> [[UInt8]?] {
    var splitter = FrameSplitter(limit: limit)
    var all: [[UInt8]?] = []
    for chunk in chunks {
      var index = 0
      reading: while true {
        switch splitter.next(in: chunk.span, at: &index) {
        case .needsMore: break reading
        case .frame: all.append(splitter.frame)
        case .oversize: all.append(nil)
        }
      }
      #expect(index == chunk.count)
    }
    return all
  }

  @Test("a frame ends with its NUL at any chunk boundary") func cuts() {
    let bytes: [UInt8] = [1, 2, 0, 0, 3, 0, 4]
    for cut in 0...bytes.count {
      #expect(
        Self.split([Array(bytes[..<cut]), Array(bytes[cut...])], limit: 9) == [[1, 2], [], [3]])
    }
  }

  @Test("a frame may be as long as the limit; an oversized one is reported once") func bound() {
    #expect(Self.split([[1, 2, 3, 0]], limit: 3) == [[1, 2, 3]])
    #expect(Self.split([[1, 2, 3, 4, 0, 1, 0], [1, 0]], limit: 3) == [nil])
    #expect(Self.split([[9, 0, 1, 2], [3, 4], [0, 1, 0]], limit: 3) == [[9], nil])
  }

  @Test("an incomplete frame is detected") func incomplete() {
    var splitter = FrameSplitter(limit: 4)
    var index = 0
    #expect(!splitter.isInFrame)
    _ = splitter.next(in: [UInt8(7)].span, at: &index)
    #expect(splitter.isInFrame)
    index = 0
    #expect(splitter.next(in: [UInt8(0)].span, at: &index) == .frame)
    #expect(!splitter.isInFrame)
  }
}

@Suite("Properties of arbitrary bytes on the socket") struct AnyBytesTests {
  /// All calls and replies, each with its NUL.
  private static let seeds: [[UInt8]] =
    Samples.calls.map { CallTests.frame($0) + [0] }
    + Samples.replies.map { ReplyTests.frame($0.1) + [0] }

  /// Bytes with one to four random mutations.
  private static func mutated(_ seed: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var bytes = seed
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let i = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[i] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes[i] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes.remove(at: i)
      case 3: bytes.insert(Array("{}[]\",:\\-0eu".utf8).randomElement(using: &random) ?? 0, at: i)
      case _: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: i)
      }
    }
    return bytes
  }

  /// No trap; a decoded call or reply is the same after encoding and decoding again.
  private static func check(_ frame: [UInt8]) {
    if let read = try? CallDecoder.decode(frame) {
      let again = try? CallDecoder.decode(CallTests.frame(read.call))
      #expect(again?.call == read.call, "\(text(frame))")
    }
    for call in [
      WireCall.watch(session: 1), .getStatus, .getEnergy, .listClients, .connect(name: "a"),
    ] {
      guard let read = try? ReplyDecoder.decode(frame, to: call) else { continue }
      if case .error(.other) = read.reply { continue }
      let again = try? ReplyDecoder.decode(ReplyTests.frame(read.reply), to: call)
      #expect(again?.reply == read.reply, "\(text(frame))")
    }
    _ = FixRecord.decode(frame.span)
    _ = FixRecordHeader(frame.span)
  }

  @Test("any bytes decode without a trap, and survive encoding and decoding again")
  func mutations() {
    var random = SplitMix64(seed: 1)
    for seed in Self.seeds {
      for _ in 0..<25 { Self.check(Self.mutated(Array(seed.dropLast()), &random)) }
    }
    for length in 0..<200 {
      Self.check((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
  }

  @Test("chunk boundaries do not change the frames")
  func chunking() {
    var random = SplitMix64(seed: 2)
    for _ in 0..<60 {
      let bytes = (0..<8).flatMap { _ in
        Self.mutated(Self.seeds.randomElement(using: &random) ?? [], &random)
      }
      var chunks: [[UInt8]] = []
      var remaining = bytes[...]
      while !remaining.isEmpty {
        let count = Int.random(in: 1...(Bool.random(using: &random) ? 5 : 300), using: &random)
        chunks.append(Array(remaining.prefix(count)))
        remaining = remaining.dropFirst(count)
      }
      let limit = Int.random(in: 1...2_000, using: &random)
      #expect(FrameTests.split(chunks, limit: limit) == FrameTests.split([bytes], limit: limit))
    }
  }
}
