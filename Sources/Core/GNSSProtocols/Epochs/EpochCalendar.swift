import LocationTypes

/// Date and time of an epoch after repair.
struct DatedMoment {
  var utc_us: Int64
  var time_us: Int64
  var isUncertain: Bool
}

/// Determines the date of each epoch: from its messages, the epoch before, or the recording's date
/// (STD-13).
///
/// Most NMEA sentences have a time without a date, RMC has a two-digit year, and GPS week numbers wrap
/// every 1,024 weeks. The calendar adds the missing date, repairs rollovers, and marks a date as
/// uncertain if the receiver's clock is not set or if the date jumps (back by more than 60 s, or ahead by
/// more than 366 days). A jump is accepted once a second, later time confirms it. Part of
/// ``EpochAssembler``, its only caller; depends on `LocationTypes`.
struct EpochCalendar {
  private let recordingDay: Int?
  private let earliestDay: Int?
  private var lastDay: Int?
  private var lastTime_us: Int64 = 0
  private var isLastUncertain = false
  /// The last certain moment while ``isLastUncertain``.
  private var lastCertain: Moment?
  /// A moment whose date jumped from the certain one; the next moment that continues it confirms it.
  private var suspect: Moment?
  /// Whether the last epoch shows that the receiver's clock is set: by a position, or by UBX validity
  /// flags and a date that needed no repair.
  private var isClockSet = false
  private var currentDay = ReportedDay()

  /// GPS week rollover, 1,024 weeks, in days.
  private static let rollover_days = 7_168
  static let day_us: Int64 = 86_400_000_000

  /// A day since 1970 and a time of that day.
  private struct Moment {
    var day: Int
    var time_us: Int64
  }

  init(_ options: EpochOptions) {
    recordingDay = options.recordingDate?.daysSince1970
    earliestDay = options.earliestDate?.daysSince1970
    currentDay = reportedDay(of: 0)
  }

  /// Computes the time of day of a UBX epoch and repairs its date if necessary.
  ///
  /// The repair is the same for all epochs of a day, so it is computed once a day.
  @inline(__always) mutating func datedMoment(_ utc_us: Int64, isResolved: Bool) -> DatedMoment {
    var time_us = utc_us &- currentDay.start_us
    if UInt64(bitPattern: time_us) >= UInt64(EpochCalendar.day_us) {
      currentDay = reportedDay(of: utc_us)
      time_us = utc_us &- currentDay.start_us
    }
    return DatedMoment(
      utc_us: utc_us &+ currentDay.shift_us, time_us: time_us,
      isUncertain: currentDay.isUncertain || !isResolved)
  }

  /// Records the last dated moment, from which sentences without a date continue. A moment whose date
  /// jumps is marked uncertain instead, until the next one confirms it.
  @inline(__always) mutating func record(_ moment: inout DatedMoment) {
    isClockSet = !moment.isUncertain
    // Fast path for all but the first epoch of a day: saves 7 of 644 instructions for a NAV-PVT.
    if isClockSet, !isLastUncertain, lastDay == currentDay.day {
      lastTime_us = moment.time_us
      suspect = nil
    } else {
      recordChange(&moment)
    }
  }

  /// Records a moment of another day, or one before or after which the date is uncertain.
  @inline(never) private mutating func recordChange(_ moment: inout DatedMoment) {
    if isJump(currentDay.day, moment.time_us) {
      moment.isUncertain = true
    } else {
      recordReported(currentDay.day, moment.time_us, moment.isUncertain)
    }
  }

  /// Whether a reported date continues neither the last certain moment nor the suspect.
  @inline(never) private mutating func isJump(_ day: Int, _ time_us: Int64) -> Bool {
    if !isLastUncertain && lastDay == day { return false }
    guard let certain, certain.day != day else { return false }
    return isUnconfirmed(Moment(day: day, time_us: time_us), after: certain)
  }

  /// The last moment with a certain date; jumps are detected against it.
  private var certain: Moment? {
    isLastUncertain ? lastCertain : lastDay.map { Moment(day: $0, time_us: lastTime_us) }
  }

  /// Whether a moment of another day jumps without confirmation; it then becomes the suspect, which the
  /// next one may confirm.
  private mutating func isUnconfirmed(
    _ moment: Moment, after certain: Moment
  ) -> Bool {
    if !EpochCalendar.isJump(moment, from: certain) { return false }
    if let suspect, EpochCalendar.confirms(moment, suspect) { return false }
    suspect = moment
    return true
  }

  /// Whether a moment is earlier than `last` by more than a clock correction, or more than a year
  /// later.
  private static func isJump(_ moment: Moment, from last: Moment) -> Bool {
    let step_us = distance_us(from: last, to: moment)
    return step_us < -stepBack_us || step_us > longestGap_us
  }

  /// Whether a moment continues a suspect one. Another sentence of the same moment with a differently
  /// rounded time does not confirm it.
  private static func confirms(_ moment: Moment, _ suspect: Moment) -> Bool {
    let step_us = distance_us(from: suspect, to: moment)
    return step_us > EpochAssembler.roundingTolerance_us && step_us <= longestGap_us
  }

  private static func distance_us(from last: Moment, to moment: Moment) -> Int64 {
    Int64(moment.day - last.day) * day_us + moment.time_us - last.time_us
  }

  /// Longest step ahead that is not a jump.
  private static let longestGap_us = 366 * day_us

  /// Values shared by all moments of a reported day.
  private struct ReportedDay {
    /// Start of the day as reported, µs since 1970.
    var start_us: Int64 = 0
    /// Correction that repairs the date, µs.
    var shift_us: Int64 = 0
    /// Repaired day since 1970.
    var day = 0
    var isUncertain = false
  }

  @inline(never) private func reportedDay(of utc_us: Int64) -> ReportedDay {
    let time_us = UTCTime(microseconds: utc_us).microsecondsOfDay
    let reported = Int((utc_us &- time_us) / EpochCalendar.day_us)
    let repaired = repair(reported)
    return ReportedDay(
      start_us: utc_us &- time_us,
      shift_us: Int64(repaired.day - reported) * EpochCalendar.day_us, day: repaired.day,
      isUncertain: repaired.isUncertain)
  }

  /// Time and date from the sentences of one epoch.
  struct ReportedDate {
    /// UTC time of day.
    var time_us: Int64?
    /// Day from ZDA, see ``day(of:)``.
    var zdaDay: Int?
    var rmcDate: ShortDate?
    /// Whether RMC reports a valid position.
    var isRMCValid: Bool
  }

  /// Sets the date of an NMEA epoch if it can be determined.
  ///
  /// A receiver without a position may send the date of a clock that was never set. Such a date is
  /// marked uncertain and not used for later epochs.
  mutating func setDate(_ epoch: inout Epoch, from reported: ReportedDate) {
    isClockSet = epoch.hasFix
    guard let time_us = reported.time_us else { return }
    if let (day, isDisputed) = combinedDay(reported.rmcDate, reported.zdaDay) {
      let repaired = repair(day)
      let isTrusted = reported.zdaDay != nil ? epoch.hasFix : reported.isRMCValid
      let isUnconfirmedJump = isTrusted && isJump(repaired.day, time_us)
      let isUncertain = repaired.isUncertain || isDisputed
      epoch.isDateUncertain = isUncertain || !isTrusted || isUnconfirmedJump
      set(&epoch, repaired.day, time_us)
      if isTrusted, !isUnconfirmedJump { recordReported(repaired.day, time_us, isUncertain) }
    } else if let lastDay {
      let day = lastDay + EpochCalendar.days(from: lastTime_us, to: time_us)
      epoch.isDateUncertain = isLastUncertain || suspect != nil
      set(&epoch, day, time_us)
      advance(day, time_us, epoch.isDateUncertain)
    } else if let recordingDay {
      epoch.isDateUncertain = true
      set(&epoch, recordingDay, time_us)
      recordReported(recordingDay, time_us, true)
    }
  }

  /// Day of a ZDA; nil if it has none, or one out of range.
  ///
  /// Two-digit years are completed like those of RMC.
  func day(of m: ZDA) -> Int? {
    if let short = m.shortDate { return fullDay(short) }
    guard let date = m.date, EpochCalendar.years.contains(date.year) else { return nil }
    return date.daysSince1970
  }

  /// Years accepted: GPS began in 1980.
  private static let years = 1980...2999

  /// Combines the days of RMC and ZDA. RMC has no century: if only the century differs, ZDA's day is
  /// used. If the days differ otherwise, RMC's is used and marked as disputed, because either may be
  /// wrong.
  private func combinedDay(_ rmcDate: ShortDate?, _ zdaDay: Int?) -> (day: Int, isDisputed: Bool)? {
    guard let rmcDate, let rmcDay = fullDay(rmcDate) else { return zdaDay.map { ($0, false) } }
    guard let zdaDay, zdaDay != rmcDay else { return (rmcDay, false) }
    let isSame = ShortDate(CalendarDate(daysSince1970: zdaDay)) == rmcDate
    return isSame ? (zdaDay, false) : (rmcDay, true)
  }

  /// Records the day of a ZDA whose time is that of no open epoch.
  mutating func recordDay(_ day: Int, _ time_us: Int64) {
    let repaired = repair(day)
    if isJump(repaired.day, time_us) { return }
    // Without a position the clock may never have been set, unless its date agrees with a certain one.
    let isSet = isClockSet || follows(repaired.day, time_us)
    recordReported(repaired.day, time_us, repaired.isUncertain || !isSet)
  }

  /// Whether the last date is certain and `day` continues it.
  private func follows(_ day: Int, _ time_us: Int64) -> Bool {
    guard let lastDay, !isLastUncertain else { return false }
    return day == lastDay + EpochCalendar.days(from: lastTime_us, to: time_us)
  }

  /// Number of days from the last time of day to the next one, which has no date.
  ///
  /// A step back by more than half a day means that midnight passed; a step ahead by almost a day means
  /// that a clock was set back across midnight, for example by leap seconds.
  private static func days(from last_us: Int64, to time_us: Int64) -> Int {
    let step_us = time_us - last_us
    if step_us < -EpochCalendar.day_us / 2 { return 1 }
    return step_us > EpochCalendar.day_us - EpochCalendar.stepBack_us ? -1 : 0
  }

  /// Largest correction by which a receiver sets its clock back.
  private static let stepBack_us: Int64 = 60_000_000

  /// Moves 23:59:60, which lies past the end of the day, into the day.
  static func withinDay(_ time_us: Int64) -> Int64 {
    time_us < day_us ? time_us : LeapSecond.compressed(time_us)
  }

  private func set(_ epoch: inout Epoch, _ day: Int, _ time_us: Int64) {
    epoch.apply(
      DatedMoment(
        utc_us: Int64(day) * EpochCalendar.day_us + time_us, time_us: time_us,
        isUncertain: epoch.isDateUncertain))
  }

  /// Records a moment whose date was reported, or is the recording's; clears the suspect.
  private mutating func recordReported(_ day: Int, _ time_us: Int64, _ isUncertain: Bool) {
    advance(day, time_us, isUncertain)
    suspect = nil
  }

  /// Records the moment from which sentences without a date continue; the suspect stays.
  @inline(never)
  private mutating func advance(_ day: Int, _ time_us: Int64, _ isUncertain: Bool) {
    if isUncertain && !isLastUncertain { lastCertain = certain }
    lastDay = day
    lastTime_us = time_us
    isLastUncertain = isUncertain
  }

  /// Completes a two-digit year: the century nearest to the recording's date, else 1980 to 2079.
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

  /// Shifts a date by whole 1,024-week cycles to the one nearest to the recording's date, or else to the
  /// first one that is not before the earliest possible date.
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
