import LocationTypes
import Testing

@testable import GNSSProtocols

/// A live receiver on a line: sentences enter and epochs come out, each with its time.
private struct Live {
  /// An epoch and the time at which it was emitted, since the start of its cycle.
  struct Emission: Equatable {
    var second: Int
    var after_ms: Int64
  }

  var assembler: EpochAssembler
  var emitted: [Emission] = []
  var fixes: [Fix] = []
  private var cycle = 0
  private var lastByte = Instant.boot
  private var isFlowing = false

  init() {
    var options = EpochOptions()
    options.detectsEpochEnd = true
    assembler = EpochAssembler(options)
  }

  private func start(of second: Int) -> Instant { Instant(seconds: Double(10 + second)) }

  private mutating func take(_ epoch: Epoch?, at now: Instant) {
    guard let epoch else { return }
    emitted.append(Emission(second: cycle, after_ms: (now - start(of: cycle)).microseconds / 1_000))
    if let fix = epoch.fix { fixes.append(fix) }
  }

  /// Keeps the line silent until `now`, as the engine does.
  private mutating func wait(until now: Instant) {
    if isFlowing { lastByte = now }
    while assembler.isOpen, now - lastByte >= assembler.silenceTimeout {
      take(assembler.close(), at: lastByte + assembler.silenceTimeout)
    }
  }

  /// Sentences of one second, each a delay after the previous one; `nil` as text means no input.
  mutating func second(_ lines: [(text: String?, gap_ms: Int64)]) {
    var now = start(of: cycle)
    wait(until: now)
    for line in lines {
      now = now + .milliseconds(line.gap_ms)
      wait(until: now)
      guard let text = line.text else { continue }
      assembler.noteInput(at: isFlowing ? .boot : now)
      lastByte = now
      for message in decode(sentence(text)).messages {
        take(assembler.add(message, at: now), at: now)
        while let epoch = assembler.next() { take(epoch, at: now) }
      }
    }
    wait(until: start(of: cycle + 1))
    cycle += 1
  }

  /// The same with equal delays; `flowing` if bytes arrive continuously.
  mutating func second(_ lines: [String], every gap_ms: Int64 = 10, flowing: Bool = false) {
    if flowing { isFlowing = true }
    second(lines.map { ($0, gap_ms) })
  }
}

private func rmc(_ second: Int) -> String {
  "GPRMC,1200\(second < 10 ? "0" : "")\(second),A,4800.0,N,01100.0,E,1.0,90.0,010626,,,A"
}
private func gga(_ second: Int) -> String {
  "GPGGA,1200\(second < 10 ? "0" : "")\(second),4800.0,N,01100.0,E,1,08,1.0,500.0,M,47.0,M,,"
}
private let gsa = "GPGSA,A,3,01,02,03,,,,,,,,,,2.0,1.2,1.6"
private let vtg = "GPVTG,90.0,T,,M,1.0,N,1.9,K,A"
private func gsv(_ number: Int, of count: Int, talker: String = "GP") -> String {
  "\(talker)GSV,\(count),\(number),11,01,10,100,30,02,20,110,31,03,30,120,32,04,40,130,33"
}

@Suite("Detected end of an epoch") struct EpochEndTests {
  @Test("after two epochs, the third is emitted with its last sentence")
  func detected() {
    var live = Live()
    for second in 0..<5 { live.second([rmc(second), gga(second), gsa, vtg]) }
    // The first two wait for 100 ms of silence.
    #expect(live.emitted.map(\.after_ms) == [140, 140, 40, 40, 40])
    #expect(live.emitted.map(\.second) == [0, 1, 2, 3, 4])
    #expect(!live.assembler.isOpen)
  }

  @Test("without a detected end, an epoch is emitted with the next one or at close")
  func undetected() {
    var assembler = EpochAssembler()
    for second in 0..<9 {
      assembler.noteInput(at: .boot + .seconds(Int64(second)))
      for line in [rmc(second), gga(second)] {
        let epoch = assembler.add(decode(sentence(line)).messages[0], at: .boot)
        #expect((epoch != nil) == (second > 0 && line == rmc(second)))
      }
    }
    #expect(assembler.silenceTimeout == .milliseconds(100))
  }

  @Test("an epoch of one sentence is emitted with it")
  func single() {
    var live = Live()
    for second in 0..<5 { live.second([rmc(second)]) }
    #expect(live.emitted.map(\.after_ms) == [110, 110, 10, 10, 10])
  }

  @Test(
    "of three sentences of one kind the last one ends the epoch; GSV is counted in whole groups")
  func turns() {
    var live = Live()
    for second in 0..<4 { live.second([rmc(second), gga(second), gsa, gsa, gsa]) }
    #expect(live.emitted.map(\.after_ms) == [150, 150, 50, 50])
    var views = Live()
    for second in 0..<6 {
      // The number of satellites changes, and with it the number of GSV sentences.
      let count = 1 + second % 3
      let groups =
        (1...count).map { gsv($0, of: count) } + [gsv(1, of: 1, talker: "GL")]
      views.second([rmc(second), gga(second)] + groups)
    }
    #expect(views.emitted.map(\.after_ms) == [140, 150, 60, 40, 50, 60])
  }

  @Test("a lost last sentence only delays that epoch until a silence")
  func lost() {
    var live = Live()
    for second in 0..<12 {
      live.second(
        second == 5 || second == 8 ? [rmc(second), gga(second)] : [rmc(second), gga(second), vtg])
    }
    #expect(live.emitted.map(\.second) == Array(0..<12))
    // By then a silence of 40 ms ends an epoch.
    for (second, emitted) in live.emitted.enumerated() where second >= 2 {
      let isLost = second == 5 || second == 8
      #expect(emitted.after_ms == (isLost ? (second < 8 ? 120 : 60) : 30), "second \(second)")
    }
  }

  @Test("a changed order of sentences is detected after four silences")
  func changed() {
    var live = Live()
    for second in 0..<5 { live.second([rmc(second), gga(second), vtg]) }
    for second in 5..<12 { live.second([rmc(second), vtg, gga(second)]) }
    #expect(live.emitted.count == 12)
    #expect(live.emitted.suffix(2).allSatisfy { $0.after_ms == 30 })
    #expect(live.fixes.suffix(2).allSatisfy { $0.altitude_mm == 500_000 && $0.speed_mmps != nil })
  }

  @Test("a sentence sent only every fifth second is not excluded permanently")
  func everyFifth() {
    var live = Live()
    for second in 0..<59 {
      live.second(
        second % 5 == 4
          ? [rmc(second), gga(second), gsv(1, of: 2), gsv(2, of: 2)] : [rmc(second), gga(second)])
    }
    #expect(live.emitted.map(\.second) == Array(0..<59))
    // At most 50 ms after the last byte, once the silences are measured.
    for emitted in live.emitted.dropFirst(8) {
      let end: Int64 = emitted.second % 5 == 4 ? 40 : 20
      #expect(emitted.after_ms <= end + 50, "second \(emitted.second)")
    }
    // All silences within epochs are short, and so is the timeout.
    #expect(live.assembler.silenceTimeout <= .milliseconds(45))
  }

  @Test("a silence inside the epoch is detected: at most one epoch is split")
  func pauseInside() {
    var live = Live()
    // 60 ms between the two halves, and the last sentence varies.
    for second in 0..<30 {
      live.second([
        (rmc(second), 10), (gga(second), 60), (second % 2 == 0 ? vtg : gsa, 10),
      ])
    }
    #expect(live.emitted.map(\.second) == Array(0..<30))
    #expect(live.fixes.allSatisfy { $0.altitude_mm == 500_000 })
    #expect(live.assembler.silenceTimeout == .milliseconds(120))
    // A longer silence splits only one epoch.
    var longer = Live()
    for second in 0..<30 {
      longer.second([
        (rmc(second), 10), (gga(second), 150), (second % 2 == 0 ? vtg : gsa, 10),
      ])
    }
    #expect(longer.emitted.map(\.second) == Array(0..<30))
    #expect(longer.fixes.count { $0.altitude_mm == nil } == 1)
    #expect(longer.assembler.silenceTimeout == .milliseconds(300))
  }

  @Test("the silence timeout stays between 40 ms and 400 ms")
  func bounds() {
    var quick = Live()
    for second in 0..<20 { quick.second([rmc(second), gga(second)], every: 1) }
    #expect(quick.assembler.silenceTimeout == .milliseconds(40))
    var slow = Live()
    for second in 0..<20 {
      slow.second([(rmc(second), 10), (gga(second), 350), (second % 2 == 0 ? vtg : gsa, 10)])
    }
    #expect(slow.assembler.silenceTimeout == .milliseconds(400))
    #expect(slow.emitted.map(\.second) == Array(0..<20))
  }

  @Test("on a slow line that is never silent, each epoch is emitted with its last sentence")
  func continuous() {
    var live = Live()
    for second in 0..<6 {
      live.second([rmc(second), gga(second), gsa, vtg], every: 240, flowing: true)
    }
    // The first two end with the first sentence of the next one.
    let late = [Live.Emission(second: 1, after_ms: 240), Live.Emission(second: 2, after_ms: 240)]
    #expect(live.emitted == late + (2..<6).map { Live.Emission(second: $0, after_ms: 960) })
  }

  @Test("a message that closes one epoch and is the last of another emits both, in order")
  func both() {
    var options = EpochOptions()
    options.detectsEpochEnd = true
    var assembler = EpochAssembler(options)
    func add(_ text: String) -> [Int64?] {
      var times: [Int64?] = []
      for message in decode(sentence(text)).messages {
        if let epoch = assembler.add(message, at: .boot) { times.append(epoch.timeOfDay_us) }
        while let epoch = assembler.next() { times.append(epoch.timeOfDay_us) }
      }
      return times.map { $0.map { $0 / 1_000_000 - 43_200 } }
    }
    #expect(add(rmc(0)) == [])
    #expect(add(rmc(1)) == [0])
    // Now the end is detected: the third message closes the second epoch and completes its own.
    #expect(add(rmc(2)) == [1, 2])
    #expect(add(rmc(3)) == [3])
  }

  @Test("untimed sentences later than the timeout extend it and open no epoch")
  func lateWithoutTime() {
    var live = Live()
    for second in 0..<40 {
      // Satellites arrive 130 ms after the other sentences, every second time.
      let last: (String?, Int64) = second % 2 == 0 ? (vtg, 130) : (gsa, 10)
      live.second([(rmc(second), 10), (gga(second), 10), last])
    }
    #expect(live.emitted.map(\.second) == Array(0..<40))
    #expect(live.assembler.silenceTimeout == .milliseconds(260))
  }

  @Test("a mistake doubles the required confirmations, up to 64")
  func doubling() {
    let end = EpochMessageKey(kind: 0)
    let other = EpochMessageKey(kind: 1)
    var detector = EpochEndDetector(silenceTimeout: .milliseconds(100))
    var needed: [Int] = []
    for _ in 0..<8 {
      var count = 0
      repeat {
        detector.beginEpoch(with: end)
        if detector.isOver { break }
        detector.endEpoch(by: .silence)
        count += 1
      } while count < 200
      needed.append(count)
      detector.endEpoch(by: .lastMessage)
      detector.beginEpoch(with: other)  // late: not a message that begins epochs
      detector.endEpoch(by: .silence)
    }
    #expect(needed == [2, 4, 8, 16, 32, 64, 64, 64])
  }
}
