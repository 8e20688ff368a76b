import LocationTypes

/// How often something was tried in vain, so that every retry is bounded.
struct Attempts: Sendable {
  /// Times the receiver was woken since it was last heard.
  var wakes: UInt8 = 0
  /// Times it was told the line's speed since it was last heard there.
  var speedChanges: UInt8 = 0
  /// Times it was given up since it last did what it should; stops at 255.
  var losses: UInt8 = 0
  /// The loss was told.
  var isTold = false
  /// The next thing is to cut the supply and start anew.
  var cyclesPower = false
  /// Times it woke by itself since it last slept well or the goal changed; stops at 255.
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
    // One that does not stay asleep was not found again: it is left alone longer each time.
    if sleepFailures <= Attempts.sleepFailuresBorne { losses = 0 }
    isTold = false
    settledAt = now
  }

  /// Whether a lost configuration is to be written again: at most three times a minute.
  mutating func mayReconfigure(at now: Instant) -> Bool {
    if now - reconfiguredAt > .seconds(60) { reconfigurations = 0 }
    guard reconfigurations < 3 else { return false }
    if reconfigurations == 0 { reconfiguredAt = now }
    reconfigurations += 1
    return true
  }

  /// Counts a waking by itself; true after the third within a short time.
  mutating func wakesTooOften(at now: Instant) -> Bool {
    if now - settledAt > .seconds(60) { sleepFailures = 0 }
    if sleepFailures < .max { sleepFailures += 1 }
    return sleepFailures > Attempts.sleepFailuresBorne
  }

  private static let sleepFailuresBorne: UInt8 = 3
}

/// Answers that may still come to a command that was sent more than once.
///
/// An acknowledgement names the message's kind, not the command: without this, the late answer to one
/// CFG-VALSET would pass for the answer to the next. Those of one kind at a time are counted: the
/// kind that was answered last.
struct StaleAnswers: Sendable {
  /// How many may come.
  private(set) var expected: UInt8 = 0
  private var taken: UInt8 = 0
  private var until = Instant.boot
  private var kind: UInt16 = 0

  /// Whether an answer of a kind belongs to an earlier command.
  mutating func takes(_ kind: UInt16, at now: Instant) -> Bool {
    guard expected > 0, kind == self.kind, now <= until else { return false }
    expected -= 1
    taken += 1
    return true
  }

  /// A command of a kind that was sent `sends` times was answered.
  mutating func completed(_ kind: UInt16, sends: UInt8, until: Instant) {
    let answered = (kind == self.kind ? taken : 0) + 1
    expected = sends > answered ? sends - answered : 0
    taken = 0
    self.kind = kind
    self.until = until
  }
}
