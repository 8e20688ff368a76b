import LocationTypes

/// Streaming writer of a GPX 1.1 track (topografix.com/GPX/1/1) with a segment for each span without lost fixes.
///
/// A segment ends at ``endSegment()``, where time does not increase, and where the time step is more than 10 s and
/// more than five times the previous step.
public struct GPXWriter {
  /// Optional values of a point.
  public struct Details: Equatable, Sendable {
    /// Kind of fix. The schema (`fixType`) has these and `pps`.
    public enum Fix: String, Sendable {
      case none, twoDimensional = "2d", threeDimensional = "3d", dgps
    }

    /// Kind of fix.
    public var fix: Fix?
    /// Height of the geoid above the ellipsoid, millimetres.
    public var geoidHeight_mm: Int32?
    /// Number of satellites used.
    public var satellites: Int?
    /// Horizontal dilution of precision (HDOP) × 100.
    public var hdop_e2: Int?
    /// Vertical dilution of precision (VDOP) × 100.
    public var vdop_e2: Int?
    /// Position dilution of precision (PDOP) × 100.
    public var pdop_e2: Int?
    /// Course over ground, degrees × 10⁴.
    public var course_e4: Int32?

    /// Creates empty details.
    public init() {}
  }

  private static let shortestGap = Interval.seconds(10)
  /// Text written since the last ``removeAll()``, UTF-8.
  public private(set) var bytes: [UInt8] = []
  private var isSegmentOpen = false
  private var last: UTCTime?
  private var lastStep: Interval?

  /// Creates a writer.
  public init() {}

  /// Empties ``bytes``.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Writes the start of the document, up to the first segment.
  public mutating func begin(creator: String, name: String?) {
    add(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="\(GPXFormat.escaped(creator))" \
      xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
      xsi:schemaLocation="http://www.topografix.com/GPX/1/1 \
      http://www.topografix.com/GPX/1/1/gpx.xsd \
      http://www.garmin.com/xmlschemas/TrackPointExtension/v2 \
      http://www.garmin.com/xmlschemas/TrackPointExtensionv2.xsd">
       <trk>

      """)
    if let name { add("  <name>\(GPXFormat.escaped(name))</name>\n") }
  }

  /// Ends the current segment, for example because fixes were lost.
  public mutating func endSegment() {
    if isSegmentOpen { add("  </trkseg>\n") }
    isSegmentOpen = false
    lastStep = nil
  }

  /// Writes a point, in a new segment after a gap.
  public mutating func write(_ point: GPXPoint, _ details: Details = Details()) {
    if detectGap(before: point.utc) { endSegment() }
    if !isSegmentOpen {
      add("  <trkseg>\n")
      isSegmentOpen = true
    }
    // The schema allows longitudes from −180° to less than 180°.
    let east = point.coordinate.longitude_e9
    let longitude_e9 = east == 180_000_000_000 ? -180_000_000_000 : east
    add("   <trkpt lat=\"\(GPXFormat.decimal(point.coordinate.latitude_e9, 9, places: 9))\"")
    add(" lon=\"\(GPXFormat.decimal(longitude_e9, 9, places: 9))\">")
    writeParts(point, details)
    add("</trkpt>\n")
  }

  /// Writes the end of the document.
  public mutating func end() {
    endSegment()
    add(" </trk>\n</gpx>\n")
  }

  /// Writes the child elements in the order that the schema requires: ele, time, geoidheight, fix, sat, hdop, vdop,
  /// pdop, extensions.
  private mutating func writeParts(_ point: GPXPoint, _ details: Details) {
    element("ele", point.altitude_mm, 3)
    if let utc = point.utc { add("<time>\(GPXFormat.time(utc))</time>") }
    element("geoidheight", details.geoidHeight_mm, 3)
    if let fix = details.fix { add("<fix>\(fix.rawValue)</fix>") }
    element("sat", details.satellites, 0)
    element("hdop", details.hdop_e2, 2)
    element("vdop", details.vdop_e2, 2)
    element("pdop", details.pdop_e2, 2)
    guard point.speed_mmps != nil || details.course_e4 != nil else { return }
    add("<extensions><gpxtpx:TrackPointExtension>")
    element("gpxtpx:speed", point.speed_mmps, 3)
    element("gpxtpx:course", details.course_e4, 4)
    add("</gpxtpx:TrackPointExtension></extensions>")
  }

  private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func element(_ name: String, _ value: (some BinaryInteger)?, _ scale: Int) {
    guard let value else { return }
    add("<\(name)>\(GPXFormat.decimal(Int64(value), scale))</\(name)>")
  }

  private mutating func detectGap(before next: UTCTime?) -> Bool {
    guard let next else { return false }
    defer { last = next }
    guard isSegmentOpen, let last else { return false }
    let step = next - last
    if step <= .zero { return true }
    if step > GPXWriter.shortestGap, let lastStep, step > lastStep * 5 { return true }
    lastStep = step
    return false
  }
}

/// Formats values for GPX. Decimal numbers are formatted from integers, so that no rounding occurs.
enum GPXFormat {
  /// `value` / 10^`scale` without trailing zeros, but with at least `places` decimals.
  static func decimal(_ value: Int64, _ scale: Int, places: Int = 0) -> String {
    var digits = String(value.magnitude)
    while digits.utf8.count <= scale { digits = "0" + digits }
    var fraction = digits.suffix(scale)
    while fraction.utf8.count > places, fraction.last == "0" { fraction.removeLast() }
    let sign = value < 0 ? "-" : ""
    let whole = digits.dropLast(scale)
    return fraction.isEmpty ? "\(sign)\(whole)" : "\(sign)\(whole).\(fraction)"
  }

  /// A time rounded to the nearest millisecond: `2014-04-03T08:54:11.000Z`.
  static func time(_ moment: UTCTime) -> String {
    let rounded = UTCTime(microseconds: moment.microseconds + 500)
    let day = rounded.date
    let milliseconds = rounded.microsecondsOfDay / 1_000
    let clock = [
      padded(milliseconds / 3_600_000, 2), padded(milliseconds / 60_000 % 60, 2),
      padded(milliseconds / 1_000 % 60, 2),
    ]
    let date = [padded(Int64(day.year), 4), padded(Int64(day.month), 2), padded(Int64(day.day), 2)]
    return date.joined(separator: "-") + "T" + clock.joined(separator: ":")
      + ".\(padded(milliseconds % 1_000, 3))Z"
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// `text` escaped for an element or an attribute; characters that XML does not allow become U+FFFD.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
