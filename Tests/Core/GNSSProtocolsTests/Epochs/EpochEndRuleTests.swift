import LocationTypes
import Testing

@testable import GNSSProtocols

/// The learner alone: epochs go in mark by mark, each so many milliseconds after the one before.
private struct Learner {
  var end = EpochEndDetector(silenceTimeout: .milliseconds(100))
  private var now = Instant.boot

  init() { end.noteInput(at: now) }

  /// Bytes come.
  mutating func hear(after_ms: Int64) {
    now = now + .milliseconds(after_ms)
    end.noteInput(at: now)
  }

  mutating func epoch(
    _ marks: [EpochMessageKey], every gap_ms: Int64 = 5, by cause: EpochEndDetector.Cause
  ) {
    for (i, mark) in marks.enumerated() {
      hear(after_ms: gap_ms)
      if i == 0 { end.beginEpoch(with: mark) } else { end.continueEpoch(with: mark) }
    }
    end.endEpoch(by: cause)
  }

  /// So many epochs in which nothing takes longer than 5 ms; they end in turn with one and the other.
  mutating func quick(_ count: Int) {
    for i in 0..<count { epoch(i % 2 == 0 ? [first, last] : [first, other], by: .silence) }
  }

  /// A message of an epoch that a silence has ended.
  mutating func late(after_ms: Int64) {
    hear(after_ms: after_ms)
    end.recordLate()
  }
}

private let first = EpochMessageKey(kind: 0)
private let last = EpochMessageKey(kind: 1)
private let other = EpochMessageKey(kind: 2)

@Suite("The rules by which the end of an epoch is learned") struct EpochEndRuleTests {
  private func learned() -> Learner {
    var learner = Learner()
    for _ in 0..<2 { learner.epoch([first, last], by: .silence) }
    return learner
  }

  @Test("three epochs that end otherwise are forgiven, the fourth is not")
  func misses() {
    var learner = learned()
    for _ in 0..<3 {
      learner.epoch([first], by: .silence)
      #expect(learner.end.isReliable)
    }
    learner.epoch([first], by: .silence)
    #expect(!learner.end.isReliable)
    // The other end is learned in its turn, with misses of its own.
    learner.epoch([first], by: .silence)
    #expect(learner.end.isReliable)
    learner.epoch([first, last], by: .silence)
    #expect(learner.end.isReliable)
  }

  @Test("an epoch that ends as known makes good those that did not")
  func forgiven() {
    var learner = learned()
    for _ in 0..<4 {
      for _ in 0..<3 { learner.epoch([first], by: .silence) }
      learner.epoch([first, last], by: .lastMessage)
      #expect(learner.end.isOver)
    }
  }

  @Test("an end is one message of one talker, and none that only goes before others of its group")
  func whose() {
    var turns = Learner()
    for i in 0..<8 {
      turns.epoch([first] + Array(repeating: last, count: 1 + i % 2), by: .silence)
      #expect(!turns.end.isReliable)
    }
    var talkers = Learner()
    for i in 0..<8 {
      talkers.epoch([first, EpochMessageKey(kind: 1, talker: UInt16(i % 2))], by: .silence)
      #expect(!talkers.end.isReliable)
    }
    var groups = Learner()
    for _ in 0..<8 {
      groups.epoch([first, EpochMessageKey(kind: 1, canEndEpoch: false)], by: .silence)
      #expect(!groups.end.isReliable)
    }
  }

  @Test("however many messages and epochs there are, counting them does not trap")
  func counts() {
    var learner = Learner()
    for _ in 0..<300 { learner.epoch([first, last], by: .silence) }
    #expect(learner.end.isReliable)
    learner.epoch(Array(repeating: first, count: 300), by: .silence)
    #expect(learner.end.isReliable)
  }

  @Test("a message that comes late is one mistake with all that follow it")
  func oneMistake() {
    var learner = learned()
    learner.epoch([first, last], by: .lastMessage)
    for _ in 0..<3 { learner.late(after_ms: 5) }
    #expect(!learner.end.isReliable)
    for count in 1...4 {
      learner.epoch([first, last], by: .silence)
      #expect(learner.end.isReliable == (count == 4))
    }
  }

  @Test("an epoch that another talker begins, or that is none, shows that the one before was cut")
  func cut() {
    var begun = learned()
    begun.epoch([first, last], by: .lastMessage)
    begun.end.beginEpoch(with: EpochMessageKey(kind: 0, talker: 1))
    #expect(!begun.end.isReliable)
    var dissolved = learned()
    dissolved.epoch([first, last], by: .lastMessage)
    dissolved.end.beginEpoch(with: first)
    #expect(dissolved.end.isReliable)
    dissolved.end.discardOpen()
    #expect(!dissolved.end.isReliable)
  }

  @Test("eight epochs show the longest silence, and it is kept for eight more")
  func window() {
    var learner = Learner()
    learner.quick(7)
    #expect(learner.end.silenceTimeout == .milliseconds(100))
    learner.quick(1)
    #expect(learner.end.silenceTimeout == .milliseconds(40))
    learner.epoch([first, last], every: 60, by: .silence)
    learner.quick(6)
    #expect(learner.end.silenceTimeout == .milliseconds(40))
    learner.quick(1)
    #expect(learner.end.silenceTimeout == .milliseconds(120))
    learner.quick(8)
    #expect(learner.end.silenceTimeout == .milliseconds(120))
    learner.quick(8)
    #expect(learner.end.silenceTimeout == .milliseconds(40))
  }

  @Test("a silence is between any two bytes, not only before those that end a message")
  func fragments() {
    var learner = Learner()
    for _ in 0..<8 {
      learner.hear(after_ms: 5)
      learner.end.beginEpoch(with: first)
      learner.hear(after_ms: 60)
      learner.hear(after_ms: 2)
      learner.end.continueEpoch(with: last)
      learner.end.endEpoch(by: .silence)
    }
    #expect(learner.end.silenceTimeout == .milliseconds(120))
  }

  @Test("the silence before a message of another epoch is not within the open one")
  func foreign() {
    var learner = Learner()
    for _ in 0..<8 {
      learner.hear(after_ms: 5)
      learner.end.beginEpoch(with: first)
      learner.late(after_ms: 100)
      learner.hear(after_ms: 5)
      learner.end.continueEpoch(with: last)
      learner.end.endEpoch(by: .nextTime)
    }
    #expect(learner.end.silenceTimeout == .milliseconds(40))
  }

  @Test("a silence that cut an epoch makes the pause longer at once, for two windows from there")
  func lengthened() {
    var learner = Learner()
    learner.quick(7)
    learner.late(after_ms: 150)
    #expect(learner.end.silenceTimeout == .milliseconds(300))
    // A shorter one takes nothing away.
    learner.late(after_ms: 30)
    #expect(learner.end.silenceTimeout == .milliseconds(300))
    learner.quick(23)
    #expect(learner.end.silenceTimeout == .milliseconds(300))
    learner.quick(1)
    #expect(learner.end.silenceTimeout == .milliseconds(40))
  }

  @Test("a short silence that cut an epoch leaves a longer pause as it is, for a window")
  func kept() {
    var learner = Learner()
    learner.quick(1)
    learner.late(after_ms: 30)
    #expect(learner.end.silenceTimeout == .milliseconds(100))
    learner.quick(8)
    #expect(learner.end.silenceTimeout == .milliseconds(100))
    learner.quick(8)
    #expect(learner.end.silenceTimeout == .milliseconds(60))
    learner.late(after_ms: 25)
    #expect(learner.end.silenceTimeout == .milliseconds(60))
  }

  @Test("what dissolves an epoch is the silence before it, not one within the epoch before")
  func opening() {
    var learner = Learner()
    learner.quick(7)
    learner.epoch([first, last], every: 150, by: .silence)
    #expect(learner.end.silenceTimeout == .milliseconds(300))
    learner.hear(after_ms: 10)
    learner.end.beginEpoch(with: other)
    learner.end.discardOpen()
    learner.quick(15)
    #expect(learner.end.silenceTimeout == .milliseconds(300))
    learner.quick(1)
    #expect(learner.end.silenceTimeout == .milliseconds(40))
  }
}
