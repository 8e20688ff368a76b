import LocationTypes

/// Learns where UTC lies on the boot clock, so that a fix that was kept, in the receiver's batch or
/// on the line, gets its true moment.
///
/// A live fix arrives late by transmission, and later if nobody listened; never early: the smallest
/// distance seen is the best. A fix of a whole second with a pulse of the receiver's before it tells the
/// distance itself.
struct FixClock: Sendable {
  /// A distance that differs by more is a step of UTC or great lateness.
  static let step = Interval.seconds(1)
  /// No live fix is read later than that.
  static let lateness = Interval.seconds(120)
  /// No fix is kept in a receiver for longer than that.
  static let keeping = Interval.seconds(2 * 86_400)
  /// So many live fixes running must agree on another distance before UTC is taken to have stepped.
  static let patience = 3
  /// No fix is read later after its pulse: its first bytes come within a second, and the board gathers the rest for
  /// at most 0.9 s (`BurstTiming.longest`).
  static let pulseAge = Interval.milliseconds(1_900)
  /// How far the UTC of a fix may be off a whole second, for its receiver's clock, µs.
  static let pulseTolerance_us: Int64 = 1_000

  /// UTC of the boot clock's zero, µs; nil until the first live fix with a time.
  private(set) var bootUTC_us: Int64?
  private var disagreeing = 0
  private var lastUTC = UTCTime(microseconds: 0)
  private var lastReceived = Instant.boot

  /// Notes that a fix out of a batch was made at `received` at the latest: it may be much older,
  /// but the newest of a batch is not old, and those behind it were each made an interval later.
  mutating func learnStored(_ utc: UTCTime, received: Instant) {
    let seen = utc.microseconds - received.microseconds
    let ahead = bootUTC_us.map { seen - $0 } ?? 0
    guard ahead >= 0 && ahead <= FixClock.lateness.microseconds else { return }
    bootUTC_us = seen
  }

  /// Notes that a live fix of `utc` was there at `received`.
  ///
  /// - Parameter pulse: The receiver's last pulse before it.
  mutating func learn(_ utc: UTCTime, received: Instant, pulse: Instant? = nil) {
    defer {
      lastUTC = utc
      lastReceived = received
    }
    let exact = FixClock.distance(of: utc, received: received, pulse: pulse)
    let seen = exact ?? utc.microseconds - received.microseconds
    guard let known = bootUTC_us else {
      bootUTC_us = seen
      return
    }
    let ahead = Interval(microseconds: seen - known)
    if ahead >= .zero - FixClock.step && ahead <= FixClock.lateness {
      disagreeing = 0
      bootUTC_us = exact ?? max(known, seen)
      return
    }
    // What has gathered on the line is read at one time and says nothing of where UTC lies.
    let isPrompt = (received - lastReceived) * 2 >= utc - lastUTC
    disagreeing = disagreeing == 0 || isPrompt ? disagreeing + 1 : 1
    if disagreeing >= FixClock.patience {
      bootUTC_us = seen
      disagreeing = 0
    }
  }

  /// UTC of the boot clock's zero by a pulse, µs; nil where the pulse is not the fix's.
  private static func distance(of utc: UTCTime, received: Instant, pulse: Instant?) -> Int64? {
    guard let pulse, pulse <= received, received - pulse <= pulseAge else { return nil }
    let second_us = (utc.microseconds + pulseTolerance_us) / 1_000_000 * 1_000_000
    guard abs(utc.microseconds - second_us) <= pulseTolerance_us else { return nil }
    return second_us - pulse.microseconds
  }

  /// The moment of `utc` on the boot clock, never later than `now`.
  ///
  /// It is `now` while nothing is known, and when UTC has stepped so far that nothing else can be.
  func instant(of utc: UTCTime?, at now: Instant, isLive: Bool) -> Instant {
    guard let utc, let bootUTC_us else { return now }
    let moment = Instant(microseconds: utc.microseconds - bootUTC_us)
    let age = now - moment
    let oldest = isLive ? FixClock.lateness : FixClock.keeping
    return age < .zero || age > oldest ? now : moment
  }
}
