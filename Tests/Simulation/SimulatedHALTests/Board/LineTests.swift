import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Bytes on the line") struct LineTests {
  private func sent(_ count: Int, at start: Double, speed: UInt32 = 9_600) -> ReceiverLine {
    var line = ReceiverLine()
    line.send([UInt8](repeating: 7, count: count).span, at: seconds(start), speed: speed)
    return line
  }

  @Test("byte k arrives (k + 1) · 10 / baud after the start of the burst")
  func byteTimes() {
    var line = sent(100, at: 1)
    for k in 0..<100 {
      let arrival = 1_000_000 + (Int64(k + 1) * 10_000_000 + 9_599) / 9_600
      #expect(line.firstArrival.map { abs($0.microseconds - arrival) <= 1 } == true)
      let due = line.firstArrival ?? .boot
      #expect(line.read(at: due - Interval(microseconds: 1), speed: 9_600).count == 0)
      #expect(line.read(at: due, speed: 9_600).count == 1)
    }
    #expect(line.firstArrival == nil)
  }

  @Test("a burst waits until the line is free")
  func queue() {
    var line = sent(96, at: 1)
    line.send([1, 2, 3].span, at: seconds(1.05), speed: 9_600)
    #expect(line.sendingEnd == seconds(1.103125))
    #expect(line.read(at: seconds(1.1), speed: 9_600).count == 96)
    #expect(line.read(at: seconds(1.2), speed: 9_600).count == 3)
  }

  @Test("chunks hold at most 256 bytes and continue across bursts, in order")
  func chunks() {
    var line = ReceiverLine()
    var value: UInt8 = 0
    for count in [200, 200, 200] {
      let bytes = (0..<count).map { _ -> UInt8 in
        value &+= 1
        return value
      }
      line.send(bytes.span, at: .boot, speed: 115_200)
    }
    var read: [UInt8] = []
    var sizes: [Int] = []
    while true {
      let chunk = line.read(at: seconds(1), speed: 115_200)
      if chunk.count == 0 { break }
      sizes.append(chunk.count)
      for i in 0..<chunk.count { read.append(chunk[i]) }
    }
    #expect(sizes == [256, 256, 88])
    #expect(read == (1...600).map { UInt8(truncatingIfNeeded: $0) })
  }

  @Test("a chunk accepts single bytes and spans, up to its capacity")
  func chunkBytes() {
    let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
    var chunk = ByteChunk(bytes.span)
    #expect(chunk.count == ByteChunk.capacity && chunk.isFull)
    chunk = ByteChunk(bytes.span.extracting(first: 3))
    chunk.append(200)
    chunk.append(bytes.span.extracting(10..<10))
    chunk.append(bytes.span.extracting(10..<262))
    #expect(chunk.isFull)
    #expect((0..<chunk.count).map { chunk[$0] } == [0, 1, 2, 200] + Array(bytes[10..<262]))
  }

  @Test("arrived bytes can be discarded up to a time; the others remain")
  func discarding() {
    var line = sent(96, at: 1)
    line.discardArrived(by: seconds(1.05))
    #expect(line.lostBytes == 48)
    #expect(line.read(at: seconds(2), speed: 9_600).count == 48)
  }

  @Test("truncation keeps bytes that have arrived")
  func truncation() {
    var line = sent(96, at: 1)
    line.send([UInt8](repeating: 8, count: 96).span, at: .boot, speed: 9_600)
    #expect(line.read(at: seconds(1.01), speed: 9_600).count == 9)
    line.truncate(at: seconds(1.05))
    #expect(line.sendingEnd == seconds(1.05))
    #expect(line.read(at: seconds(2), speed: 9_600).count == 39)
    #expect(line.firstArrival == nil)
  }

  @Test("bytes sent at another speed are corrupted")
  func speeds() {
    var line = sent(10, at: 0)
    let chunk = line.read(at: seconds(1), speed: 38_400)
    #expect(chunk.count == 10)
    for i in 0..<10 { #expect(chunk[i] != 7) }
  }

  @Test("a long stream that is never read to its end stays correct")
  func compaction() {
    var line = ReceiverLine()
    var value: UInt8 = 0
    var expected: UInt8 = 0
    for i in 0..<5_000 {
      value = UInt8(truncatingIfNeeded: 2 * i)
      line.send([value, value &+ 1].span, at: .boot, speed: 10_000_000)
      if i == 0 { continue }
      let time = Instant(microseconds: Int64(2 * i))
      let chunk = line.read(at: time, speed: 10_000_000)
      for k in 0..<chunk.count {
        #expect(chunk[k] == expected)
        expected &+= 1
      }
    }
    #expect(expected != 0)
  }

  @Test("a NAV-PVT epoch arrives byte by byte after its latency, and each byte wakes")
  func epochTiming() {
    var board = SimulatedBoard(streaming(), track: straight())
    var times: [Int64] = []
    while board.now < seconds(10) {
      if board.wait(in: .idle, until: seconds(10)).reason == .bytes {
        times.append(board.now.microseconds)
        #expect((try? board.read().count) == 1)
      }
    }
    // A byte takes 260.42 µs at 38,400 baud; the receiver runs from 0.25 s on.
    var expected: [Int64] = []
    for second: Int64 in 1...9 {
      for byte: Int64 in 1...100 {
        expected.append(second * 1_000_000 + 50_000 + (byte * 26_042 + 99) / 100)
      }
    }
    #expect(times == expected)
    #expect(board.ledger.hostWakes(for: .bytes) == 900)
  }

  @Test("a UART FIFO wakes at its trigger level, and for the rest of a message")
  func pieces() {
    var board = SimulatedBoard(streaming { $0.board.fifoTriggerLevel = 16 }, track: straight())
    var sizes: [Int] = []
    while board.now < seconds(3) {
      if board.wait(in: .idle, until: seconds(3)).reason == .bytes {
        sizes.append((try? board.read().count) ?? 0)
      }
    }
    #expect(sizes == [16, 16, 16, 16, 16, 16, 4, 16, 16, 16, 16, 16, 16, 4])
  }

  @Test("with delayed reads, each epoch takes two wakes and is complete within 50 ms")
  func delayedReads() {
    var board = SimulatedBoard(
      streaming {
        $0.board.fifoTriggerLevel = 16
        $0.board.delaysReads = true
      }, track: straight())
    var epochs = 0
    while board.now < seconds(20.5) {
      guard board.wait(in: .idle, until: seconds(20.5)).reason == .bytes else { continue }
      epochs += 1
      #expect((try? board.read().count) == 100)
      // 100 bytes at 38,400 baud take 26 ms; the first byte is sent 50 ms after the epoch.
      let late = board.now - seconds(Double(epochs) + 0.076_042)
      #expect(late >= .zero && late <= .milliseconds(50), "epoch \(epochs): \(late.seconds) s")
    }
    #expect(epochs == 20)
    #expect(board.ledger.hostWakes(for: .bytes) == 20)
    #expect(board.ledger.hostWakes == 41)
  }

  @Test("with delayed reads, replies to a write are delivered immediately")
  func immediateReplies() {
    var board = SimulatedBoard(m10 { $0.board.delaysReads = true }, track: straight())
    _ = board.wait(in: .idle, until: seconds(0.5), wakesOnInput: false)
    while (try? board.read().count) ?? 0 > 0 {}
    board.configureUBX()
    #expect(board.wait(in: .idle, until: seconds(0.9)).reason == .bytes)
    #expect((try? board.read().count) == 1)
  }

  @Test("bytes that arrive during a suspend or a resume are lost")
  func suspended() {
    var board = SimulatedBoard(
      streaming { $0.board.suspended?.resumeTime = .milliseconds(60) }, track: straight())
    #expect(board.wait(in: .suspended, until: seconds(10)).reason == .alarm)
    #expect(board.now == seconds(10.06))
    #expect((try? board.read().count) == 0)
    // The resume ends in the middle of the epoch of 10 s.
    #expect(board.wait(in: .idle, until: seconds(10.5)).reason == .bytes)
    let received = receive(&board, until: seconds(12.5))
    #expect(received.bytes.count == 200 + 62)
    #expect(received.solutions.count == 2)
    #expect(board.lostBytes == 9 * 100 + 38)
  }

  @Test("a byte wakes from suspend if it is a wake source, and the first bytes are lost")
  func wakesByByte() {
    var board = SimulatedBoard(
      streaming {
        $0.board.suspended = BoardSleepState(
          power_mw: 20, resumeTime: .milliseconds(10), wakeSources: [.alarm, .bytes])
      }, track: straight())
    #expect(board.wait(in: .suspended, until: seconds(100)).reason == .bytes)
    #expect(board.now.microseconds == 1_050_000 + 261 + 10_000)
    _ = board.wait(in: .idle, until: seconds(1.5), wakesOnInput: false)
    #expect((try? board.read().count) == 61)
  }

  @Test("a deep sleep is not entered with unread bytes")
  func unread() {
    var board = SimulatedBoard(streaming(), track: straight())
    _ = board.wait(in: .idle, until: seconds(1.06), wakesOnInput: false)
    #expect(board.wait(in: .suspended, until: seconds(100)).reason == .bytes)
    #expect(board.now == seconds(1.06))
  }

  @Test("the host's bytes are sent at the line speed, and a full queue accepts none")
  func output() throws {
    var board = SimulatedBoard(m10(), track: straight())
    let block = [UInt8](repeating: 0x55, count: 2_000)
    try board.write(block.span)
    try board.write(block.span)
    #expect(throws: LineFault.full) { try board.write(block.span) }
    _ = board.wait(in: .idle, until: seconds(0.6))
    try board.write(block.span)
  }
}

@Suite("Waits with buffered input") struct BufferedInputTests {
  @Test("with `wakesOnInput` false, bytes do not end the wait and can be read later")
  func buffered() {
    var board = SimulatedBoard(streaming(), track: straight())
    #expect(board.wait(in: .idle, until: seconds(5.5), wakesOnInput: false).reason == .alarm)
    #expect(board.now == seconds(5.5))
    #expect(board.ledger.hostWakes == 1)
    #expect(board.wait(in: .idle, until: seconds(5.5), wakesOnInput: false).reason == .alarm)
    #expect(receive(&board, until: seconds(5.6)).solutions.count == 5)
  }

  @Test("with `wakesOnInput`, the first byte ends the wait")
  func firstByte() {
    var board = SimulatedBoard(streaming(), track: straight())
    #expect(board.wait(in: .idle, until: seconds(5)).reason == .bytes)
    #expect(board.now.microseconds == 1_050_000 + 261)
  }

  @Test("4,096 bytes are buffered and further bytes are lost until the buffer is read")
  func overflow() {
    var board = SimulatedBoard(streaming(), track: straight())
    _ = board.wait(in: .idle, until: seconds(60.06), wakesOnInput: false)
    // 59 complete epochs have arrived, and 38 bytes of the one at 60 s.
    #expect(board.lostBytes == 59 * 100 + 38 - 4_096)
    let received = receive(&board, until: seconds(62.5))
    #expect(received.bytes.count == 4_096 + 62 + 200)
    #expect(received.solutions.count == 42)
  }

  @Test("with `wakesOnInput` false, a byte does not wake a suspended board")
  func suspended() {
    var board = SimulatedBoard(
      streaming { $0.board.suspended?.wakeSources = .all }, track: straight())
    #expect(board.wait(in: .suspended, until: seconds(20), wakesOnInput: false).reason == .alarm)
    #expect(board.now == seconds(20.3))
  }
}

extension ReceiverLine {
  /// Up to 256 bytes that have arrived by `now`.
  fileprivate mutating func read(at now: Instant, speed: UInt32) -> ByteChunk {
    var chunk = ByteChunk()
    read(into: &chunk, at: now, speed: speed)
    return chunk
  }
}
