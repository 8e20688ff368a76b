import LinuxHAL
import LocationEngine
import LocationTypes

/// Decides which fixes are measurements of the system clock, and computes the sample for chronyd.
///
/// # Problem
///
/// A board that has no network and no battery-backed clock starts in 1970, and the receiver's time is all that corrects
/// it. A wrong sample would set the clock of the whole system. Receivers send wrong times after a cold start: with a
/// date of another week cycle, or with an outdated number of leap seconds. And a time is worth only as much as its
/// arrival is known: bytes that were buffered while the board slept have none.
///
/// # States
///
///     UNTRUSTED(n)  n fixes in a row with a certain date agree with each other, n < 3
///     TRUSTED       at least 3 agree: each further one is a sample
///
///     UNTRUSTED(n) ──the fix agrees with the last──▶ UNTRUSTED(n + 1) or TRUSTED
///     any          ──uncertain date────────────────▶ UNTRUSTED(0)
///     any          ──does not agree, or too long ago──▶ UNTRUSTED(1)
///
/// Two fixes agree if UTC and the boot clock have advanced by the same time. So the count restarts after a receiver
/// was replaced, has lost its clock or corrected its leap seconds, after a false pulse, and if the boot clock
/// itself is wrong: on a board without a clock that runs while it is suspended, and while chronyd slews the clocks. It
/// does not restart after each sleep of the receiver: the fixes of a receiver that is on for a second of each minute
/// agree, and each is a sample.
///
/// # Invariants
///
/// - The wall clock is read for each sample and never stored, so a step of it changes no decision. Time is an argument.
/// - At most one sample for each second.
/// - If the profile has a pulse line, each sample is the time of a pulse: arrivals are late by the receiver's delay,
///   and the clock would follow them. Otherwise each is the time of an arrival.
///
/// Bounded: fixed size, O(1).
struct ClockDiscipline {
  /// What a fix is for the wall clock.
  enum Outcome: Equatable {
    /// A measurement to send.
    case sample(Measurement)
    /// None: the receiver's date is not certain.
    case uncertainDate
    /// None: too few fixes agree with each other.
    case tooFewFixes
    /// None: the arrival of the fix is unknown.
    case unknownArrival
    /// None: the fix may be in a leap second, whose UTC is not that of the system clock.
    case leapSecond
    /// None: the receiver has a pulse per second, and this fix has none.
    case withoutPulse
    /// None: less than a second has passed since the last one.
    case tooSoon
  }

  /// A measurement of the wall clock.
  struct Measurement: Equatable {
    let sample: RefclockSample
    /// Whether it is the time of a pulse, and not of an arrival.
    let isPulse: Bool
  }

  /// Number of agreeing fixes before the first sample, as in gpsd.
  static let requiredFixes = 3
  /// Largest disagreement of two arrivals that follow each other, apart from the drift. Arrivals vary by less, and a
  /// leap second is more.
  static let arrivalTolerance = Interval.milliseconds(700)
  /// Largest disagreement of two pulses. It rejects a glitch of the line, and a pulse of another second.
  static let pulseTolerance = Interval.milliseconds(5)
  /// Largest drift of the boot clock, as the fraction of a microsecond per this many microseconds: 100 ppm.
  static let driftDivisor: Int64 = 10_000
  /// Longest time between two fixes that can agree: after it, drift and tolerance hide a leap second.
  static let longestGap = Interval.seconds(2_900)
  /// UTC from which on nanoseconds since 1970 do not fit into 64 bits, with a reserve: 2200-01-01.
  static let latestUTC = UTCTime(microseconds: 7_258_118_400_000_000)

  /// Shortest time between two samples. A receiver with more fixes per second gives one sample for each second.
  static let shortestInterval = Interval.milliseconds(900)

  /// Whether the receiver has a pulse per second.
  private let usesPulse: Bool
  private var agreeing = 0
  private var last: (utc: UTCTime, time: Instant)?
  private var lastSample: Instant?

  /// - Parameter usesPulse: Whether the profile has a line for the receiver's pulse per second.
  init(usesPulse: Bool) { self.usesPulse = usesPulse }

  /// Handles a fix.
  ///
  /// - Parameter wallTimeAtBoot_ns: The wall clock at zero of the boot clock, read now.
  mutating func handle(_ epoch: EpochTime, wallTimeAtBoot_ns: Int64) -> Outcome {
    guard !epoch.isDateUncertain, epoch.utc >= UTCTime(microseconds: 0),
      epoch.utc < ClockDiscipline.latestUTC
    else {
      agreeing = 0
      last = nil
      return .uncertainDate
    }
    if ClockDiscipline.mayBeLeapSecond(epoch.utc) { return .leapSecond }
    guard let arrival = epoch.arrival else { return .unknownArrival }
    var new = (utc: epoch.utc, time: arrival)
    if usesPulse {
      guard let pulse = epoch.pulse else { return .withoutPulse }
      new = (pulse.utc, pulse.time)
    }
    let isTrusted = agreeing >= ClockDiscipline.requiredFixes
    let agrees = last.map { agree($0, new) } ?? false
    last = new
    agreeing = agrees ? min(agreeing + 1, ClockDiscipline.requiredFixes) : 1
    guard isTrusted, agrees else { return .tooFewFixes }
    if let lastSample, new.time - lastSample < ClockDiscipline.shortestInterval { return .tooSoon }
    lastSample = new.time
    let wallTime_ns = wallTimeAtBoot_ns + new.time.microseconds * 1_000
    return .sample(
      Measurement(
        sample: RefclockSample(
          wallTime_ns: wallTime_ns, offset_ns: new.utc.microseconds * 1_000 - wallTime_ns,
          leap: ClockDiscipline.leap(epoch)), isPulse: usesPulse))
  }

  private func agree(
    _ last: (utc: UTCTime, time: Instant), _ new: (utc: UTCTime, time: Instant)
  ) -> Bool {
    let elapsed = new.time - last.time
    guard elapsed > .zero, elapsed <= ClockDiscipline.longestGap else { return false }
    let difference = (new.utc - last.utc) - elapsed
    let tolerance =
      usesPulse ? ClockDiscipline.pulseTolerance : ClockDiscipline.arrivalTolerance
    return abs(difference.microseconds)
      <= tolerance.microseconds + elapsed.microseconds / ClockDiscipline.driftDivisor
  }

  /// Whether a time is in the last millisecond of a minute, into which the decoder compresses a leap second.
  private static func mayBeLeapSecond(_ utc: UTCTime) -> Bool {
    utc.microseconds % 60_000_000 >= 59_999_000
  }

  /// The announced leap second. Leap seconds are at the end of June or December; an announcement on another day is an
  /// error of the receiver, or an old one.
  private static func leap(_ epoch: EpochTime) -> RefclockSample.Leap {
    let date = epoch.utc.date
    guard (date.month == 6 && date.day == 30) || (date.month == 12 && date.day == 31) else {
      return .none
    }
    return epoch.leapChange > 0 ? .inserted : epoch.leapChange < 0 ? .deleted : .none
  }
}
