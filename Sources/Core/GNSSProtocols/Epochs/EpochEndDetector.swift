import LocationTypes

// The detection of an epoch's last message, ``EpochEndDetector``, and before it the keys of messages,
// which ``EpochAssembler`` creates.

/// Key of a message within its epoch: its kind, its talker and its ordinal among messages of that kind.
///
/// Packed into one word, because it is compared with every message.
@usableFromInline struct EpochMessageKey: Equatable, Sendable {
  private var bits: UInt32

  /// Number of distinct kinds.
  static let kindCount = 32

  /// Creates a key; the ordinal is set when the message is counted.
  ///
  /// - Precondition: `kind` is below ``kindCount``.
  @inline(__always) init(kind: UInt8, talker: UInt16 = 0, canEndEpoch: Bool = true) {
    precondition(kind < EpochMessageKey.kindCount, "a message kind is below 32")
    bits = UInt32(kind) | (canEndEpoch ? 1 &<< 7 : 0) | UInt32(talker) &<< 16
  }

  /// The kind of message, below ``kindCount``.
  @inline(__always) var kind: UInt8 { UInt8(truncatingIfNeeded: bits) & 0x1F }
  /// Whether an epoch can end with this message: false only for a GSV before the last of its group.
  @inline(__always) var canEndEpoch: Bool {
    get { bits & 1 &<< 7 != 0 }
    set { bits = newValue ? bits | 1 &<< 7 : bits & ~(1 &<< 7) }
  }
  /// Ordinal in the epoch among the messages of its kind that can end an epoch, from 1; 0 before the
  /// first.
  @inline(__always) var ordinal: UInt8 {
    get { UInt8(truncatingIfNeeded: bits &>> 8) }
    set { bits = bits & ~0xFF00 | UInt32(newValue) &<< 8 }
  }

  /// Whether both have the same kind and talker (two characters, or 0 for UBX).
  func matches(_ other: EpochMessageKey) -> Bool { (bits ^ other.bits) & 0xFFFF_001F == 0 }
}

/// A set of message kinds, one bit each.
struct EpochMessageKinds: Equatable, Sendable {
  private var bits: UInt32 = 0

  /// Adds the kind of a message.
  @inline(__always) mutating func insert(_ key: EpochMessageKey) {
    bits |= 1 &<< UInt32(key.kind)
  }

  /// Whether the set contains the kind of the message.
  @inline(__always) func contains(_ key: EpochMessageKey) -> Bool {
    bits & 1 &<< UInt32(key.kind) != 0
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
/// longest silence within the receiver's recent epochs (1 to 2 windows of ``window``), 40 to 400 ms.
/// ``EpochAssembler`` is the only caller, and only with ``EpochOptions/detectsEpochEnd``: `noteInput` for
/// each read, `beginEpoch` or `continueEpoch` for each message, `endEpoch` for each epoch, `recordLate`
/// and `discardOpen` for messages that arrive after the end of their epoch. O(1) per message.
@usableFromInline struct EpochEndDetector: Sendable {
  /// Cause of the end of an epoch.
  enum Cause {
    /// A message of another time.
    case nextTime
    /// The detected last message.
    case lastMessage
    /// Silence on the line.
    case silence
  }

  /// Lower bound of ``silenceTimeout``: tolerates a reader that is late by less than this.
  static let minimumSilenceTimeout = Interval.milliseconds(40)
  /// Upper bound of ``silenceTimeout``; epochs with longer silences inside are split.
  static let maximumSilenceTimeout = Interval.milliseconds(400)
  /// Upper bound of ``requiredConfirmations``.
  private static let maximumRequired: UInt8 = 64
  /// Number of consecutive epochs with another end that are tolerated: the last message may be lost on
  /// the line.
  private static let missesAllowed: UInt8 = 3
  /// Number of epochs over which the longest silence is measured.
  static let window: UInt8 = 8

  /// Silence that ends an epoch.
  @usableFromInline private(set) var silenceTimeout: Interval

  private var ordinals = InlineArray<32, UInt8>(repeating: 0)
  private var newestMessage: EpochMessageKey?
  private var firstMessage: EpochMessageKey?
  @usableFromInline private(set) var lastMessage: EpochMessageKey?
  @usableFromInline private(set) var confirmations: UInt8 = 0
  @usableFromInline private(set) var requiredConfirmations: UInt8 = 2
  private var misses: UInt8 = 0
  private var cause = Cause.nextTime

  private var lastInput: Instant?
  private var gap = Interval.zero
  private var openingGap = Interval.zero
  private var longestGap = Interval.zero
  private var previousEstimate: Interval?
  private var epochCount: UInt8 = 0

  /// Creates a detector without measurements; `silenceTimeout` applies until the first measurement.
  init(silenceTimeout: Interval) { self.silenceTimeout = silenceTimeout }

  /// Whether the last message of an epoch is detected reliably.
  @inlinable var isReliable: Bool { lastMessage != nil && confirmations >= requiredConfirmations }

  /// Measures the silence before received bytes; it is unknown if they were buffered (`isBuffered`).
  mutating func noteInput(at now: Instant, isBuffered: Bool = false) {
    if let lastInput, !isBuffered {
      gap = min(max(gap, now - lastInput), EpochEndDetector.maximumSilenceTimeout)
    }
    lastInput = now
  }

  /// Records a message that opened an epoch.
  mutating func beginEpoch(with key: EpochMessageKey) {
    switch cause {
    case .nextTime, .silence: firstMessage = key
    case .lastMessage:
      // Not the usual first message: it belonged to the epoch that was ended too early.
      if let firstMessage, !key.matches(firstMessage) { recordMistake() }
    }
    ordinals = InlineArray(repeating: 0)
    openingGap = gap
    gap = .zero
    countMessage(key)
  }

  /// Records a message of the open epoch.
  mutating func continueEpoch(with key: EpochMessageKey) {
    longestGap = max(longestGap, gap)
    gap = .zero
    countMessage(key)
  }

  /// Whether the newest message is the detected last message.
  @inline(__always) var isOver: Bool { isReliable && newestMessage == lastMessage }

  /// Records the end of an epoch and updates the detection.
  mutating func endEpoch(by cause: Cause) {
    self.cause = cause
    updateSilenceTimeout()
    guard cause != .lastMessage, let newestMessage else {
      misses = 0
      return
    }
    if newestMessage == lastMessage {
      confirmations = min(confirmations, EpochEndDetector.maximumRequired) + 1
    } else if isReliable, misses < EpochEndDetector.missesAllowed {
      misses += 1
    } else {
      lastMessage = newestMessage.canEndEpoch ? newestMessage : nil
      confirmations = 1
      misses = 0
    }
  }

  /// Records a message of an epoch that was already emitted.
  mutating func recordLate() {
    switch cause {
    case .nextTime: break
    case .lastMessage: recordMistake()
    case .silence: extendTimeout(for: gap)
    }
    gap = .zero
  }

  /// Records that the open epoch contained only sentences without time, which were late ones of the
  /// epoch before.
  mutating func discardOpen() {
    switch cause {
    case .nextTime: break
    case .lastMessage: recordMistake()
    case .silence: extendTimeout(for: openingGap)
    }
  }

  /// Extends the timeout after a silence of length `gap` split an epoch.
  private mutating func extendTimeout(for gap: Interval) {
    longestGap = max(longestGap, gap)
    silenceTimeout = max(silenceTimeout, EpochEndDetector.timeout(after: longestGap))
    previousEstimate = silenceTimeout
    epochCount = 0
  }

  private mutating func recordMistake() {
    lastMessage = nil
    confirmations = 0
    misses = 0
    requiredConfirmations = min(requiredConfirmations * 2, EpochEndDetector.maximumRequired)
    cause = .nextTime
  }

  private mutating func countMessage(_ key: EpochMessageKey) {
    let kind = Int(key.kind)
    if key.canEndEpoch && ordinals[kind] < .max { ordinals[kind] += 1 }
    var key = key
    key.ordinal = ordinals[kind]
    newestMessage = key
  }

  private mutating func updateSilenceTimeout() {
    epochCount += 1
    guard epochCount >= EpochEndDetector.window else { return }
    let estimate = EpochEndDetector.timeout(after: longestGap)
    // The maximum of two windows, so that a rare long silence applies for one more window.
    silenceTimeout = max(estimate, previousEstimate ?? estimate)
    previousEstimate = estimate
    longestGap = .zero
    epochCount = 0
  }

  private static func timeout(after gap: Interval) -> Interval {
    let twice = gap + gap
    if twice < minimumSilenceTimeout { return minimumSilenceTimeout }
    return twice > maximumSilenceTimeout ? maximumSilenceTimeout : twice
  }
}

extension EpochMessageKey {
  /// Creates the key of a sentence; its ordinal is not counted yet.
  @inline(__always) init(_ kind: UInt8, _ talker: Talker) {
    self.init(kind: kind, talker: UInt16(talker.first) << 8 | UInt16(talker.second))
  }

  /// Creates the key of a UBX message; its ordinal is not counted yet.
  init(_ part: UBXNavigation) { self.init(kind: EpochMessageKey.kind(part)) }

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
