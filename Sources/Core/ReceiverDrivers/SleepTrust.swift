import LocationTypes

/// What shows that a receiver executes its standby command. A part of ``ReceiverLink``.
///
/// # Problem
///
/// A receiver that falls asleep gives no sign of it but silence, and waiting for that keeps the board awake for one to
/// three seconds. Silence is therefore observed once, and the commands of the next hour are trusted: the board may sleep
/// as soon as the command is sent (PWR-4). A receiver that is still trusted after an hour is observed then, without
/// another command, which would wake it.
///
/// # States
///
///     settled ── command ──▶ entering ── silence or acknowledgement ──▶ settled, and the next hour's commands are trusted
///        │                      └────── the wait is cut short ────────▶ settled
///        │
///        └── command ──▶ trusted ── acknowledgement ──▶ settled
///                          │  ▲
///              an hour ago │  │ the wait is cut short
///                          ▼  │
///                        checking ── silence ──▶ settled
///
/// From every state, a wake-up or a power-off leads to settled, and so does a failure, after which no command is trusted until silence
/// was observed again.
///
/// # Who changes what
///
/// Only the functions of this type write the properties; ``ReceiverLink`` calls them. All are O(1).
struct SleepTrust: Equatable, Sendable {
  private enum State: Equatable, Sendable {
    /// The receiver is awake, or silence has shown that it sleeps.
    case settled
    /// Waits for silence after the standby command sent at `start`.
    case entering(start: Instant)
    /// The receiver counts as asleep since the standby command sent at `start`, although nothing has shown it.
    case trusted(start: Instant)
    /// Waits from `checkStart` for silence of a receiver that was trusted since `start`.
    case checking(checkStart: Instant, start: Instant)
  }

  private var state = State.settled
  /// When silence last showed that the receiver executes the command; nil if it never did, and after a failure.
  private var observedAt: Instant?

  /// Whether the receiver counts as asleep although nothing has shown it.
  var isTrusted: Bool {
    switch state {
    case .trusted: true
    case .settled, .entering, .checking: false
    }
  }

  /// Whether the wait for silence follows no command.
  var isChecking: Bool {
    switch state {
    case .checking: true
    case .settled, .entering, .trusted: false
    }
  }

  /// Start of the wait for silence.
  ///
  /// - Precondition: A wait has begun, by ``begin(mayTrust:at:)`` or ``beginCheck(at:)``.
  var start: Instant {
    switch state {
    case .settled: preconditionFailure("no wait for silence has begun")
    case .entering(let start), .trusted(let start), .checking(let start, _): start
    }
  }

  /// When the board must be awake to observe a trusted receiver; nil if that is not necessary.
  var checkTime: Instant? {
    switch state {
    case .settled, .entering: nil
    case .trusted(let start), .checking(_, let start): start + DriverTimeouts.sleepTrustTime
    }
  }

  /// A standby command was sent.
  ///
  /// - Parameter mayTrust: Whether the board may sleep without the wait for silence.
  mutating func begin(mayTrust: Bool, at now: Instant) {
    let isRecent = observedAt.map { now - $0 <= DriverTimeouts.sleepTrustTime } ?? false
    state = mayTrust && isRecent ? .trusted(start: now) : .entering(start: now)
  }

  /// The wait for silence of a trusted receiver begins, without a command.
  ///
  /// - Precondition: ``isTrusted``. Only a trusted receiver in standby has a ``checkTime``.
  mutating func beginCheck(at now: Instant) {
    switch state {
    case .settled, .entering, .checking:
      preconditionFailure("only a trusted receiver is checked")
    case .trusted(let start): state = .checking(checkStart: now, start: start)
    }
  }

  /// The receiver counts as asleep.
  ///
  /// - Parameters:
  ///   - silence: Length of a wait that shows it.
  ///   - isAcknowledged: Whether the receiver has acknowledged the command.
  mutating func finish(after silence: Interval, isAcknowledged: Bool, at now: Instant) {
    switch state {
    case .settled: break
    case .trusted:
      // The receiver may have sent output while the board was suspended.
      if isAcknowledged { settle(observedAt: now) }
    case .entering(let begin):
      let isShown = isAcknowledged || now - begin >= silence
      settle(observedAt: isShown ? now : observedAt)
    case .checking(let begin, let start):
      if isAcknowledged || now - begin >= silence {
        settle(observedAt: now)
      } else {
        state = .trusted(start: start)
      }
    }
  }

  /// The receiver is woken, or switched off.
  mutating func reset() { state = .settled }

  /// The receiver did not fall asleep, woke by itself, or is lost: its next standby is observed.
  mutating func fail() { settle(observedAt: nil) }

  private mutating func settle(observedAt: Instant?) {
    self.observedAt = observedAt
    state = .settled
  }
}
