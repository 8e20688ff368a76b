import GNSSProtocols
import LocationTypes
import TextFormats

/// Encodes epochs and stored fixes as comma-separated values (RFC 4180): a header line, then a line for each.
///
/// The first five columns are those of a track, so that `torpor simulate --track` reads the table. Unknown values are
/// empty fields.
enum EpochTable {
  private static let firstColumns = [
    "unix_time", "lat", "lon", "alt", "speed", "time", "mode", "quality", "ellipsoidal_alt",
    "course",
  ]
  private static let accuracyColumns = [
    "horizontal_accuracy", "vertical_accuracy", "speed_accuracy", "course_accuracy",
    "satellites_used",
  ]

  /// Adds the header line of epochs.
  static func writeHeader(to text: inout TextBuffer) {
    let columns = firstColumns + ["climb"] + accuracyColumns + ["hdop", "origin"]
    text.add(columns.joined(separator: ",") + "\n")
  }

  /// Adds the header line of stored fixes.
  static func writeStoredHeader(to text: inout TextBuffer) {
    let columns = firstColumns + accuracyColumns + ["generation", "sequence", "boot_time"]
    text.add(columns.joined(separator: ",") + "\r\n")
  }

  /// Adds a line for `epoch`.
  static func write(_ epoch: Epoch, to text: inout TextBuffer) {
    writeStart(epoch, to: &text)
    field(epoch.climb_mmps, 3, &text)
    writeAccuracy(epoch.fix, to: &text)
    field(epoch.hdop_e2, 2, &text)
    switch epoch.origin {
    case .live: text.add("live\n")
    case .batch: text.add("batch\n")
    }
  }

  /// Adds a line for a stored fix.
  static func write(_ stored: StoredFix, to text: inout TextBuffer) {
    writeStart(Epoch(stored.fix), to: &text)
    writeAccuracy(stored.fix, to: &text)
    field(stored.name.generation, 0, &text)
    field(stored.name.sequence, 0, &text)
    text.add(trimmed: stored.fix.acquired.microseconds, scale: 6)
    text.add("\r\n")
  }

  private static func writeStart(_ epoch: Epoch, to text: inout TextBuffer) {
    let fix = epoch.fix
    field(epoch.utc?.microseconds, 6, &text)
    field(fix?.coordinate.latitude_e9, 9, &text)
    field(fix?.coordinate.longitude_e9, 9, &text)
    field(fix?.altitude_mm, 3, &text)
    field(fix?.speed_mmps, 3, &text)
    if let utc = epoch.utc { text.add(iso8601: utc) }
    let quality = fix.flatMap { EpochNames.quality($0.quality) } ?? ""
    text.add(",\(EpochNames.mode(epoch.mode)),\(quality),")
    field(fix?.ellipsoidalAltitude_mm, 3, &text)
    field(fix?.course_e4, 4, &text)
  }

  private static func writeAccuracy(_ fix: Fix?, to text: inout TextBuffer) {
    field(fix?.horizontalAccuracy_mm, 3, &text)
    field(fix?.verticalAccuracy_mm, 3, &text)
    field(fix?.speedAccuracy_mmps, 3, &text)
    field(fix?.courseAccuracy_e2, 2, &text)
    field(fix?.satellites, 0, &text)
  }

  /// Adds `value` / 10^`scale` and a comma; only the comma if `value` is nil.
  private static func field(
    _ value: (some FixedWidthInteger)?, _ scale: Int, _ text: inout TextBuffer
  ) {
    if let value { text.add(trimmed: Int64(value), scale: scale) }
    text.add(",")
  }
}
