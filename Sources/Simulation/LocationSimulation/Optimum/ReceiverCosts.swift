import BoardProfiles
import LocationTypes
import SimulatedHAL

/// What a receiver takes while it tracks, and for sleeping and finding a fix again.
///
/// A **cycle** is a time off, the search that this time off makes necessary, and the second of
/// tracking after its fix. Time to fix is linear in the time off between two rows of the profile's
/// table, so what a cycle costs is linear in its length, piece by piece.
public struct ReceiverCosts: Equatable, Sendable {
  /// One line of the table: cycles of `first` to `last` whole seconds.
  struct Piece: Equatable, Sendable {
    /// The shortest cycle, seconds; at least 1.
    var first: Int
    /// The longest cycle, seconds.
    var last: Int
    /// Time off of the shortest cycle, seconds.
    var off_s: Double
    /// How much longer the time off is where the cycle is a second longer.
    var offSlope: Double

    /// How much of a cycle of `seconds` the receiver is off, seconds.
    func off_s(ofCycle seconds: Int) -> Double { off_s + offSlope * Double(seconds - first) }
  }

  /// Tracking after each fix before the receiver sleeps again, seconds.
  static let fixSecond = 1

  /// Searching, milliwatts.
  public let acquire_mW: Double
  /// Tracking at full power, milliwatts.
  public let track_mW: Double
  /// Tracking as cheaply as the receiver can, by a duty cycle of its own if it has one, milliwatts; not more
  /// than ``track_mW``.
  public let on_mW: Double
  /// Asleep as cheaply as the receiver and its supply can, milliwatts; not more than ``acquire_mW``.
  public let off_mW: Double
  /// How a cycle's length is shared; where two pieces have the same cycle, the cheaper one counts.
  let pieces: [Piece]

  /// The costs of the receiver of `profile`, nil where it has none. Sleeping takes the least of what it can
  /// do: standby where it takes commands, and backup or nothing where its supply can be switched; one that
  /// can do neither stays on.
  public init?(_ profile: BoardProfile) {
    guard let receiver = profile.receiver else { return nil }
    let figures = profile.simulationSetup.receiver
    let power = figures.power
    let on_mW = min(power.tracking, power.powersave)
    var asleep: [Double] = []
    if receiver.family.takesCommands { asleep.append(power.standby) }
    if figures.hasSupplySwitch {
      asleep.append(figures.hasBackupSupply ? power.backup : power.off)
    }
    self.init(
      acquire_mW: power.acquiring, track_mW: power.tracking, on_mW: on_mW,
      off_mW: asleep.min() ?? on_mW, timeToFix: figures.timeToFirstFix)
  }

  /// Costs from powers in milliwatts and a table of times to fix; the ephemeris is taken to be as old
  /// as the time off. O(rows).
  ///
  /// - Parameter on_mW: In the receiver's own duty cycle; nil for a receiver without one.
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

  /// What a cycle of `seconds` costs on `piece`, millijoules.
  func cycle_mJ(_ seconds: Int, on piece: Piece) -> Double {
    let off = piece.off_s(ofCycle: seconds)
    let search = Double(seconds - ReceiverCosts.fixSecond) - off
    return off * off_mW + search * acquire_mW + Double(ReceiverCosts.fixSecond) * on_mW
  }

  /// How much more a cycle on `piece` costs that is a second longer, millijoules.
  func slope_mJ(of piece: Piece) -> Double {
    piece.offSlope * off_mW + (1 - piece.offSlope) * acquire_mW
  }

  /// Longer than any track.
  private static let longestOff = Interval.seconds(100_000_000)

  /// A row of the table in whole microseconds, so that sums are exact.
  private struct Row {
    var off: Interval
    var fix: Interval

    /// When the second of tracking is over.
    var end: Interval { off + fix + .seconds(Int64(fixSecond)) }
  }

  private static func pieces(of table: TimeToFirstFix) -> [Piece] {
    var result: [Piece] = []
    var rows = table.table.map {
      Row(off: Interval(seconds: $0.off_s), fix: Interval(seconds: $0.fix_s))
    }
    let cold = Interval(seconds: table.cold_s)
    let lifetime = rows.isEmpty ? Interval.zero : table.ephemerisLifetime
    // Before the first row and after the last one the time to fix stays as it is.
    if let first = rows.first, let last = rows.last {
      rows.insert(Row(off: .zero, fix: first.fix), at: 0)
      rows.append(Row(off: longestOff, fix: last.fix))
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
    if lifetime < longestOff {
      result += piece(Row(off: lifetime, fix: cold), Row(off: longestOff, fix: cold))
    }
    return result
  }

  /// The cycles of whole seconds on the line between two rows, if there are any.
  private static func piece(_ from: Row, _ to: Row) -> [Piece] {
    // A search that gets shorter faster than the time off gets longer: read it the other way round.
    let (low, high) = from.end > to.end ? (to, from) : (from, to)
    let second: Int64 = 1_000_000
    let first = max((low.end.microseconds + second - 1) / second, 1)
    let last = high.end.microseconds / second
    guard first <= last else { return [] }
    let width = (high.end - low.end).seconds
    guard width > 0 else {
      // Every time off ends at the same moment: the longest is the cheapest.
      let off = max(low.off, high.off).seconds
      return [Piece(first: Int(first), last: Int(last), off_s: off, offSlope: 0)]
    }
    let slope = (high.off - low.off).seconds / width
    let ahead = (Interval.seconds(first) - low.end).seconds
    return [
      Piece(
        first: Int(first), last: Int(last), off_s: low.off.seconds + slope * ahead,
        offSlope: slope)
    ]
  }
}
