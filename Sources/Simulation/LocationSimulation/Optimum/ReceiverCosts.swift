import BoardProfiles
import LocationTypes
import SimulatedHAL

/// Receiver energy for tracking, and for sleeping and acquiring a new fix.
///
/// A **cycle** consists of a time off, the acquisition whose length depends on that time off, and one second of
/// tracking after the fix. Time to fix is linear in the time off between two rows of the profile's table, so the
/// energy of a cycle is a piecewise linear function of its length.
public struct ReceiverCosts: Equatable, Sendable {
  /// One linear piece: cycles of `first` to `last` whole seconds.
  struct Piece: Equatable, Sendable {
    /// Length of the shortest cycle, seconds; at least 1.
    var first: Int
    /// Length of the longest cycle, seconds.
    var last: Int
    /// Time off in the shortest cycle, seconds.
    var off_s: Double
    /// Increase of the time off per second of cycle length.
    var offSlope: Double

    /// Returns the time off in a cycle of `seconds`, seconds.
    func off_s(ofCycle seconds: Int) -> Double { off_s + offSlope * Double(seconds - first) }
  }

  /// Time of tracking after each fix before the receiver sleeps again, seconds.
  static let trackingAfterFix_s = 1

  /// Power during acquisition, milliwatts.
  public let acquire_mW: Double
  /// Power during tracking at full power, milliwatts.
  public let track_mW: Double
  /// Lowest power during tracking, with the receiver's own duty cycle if it has one, milliwatts; at most
  /// ``track_mW``.
  public let on_mW: Double
  /// Lowest power during sleep that receiver and supply allow, milliwatts; at most ``acquire_mW``.
  public let off_mW: Double
  /// Time off and time of acquisition by cycle length. If two pieces contain the same length, the cheaper one
  /// applies.
  let pieces: [Piece]

  /// Creates the costs of the receiver of `profile`; nil without a receiver. The sleep power is the lowest available:
  /// standby if the receiver accepts commands, backup or off if its supply can be switched. A receiver without either
  /// stays on.
  public init?(_ profile: BoardProfile) {
    guard let receiver = profile.receiver else { return nil }
    let figures = profile.simulationSetup.receiver
    let power = figures.power
    let on_mW = min(power.tracking, power.powersave)
    var sleepPowers: [Double] = []
    if receiver.canStandby { sleepPowers.append(power.standby) }
    if figures.hasSupplySwitch {
      sleepPowers.append(figures.hasBackupSupply ? power.backup : power.off)
    }
    self.init(
      acquire_mW: power.acquiring, track_mW: power.tracking, on_mW: on_mW,
      off_mW: sleepPowers.min() ?? on_mW, timeToFix: figures.timeToFirstFix)
  }

  /// Creates costs from powers in milliwatts and a table of times to fix. The ephemeris is assumed to be as old as
  /// the time off. O(rows).
  ///
  /// - Parameter on_mW: Power with the receiver's own duty cycle; nil for a receiver without one.
  public init(
    acquire_mW: Double, track_mW: Double, on_mW: Double? = nil, off_mW: Double,
    timeToFix: TimeToFirstFix
  ) {
    self.acquire_mW = acquire_mW
    self.track_mW = track_mW
    self.on_mW = on_mW ?? track_mW
    self.off_mW = off_mW
    pieces = ReceiverCosts.pieces(of: timeToFix)
  }

  /// Returns the energy of a cycle of `seconds` on `piece`, millijoules.
  func cycle_mJ(_ seconds: Int, on piece: Piece) -> Double {
    let off = piece.off_s(ofCycle: seconds)
    let search = Double(seconds - ReceiverCosts.trackingAfterFix_s) - off
    return off * off_mW + search * acquire_mW + Double(ReceiverCosts.trackingAfterFix_s) * on_mW
  }

  /// Returns the additional energy per second of cycle length on `piece`, millijoules.
  func slope_mJ(of piece: Piece) -> Double {
    piece.offSlope * off_mW + (1 - piece.offSlope) * acquire_mW
  }

  /// Time off that is longer than any track.
  private static let maximumOff = Interval.seconds(100_000_000)

  /// A row of the table in whole microseconds, so that sums are exact.
  private struct Row {
    var off: Interval
    var fix: Interval

    /// Length of the cycle with this time off.
    var cycleLength: Interval { off + fix + .seconds(Int64(trackingAfterFix_s)) }
  }

  private static func pieces(of table: TimeToFirstFix) -> [Piece] {
    var result: [Piece] = []
    var rows = table.table.map {
      Row(off: Interval(seconds: $0.off_s), fix: Interval(seconds: $0.fix_s))
    }
    let cold = Interval(seconds: table.cold_s)
    let lifetime = rows.isEmpty ? Interval.zero : table.ephemerisLifetime
    // Before the first row and after the last one the time to fix is constant.
    if let first = rows.first, let last = rows.last {
      rows.insert(Row(off: .zero, fix: first.fix), at: 0)
      rows.append(Row(off: maximumOff, fix: last.fix))
    }
    for (from, to) in zip(rows, rows.dropFirst()) where to.off > from.off {
      guard from.off < lifetime else { break }
      if to.off <= lifetime {
        result += piece(from, to)
      } else {
        let share = (lifetime - from.off).seconds / (to.off - from.off).seconds
        let fix = from.fix + Interval(seconds: (to.fix - from.fix).seconds * share)
        result += piece(from, Row(off: lifetime, fix: fix))
      }
    }
    if lifetime < maximumOff {
      result += piece(Row(off: lifetime, fix: cold), Row(off: maximumOff, fix: cold))
    }
    return result
  }

  /// Returns the cycles of whole seconds on the line between two rows; empty if there are none.
  private static func piece(_ from: Row, _ to: Row) -> [Piece] {
    // If the time to fix decreases faster than the time off increases, the rows are swapped, so that cycle length
    // increases.
    let (low, high) = from.cycleLength > to.cycleLength ? (to, from) : (from, to)
    let second: Int64 = 1_000_000
    let first = max((low.cycleLength.microseconds + second - 1) / second, 1)
    let last = high.cycleLength.microseconds / second
    guard first <= last else { return [] }
    let width = (high.cycleLength - low.cycleLength).seconds
    guard width > 0 else {
      // All times off give the same cycle length; the longest is the cheapest.
      let off = max(low.off, high.off).seconds
      return [Piece(first: Int(first), last: Int(last), off_s: off, offSlope: 0)]
    }
    let slope = (high.off - low.off).seconds / width
    let ahead = (Interval.seconds(first) - low.cycleLength).seconds
    return [
      Piece(
        first: Int(first), last: Int(last), off_s: low.off.seconds + slope * ahead,
        offSlope: slope)
    ]
  }
}
