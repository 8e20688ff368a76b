import LocationTypes
import TextFormats

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
  private var isSegmentOpen = false
  private var last: UTCTime?
  private var lastStep: Interval?

  /// Creates a writer.
  public init() {}

  /// Writes the start of the document, up to the first segment.
  public func begin(creator: String, name: String?, to text: inout TextBuffer) {
    text.add(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="\(XMLText.escaped(creator))" \
      xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
      xsi:schemaLocation="http://www.topografix.com/GPX/1/1 \
      http://www.topografix.com/GPX/1/1/gpx.xsd \
      http://www.garmin.com/xmlschemas/TrackPointExtension/v2 \
      http://www.garmin.com/xmlschemas/TrackPointExtensionv2.xsd">
       <trk>

      """)
    if let name { text.add("  <name>\(XMLText.escaped(name))</name>\n") }
  }

  /// Ends the current segment, for example because fixes were lost.
  public mutating func endSegment(to text: inout TextBuffer) {
    if isSegmentOpen { text.add("  </trkseg>\n") }
    isSegmentOpen = false
    lastStep = nil
  }

  /// Writes a point, in a new segment after a gap.
  public mutating func write(
    _ point: GPXPoint, _ details: Details = Details(), to text: inout TextBuffer
  ) {
    if detectGap(before: point.utc) { endSegment(to: &text) }
    if !isSegmentOpen {
      text.add("  <trkseg>\n")
      isSegmentOpen = true
    }
    // The schema allows longitudes from −180° to less than 180°.
    let east = point.coordinate.longitude_e9
    let longitude_e9 = east == 180_000_000_000 ? -180_000_000_000 : east
    text.add("   <trkpt lat=\"")
    text.add(point.coordinate.latitude_e9, scale: 9, places: 9)
    text.add("\" lon=\"")
    text.add(longitude_e9, scale: 9, places: 9)
    text.add("\">")
    GPXWriter.writeParts(point, details, to: &text)
    text.add("</trkpt>\n")
  }

  /// Writes the end of the document.
  public mutating func end(to text: inout TextBuffer) {
    endSegment(to: &text)
    text.add(" </trk>\n</gpx>\n")
  }

  /// Writes the child elements in the order that the schema requires: ele, time, geoidheight, fix, sat, hdop, vdop,
  /// pdop, extensions.
  private static func writeParts(
    _ point: GPXPoint, _ details: Details, to text: inout TextBuffer
  ) {
    element("ele", point.altitude_mm, 3, &text)
    if let utc = point.utc {
      text.add("<time>")
      text.add(iso8601: utc)
      text.add("</time>")
    }
    element("geoidheight", details.geoidHeight_mm, 3, &text)
    if let fix = details.fix { text.add("<fix>\(fix.rawValue)</fix>") }
    element("sat", details.satellites, 0, &text)
    element("hdop", details.hdop_e2, 2, &text)
    element("vdop", details.vdop_e2, 2, &text)
    element("pdop", details.pdop_e2, 2, &text)
    guard point.speed_mmps != nil || details.course_e4 != nil else { return }
    text.add("<extensions><gpxtpx:TrackPointExtension>")
    element("gpxtpx:speed", point.speed_mmps, 3, &text)
    element("gpxtpx:course", details.course_e4, 4, &text)
    text.add("</gpxtpx:TrackPointExtension></extensions>")
  }

  private static func element(
    _ name: String, _ value: (some BinaryInteger)?, _ scale: Int, _ text: inout TextBuffer
  ) {
    guard let value else { return }
    text.add("<\(name)>")
    text.add(trimmed: Int64(value), scale: scale)
    text.add("</\(name)>")
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
