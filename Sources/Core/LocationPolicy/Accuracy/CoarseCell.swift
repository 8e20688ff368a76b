import CCore
import LocationTypes

/// A cell of the grid of reduced accuracy: about 10 km by 10 km anywhere on Earth (AUT-5).
///
/// Rows of latitude are 0.09° high and numbered from the south pole; the caps around the poles are
/// half as high and one cell each. A row has as many cells as its middle latitude asks for, so that
/// all cells have nearly the same area. Two thirds of a cell lie within 5 km of its middle.
public struct CoarseCell: Equatable, Sendable {
  /// Height of a row, 1e-9 degree.
  static let height: Int64 = 90_000_000
  static let rows: Int64 = 2_000
  static let turn: Int64 = 360_000_000_000
  /// How far beyond its border a cell still holds, in tenths of its size: about 1 km.
  static let margin: Int64 = 1

  /// 0 (the south pole) to 2,000 (the north pole).
  public let row: Int64
  /// From the antimeridian eastwards, 0 ..< ``columns``.
  public let column: Int64
  /// How many cells the row has.
  public let columns: Int64

  /// The cell in which a valid coordinate lies. O(1).
  public init(of place: Coordinate) {
    let fromPole = place.latitude_e9 + 90_000_000_000
    row = (fromPole + CoarseCell.height / 2) / CoarseCell.height
    columns = CoarseCell.columns(in: row)
    let fromAntimeridian = place.longitude_e9 + CoarseCell.turn / 2
    column = fromAntimeridian * columns / CoarseCell.turn % columns  // +180° is −180°
  }

  private static func columns(in row: Int64) -> Int64 {
    if row == 0 || row == rows { return 1 }
    let middle = Double(row * height - 90_000_000_000) * 3.141_592_653_589_793 / 180e9
    return Int64((Double(turn / height) * cos(middle)).rounded())
  }

  /// The middle of the cell; of a cap, the pole.
  public var middle: Coordinate {
    let latitude_e9 = row * CoarseCell.height - 90_000_000_000
    let isCap = columns == 1
    let longitude_e9 =
      isCap ? 0 : (2 * column + 1) * CoarseCell.turn / (2 * columns) - CoarseCell.turn / 2
    return Coordinate(latitude_e9: latitude_e9, longitude_e9: longitude_e9)
  }

  /// Whether a place lies in the cell or so near to it that noise may have carried it over the
  /// border. O(1).
  public func holds(_ place: Coordinate) -> Bool {
    let middle = middle
    let north = abs(place.latitude_e9 - middle.latitude_e9)
    guard 20 * north <= (10 + 2 * CoarseCell.margin) * CoarseCell.height else { return false }
    if columns == 1 { return true }
    var east = abs(place.longitude_e9 - middle.longitude_e9)
    if east > CoarseCell.turn / 2 { east = CoarseCell.turn - east }
    return 20 * east * columns <= (10 + 2 * CoarseCell.margin) * CoarseCell.turn
  }
}
