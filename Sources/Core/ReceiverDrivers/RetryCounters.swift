import LocationTypes

/// Counters of failed attempts, by which drivers limit retries. The limits are in `DriverTimeouts`.
struct RetryCounters: Sendable {
  /// Number of wake-ups since the receiver last answered or was lost.
  var wakeUps: UInt8 = 0
  /// Number of baud rate changes since the receiver last answered at the line's baud rate or was lost.
  var speedChanges: UInt8 = 0
  /// Number of losses since the receiver last reached its goal; saturates at 255.
  var losses: UInt8 = 0
  /// Whether the current loss was reported.
  var isLossReported = false
  /// Whether the driver is about to power-cycle the receiver.
  var needsPowerCycle = false
  /// Number of unexpected wake-ups since the receiver last stayed asleep or the goal changed; saturates at 255.
  var unexpectedWakes: UInt8 = 0
  private var goalReachedAt = Instant.boot
  private var reconfigurations: UInt8 = 0
  private var reconfiguredAt = Instant.boot

  mutating func recordLoss() {
    if losses < .max { losses += 1 }
    wakeUps = 0
    speedChanges = 0
    // The next attempt decides again.
    needsPowerCycle = false
  }

  mutating func recordGoalReached(at now: Instant) {
    // A receiver that does not stay asleep has not recovered: its back-off keeps increasing.
    if unexpectedWakes <= RetryCounters.maximumUnexpectedWakes { losses = 0 }
    isLossReported = false
    goalReachedAt = now
  }

  /// Counts a reconfiguration. Returns false, without counting, after three within a minute.
  mutating func countReconfiguration(at now: Instant) -> Bool {
    if now - reconfiguredAt > .seconds(60) { reconfigurations = 0 }
    guard reconfigurations < 3 else { return false }
    if reconfigurations == 0 { reconfiguredAt = now }
    reconfigurations += 1
    return true
  }

  /// Counts an unexpected wake-up. Returns true from the fourth on, if each came within 60 s of reaching the goal.
  mutating func countUnexpectedWake(at now: Instant) -> Bool {
    if now - goalReachedAt > .seconds(60) { unexpectedWakes = 0 }
    if unexpectedWakes < .max { unexpectedWakes += 1 }
    return unexpectedWakes > RetryCounters.maximumUnexpectedWakes
  }

  private static let maximumUnexpectedWakes: UInt8 = 3
}

/// Late answers to a command that was sent more than once.
///
/// An acknowledgement identifies the message type, not the individual command. Without this counter, the late answer
/// to one CFG-VALSET would be mistaken for the answer to the next one. Only answers of the type that was answered
/// last are counted.
struct StaleAnswers: Sendable {
  /// Number of late answers that may still arrive.
  private(set) var expected: UInt8 = 0
  private var consumed: UInt8 = 0
  private var until = Instant.boot
  private var kind: UInt16 = 0

  /// Whether an answer of this kind belongs to an earlier command; if so, counts it as arrived.
  mutating func consume(_ kind: UInt16, at now: Instant) -> Bool {
    guard expected > 0, kind == self.kind, now <= until else { return false }
    expected -= 1
    consumed += 1
    return true
  }

  /// Records that a command of this kind, which was sent `sends` times, was answered. Late answers are expected
  /// until `until`.
  mutating func recordAnswered(_ kind: UInt16, sends: UInt8, until: Instant) {
    let answered = (kind == self.kind ? consumed : 0) + 1
    expected = sends > answered ? sends - answered : 0
    consumed = 0
    self.kind = kind
    self.until = until
  }
}
