import LocationTypes

/// Key of a message within its epoch: its kind, its talker and its ordinal among messages of that kind.
///
/// Packed into one word, because it is compared with every message.
@usableFromInline struct EpochMark: Equatable, Sendable {
  private var bits: UInt32

  /// Number of distinct kinds.
  static let kinds = 32

  /// Creates a key; the ordinal is set when the message is counted.
  ///
  /// - Precondition: `kind` is below ``kindCount``.
  @inline(__always) init(kind: UInt8, talker: UInt16 = 0, mayEnd: Bool = true) {
    precondition(kind < EpochMark.kinds, "a message kind is below 32")
    bits = UInt32(kind) | (mayEnd ? 1 &<< 7 : 0) | UInt32(talker) &<< 16
  }

  /// The kind of message, below ``kindCount``.
  @inline(__always) var kind: UInt8 { UInt8(truncatingIfNeeded: bits) & 0x1F }
  /// Whether an epoch can end with this message: false for all but the last sentence of a GSV group.
  @inline(__always) var mayEnd: Bool {
    get { bits & 1 &<< 7 != 0 }
    set { bits = newValue ? bits | 1 &<< 7 : bits & ~(1 &<< 7) }
  }
  /// Ordinal among the messages of its kind in the epoch, from 1.
  @inline(__always) var turn: UInt8 {
    get { UInt8(truncatingIfNeeded: bits &>> 8) }
    set { bits = bits & ~0xFF00 | UInt32(newValue) &<< 8 }
  }

  /// Whether both have the same kind and talker (two characters, or 0 for UBX).
  func isLike(_ other: EpochMark) -> Bool { (bits ^ other.bits) & 0xFFFF_001F == 0 }
}

/// A set of message kinds, one bit each.
struct EpochMarks: Equatable, Sendable {
  private var bits: UInt32 = 0

  /// Adds the kind of a message.
  @inline(__always) mutating func insert(_ mark: EpochMark) { bits |= 1 &<< UInt32(mark.kind) }

  /// Whether the set contains the kind of the message.
  @inline(__always) func contains(_ mark: EpochMark) -> Bool {
    bits & 1 &<< UInt32(mark.kind) != 0
  }
}

/// Detects the last message of a receiver's epochs, and measures its silences within an epoch.
///
/// A live epoch should be emitted with its last message instead of the first one of the next epoch,
/// which may be a second away. gpsd calls this end-of-cycle detection.
///
///                  same last message in            a message arrives late,
///                  `requiredConfirmations`         or a message of another kind
///                  epochs in a row                 opens the next epoch
///    measuring ──────────────────────▶ reliable ──────────────────────────▶ measuring
///        ▲                              │  ▲  │                             (requirement × 2, at most 64)
///        │ 4th epoch in a row with      │  └──┘ up to 3 epochs in a row with another last message
///        └──────────────────────────────┘       (the last one may be lost on the line)
///           another last message
///
/// While measuring, an epoch ends with the first message of the next one, or with a silence: twice the
/// longest silence that the receiver made within its recent epochs (1 to 2 windows of ``window``), 40
/// to 400 ms. ``EpochAssembler`` is the only caller, and only with ``EpochOptions/detectsEpochEnd``:
/// `noteInput` for each read, `beginEpoch` or `continueEpoch` for each message, `endEpoch` for each
/// epoch, `recordLate` and `discardOpen` for mistakes. O(1) per message.
@usableFromInline struct EpochEnd: Sendable {
  /// Cause of the end of an epoch.
  enum Cause {
    /// A message of another time.
    case nextTime
    /// The detected last message.
    case lastMessage
    /// Silence on the line.
    case silence
  }

  /// Lower bound of ``silenceTimeout``: tolerates a reader that is late by less.
  static let shortestPause = Interval.milliseconds(40)
  /// Upper bound of ``silenceTimeout``; epochs with longer silences inside are split.
  static let longestPause = Interval.milliseconds(400)
  /// Upper bound of ``requiredConfirmations``.
  private static let mostNeeded: UInt8 = 64
  /// Number of consecutive epochs with another end that are tolerated: the last message may be lost on
  /// the line.
  private static let missesAllowed: UInt8 = 3
  /// Number of epochs over which the longest silence is measured.
  static let window: UInt8 = 8

  /// Silence that ends an epoch.
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

  /// Creates a detector without measurements; `silenceTimeout` applies until the first measurement.
  init(pause: Interval) { self.pause = pause }

  /// Whether the last message of an epoch is detected reliably.
  @inlinable var isLearned: Bool { end != nil && confirmed >= needed }

  /// Measures the silence before received bytes; it is unknown if they were buffered (`isBuffered`).
  mutating func hear(at now: Instant, isGathered: Bool = false) {
    if let heardAt, !isGathered { gap = min(max(gap, now - heardAt), EpochEnd.longestPause) }
    heardAt = now
  }

  /// Records a message that opened an epoch.
  mutating func begin(with mark: EpochMark) {
    switch cause {
    case .nextTime, .silence: first = mark
    case .lastMessage:
      // Not the usual first message: it belonged to the epoch that was ended too early.
      if let first, !mark.isLike(first) { mistake() }
    }
    turns = InlineArray(repeating: 0)
    openingGap = gap
    gap = .zero
    count(mark)
  }

  /// Records a message of the open epoch.
  mutating func goOn(with mark: EpochMark) {
    longestGap = max(longestGap, gap)
    gap = .zero
    count(mark)
  }

  /// Whether the newest message is the detected last message.
  @inline(__always) var isOver: Bool { isLearned && newest == end }

  /// Records the end of an epoch and updates the detection.
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

  /// Records a message of an epoch that was already emitted.
  mutating func comeLate() {
    switch cause {
    case .nextTime: break
    case .lastMessage: mistake()
    case .silence: wait(for: gap)
    }
    gap = .zero
  }

  /// Records that the open epoch contained only sentences without time, which were late ones of the
  /// epoch before.
  mutating func dissolve() {
    switch cause {
    case .nextTime: break
    case .lastMessage: mistake()
    case .silence: wait(for: openingGap)
    }
  }

  /// Extends the timeout after a silence of length `gap` split an epoch.
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
    // The maximum of two windows, so that a rare long silence is not forgotten immediately.
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
  /// Creates the key of a sentence; its ordinal is not counted yet.
  @inline(__always) init(_ kind: UInt8, _ talker: Talker) {
    self.init(kind: kind, talker: UInt16(talker.first) << 8 | UInt16(talker.second))
  }

  /// Creates the key of a UBX message; its ordinal is not counted yet.
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
