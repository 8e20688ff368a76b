import GNSSProtocols
import LocationTypes
import TextFormats

/// Encodes epochs as a comma-separated table: a header line, then a line for each epoch (RFC 4180).
///
/// The first five columns are those of a track, so that `torpor simulate --track` reads the table. Unknown values are
/// empty fields.
enum EpochTable {
  private static let columns = [
    "unix_time", "lat", "lon", "alt", "speed", "time", "mode", "quality", "ellipsoidal_alt",
    "course", "climb", "horizontal_accuracy", "vertical_accuracy", "speed_accuracy",
    "course_accuracy", "satellites_used", "hdop", "origin",
  ]

  /// Adds the header line.
  static func writeHeader(to text: inout TextBuffer) {
    text.add(columns.joined(separator: ","))
    text.add("\n")
  }

  /// Adds a line for `epoch`.
  static func write(_ epoch: Epoch, to text: inout TextBuffer) {
    let fix = epoch.fix
    field(epoch.utc?.microseconds, 6, &text)
    field(fix?.coordinate.latitude_e9, 9, &text)
    field(fix?.coordinate.longitude_e9, 9, &text)
    field(fix?.altitude_mm, 3, &text)
    field(fix?.speed_mmps, 3, &text)
    if let utc = epoch.utc { text.add(iso8601: utc) }
    text.add(",")
    text.add(EpochNames.mode(epoch.mode))
    text.add(",")
    text.add(fix.flatMap { EpochNames.quality($0.quality) } ?? "")
    text.add(",")
    field(fix?.ellipsoidalAltitude_mm, 3, &text)
    field(fix?.course_e4, 4, &text)
    field(epoch.climb_mmps, 3, &text)
    field(fix?.horizontalAccuracy_mm, 3, &text)
    field(fix?.verticalAccuracy_mm, 3, &text)
    field(fix?.speedAccuracy_mmps, 3, &text)
    field(fix?.courseAccuracy_e2, 2, &text)
    field(fix?.satellites, 0, &text)
    field(epoch.hdop_e2, 2, &text)
    switch epoch.origin {
    case .live: text.add("live\n")
    case .batch: text.add("batch\n")
    }
  }

  /// Adds `value` / 10^`scale` and a comma; only the comma if `value` is nil.
  static func field(_ value: (some FixedWidthInteger)?, _ scale: Int, _ text: inout TextBuffer) {
    if let value { text.add(trimmed: Int64(value), scale: scale) }
    text.add(",")
  }
}
