import CCore
import LocationTypes

/// A cell of the grid of reduced accuracy: about 10 km by 10 km anywhere on Earth (AUT-5).
///
/// Rows are 0.09° of latitude high and numbered from the south pole; the two polar caps are half as high, and each is
/// one cell. The number of cells of a row follows from its middle latitude, so that all cells have nearly the same
/// area. 78 % of a cell's area lie within 5 km of its centre.
public struct CoarseCell: Equatable, Sendable {
  /// Height of a row, 1e-9 degree.
  static let height: Int64 = 90_000_000
  /// Number of the northernmost row.
  static let rows: Int64 = 2_000
  static let fullCircle: Int64 = 360_000_000_000
  /// Distance beyond its border up to which a cell is kept, in tenths of the cell size: about 1 km.
  static let margin: Int64 = 1

  /// 0 (south pole) to 2,000 (north pole).
  public let row: Int64
  /// Number of the cell from the antimeridian eastwards, 0 ..< ``columns``.
  public let column: Int64
  /// Number of cells in the row.
  public let columns: Int64

  /// Creates the cell that contains a valid coordinate. O(1).
  public init(of coordinate: Coordinate) {
    let fromPole = coordinate.latitude_e9 + 90_000_000_000
    row = (fromPole + CoarseCell.height / 2) / CoarseCell.height
    columns = CoarseCell.columns(in: row)
    let fromAntimeridian = coordinate.longitude_e9 + CoarseCell.fullCircle / 2
    column = fromAntimeridian * columns / CoarseCell.fullCircle % columns  // +180° is −180°
  }

  private static func columns(in row: Int64) -> Int64 {
    if row == 0 || row == rows { return 1 }
    let middle = Double(row * height - 90_000_000_000) * 3.141_592_653_589_793 / 180e9
    return Int64((Double(fullCircle / height) * cos(middle)).rounded())
  }

  /// Centre of the cell; the pole for a polar cap.
  public var middle: Coordinate {
    let latitude_e9 = row * CoarseCell.height - 90_000_000_000
    let isCap = columns == 1
    let longitude_e9 =
      isCap
      ? 0 : (2 * column + 1) * CoarseCell.fullCircle / (2 * columns) - CoarseCell.fullCircle / 2
    return Coordinate(latitude_e9: latitude_e9, longitude_e9: longitude_e9)
  }

  /// Whether a coordinate lies in the cell or at most ``margin`` beyond its border. The margin keeps measurement noise
  /// at the border from changing the cell. O(1).
  public func covers(_ coordinate: Coordinate) -> Bool {
    let middle = middle
    let north = abs(coordinate.latitude_e9 - middle.latitude_e9)
    guard 20 * north <= (10 + 2 * CoarseCell.margin) * CoarseCell.height else { return false }
    if columns == 1 { return true }
    var east = abs(coordinate.longitude_e9 - middle.longitude_e9)
    if east > CoarseCell.fullCircle / 2 { east = CoarseCell.fullCircle - east }
    return 20 * east * columns <= (10 + 2 * CoarseCell.margin) * CoarseCell.fullCircle
  }
}
