import LocationTypes

/// Power of a receiver in each state, time and energy of a start, and what the board pays meanwhile, from the board's
/// profile.
///
/// ``FixSchedule`` and ``MovementModel`` compute from these parameters whether the receiver stays on, sleeps, or is
/// powered off; there are no fixed thresholds.
public struct ReceiverParameters: Sendable {
  /// Power while searching for satellites, mW.
  public var acquire_mW = 30.0
  /// Power with a fix, mW.
  public var track_mW = 30.0
  /// Power with a fix in the receiver's own duty cycle, mW; nil if it has none or must not use it now.
  public var powersave_mW: Double?
  /// Power while asleep by command, mW.
  public var standby_mW = 0.1
  /// Power while its supply is switched off, mW.
  public var off_mW = 0.0
  /// Time from the wake command until the receiver searches, including its configuration (PWR-6); at tracking power.
  public var startUp = Interval.milliseconds(200)
  /// Time to first fix by time off.
  public var timeToFix: TimeToFixTable
  /// 90th percentile of the time to fix as a multiple of the median, at least 1.
  public var spread = 2.7
  /// Age at which an ephemeris can no longer be used.
  public var ephemerisLifetime = Interval.seconds(14_400)
  /// Tracking time after which the receiver has a new ephemeris.
  public var ephemerisDownload = Interval.seconds(30)
  /// Longest time for which the receiver stays on to complete a new ephemeris after the last need (PWR-1).
  public var ephemerisHoldLimit = Interval.seconds(20)
  /// Upper limit of an acquisition that finds nothing (PWR-7).
  public var acquisitionTimeout = Interval.seconds(120)
  /// Whether clock and ephemeris survive a power-off: with a backup supply, or if the board stores the navigation
  /// database (PWR-8).
  public var keepsDataWhenOff = false
  /// Time before a power-off in which the board reads the navigation database; zero if nothing is to be read.
  public var saveTime = Interval.zero
  /// Time from power-on until the receiver has its navigation database again; zero if nothing is restored.
  public var restoreTime = Interval.zero
  /// Time from the standby command until the supply may be switched off (PWR-5), in which the board idles.
  public var powerOffTime = Interval.zero
  /// What the board pays while the receiver is on, and for each start.
  public var board = BoardParameters()

  /// Creates the parameters of a receiver that takes 30 mW awake and 0.1 mW asleep; set the other properties as
  /// needed.
  public init(timeToFix: TimeToFixTable) { self.timeToFix = timeToFix }

  /// Energy of a start whose acquisition takes `acquisition`, mJ, including that of the board meanwhile.
  func start_mJ(acquisition: Interval) -> Double {
    track_mW * startUp.seconds + acquire_mW * acquisition.seconds
      + board.search_mJ(startUp + acquisition)
  }

  /// The acquisition time after a power-off; `warm` is that after a standby of the same length. The receiver searches
  /// as in a cold start until its navigation database is restored, and may find satellites before that.
  func acquisitionAfterPowerOff(_ warm: Interval) -> Interval {
    guard keepsDataWhenOff else { return timeToFix.cold }
    return min(warm + restoreTime, max(warm, timeToFix.cold))
  }

  /// Lowest power with a fix, mW.
  var on_mW: Double { powersave_mW.map { min($0, track_mW) } ?? track_mW }

  /// Energy of staying on for `time`, mJ.
  func stayOn_mJ(_ time: Interval) -> Double { on_mW * time.seconds + board.idle_mJ(time) }

  /// The same receiver, with its duty cycle only if `maySave` is true.
  public func withDutyCycle(_ maySave: Bool) -> ReceiverParameters {
    var figures = self
    if !maySave { figures.powersave_mW = nil }
    return figures
  }
}

/// How a receiver spends the time until the next fix is due.
public enum ReceiverSleepMode: UInt8, Sendable {
  /// On: a start would cost more energy.
  case none = 0
  /// Asleep by command.
  case standby = 1
  /// Supply switched off.
  case off = 2
}

extension ReceiverParameters {
  /// The mode with the least energy for `time` until the next fix, among the modes that the wiring allows; O(1).
  ///
  /// - Parameters:
  ///   - warm: Expected time to fix out of standby after that time.
  ///   - canStandby: Whether it sleeps by command.
  ///   - canSwitchOff: Whether its supply can be switched off.
  func sleepMode(
    for time: Interval, warm: Interval, canStandby: Bool, canSwitchOff: Bool
  ) -> ReceiverSleepMode {
    var best = ReceiverSleepMode.none
    var leastEnergy = stayOn_mJ(time)
    if canStandby, warm + startUp < time {
      let off = time - warm - startUp
      let cost = standby_mW * off.seconds + board.wait_mJ(off) + start_mJ(acquisition: warm)
      if cost < leastEnergy {
        leastEnergy = cost
        best = .standby
      }
    }
    let cold = acquisitionAfterPowerOff(warm)
    if canSwitchOff, cold + startUp + saveTime < time {
      let off = time - cold - startUp - saveTime
      let cost =
        off_mW * off.seconds + board.wait_mJ(off) + start_mJ(acquisition: cold)
        + track_mW * saveTime.seconds + board.idle_mJ(saveTime + powerOffTime)
      if cost < leastEnergy { best = .off }
    }
    return best
  }
}
