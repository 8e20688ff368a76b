import LocationTypes

/// Reduces the accuracy of one client's fixes: a cell of a fixed grid, at most four times an hour (AUT-5, AUT-6).
///
/// The result depends only on the cell, so averaging many fixes reveals nothing more. A cell is kept until a fix lies
/// about 1 km beyond its border, so that a device at a border does not reveal its position by alternating between
/// cells. The time between two fixes is the same whether the cell changed or not, so the time of a border crossing is
/// not revealed. The value belongs to the client and survives stop and start: a client that starts again receives the
/// last coarse fix again until the next one is due.
public struct AccuracyReduction: Equatable, Sendable {
  /// Reported horizontal accuracy, millimetres.
  public static let accuracy_mm: Int32 = 5_000_000
  /// Shortest time between two coarse fixes.
  public static let shortestInterval = Interval.seconds(900)
  /// Step to which UTC is rounded down, microseconds: one minute.
  static let utcStep: Int64 = 60_000_000

  private var cell: CoarseCell?
  private var next = Instant.boot

  /// Earliest time of the next coarse fix; `.boot` before the first. Earlier fixes are not used.
  public var due: Instant { next }

  /// Returns the coarse fix for `fix`; nil if the next one is not due yet, or if `fix` itself is less accurate than
  /// ``accuracy_mm``. O(1).
  public mutating func reduce(_ fix: Fix) -> Fix? {
    guard fix.acquired >= next else { return nil }
    if let accuracy_mm = fix.horizontalAccuracy_mm, accuracy_mm > AccuracyReduction.accuracy_mm {
      return nil
    }
    let reportedCell: CoarseCell
    if let cell, cell.covers(fix.coordinate) {
      reportedCell = cell
    } else {
      reportedCell = CoarseCell(of: fix.coordinate)
    }
    cell = reportedCell
    next = fix.acquired + AccuracyReduction.shortestInterval
    return AccuracyReduction.fix(in: reportedCell, like: fix)
  }

  /// Returns the coarse fix that the ring stores instead of a fix that no client may receive with full accuracy
  /// (RNG-6). O(1).
  public static func stored(_ fix: Fix) -> Fix {
    AccuracyReduction.fix(in: CoarseCell(of: fix.coordinate), like: fix)
  }

  /// Creates a fix at the centre of `cell`. From `fix` it copies only the acquisition time, the UTC minute, the
  /// certainty of the date and the source.
  private static func fix(in cell: CoarseCell, like fix: Fix) -> Fix {
    var coarse = Fix(acquired: fix.acquired, coordinate: cell.middle, mode: .twoDimensional)
    coarse.horizontalAccuracy_mm = accuracy_mm
    coarse.isDateUncertain = fix.isDateUncertain
    coarse.isSimulated = fix.isSimulated
    coarse.isFromAccessory = fix.isFromAccessory
    if let utc = fix.utc {
      coarse.utc = utc - Interval(microseconds: utc.microsecondsOfDay % utcStep)
    }
    return coarse
  }
}
