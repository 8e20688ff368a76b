import GNSSProtocols
import LocationTypes

/// A GPX 1.1 track (topografix.com/GPX/1/1): every fix a point, a segment for each span without loss.
///
/// A segment ends where an epoch had no fix, where time stands or goes back, and where the step in
/// time is over 10 s and over five times the step before it.
struct GPXTrack {
  private static let shortestGap = Interval.seconds(10)
  private var isSegmentOpen = false
  private var last: UTCTime?
  private var lastStep: Interval?

  init() {}

  /// Adds what stands before the first point.
  func begin(_ text: inout Text) {
    text.add(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="torpor \(Torpor.version)" \
      xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
      xsi:schemaLocation="http://www.topografix.com/GPX/1/1 \
      http://www.topografix.com/GPX/1/1/gpx.xsd">
       <trk>

      """)
  }

  /// Adds the point of `epoch`; an epoch without a fix only ends the segment.
  mutating func write(_ epoch: Epoch, to text: inout Text) {
    guard let fix = epoch.fix else {
      endSegment(&text)
      return
    }
    if isGap(before: epoch.utc) { endSegment(&text) }
    if !isSegmentOpen {
      text.add("  <trkseg>\n")
      isSegmentOpen = true
    }
    writePoint(epoch, fix, to: &text)
  }

  /// Adds what stands after the last point.
  mutating func end(_ text: inout Text) {
    endSegment(&text)
    text.add(" </trk>\n</gpx>\n")
  }

  /// Elements stand in the order of the schema: ele, time, geoidheight, fix, sat, hdop, vdop, pdop.
  private func writePoint(_ epoch: Epoch, _ fix: Fix, to text: inout Text) {
    // GPX has no longitude of 180°: it is −180°.
    let longitude_e9 =
      fix.coordinate.longitude_e9 == 180_000_000_000
      ? -180_000_000_000 : fix.coordinate.longitude_e9
    text.add("   <trkpt lat=\"")
    text.add(fix.coordinate.latitude_e9, scale: 9, places: 9)
    text.add("\" lon=\"")
    text.add(longitude_e9, scale: 9, places: 9)
    text.add("\">")
    element("ele", fix.altitude_mm, 3, &text)
    if let utc = epoch.utc {
      text.add("<time>")
      text.add(iso8601: utc)
      text.add("</time>")
    }
    element("geoidheight", epoch.geoidSeparation_mm, 3, &text)
    text.add("<fix>\(word(fix))</fix>")
    element("sat", fix.satellites, 0, &text)
    element("hdop", epoch.hdop_e2, 2, &text)
    element("vdop", epoch.vdop_e2, 2, &text)
    element("pdop", epoch.pdop_e2, 2, &text)
    text.add("</trkpt>\n")
  }

  private func element(
    _ name: String, _ value: (some FixedWidthInteger)?, _ scale: Int, _ text: inout Text
  ) {
    guard let value else { return }
    text.add("<\(name)>")
    text.add(trimmed: Int64(value), scale: scale)
    text.add("</\(name)>")
  }

  private func word(_ fix: Fix) -> String {
    if fix.quality == .differential { return "dgps" }
    return fix.mode == .threeDimensional ? "3d" : "2d"
  }

  private mutating func endSegment(_ text: inout Text) {
    if isSegmentOpen { text.add("  </trkseg>\n") }
    isSegmentOpen = false
    lastStep = nil
  }

  private mutating func isGap(before next: UTCTime?) -> Bool {
    guard let next else { return false }
    defer { last = next }
    guard isSegmentOpen, let last else { return false }
    let step = next - last
    if step <= .zero { return true }
    if step > GPXTrack.shortestGap, let lastStep, step > lastStep * 5 { return true }
    lastStep = step
    return false
  }
}
