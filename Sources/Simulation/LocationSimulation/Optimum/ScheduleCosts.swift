import BoardHardware
import BoardProfiles
import LocationTypes

/// Energy of staying on and of cycles, for the receiver or for receiver and board together.
///
/// A **cycle** starts with a fix. It consists of one second of tracking, a time off of whole seconds, and the
/// acquisition of the next fix, whose length depends on the time off. The next fix is at the nearest whole second.
/// Time to fix is linear in the time off between two rows of the profile's table, so the energy of a cycle is a
/// piecewise linear function of its length.
public struct ScheduleCosts: Equatable, Sendable {
  /// What consumes the energy.
  public enum Scope: Sendable {
    /// The receiver alone.
    case receiver
    /// Receiver and board. The board sleeps while the receiver is off or acquires, and idles while it stays on.
    case total
  }

  /// Cycles whose lengths exceed their times off by the same number of whole seconds, and whose energy is linear in
  /// the length.
  struct Piece: Equatable, Sendable {
    /// Shortest time off, seconds; at least 1.
    var firstOff: Int
    /// Longest time off, seconds.
    var lastOff: Int
    /// Length of a cycle minus its time off, seconds; at least 1.
    var extra: Int
    /// Time of acquisition after the shortest time off, seconds.
    var acquisition_s: Double
    /// Increase of the time of acquisition per second of time off.
    var acquisitionSlope: Double

    /// Length of the shortest cycle, seconds.
    var first: Int { firstOff + extra }
    /// Length of the longest cycle, seconds.
    var last: Int { lastOff + extra }

    /// Returns the time off in a cycle of `seconds`, seconds.
    func off_s(ofCycle seconds: Int) -> Int { seconds - extra }

    /// Returns the time of acquisition in a cycle of `seconds`, seconds.
    func acquisition_s(ofCycle seconds: Int) -> Double {
      acquisition_s + acquisitionSlope * Double(seconds - first)
    }
  }

  /// Time of tracking after each fix before the receiver sleeps again, seconds.
  static let trackingAfterFix_s = 1
  /// Time from the start of an acquisition until the receiver searches. It extends the time off with which the time to
  /// fix is looked up.
  static let startUp = Interval.milliseconds(350)
  /// Time for which the board runs code for each report.
  public static let workPerReport = Interval.milliseconds(20)

  /// Power during acquisition, milliwatts.
  public let acquire_mW: Double
  /// Power during tracking at full power, milliwatts.
  public let track_mW: Double
  /// Lowest power during tracking, with the receiver's own duty cycle if it has one, milliwatts; at most
  /// ``track_mW``.
  public let on_mW: Double
  /// Lowest power during sleep that receiver and supply allow, milliwatts.
  public let off_mW: Double
  /// Energy of each start after a time off, in addition to that of the acquisition, millijoules.
  public let start_mJ: Double
  /// Cycles by length. If two pieces contain the same length, the cheaper one applies.
  let pieces: [Piece]

  /// Creates the costs of `profile`; nil without a receiver.
  ///
  /// The receiver's sleep power is the lowest available: standby if the receiver accepts commands, backup or off if its
  /// supply can be switched. A receiver without either stays on. The board sleeps suspended if an alarm can end that
  /// state, and otherwise idles.
  ///
  /// - Parameter work: Time for which the board runs code for each report; only for ``Scope/total``.
  public init?(
    _ profile: BoardProfile, _ scope: Scope = .receiver,
    work: Interval = ScheduleCosts.workPerReport
  ) {
    guard let receiver = profile.receiver else { return nil }
    let figures = profile.simulationSetup.receiver
    let power = figures.power
    let on_mW = min(power.track_mw, power.mW(in: .powersave))
    var sleepPowers: [Double] = []
    if receiver.canStandby { sleepPowers.append(power.standby_mw) }
    if figures.hasSupplySwitch {
      sleepPowers.append(figures.hasBackupSupply ? power.backup_mw : power.off_mw)
    }
    var sleeping_mW = 0.0
    var idling_mW = 0.0
    var resume_mJ = 0.0
    if scope == .total {
      let board = profile.board
      idling_mW = board.idle.power_mw + board.awake_mw * work.seconds
      sleeping_mW = board.idle.power_mw
      if let suspended = board.suspended, suspended.wakeSources.contains(.alarm) {
        sleeping_mW = suspended.power_mw
        resume_mJ = suspended.resumeTime.seconds * board.awake_mw
      }
    }
    self.init(
      acquire_mW: power.acquire_mw + sleeping_mW, track_mW: power.track_mw + idling_mW,
      on_mW: on_mW + idling_mW,
      off_mW: sleepPowers.min().map { $0 + sleeping_mW } ?? on_mW + idling_mW,
      start_mJ: resume_mJ, timeToFix: sleepPowers.isEmpty ? nil : figures.timeToFirstFix)
  }

  /// Creates costs from powers in milliwatts and a table of times to fix. The ephemeris is assumed to be as old as
  /// the time off. O(rows + longest time to fix).
  ///
  /// - Parameters:
  ///   - on_mW: Power with the receiver's own duty cycle; nil for a receiver without one.
  ///   - start_mJ: Energy of each start after a time off, millijoules.
  ///   - timeToFix: Times to fix; nil for a receiver that can only stay on.
  public init(
    acquire_mW: Double, track_mW: Double, on_mW: Double? = nil, off_mW: Double,
    start_mJ: Double = 0, timeToFix: TimeToFix?
  ) {
    self.acquire_mW = acquire_mW
    self.track_mW = track_mW
    self.on_mW = on_mW ?? track_mW
    self.off_mW = off_mW
    self.start_mJ = start_mJ
    pieces = timeToFix.map(ScheduleCosts.pieces(of:)) ?? []
  }

  /// Returns the energy of a cycle of `seconds` on `piece`, millijoules.
  func cycle_mJ(_ seconds: Int, on piece: Piece) -> Double {
    Double(ScheduleCosts.trackingAfterFix_s) * on_mW
      + Double(piece.off_s(ofCycle: seconds)) * off_mW
      + piece.acquisition_s(ofCycle: seconds) * acquire_mW + start_mJ
  }

  /// Returns the additional energy per second of cycle length on `piece`, millijoules.
  func slope_mJ(of piece: Piece) -> Double { off_mW + piece.acquisitionSlope * acquire_mW }

  /// Time off that is longer than any track.
  private static let maximumOff = Interval.seconds(100_000_000)

  private static func pieces(of table: TimeToFix) -> [Piece] {
    var result: [Piece] = []
    var rows = table.afterOff
    let cold = table.coldStart
    let lifetime = rows.isEmpty ? Interval.zero : min(table.ephemerisLifetime, maximumOff)
    // Before the first row and after the last one the time to fix is constant.
    if let first = rows.first, let last = rows.last {
      rows.insert(.init(off: .zero, fix: first.fix), at: 0)
      rows.append(.init(off: maximumOff, fix: last.fix))
    }
    for (from, to) in zip(rows, rows.dropFirst()) where to.off > from.off {
      guard from.off < lifetime else { break }
      result += pieces(from, to, until: min(to.off, lifetime))
    }
    return result
      + pieces(
        .init(off: lifetime, fix: cold), .init(off: maximumOff, fix: cold), until: maximumOff)
  }

  /// Returns the cycles whose time off with the start-up is after `from` and not after `end`, on the line between two
  /// rows; empty if there are none.
  private static func pieces(
    _ from: TimeToFix.Point, _ to: TimeToFix.Point, until end: Interval
  ) -> [Piece] {
    let second: Int64 = 1_000_000
    func seconds(to limit: Interval) -> Int {
      let time = (limit - startUp).microseconds
      return time < 0 ? 0 : Int(time / second)
    }
    let width = (to.off - from.off).seconds
    let slope = width > 0 ? (to.fix - from.fix).seconds / width : 0
    func acquisition_s(_ off: Int) -> Double {
      from.fix.seconds + slope * (Interval.seconds(Int64(off)) + startUp - from.off).seconds
    }
    func extra(_ off: Int) -> Int {
      trackingAfterFix_s + Int(acquisition_s(off).rounded())
    }
    var result: [Piece] = []
    var off = seconds(to: from.off) + 1
    let last = seconds(to: end)
    while off <= last {
      // The rounded time to fix is monotonic: search for the last time off with the same one.
      var (low, high) = (off, last)
      while low < high {
        let middle = low + (high - low + 1) / 2
        if extra(middle) == extra(off) { low = middle } else { high = middle - 1 }
      }
      result.append(
        Piece(
          firstOff: off, lastOff: low, extra: extra(off), acquisition_s: acquisition_s(off),
          acquisitionSlope: slope))
      off = low + 1
    }
    return result
  }
}
