import LocationTypes

/// Makes a client's fixes coarse: a cell of the grid at most four times an hour (AUT-5, AUT-6).
///
/// What comes out depends on the cell and on nothing else of the place: noise does not average out.
/// A cell holds until a fix is about 1 km beyond its border, so that a client that lives on a border
/// is not told so by flapping; and the time between two fixes is the same whether the cell changed
/// or not, so that no border is seen being crossed. It belongs to the client and outlives a stop and
/// a start: who starts again is told the last one again until the next is due.
public struct AccuracyReduction: Equatable, Sendable {
  /// The accuracy that is told, millimetres.
  public static let accuracy_mm: Int32 = 5_000_000
  /// The least time between two fixes.
  public static let pace = Interval.seconds(900)
  /// UTC is told in whole minutes.
  static let utcStep: Int64 = 60_000_000

  private var cell: CoarseCell?
  private var next = Instant.boot

  /// Gave nothing yet.
  public init() {}

  /// When the next fix may come; `.boot` before the first. Earlier ones are wasted.
  public var due: Instant { next }

  /// The coarse fix that stands for `fix`; nil when it is too early for one, or when `fix` itself is
  /// less accurate than what would be told. O(1).
  public mutating func reduce(_ fix: Fix) -> Fix? {
    guard fix.acquired >= next else { return nil }
    if let accuracy_mm = fix.horizontalAccuracy_mm, accuracy_mm > AccuracyReduction.accuracy_mm {
      return nil
    }
    let place: CoarseCell
    if let cell, cell.holds(fix.coordinate) {
      place = cell
    } else {
      place = CoarseCell(of: fix.coordinate)
    }
    cell = place
    next = fix.acquired + AccuracyReduction.pace
    return AccuracyReduction.fix(in: place, like: fix)
  }

  /// What is stored of a fix that no client may receive as it is: the cell that it lies in (RNG-6). O(1).
  public static func stored(_ fix: Fix) -> Fix {
    AccuracyReduction.fix(in: CoarseCell(of: fix.coordinate), like: fix)
  }

  /// Nothing of `fix` but when it was made, whether its date is certain, and where it comes from.
  private static func fix(in cell: CoarseCell, like fix: Fix) -> Fix {
    var coarse = Fix(acquired: fix.acquired, coordinate: cell.middle, mode: .twoDimensional)
    coarse.horizontalAccuracy_mm = accuracy_mm
    coarse.isDateUncertain = fix.isDateUncertain
    coarse.isSimulated = fix.isSimulated
    coarse.isFromAccessory = fix.isFromAccessory
    if let utc = fix.utc {
      let rest = utc.microseconds % utcStep
      let past = rest < 0 ? rest + utcStep : rest
      coarse.utc = UTCTime(microseconds: utc.microseconds - past)
    }
    return coarse
  }
}
