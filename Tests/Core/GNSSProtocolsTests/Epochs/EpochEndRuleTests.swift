import LocationTypes
import Testing

@testable import GNSSProtocols

/// The end detector alone: messages enter one by one, each some milliseconds after the previous
/// one.
private struct DetectorDriver {
  var end = EpochEndDetector(silenceTimeout: .milliseconds(100))
  private var now = Instant.boot

  init() { end.noteInput(at: now) }

  /// Reports received bytes.
  mutating func addInput(after_ms: Int64) {
    now = now + .milliseconds(after_ms)
    end.noteInput(at: now)
  }

  mutating func epoch(
    _ marks: [EpochMessageKey], every gap_ms: Int64 = 5, by cause: EpochEndDetector.Cause
  ) {
    for (i, mark) in marks.enumerated() {
      addInput(after_ms: gap_ms)
      if i == 0 { end.beginEpoch(with: mark) } else { end.continueEpoch(with: mark) }
    }
    end.endEpoch(by: cause)
  }

  /// A number of epochs without a silence above 5 ms, which end alternately with one message and
  /// the other.
  mutating func quick(_ count: Int) {
    for i in 0..<count { epoch(i % 2 == 0 ? [first, last] : [first, other], by: .silence) }
  }

  /// A message of an epoch that a silence has already ended.
  mutating func late(after_ms: Int64) {
    addInput(after_ms: after_ms)
    end.recordLate()
  }
}

private let first = EpochMessageKey(kind: 0)
private let last = EpochMessageKey(kind: 1)
private let other = EpochMessageKey(kind: 2)

@Suite("Rules that detect the end of an epoch") struct EpochEndRuleTests {
  private func detected() -> DetectorDriver {
    var detector = DetectorDriver()
    for _ in 0..<2 { detector.epoch([first, last], by: .silence) }
    return detector
  }

  @Test("three epochs that end differently are tolerated, the fourth is not")
  func misses() {
    var detector = detected()
    for _ in 0..<3 {
      detector.epoch([first], by: .silence)
      #expect(detector.end.isReliable)
    }
    detector.epoch([first], by: .silence)
    #expect(!detector.end.isReliable)
    // The other end is detected in turn, with its own tolerance.
    detector.epoch([first], by: .silence)
    #expect(detector.end.isReliable)
    detector.epoch([first, last], by: .silence)
    #expect(detector.end.isReliable)
  }

  @Test("an epoch that ends as expected resets the misses before it")
  func missesReset() {
    var detector = detected()
    for _ in 0..<4 {
      for _ in 0..<3 { detector.epoch([first], by: .silence) }
      detector.epoch([first, last], by: .lastMessage)
      #expect(detector.end.isOver)
    }
  }

  @Test("an end is one message of one talker that can be the last of its group")
  func endMessage() {
    var turns = DetectorDriver()
    for i in 0..<8 {
      turns.epoch([first] + Array(repeating: last, count: 1 + i % 2), by: .silence)
      #expect(!turns.end.isReliable)
    }
    var talkers = DetectorDriver()
    for i in 0..<8 {
      talkers.epoch([first, EpochMessageKey(kind: 1, talker: UInt16(i % 2))], by: .silence)
      #expect(!talkers.end.isReliable)
    }
    var groups = DetectorDriver()
    for _ in 0..<8 {
      groups.epoch([first, EpochMessageKey(kind: 1, canEndEpoch: false)], by: .silence)
      #expect(!groups.end.isReliable)
    }
  }

  @Test("counters saturate for any number of messages and epochs")
  func counts() {
    var detector = DetectorDriver()
    for _ in 0..<300 { detector.epoch([first, last], by: .silence) }
    #expect(detector.end.isReliable)
    detector.epoch(Array(repeating: first, count: 300), by: .silence)
    #expect(detector.end.isReliable)
  }

  @Test("a late message and all late messages directly after it count as one mistake")
  func oneMistake() {
    var detector = detected()
    detector.epoch([first, last], by: .lastMessage)
    for _ in 0..<3 { detector.late(after_ms: 5) }
    #expect(!detector.end.isReliable)
    for count in 1...4 {
      detector.epoch([first, last], by: .silence)
      #expect(detector.end.isReliable == (count == 4))
    }
  }

  @Test(
    "an epoch opened by another talker, or discarded, shows that a silence split the one before")
  func cut() {
    var begun = detected()
    begun.epoch([first, last], by: .lastMessage)
    begun.end.beginEpoch(with: EpochMessageKey(kind: 0, talker: 1))
    #expect(!begun.end.isReliable)
    var discarded = detected()
    discarded.epoch([first, last], by: .lastMessage)
    discarded.end.beginEpoch(with: first)
    #expect(discarded.end.isReliable)
    discarded.end.discardOpen()
    #expect(!discarded.end.isReliable)
  }

  @Test("the silence timeout uses the longest silence of eight epochs and keeps it for eight more")
  func window() {
    var detector = DetectorDriver()
    detector.quick(7)
    #expect(detector.end.silenceTimeout == .milliseconds(100))
    detector.quick(1)
    #expect(detector.end.silenceTimeout == .milliseconds(40))
    detector.epoch([first, last], every: 60, by: .silence)
    detector.quick(6)
    #expect(detector.end.silenceTimeout == .milliseconds(40))
    detector.quick(1)
    #expect(detector.end.silenceTimeout == .milliseconds(120))
    detector.quick(8)
    #expect(detector.end.silenceTimeout == .milliseconds(120))
    detector.quick(8)
    #expect(detector.end.silenceTimeout == .milliseconds(40))
  }

  @Test("a silence counts between any two bytes, not only before the end of a message")
  func fragments() {
    var detector = DetectorDriver()
    for _ in 0..<8 {
      detector.addInput(after_ms: 5)
      detector.end.beginEpoch(with: first)
      detector.addInput(after_ms: 60)
      detector.addInput(after_ms: 2)
      detector.end.continueEpoch(with: last)
      detector.end.endEpoch(by: .silence)
    }
    #expect(detector.end.silenceTimeout == .milliseconds(120))
  }

  @Test("the silence before a message of the next epoch does not count for the open one")
  func foreign() {
    var detector = DetectorDriver()
    for _ in 0..<8 {
      detector.addInput(after_ms: 5)
      detector.end.beginEpoch(with: first)
      detector.late(after_ms: 100)
      detector.addInput(after_ms: 5)
      detector.end.continueEpoch(with: last)
      detector.end.endEpoch(by: .nextTime)
    }
    #expect(detector.end.silenceTimeout == .milliseconds(40))
  }

  @Test("a silence that split an epoch extends the timeout immediately, for two windows")
  func lengthened() {
    var detector = DetectorDriver()
    detector.quick(7)
    detector.late(after_ms: 150)
    #expect(detector.end.silenceTimeout == .milliseconds(300))
    // A shorter silence does not reduce it.
    detector.late(after_ms: 30)
    #expect(detector.end.silenceTimeout == .milliseconds(300))
    detector.quick(23)
    #expect(detector.end.silenceTimeout == .milliseconds(300))
    detector.quick(1)
    #expect(detector.end.silenceTimeout == .milliseconds(40))
  }

  @Test("a short silence that split an epoch does not change a longer timeout during that window")
  func shortSilence() {
    var detector = DetectorDriver()
    detector.quick(1)
    detector.late(after_ms: 30)
    #expect(detector.end.silenceTimeout == .milliseconds(100))
    detector.quick(8)
    #expect(detector.end.silenceTimeout == .milliseconds(100))
    detector.quick(8)
    #expect(detector.end.silenceTimeout == .milliseconds(60))
    detector.late(after_ms: 25)
    #expect(detector.end.silenceTimeout == .milliseconds(60))
  }

  @Test("the silence before a discarded epoch counts, not one within the epoch before")
  func opening() {
    var detector = DetectorDriver()
    detector.quick(7)
    detector.epoch([first, last], every: 150, by: .silence)
    #expect(detector.end.silenceTimeout == .milliseconds(300))
    detector.addInput(after_ms: 10)
    detector.end.beginEpoch(with: other)
    detector.end.discardOpen()
    detector.quick(15)
    #expect(detector.end.silenceTimeout == .milliseconds(300))
    detector.quick(1)
    #expect(detector.end.silenceTimeout == .milliseconds(40))
  }
}
