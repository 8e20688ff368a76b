import LocationTypes

/// Where in its epoch a message stands: what it is, whose, and the how-manieth of its kind.
///
/// In one word, for it is compared with every message.
@usableFromInline struct EpochMark: Equatable, Sendable {
  private var bits: UInt32

  /// How many kinds are told apart.
  static let kinds = 32

  /// The place of a message of that kind, below ``kinds``, which may end an epoch or not; the turn is
  /// not yet counted.
  @inline(__always) init(kind: UInt8, talker: UInt16 = 0, mayEnd: Bool = true) {
    precondition(kind < EpochMark.kinds, "a mark's kind is below 32")
    bits = UInt32(kind) | (mayEnd ? 1 &<< 7 : 0) | UInt32(talker) &<< 16
  }

  /// The kind of message.
  @inline(__always) var kind: UInt8 { UInt8(truncatingIfNeeded: bits) & 0x1F }
  /// Whether an epoch can end with it: a group of GSV ends with its last sentence only.
  @inline(__always) var mayEnd: Bool {
    get { bits & 1 &<< 7 != 0 }
    set { bits = newValue ? bits | 1 &<< 7 : bits & ~(1 &<< 7) }
  }
  /// From 1, counted for each kind in the epoch.
  @inline(__always) var turn: UInt8 {
    get { UInt8(truncatingIfNeeded: bits &>> 8) }
    set { bits = bits & ~0xFF00 | UInt32(newValue) &<< 8 }
  }

  /// Whether both are of one kind and talker, which is of two characters, or 0 for UBX.
  func isLike(_ other: EpochMark) -> Bool { (bits ^ other.bits) & 0xFFFF_001F == 0 }
}

/// Kinds of messages, one bit each.
struct EpochMarks: Equatable, Sendable {
  private var bits: UInt32 = 0

  /// Adds the kind of a message.
  @inline(__always) mutating func insert(_ mark: EpochMark) { bits |= 1 &<< UInt32(mark.kind) }

  /// Whether that kind is among them.
  @inline(__always) func contains(_ mark: EpochMark) -> Bool {
    bits & 1 &<< UInt32(mark.kind) != 0
  }
}

/// Learns with which message a receiver ends its epochs, and how long it is silent inside one.
///
/// A live epoch is over with the message that ended the epochs before. That is believed after
/// ``needed`` epochs in a row, and no longer when something comes late; each mistake doubles what is
/// needed. Where no message can be relied on, a silence ends the epoch: twice the longest that the
/// receiver has lately made within one. O(1) per message.
@usableFromInline struct EpochEnd: Sendable {
  /// What ended an epoch.
  enum Cause {
    /// A message that bears another time.
    case nextTime
    /// The message that is known to be the last.
    case lastMessage
    /// The line was silent.
    case silence
  }

  /// The shortest silence that ends an epoch: a reader that is late by less does no harm.
  static let shortestPause = Interval.milliseconds(40)
  /// The longest; receivers that rest longer inside an epoch have their epochs cut.
  static let longestPause = Interval.milliseconds(400)
  /// The most epochs in a row that are asked for after mistakes.
  private static let mostNeeded: UInt8 = 64
  /// Epochs that must end otherwise, one after the other, before the end is no longer believed: the
  /// last message may be lost on the line.
  private static let missesAllowed: UInt8 = 3
  /// So many epochs show how long the silences within them are.
  static let window: UInt8 = 8

  /// The silence that ends an epoch.
  @usableFromInline private(set) var pause: Interval

  private var turns = InlineArray<32, UInt8>(repeating: 0)
  private var newest: EpochMark?
  private var first: EpochMark?
  @usableFromInline var end: EpochMark?
  @usableFromInline var confirmed: UInt8 = 0
  @usableFromInline var needed: UInt8 = 2
  private var misses: UInt8 = 0
  private var cause = Cause.nextTime

  private var heardAt: Instant?
  private var gap = Interval.zero
  private var openingGap = Interval.zero
  private var longestGap = Interval.zero
  private var learnedBefore: Interval?
  private var epochs: UInt8 = 0

  /// Starts with nothing learned; `pause` is the silence that ends an epoch until then.
  init(pause: Interval) { self.pause = pause }

  /// Whether the end of the epoch is known by a message.
  @inlinable var isLearned: Bool { end != nil && confirmed >= needed }

  /// Bytes came: what the silence before them was.
  mutating func hear(at now: Instant, isGathered: Bool = false) {
    if let heardAt, !isGathered { gap = min(max(gap, now - heardAt), EpochEnd.longestPause) }
    heardAt = now
  }

  /// A message opened an epoch.
  mutating func begin(with mark: EpochMark) {
    switch cause {
    case .nextTime, .silence: first = mark
    case .lastMessage:
      // What does not begin epochs belonged to the one that was held to be over.
      if let first, !mark.isLike(first) { mistake() }
    }
    turns = InlineArray(repeating: 0)
    openingGap = gap
    gap = .zero
    count(mark)
  }

  /// A message went into the open epoch.
  mutating func goOn(with mark: EpochMark) {
    longestGap = max(longestGap, gap)
    gap = .zero
    count(mark)
  }

  /// Whether the message counted last is the one that ends epochs.
  @inline(__always) var isOver: Bool { isLearned && newest == end }

  /// An epoch has ended.
  mutating func close(by cause: Cause) {
    self.cause = cause
    learnPause()
    guard cause != .lastMessage, let newest else {
      misses = 0
      return
    }
    if newest == end {
      confirmed = min(confirmed, EpochEnd.mostNeeded) + 1
    } else if isLearned, misses < EpochEnd.missesAllowed {
      misses += 1
    } else {
      end = newest.mayEnd ? newest : nil
      confirmed = 1
      misses = 0
    }
  }

  /// A message came for an epoch that has been given already.
  mutating func comeLate() {
    switch cause {
    case .nextTime: break
    case .lastMessage: mistake()
    case .silence: wait(for: gap)
    }
    gap = .zero
  }

  /// The open epoch had nothing but sentences without time: late ones of the epoch before.
  mutating func dissolve() {
    switch cause {
    case .nextTime: break
    case .lastMessage: mistake()
    case .silence: wait(for: openingGap)
    }
  }

  /// A silence of that length was within an epoch, and cut it.
  private mutating func wait(for gap: Interval) {
    longestGap = max(longestGap, gap)
    pause = max(pause, EpochEnd.pause(after: longestGap))
    learnedBefore = pause
    epochs = 0
  }

  private mutating func mistake() {
    end = nil
    confirmed = 0
    misses = 0
    needed = min(needed * 2, EpochEnd.mostNeeded)
    cause = .nextTime
  }

  private mutating func count(_ mark: EpochMark) {
    let kind = Int(mark.kind)
    if mark.mayEnd && turns[kind] < .max { turns[kind] += 1 }
    var mark = mark
    mark.turn = turns[kind]
    newest = mark
  }

  private mutating func learnPause() {
    epochs += 1
    guard epochs >= EpochEnd.window else { return }
    let learned = EpochEnd.pause(after: longestGap)
    // Two windows: what is rare shall not be forgotten at once.
    pause = max(learned, learnedBefore ?? learned)
    learnedBefore = learned
    longestGap = .zero
    epochs = 0
  }

  private static func pause(after gap: Interval) -> Interval {
    let twice = gap + gap
    if twice < shortestPause { return shortestPause }
    return twice > longestPause ? longestPause : twice
  }
}

extension EpochMark {
  /// The place of a sentence in its epoch, the turn not yet counted.
  @inline(__always) init(_ kind: UInt8, _ talker: Talker) {
    self.init(kind: kind, talker: UInt16(talker.first) << 8 | UInt16(talker.second))
  }

  /// The place of a UBX message in its epoch, the turn not yet counted.
  init(_ part: UBXNavigation) { self.init(kind: EpochMark.kind(part)) }

  private static func kind(_ part: UBXNavigation) -> UInt8 {
    switch part {
    case .ecefPosition: 16
    case .position: 17
    case .status: 18
    case .dilutions: 19
    case .ecefSolution: 20
    case .ecefVelocity: 21
    case .velocity: 22
    case .precisePosition: 23
    case .gpsTime: 24
    case .utc: 25
    case .leapSeconds: 26
    case .channels: 27
    case .satellites: 28
    case .endOfEpoch: 29
    }
  }
}
