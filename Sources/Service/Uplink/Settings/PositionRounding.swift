import LocationPolicy
import LocationTypes

/// Rounds positions to a number of decimals of degrees before they are sent.
///
/// The accuracy becomes worse by the largest error, half the diagonal of a cell at the equator.
struct PositionRounding {
  private let unit: Int64

  /// - Parameter decimals: Decimals of degrees, 1 to 9.
  init(decimals: Int) { unit = (decimals..<9).reduce(Int64(1)) { unit, _ in unit * 10 } }

  /// Largest error, millimetres: 111.4 µm for each unit of 1e-9 degree and each axis, halved.
  private var error_mm: Int64 { unit > 1 ? unit * 79 / 1_000 + 1 : 0 }

  /// The rounded position.
  func rounded(_ coordinate: Coordinate) -> Coordinate {
    Coordinate(
      latitude_e9: rounded(coordinate.latitude_e9), longitude_e9: rounded(coordinate.longitude_e9))
  }

  /// Halves away from zero; ±90 and ±180 degrees are multiples of each unit.
  private func rounded(_ value: Int64) -> Int64 {
    (value + (value < 0 ? -unit / 2 : unit / 2)) / unit * unit
  }

  /// The fix with a rounded position.
  func rounded(_ stored: StoredFix) -> StoredFix {
    guard unit > 1 else { return stored }
    var result = stored
    result.fix.coordinate = rounded(stored.fix.coordinate)
    if let accuracy = stored.fix.horizontalAccuracy_mm {
      result.fix.horizontalAccuracy_mm = Int32(clamping: Int64(accuracy) + error_mm)
    }
    return result
  }

  /// The visit with a rounded position.
  func rounded(_ visit: Visit) -> Visit {
    guard unit > 1 else { return visit }
    var result = visit
    result.coordinate = rounded(visit.coordinate)
    result.horizontalAccuracy += Double(error_mm) / 1_000
    return result
  }
}
