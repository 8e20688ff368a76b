import LocationTypes

/// Counters of failed attempts, by which drivers limit retries. The limits are in `DriverTimeouts`.
struct Attempts: Sendable {
  /// Number of wake-ups since the receiver last answered.
  var wakes: UInt8 = 0
  /// Number of baud rate changes since the receiver last answered at the line's baud rate.
  var speedChanges: UInt8 = 0
  /// Number of losses since the receiver last reached its goal; saturates at 255.
  var losses: UInt8 = 0
  /// Whether the current loss was reported.
  var isTold = false
  /// Whether the driver is about to power-cycle the receiver.
  var cyclesPower = false
  /// Number of unexpected wake-ups since the receiver last stayed asleep or the goal changed; saturates at 255.
  var sleepFailures: UInt8 = 0
  private var settledAt = Instant.boot
  private var reconfigurations: UInt8 = 0
  private var reconfiguredAt = Instant.boot

  mutating func lose() {
    if losses < .max { losses += 1 }
    wakes = 0
    speedChanges = 0
  }

  mutating func settle(at now: Instant) {
    // A receiver that does not stay asleep has not recovered: its back-off keeps increasing.
    if sleepFailures <= Attempts.sleepFailuresBorne { losses = 0 }
    isTold = false
    settledAt = now
  }

  /// Counts a reconfiguration. Returns false, without counting, after three within a minute.
  mutating func mayReconfigure(at now: Instant) -> Bool {
    if now - reconfiguredAt > .seconds(60) { reconfigurations = 0 }
    guard reconfigurations < 3 else { return false }
    if reconfigurations == 0 { reconfiguredAt = now }
    reconfigurations += 1
    return true
  }

  /// Counts an unexpected wake-up. Returns true from the fourth on, if each came within 60 s of reaching the goal.
  mutating func wakesTooOften(at now: Instant) -> Bool {
    if now - settledAt > .seconds(60) { sleepFailures = 0 }
    if sleepFailures < .max { sleepFailures += 1 }
    return sleepFailures > Attempts.sleepFailuresBorne
  }

  private static let sleepFailuresBorne: UInt8 = 3
}

/// Late answers to a command that was sent more than once.
///
/// An acknowledgement identifies the message type, not the individual command. Without this counter, the late answer
/// to one CFG-VALSET would be mistaken for the answer to the next one. Only answers of the type that was answered
/// last are counted.
struct StaleAnswers: Sendable {
  /// Number of late answers that may still arrive.
  private(set) var expected: UInt8 = 0
  private var taken: UInt8 = 0
  private var until = Instant.boot
  private var kind: UInt16 = 0

  /// Whether an answer of this kind belongs to an earlier command; if so, counts it as arrived.
  mutating func takes(_ kind: UInt16, at now: Instant) -> Bool {
    guard expected > 0, kind == self.kind, now <= until else { return false }
    expected -= 1
    taken += 1
    return true
  }

  /// Records that a command of this kind, which was sent `sends` times, was answered. Late answers are expected
  /// until `until`.
  mutating func completed(_ kind: UInt16, sends: UInt8, until: Instant) {
    let answered = (kind == self.kind ? taken : 0) + 1
    expected = sends > answered ? sends - answered : 0
    taken = 0
    self.kind = kind
    self.until = until
  }
}
