import LocationTypes

/// Estimates the offset between UTC and the boot clock, to compute when a buffered fix was measured.
///
/// A live fix arrives after its measurement, by the transmission time or more, and never before it. The largest offset
/// UTC − arrival is therefore the best estimate. A fix at a whole second that follows a pulse per second gives the
/// offset exactly.
struct FixClock: Sendable {
  /// Largest deviation of an offset downwards; a larger one means that UTC was stepped or the fix was very late.
  static let maximumStepBack = Interval.seconds(1)
  /// Longest delay between measurement and reading of a live fix.
  static let maximumLateness = Interval.seconds(120)
  /// Longest time for which a receiver buffers a fix.
  static let maximumBatchAge = Interval.seconds(2 * 86_400)
  /// Number of consecutive live fixes that must deviate before the offset is replaced.
  static let stepConfirmations = 3
  /// Longest time between a pulse and the arrival of its fix: the first bytes follow within a second, and the board
  /// reads the rest at most 0.9 s later (`BurstTiming.maximumSpan`).
  static let maximumPulseAge = Interval.milliseconds(1_900)
  /// Largest distance of a fix's UTC from a whole second, because of the receiver's clock error, µs.
  static let pulseTolerance_us: Int64 = 1_000

  /// UTC at zero of the boot clock, µs; nil until the first live fix with a time.
  private(set) var bootUTC_us: Int64?
  private var deviatingFixes = 0
  private var lastUTC = UTCTime(microseconds: 0)
  private var lastReceived = Instant.boot

  /// Updates the offset from a batched fix.
  ///
  /// - Parameter received: Latest possible measurement time: the arrival time minus one interval for each fix that
  ///   follows in the batch. The fix may be much older.
  mutating func updateFromBatch(_ utc: UTCTime, received: Instant) {
    let offset = utc.microseconds - received.microseconds
    let ahead = bootUTC_us.map { offset - $0 } ?? 0
    guard ahead >= 0 && ahead <= FixClock.maximumLateness.microseconds else { return }
    bootUTC_us = offset
  }

  /// Updates the offset from a live fix with time `utc` that arrived at `received`.
  ///
  /// - Parameter pulse: The pulse that marks the second of `utc`; nil without one.
  mutating func update(_ utc: UTCTime, received: Instant, pulse: EpochTime.Pulse? = nil) {
    defer {
      lastUTC = utc
      lastReceived = received
    }
    let exact = pulse.map { $0.utc.microseconds - $0.time.microseconds }
    let offset = exact ?? utc.microseconds - received.microseconds
    guard let known = bootUTC_us else {
      bootUTC_us = offset
      return
    }
    let ahead = Interval(microseconds: offset - known)
    if ahead >= .zero - FixClock.maximumStepBack && ahead <= FixClock.maximumLateness {
      deviatingFixes = 0
      bootUTC_us = exact ?? max(known, offset)
      return
    }
    // Buffered fixes are read at the same time, so their arrival times do not show the offset.
    let isPrompt = (received - lastReceived) * 2 >= utc - lastUTC
    deviatingFixes = deviatingFixes == 0 || isPrompt ? deviatingFixes + 1 : 1
    if deviatingFixes >= FixClock.stepConfirmations {
      bootUTC_us = offset
      deviatingFixes = 0
    }
  }

  /// The pulse at `time` with its whole second; nil if it does not belong to the fix.
  static func pulse(at time: Instant, of utc: UTCTime, received: Instant) -> EpochTime.Pulse? {
    guard time <= received, received - time <= maximumPulseAge else { return nil }
    let second_us = (utc.microseconds + pulseTolerance_us) / 1_000_000 * 1_000_000
    guard abs(utc.microseconds - second_us) <= pulseTolerance_us else { return nil }
    return EpochTime.Pulse(time: time, utc: UTCTime(microseconds: second_us))
  }

  /// The time of `utc` on the boot clock, not later than `now`.
  ///
  /// It is `now` if the offset is unknown, or if the result is implausible because UTC was stepped.
  func instant(of utc: UTCTime?, at now: Instant, isLive: Bool) -> Instant {
    guard let utc, let bootUTC_us else { return now }
    let moment = Instant(microseconds: utc.microseconds - bootUTC_us)
    let age = now - moment
    let oldest = isLive ? FixClock.maximumLateness : FixClock.maximumBatchAge
    return age < .zero || age > oldest ? now : moment
  }
}
