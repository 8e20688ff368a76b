import LocationTypes
import Testing
import TextFormats

@testable import GPXFiles

@Suite("GPX writer")
struct GPXWriterTests {
  static func document(
    _ points: [(GPXPoint, GPXWriter.Details)], creator: String = "c", name: String? = nil
  ) -> String {
    var writer = GPXWriter()
    var text = TextBuffer()
    writer.begin(creator: creator, name: name, to: &text)
    for (point, details) in points { writer.write(point, details, to: &text) }
    writer.end(to: &text)
    return text.string
  }

  @Test("written points are read back with equal values")
  func roundTrip() throws {
    var points: [GPXPoint] = []
    for index in 0..<2_000 {
      // All digits, both signs and the limits of each range.
      let step = Int64(index)
      var point = GPXPoint(
        coordinate: Coordinate(
          latitude_e9: -90_000_000_000 + step * 90_045_022, longitude_e9: step * 89_999_999 - 1))
      point.utc = UTCTime(microseconds: step * 1_001_000 - 500_000_000)
      point.altitude_mm = Int32(index * 7_919 - 9_000_000)
      if index % 3 > 0 { point.speed_mmps = Int32(index * 11) }
      points.append(point)
    }
    points[7].utc = nil
    points[8].altitude_mm = nil
    let text = Self.document(points.map { ($0, GPXWriter.Details()) })
    #expect(try read(text).points == points)
  }

  @Test("name and creator may contain any text")
  func escaping() throws {
    let text = Self.document([], creator: "a<b>&\"c\u{1}", name: "<&>\"' ü \u{B}\u{FFFF}.nmea")
    #expect(text.contains("creator=\"a&lt;b&gt;&amp;&quot;c\u{FFFD}\""))
    #expect(text.contains("<name>&lt;&amp;&gt;&quot;&#39; ü \u{FFFD}\u{FFFD}.nmea</name>"))
    #expect(try read(text).points.isEmpty)
  }

  @Test("all known fields of a point are written, in the order of the schema")
  func details() throws {
    var details = GPXWriter.Details()
    details.fix = .dgps
    details.geoidHeight_mm = -23_700
    details.satellites = 8
    details.hdop_e2 = 110
    details.vdop_e2 = 99
    details.pdop_e2 = 5
    details.course_e4 = 1_813_900
    let point = GPXPoint(
      coordinate: Coordinate(latitude_e9: -1, longitude_e9: 180_000_000_000),
      utc: UTCTime(microseconds: 1_396_515_251_000_499), altitude_mm: -5, speed_mmps: 355)
    let text = Self.document([(point, details)])
    #expect(
      text.contains(
        """
           <trkpt lat="-0.000000001" lon="-180.000000000"><ele>-0.005</ele>\
        <time>2014-04-03T08:54:11.000Z</time><geoidheight>-23.7</geoidheight><fix>dgps</fix>\
        <sat>8</sat><hdop>1.1</hdop><vdop>0.99</vdop><pdop>0.05</pdop>\
        <extensions><gpxtpx:TrackPointExtension><gpxtpx:speed>0.355</gpxtpx:speed>\
        <gpxtpx:course>181.39</gpxtpx:course></gpxtpx:TrackPointExtension></extensions></trkpt>
        """))
  }

  @Test("a track without points is a valid document")
  func empty() throws {
    #expect(try read(Self.document([])).points.isEmpty)
  }
}
