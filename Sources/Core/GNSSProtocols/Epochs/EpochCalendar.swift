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
  /// The last certain moment, while ``isLastUncertain``.
  private var certainBefore: Moment?
  /// A moment whose date did not follow from the certain one: the next that agrees with it confirms it.
  private var suspect: Moment?
  /// The receiver's clock has been set, as its last epoch shows: by a position, or by what UBX says.
  private var isClockSet = false
  private var today = Today()

  /// A GPS week rollover: 1,024 weeks, in days.
  private static let rollover_days = 7_168
  static let day_us: Int64 = 86_400_000_000

  /// A day and a time of that day.
  private struct Moment {
    var day: Int
    var time_us: Int64
  }

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
    isClockSet = !moment.isUncertain
    // All epochs of a day but the first: saves 7 of 644 instructions for a NAV-PVT.
    if isClockSet, !isLastUncertain, lastDay == today.day {
      lastTime_us = moment.time_us
      suspect = nil
    } else if isLeap(today.day, moment.time_us) {
      moment.isUncertain = true
    } else {
      remember(today.day, moment.time_us, moment.isUncertain)
    }
  }

  /// Whether a reported date follows neither from the last certain moment nor from the suspect.
  @inline(__always) private mutating func isLeap(_ day: Int, _ time_us: Int64) -> Bool {
    if !isLastUncertain && lastDay == day { return false }
    guard let certain, certain.day != day else { return false }
    return isUnconfirmed(Moment(day: day, time_us: time_us), after: certain)
  }

  /// The last moment whose date is certain, by which leaps are found.
  private var certain: Moment? {
    isLastUncertain ? certainBefore : lastDay.map { Moment(day: $0, time_us: lastTime_us) }
  }

  /// Whether a moment of another day leaps, and is not confirmed: the next one then may confirm it.
  @inline(never) private mutating func isUnconfirmed(
    _ moment: Moment, after certain: Moment
  ) -> Bool {
    if !EpochCalendar.leaps(moment, from: certain) { return false }
    if let suspect, EpochCalendar.confirms(moment, suspect) { return false }
    suspect = moment
    return true
  }

  /// Whether a moment lies further back from another than a clock is put, or more than a year after it.
  private static func leaps(_ moment: Moment, from last: Moment) -> Bool {
    let step_us = distance_us(from: last, to: moment)
    return step_us < -stepBack_us || step_us > longestGap_us
  }

  /// Whether a moment goes on from a suspect one. Another sentence of the same moment, which may round
  /// its time otherwise, confirms nothing.
  private static func confirms(_ moment: Moment, _ suspect: Moment) -> Bool {
    let step_us = distance_us(from: suspect, to: moment)
    return step_us > EpochAssembler.tolerance_us && step_us <= longestGap_us
  }

  private static func distance_us(from last: Moment, to moment: Moment) -> Int64 {
    Int64(moment.day - last.day) * day_us + moment.time_us - last.time_us
  }

  /// The longest gap in a recording that leaves its dates above suspicion.
  private static let longestGap_us = 366 * day_us

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
    isClockSet = epoch.hasFix
    guard let time_us = told.time_us else { return }
    if let (day, isDisputed) = agreed(told.rmcDate, told.zdaDay) {
      let repaired = repair(day)
      let isTrusted = told.zdaDay != nil ? epoch.hasFix : told.isRMCValid
      let isLeap = isTrusted && isLeap(repaired.day, time_us)
      let isUncertain = repaired.isUncertain || isDisputed
      epoch.isDateUncertain = isUncertain || !isTrusted || isLeap
      set(&epoch, repaired.day, time_us)
      if isTrusted, !isLeap { remember(repaired.day, time_us, isUncertain) }
    } else if let lastDay {
      let day = lastDay + EpochCalendar.days(from: lastTime_us, to: time_us)
      epoch.isDateUncertain = isLastUncertain || suspect != nil
      set(&epoch, day, time_us)
      goOn(day, time_us, epoch.isDateUncertain)
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
    if isLeap(repaired.day, time_us) { return }
    // Without a position it is the date of a clock that may never have been set, unless it agrees with
    // one that was.
    let isSet = isClockSet || follows(repaired.day, time_us)
    remember(repaired.day, time_us, repaired.isUncertain || !isSet)
  }

  /// Whether a day is that to which the last date leads, which is certain.
  private func follows(_ day: Int, _ time_us: Int64) -> Bool {
    guard let lastDay, !isLastUncertain else { return false }
    return day == lastDay + EpochCalendar.days(from: lastTime_us, to: time_us)
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

  /// Remembers a moment whose date was reported, or is the recording's.
  @inline(__always)
  private mutating func remember(_ day: Int, _ time_us: Int64, _ isUncertain: Bool) {
    goOn(day, time_us, isUncertain)
    suspect = nil
  }

  /// Remembers a moment: sentences without a date go on from it. It says nothing of a suspect.
  @inline(__always)
  private mutating func goOn(_ day: Int, _ time_us: Int64, _ isUncertain: Bool) {
    if isUncertain && !isLastUncertain { certainBefore = certain }
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
