import GNSSProtocols
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine

/// Buffered input is read in chunks that begin and end anywhere in a message.
@Suite("Chunks of buffered input") struct ChunkingTests {
  /// The receiver's output.
  struct Line: Sendable, CustomStringConvertible {
    var sendsNMEA = false
    var hasUTC = true

    var description: String { "NMEA \(sendsNMEA), UTC \(hasUTC)" }
  }

  static let lines = [Line(), Line(hasUTC: false), Line(sendsNMEA: true)]
  /// Number of buffered epochs; the later half has a fix.
  static let count = 20

  /// The times of the fixes of buffered input that is read in chunks of `size` bytes; the clock
  /// advances by `pause` after each chunk.
  private func times(_ line: Line, pause: Interval = .zero, _ size: () -> Int) -> [Instant] {
    let bench = EngineBench(connects: false) {
      $0.parameters.inputBufferTime = .seconds(40)
      $0.parameters.canStandby = true
    }
    bench.hasUTC = line.hasUTC
    bench.client.connect(in: .background)
    bench.client.start()
    // Once a message was received, an acquisition in the background is not read: the first fixes
    // are buffered.
    bench.run(1)
    bench.noFix()
    #expect(!bench.plan.wakesOnInput)
    var bytes: [UInt8] = []
    for i in 0..<ChunkingTests.count {
      bench.sendAt(bench.now + .seconds(1), [])
      let hasFix = i >= ChunkingTests.count / 2
      bench.sendsNMEA = line.sendsNMEA && hasFix
      bytes += bench.bytes(hasFix: hasFix)
    }
    while !bytes.isEmpty {
      let part = Array(bytes.prefix(size()))
      bench.sendAt(bench.now, part)
      bytes.removeFirst(part.count)
      bench.sendAt(bench.now + pause, [])
    }
    bench.run(5)
    #expect(bench.client.fixes.count == ChunkingTests.count / 2)
    return bench.client.fixes.map(\.fix.acquired)
  }

  @Test("STD-7: the time of a fix does not depend on how buffered input is split", arguments: lines)
  func splits(_ line: Line) {
    let whole = times(line) { ByteChunk.capacity }
    for (before, after) in zip(whole, whole.dropFirst()) {
      #expect(after - before == .seconds(1), "one each interval")
    }
    for size in [1, 7, 50, 100, 127] { #expect(times(line) { size } == whole, "\(size)") }
    for seed in 0..<30 {
      var random = SplitMix64(seed: UInt64(seed + 1))
      let split = times(line) { 1 + random.below(ByteChunk.capacity) }
      #expect(split == whole, "seed \(seed)")
    }
  }

  @Test(
    "STD-7: the time of a fix does not depend on the time needed to read full chunks",
    arguments: lines)
  func slowReading(_ line: Line) {
    let whole = times(line) { ByteChunk.capacity }
    let slow = times(line, pause: Interval(microseconds: 200)) { ByteChunk.capacity }
    #expect(slow == whole)
  }
}
