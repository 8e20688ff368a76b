import LocationTypes

/// A UBX epoch's moment as the calendar has it.
struct DatedMoment {
  var utc_us: Int64
  var time_us: Int64
  var isUncertain: Bool
}

/// Which day an epoch belongs to: from its sentences, the epoch before, or the recording (STD-13).
struct EpochCalendar {
  private let recordingDay: Int?
  private let earliestDay: Int?
  private var lastDay: Int?
  private var lastTime_us: Int64 = 0
  private var isLastUncertain = false
  /// A moment whose date did not follow from the last one: the next that agrees with it confirms it.
  private var suspect: (day: Int, time_us: Int64)?
  /// The sentences' last epoch had a position.
  private var hadFix = false
  private var today = Today()

  /// A GPS week rollover: 1,024 weeks, in days.
  static let rollover_days = 7_168
  private static let day_us: Int64 = 86_400_000_000

  init(_ options: EpochOptions) {
    recordingDay = options.recordingDate?.daysSince1970
    earliestDay = options.earliestDate?.daysSince1970
    today = dayOf(0)
  }

  /// Finds the time of day of a UBX epoch and repairs its date if it must be.
  ///
  /// All epochs of a day have the same repair, so it is worked out once a day.
  @inline(__always) mutating func date(_ utc_us: Int64, isResolved: Bool) -> DatedMoment {
    var time_us = utc_us &- today.start_us
    if UInt64(bitPattern: time_us) >= UInt64(EpochCalendar.day_us) {
      today = dayOf(utc_us)
      time_us = utc_us &- today.start_us
    }
    return DatedMoment(
      utc_us: utc_us &+ today.shift_us, time_us: time_us,
      isUncertain: today.isUncertain || !isResolved)
  }

  /// Remembers the moment that was dated last: sentences without a date go on from it. One whose date
  /// leaps is marked instead, until the next one confirms it.
  @inline(__always) mutating func hold(_ moment: inout DatedMoment) {
    if lastDay != today.day, isLeap(today.day, moment.time_us) {
      moment.isUncertain = true
    } else {
      remember(today.day, moment.time_us, moment.isUncertain)
    }
  }

  /// Whether a date that was told does not follow from the last one, nor from the one before it that
  /// did not: a receiver that is wrong for one epoch.
  @inline(never) private mutating func isLeap(_ day: Int, _ time_us: Int64) -> Bool {
    guard let lastDay, !isLastUncertain else { return false }
    if !EpochCalendar.leaps(day, time_us, from: (lastDay, lastTime_us)) { return false }
    // Another sentence of the same moment confirms nothing.
    if let suspect, suspect.time_us != time_us,
      !EpochCalendar.leaps(day, time_us, from: suspect)
    {
      return false
    }
    suspect = (day, time_us)
    return true
  }

  /// Whether a moment lies days before another, more than a year after it, or days after it while the
  /// clock went on by less than a minute: a recording with a gap goes on at any time of day.
  private static func leaps(
    _ day: Int, _ time_us: Int64, from last: (day: Int, time_us: Int64)
  ) -> Bool {
    let step = day - last.day - days(from: last.time_us, to: time_us)
    if step <= 0 { return step < 0 }
    return step > longestGap_days
      || EpochAssembler.distance_us(last.time_us, time_us) < clockStep_us
  }

  /// The longest gap in a recording that leaves its dates above suspicion.
  private static let longestGap_days = 366
  /// By less than this a clock goes on from one epoch to the next.
  private static let clockStep_us: Int64 = 60_000_000

  /// What is the same for all moments of a reported day.
  private struct Today {
    /// Where it begins, as reported.
    var start_us: Int64 = 0
    /// What is added to repair it.
    var shift_us: Int64 = 0
    /// Repaired.
    var day = 0
    var isUncertain = false
  }

  @inline(never) private func dayOf(_ utc_us: Int64) -> Today {
    let time_us = UTCTime(microseconds: utc_us).microsecondsOfDay
    let reported = Int((utc_us &- time_us) / EpochCalendar.day_us)
    let repaired = repair(reported)
    return Today(
      start_us: utc_us &- time_us,
      shift_us: Int64(repaired.day - reported) * EpochCalendar.day_us, day: repaired.day,
      isUncertain: repaired.isUncertain)
  }

  /// What the sentences of an epoch say of its date.
  struct Told {
    /// UTC time of day.
    var time_us: Int64?
    /// Of ZDA, as ``day(of:)`` reads it.
    var zdaDay: Int?
    var rmcDate: ShortDate?
    /// RMC holds the position for valid.
    var isRMCValid: Bool
  }

  /// Gives an NMEA epoch its date, if it can be told.
  ///
  /// A receiver that has no position tells the date of a clock that may never have been set; it is
  /// marked uncertain and not held for those that come.
  mutating func date(_ epoch: inout Epoch, by told: Told) {
    hadFix = epoch.hasFix
    guard let time_us = told.time_us else { return }
    if let (day, isDisputed) = agreed(told.rmcDate, told.zdaDay) {
      let repaired = repair(day)
      let isTrusted = told.zdaDay != nil ? epoch.hasFix : told.isRMCValid
      let isLeap = isTrusted && lastDay != repaired.day && isLeap(repaired.day, time_us)
      let isUncertain = repaired.isUncertain || isDisputed
      epoch.isDateUncertain = isUncertain || !isTrusted || isLeap
      set(&epoch, repaired.day, time_us)
      if isTrusted, !isLeap { remember(repaired.day, time_us, isUncertain) }
    } else if let lastDay {
      let day = lastDay + EpochCalendar.days(from: lastTime_us, to: time_us)
      epoch.isDateUncertain = isLastUncertain
      set(&epoch, day, time_us)
      remember(day, time_us, isLastUncertain)
    } else if let recordingDay {
      epoch.isDateUncertain = true
      set(&epoch, recordingDay, time_us)
      remember(recordingDay, time_us, true)
    }
  }

  /// The day that a ZDA tells; nil where it tells none, or one that is out of range.
  ///
  /// Two digits of a year are read as RMC's are.
  func day(of m: ZDA) -> Int? {
    if let short = m.shortDate { return fullDay(short) }
    guard let date = m.date, EpochCalendar.years.contains(date.year) else { return nil }
    return date.daysSince1970
  }

  /// Years in which satellites tell the time, and in which a recording can be made.
  private static let years = 1980...2999

  /// The day of an epoch of which RMC and ZDA tell one each. RMC has no century: where all else is the
  /// same, ZDA's counts. Where they differ one of them is wrong, and nothing says which.
  private func agreed(_ rmcDate: ShortDate?, _ zdaDay: Int?) -> (day: Int, isDisputed: Bool)? {
    guard let rmcDate, let rmcDay = fullDay(rmcDate) else { return zdaDay.map { ($0, false) } }
    guard let zdaDay, zdaDay != rmcDay else { return (rmcDay, false) }
    let isSame = ShortDate(CalendarDate(daysSince1970: zdaDay)) == rmcDate
    return isSame ? (zdaDay, false) : (rmcDay, true)
  }

  /// Holds the day that a ZDA told for a time of its own.
  mutating func learn(_ day: Int, _ time_us: Int64) {
    let repaired = repair(day)
    if lastDay != repaired.day, isLeap(repaired.day, time_us) { return }
    // Without a position it is the date of a clock that may never have been set.
    remember(repaired.day, time_us, repaired.isUncertain || !hadFix)
  }

  /// How many days lie between a moment's time of day and the next one, which has no date.
  ///
  /// Gone back by more than half a day, midnight has passed; forward by a day less a little, a clock
  /// was put back over it, by leap seconds for instance.
  private static func days(from last_us: Int64, to time_us: Int64) -> Int {
    let step_us = time_us - last_us
    if step_us < -EpochCalendar.day_us / 2 { return 1 }
    return step_us > EpochCalendar.day_us - EpochCalendar.stepBack_us ? -1 : 0
  }

  /// The most that a receiver's clock is put back.
  private static let stepBack_us: Int64 = 60_000_000

  /// 23:59:60 of a sentence is past the day's end.
  static func withinDay(_ time_us: Int64) -> Int64 {
    time_us < day_us ? time_us : LeapSecond.squeezed(time_us)
  }

  private func set(_ epoch: inout Epoch, _ day: Int, _ time_us: Int64) {
    epoch.take(
      DatedMoment(
        utc_us: Int64(day) * EpochCalendar.day_us + time_us, time_us: time_us,
        isUncertain: epoch.isDateUncertain))
  }

  private mutating func remember(_ day: Int, _ time_us: Int64, _ isUncertain: Bool) {
    lastDay = day
    lastTime_us = time_us
    isLastUncertain = isUncertain
    suspect = nil
  }

  /// The century is the recording's, or the years are 1980 to 2079.
  private func fullDay(_ date: ShortDate) -> Int? {
    let year = Int(date.year)
    let (month, day) = (Int(date.month), Int(date.day))
    guard let recordingDay else {
      let full = year >= 80 ? 1_900 + year : 2_000 + year
      return CalendarDate(year: full, month: month, day: day)?.daysSince1970
    }
    var nearest: Int?
    var century = 1_900
    while century <= 2_100 {
      if let days = CalendarDate(year: century + year, month: month, day: day)?.daysSince1970,
        nearest.map({ abs(days - recordingDay) < abs($0 - recordingDay) }) ?? true
      {
        nearest = days
      }
      century += 100
    }
    return nearest
  }

  /// Moves a date by whole 1,024 weeks to where it is nearest to the recording's, or not before
  /// the build's.
  private func repair(_ day: Int) -> (day: Int, isUncertain: Bool) {
    let rollover = EpochCalendar.rollover_days
    if let recordingDay {
      let distance = day - recordingDay
      let half = distance < 0 ? -rollover / 2 : rollover / 2
      let count = (distance + half) / rollover
      return (day - count * rollover, count != 0)
    }
    if let earliestDay, day < earliestDay {
      let count = (earliestDay - day + rollover - 1) / rollover
      return (day + count * rollover, true)
    }
    return (day, false)
  }
}
