import LocationTypes

/// What a receiver takes in each state and what each start of it costs; from the board's profile.
///
/// Everything that decides whether it stays on, sleeps or is cut off is computed from these figures:
/// there are no thresholds of thumb.
public struct ReceiverFigures: Equatable, Sendable {
  /// Searching, mW.
  public var acquire_mW: Double
  /// With a fix, mW.
  public var track_mW: Double
  /// With a fix, in its own duty cycle, mW; nil where it has none, or where none is to be used now.
  public var powersave_mW: Double?
  /// Asleep by command, mW.
  public var standby_mW: Double
  /// Its supply cut, mW.
  public var cut_mW: Double
  /// From the order to wake until it searches, and configured (PWR-6): at tracking power.
  public var startUp: Interval
  /// Time to first fix.
  public var timeToFix: TimeToFixTable
  /// The 90th percentile of the time to fix as a multiple of the median, at least 1.
  public var spread: Double
  /// Age at which an ephemeris is of no more use.
  public var ephemerisLifetime: Interval
  /// How long it must track to have a new ephemeris.
  public var ephemerisDownload: Interval
  /// How long it goes on at most to complete a new ephemeris that nobody waits for (PWR-1).
  public var longestHold: Interval
  /// A search that finds nothing ends after this at the latest (PWR-7).
  public var searchLimit: Interval
  /// What survives a cut supply: with a backup supply the clock and the ephemeris do, or where they are kept
  /// elsewhere meanwhile (PWR-8).
  public var keepsDataWhenCut: Bool
  /// How long it is on before a cut to have them kept elsewhere; zero where nothing is kept, or needs none.
  public var saving = Interval.zero
  /// How long it takes after a cut until it has them back.
  public var restoring = Interval.zero

  /// Creates the figures of a receiver that takes 30 mW awake and 0.1 mW asleep; set the rest.
  public init(timeToFix: TimeToFixTable) {
    self.timeToFix = timeToFix
    acquire_mW = 30
    track_mW = 30
    standby_mW = 0.1
    cut_mW = 0
    startUp = .milliseconds(200)
    spread = 2.7
    ephemerisLifetime = .seconds(14_400)
    ephemerisDownload = .seconds(30)
    longestHold = .seconds(20)
    searchLimit = .seconds(120)
    keepsDataWhenCut = false
  }

  /// Millijoules of a start whose first fix takes `search`.
  func start_mJ(search: Interval) -> Double {
    track_mW * startUp.seconds + acquire_mW * search.seconds
  }

  /// How long the search takes out of a cut supply, where it takes `warm` out of standby: until it has
  /// back what it knew it searches as if cold, and may find itself so.
  func searchAfterCut(_ warm: Interval) -> Interval {
    guard keepsDataWhenCut else { return timeToFix.cold }
    return min(warm + restoring, max(warm, timeToFix.cold))
  }

  /// The least that it takes with a fix, mW.
  var on_mW: Double { powersave_mW.map { min($0, track_mW) } ?? track_mW }

  /// Millijoules of staying on for `time`.
  func stay_mJ(_ time: Interval) -> Double { on_mW * time.seconds }

  /// The same receiver, without its duty cycle unless it may use that.
  public func saving(_ maySave: Bool) -> ReceiverFigures {
    var figures = self
    if !maySave { figures.powersave_mW = nil }
    return figures
  }
}

/// How a receiver spends the time until it is needed again.
public enum ReceiverRest: UInt8, Sendable {
  /// It stays on: a start would cost more.
  case none = 0
  /// Asleep by command.
  case standby = 1
  /// Its supply cut.
  case cut = 2
}

extension ReceiverFigures {
  /// The cheapest way to spend `time` until the next fix, of those that the wiring allows; O(1).
  ///
  /// - Parameters:
  ///   - warm: Time to fix out of standby after that time, as far as is known.
  ///   - canStandby: It sleeps by command.
  ///   - canCut: Its supply can be cut.
  func rest(
    for time: Interval, warm: Interval, canStandby: Bool, canCut: Bool
  ) -> ReceiverRest {
    var best = ReceiverRest.none
    var least = stay_mJ(time)
    if canStandby, warm + startUp < time {
      let cost = standby_mW * (time - warm - startUp).seconds + start_mJ(search: warm)
      if cost < least {
        least = cost
        best = .standby
      }
    }
    let cold = searchAfterCut(warm)
    if canCut, cold + startUp + saving < time {
      let off = time - cold - startUp - saving
      let cost = cut_mW * off.seconds + start_mJ(search: cold) + track_mW * saving.seconds
      if cost < least { best = .cut }
    }
    return best
  }
}
