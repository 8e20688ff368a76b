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

  /// Remembers the moment that was dated last: sentences without a date go on from it.
  @inline(__always) mutating func hold(_ moment: DatedMoment) {
    remember(today.day, moment.time_us, moment.isUncertain)
  }

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
    var zdaDate: CalendarDate?
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
    if let day = told.zdaDate?.daysSince1970 ?? told.rmcDate.flatMap({ fullDay($0) }) {
      let repaired = repair(day)
      let isTrusted = told.zdaDate != nil ? epoch.hasFix : told.isRMCValid
      epoch.isDateUncertain = repaired.isUncertain || !isTrusted
      set(&epoch, repaired.day, time_us)
      if isTrusted { remember(repaired.day, time_us, repaired.isUncertain) }
    } else if let lastDay {
      let day = lastDay + days(to: time_us)
      epoch.isDateUncertain = isLastUncertain
      set(&epoch, day, time_us)
      remember(day, time_us, isLastUncertain)
    } else if let recordingDay {
      epoch.isDateUncertain = true
      set(&epoch, recordingDay, time_us)
      remember(recordingDay, time_us, true)
    }
  }

  /// Holds the date that a ZDA told for a time of its own.
  mutating func learn(_ date: CalendarDate?, _ time_us: Int64) {
    guard let date else { return }
    let repaired = repair(date.daysSince1970)
    // Without a position it is the date of a clock that may never have been set.
    remember(repaired.day, time_us, repaired.isUncertain || !hadFix)
  }

  /// How many days lie between the last moment and a time of day without a date.
  ///
  /// Gone back by more than half a day, midnight has passed; forward by a day less a little, a clock
  /// was put back over it, by leap seconds for instance.
  private func days(to time_us: Int64) -> Int {
    let step_us = time_us - lastTime_us
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
