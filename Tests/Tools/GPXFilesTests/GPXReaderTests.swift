import LocationTypes
import Testing

@testable import GPXFiles

/// Parses a text in chunks of `size` bytes.
func read(_ text: String, size: Int = .max) throws(GPXError) -> GPXFile {
  try read(Array(text.utf8), size: size)
}

func read(_ bytes: [UInt8], size: Int = .max) throws(GPXError) -> GPXFile {
  var reader = try GPXReader()
  var start = 0
  while start < bytes.count {
    let end = size < bytes.count - start ? start + size : bytes.count
    try reader.add(Array(bytes[start..<end]))
    start = end
  }
  return try reader.finish()
}

/// The error that parsing `text` throws.
func failure(_ text: String) -> GPXError? {
  do {
    _ = try read(text)
    return nil
  } catch { return error }
}

@Suite("GPX reader")
struct GPXReaderTests {
  static let head = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
  static let open11 = #"<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">"#
  static let time = UTCTime(microseconds: 1_396_515_251_000_000)

  /// A GPX file with one point that contains `parts`.
  static func point(_ parts: String, _ open: String = open11) -> String {
    head + open + "\n<trk><trkseg>\n<trkpt lat=\"47.5\" lon=\"-8.25\">" + parts
      + "</trkpt></trkseg></trk></gpx>"
  }

  static func only(_ parts: String, _ open: String = open11) throws -> GPXPoint {
    let file = try read(point(parts, open))
    #expect(file.points.count == 1 && file.positions.count == 1)
    return try #require(file.points.first)
  }

  @Test("a point has its coordinate, altitude and time")
  func onePoint() throws {
    let point = try Self.only("<ele>59.9</ele><time>2014-04-03T08:54:11Z</time>")
    #expect(
      point
        == GPXPoint(
          coordinate: Coordinate(latitude_e9: 47_500_000_000, longitude_e9: -8_250_000_000),
          utc: Self.time, altitude_mm: 59_900))
    #expect(try Self.only("") == GPXPoint(coordinate: point.coordinate))
    #expect(try Self.only("<ele/><time></time>") == GPXPoint(coordinate: point.coordinate))
  }

  @Test("chunks of any size give the same points and text positions")
  func pieces() throws {
    let text =
      Self.head + Self.open11 + "<trk><trkseg>"
      + (0..<5).map {
        "<trkpt lat=\"\($0)\" lon=\"1\"><ele>\($0)5.25</ele>"
          + "<time>2014-04-03T08:54:1\($0).5Z</time></trkpt>\n"
      }.joined() + "</trkseg><trkseg/></trk><trk/></gpx>"
    let whole = try read(text)
    #expect(whole.points.count == 5)
    #expect(whole.points[3].altitude_mm == 35_250)
    #expect(whole.positions.map(\.line) == [2, 3, 4, 5, 6])
    for size in 1...40 { #expect(try read(text, size: size) == whole) }
  }

  @Test("speed is read from GPX 1.0, Garmin's extension and common non-standard elements")
  func speeds() throws {
    let open10 = #"<gpx version="1.0" creator="x" xmlns="http://www.topografix.com/GPX/1/0">"#
    #expect(try Self.only("<speed>3.25</speed>", open10).speed_mmps == 3_250)
    for version in ["v1", "v2"] {
      let garmin = "http://www.garmin.com/xmlschemas/TrackPointExtension/\(version)"
      let open =
        #"<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1" "#
        + "xmlns:n=\"\(garmin)\">"
      let parts =
        "<extensions><n:TrackPointExtension><n:atemp>9</n:atemp><n:speed>1.5</n:speed>"
        + "</n:TrackPointExtension></extensions>"
      #expect(try Self.only(parts, open).speed_mmps == 1_500)
      // The same element outside TrackPointExtension has another meaning.
      #expect(try Self.only("<n:speed>1.5</n:speed>", open).speed_mmps == nil)
      #expect(
        try Self.only("<extensions><n:speed>1</n:speed></extensions>", open).speed_mmps == nil)
    }
    #expect(try Self.only("<extensions><speed>2</speed></extensions>").speed_mmps == 2_000)
  }

  @Test("elements of other namespaces and other parents are skipped")
  func others() throws {
    let parts =
      "<o:ele xmlns:o=\"urn:o\">9</o:ele><link href=\"x\"><time>x</time></link>"
      + "<extensions><time>nonsense</time></extensions><ele>1<o xmlns=\"urn:o\">2</o>3</ele>"
    let point = try Self.only(parts)
    #expect(point.utc == nil && point.altitude_mm == 13_000)
    let file = try read(
      Self.open11 + "<metadata><time>never</time></metadata><wpt lat=\"x\"><ele>y</ele></wpt>"
        + "<rte><rtept lat=\"1\" lon=\"2\"/><rtept/></rte><trkpt/>"
        + "<o:trk xmlns:o=\"urn:o\"><trkseg><trkpt/></trkseg></o:trk></gpx>")
    #expect(file.points.isEmpty && file.waypoints == 1 && file.routes == 1)
    #expect(file.tracks == 0)
  }

  @Test("a file without a namespace is read as GPX")
  func noNamespace() throws {
    #expect(try Self.only("<speed>1</speed>", "<gpx>").speed_mmps == 1_000)
  }

  @Test("declared entities, character references and CDATA are read as text")
  func entities() throws {
    let text = Self.point("<ele>&#x31;<![CDATA[2.]]>&half;</ele>").replacing(
      Self.head, with: "<!DOCTYPE gpx [<!ENTITY half \"5\">]>", maxReplacements: 1)
    #expect(try read(text).points.first?.altitude_mm == 12_500)
  }

  @Test("UTF-16 and ISO-8859-1 are decoded as declared")
  func encodings() throws {
    let body =
      Self.open11 + "<!-- Zürich --><trk><name>Zürich</name><trkseg>"
      + "<trkpt lat=\"1\" lon=\"2\"/></trkseg></trk></gpx>"
    let latin = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + body
    let bytes = latin.unicodeScalars.map { UInt8($0.value) }
    #expect(try read(bytes).points.count == 1)
    // The same bytes are not valid UTF-8.
    #expect(failure(Self.head + "\u{0}") != nil)
    let wrong = body.unicodeScalars.map { UInt8($0.value) }
    #expect(throws: GPXError.self) { try read(wrong) }
    let wide = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>" + body
    let little: [UInt8] =
      [0xFF, 0xFE] + wide.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big: [UInt8] =
      [0xFE, 0xFF] + wide.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    for text in [little, big] {
      #expect(GPXReader.isXML(text))
      for size in [1, 7, .max] { #expect(try read(text, size: size).points.count == 1) }
    }
    let unknown = "<?xml version=\"1.0\" encoding=\"windows-1250\"?>" + body
    #expect(failure(unknown)?.problem == .unknownEncoding)
  }

  @Test("XML is distinguished from a table by its first bytes")
  func isXML() {
    for text in ["<gpx", "<?xml", "\u{FEFF}<gpx", " \n<gpx"] {
      #expect(GPXReader.isXML(Array(text.utf8)))
    }
    for text in ["", "unix_time,lat", "\u{FEFF}unix", "1<"] {
      #expect(!GPXReader.isXML(Array(text.utf8)))
    }
    #expect(GPXReader.isXML([0, 0x3C]) && GPXReader.isXML([0x3C, 0]))
  }
}

@Suite("Files that are not GPX are rejected with line and column")
struct GPXRefusalTests {
  static let reader = GPXReaderTests.self

  @Test(
    "an invalid value is reported with its line and column",
    arguments: [
      ("<ele>12,5</ele>", .notANumber(name: "ele", found: "12,5"), 31),
      ("<ele>nan</ele>", .notANumber(name: "ele", found: "nan"), 31),
      ("<ele>0x10</ele>", .notANumber(name: "ele", found: "0x10"), 31),
      ("<speed>-1</speed>", .outOfRange(name: "speed", found: "-1", allowed: "0.0 to 16777.0"), 31),
      (
        "<ele>1e9</ele>",
        .outOfRange(name: "ele", found: "1e9", allowed: "-20000.0 to 1000000.0"), 31
      ),
      ("<sym/><time>08:54</time>", .badTime(found: "08:54"), 37),
    ] as [(String, GPXError.Problem, Int)])
  func values(parts: String, problem: GPXError.Problem, column: Int) {
    let position = GPXTextPosition(line: 4, column: column)
    #expect(
      failure(GPXReaderTests.point(parts)) == GPXError(position: position, problem: problem),
      "\(parts)")
  }

  @Test("a point needs a valid latitude and longitude")
  func coordinates() {
    func wrong(_ attributes: String) -> GPXError.Problem? {
      failure("<gpx><trk><trkseg><trkpt \(attributes)/></trkseg></trk></gpx>")?.problem
    }
    #expect(wrong("lat='1'") == .missing(attribute: "lon", element: "trkpt"))
    #expect(wrong("lon='1'") == .missing(attribute: "lat", element: "trkpt"))
    #expect(wrong("lat='90' lon='180'") == nil)
    #expect(
      wrong("lat='90.1' lon='0'")
        == .outOfRange(name: "lat", found: "90.1", allowed: "-90.0 to 90.0"))
    #expect(
      wrong("lat='0' lon='-180.5'")
        == .outOfRange(name: "lon", found: "-180.5", allowed: "-180.0 to 180.0"))
    #expect(wrong("lat='' lon='0'") == .notANumber(name: "lat", found: ""))
  }

  @Test("other XML, malformed XML and a truncated file give different errors")
  func documents() throws {
    let kml = failure("<?xml version='1.0'?>\n <kml xmlns='http://www.opengis.net/kml/2.2'/>")
    #expect(
      kml == GPXError(position: GPXTextPosition(line: 2, column: 2), problem: .notGPX(root: "kml")))
    #expect(failure("<gpx xmlns='urn:other'/>")?.problem == .notGPX(root: "gpx"))
    let broken = try #require(failure("<gpx>\n<trk>\n</gpx>"))
    #expect(broken.position == GPXTextPosition(line: 3, column: 3))
    #expect(broken.problem == .notXML("mismatched tag"))
    #expect(broken.description.contains("mismatched tag"))
    for text in ["", "<gpx>", "<gpx><trk", "<gpx></gpx", "<?xml version='1.0'?>"] {
      #expect(failure(text)?.problem == .truncated, "\(text)")
    }
    if case .notXML = failure("<gpx/><gpx/>")?.problem {} else { Issue.record("two documents") }
    if case .notXML = failure("<gpx>&undefined;</gpx>")?.problem {
    } else {
      Issue.record("an entity that is not there")
    }
  }

  @Test("too deeply nested elements are rejected")
  func depth() {
    func nested(_ count: Int) -> String {
      "<gpx>" + String(repeating: "<a>", count: count - 1)
        + String(repeating: "</a>", count: count - 1) + "</gpx>"
    }
    #expect(failure(nested(GPXReader.maximumNesting)) == nil)
    #expect(failure(nested(GPXReader.maximumNesting + 1))?.problem == .nestedTooDeep)
    #expect(failure(nested(100_000))?.problem == .nestedTooDeep)
  }

  @Test("entity expansion attacks are rejected: nested entities and one long repeated entity")
  func entityExpansion() {
    var nested = "<!DOCTYPE gpx [<!ENTITY a0 \"ha\">"
    for level in 1...30 { nested += "<!ENTITY a\(level) \"&a\(level - 1);&a\(level - 1);\">" }
    nested += "]><gpx><trk><name>&a30;</name></trk></gpx>"
    #expect(failure(nested)?.problem == .entityExpansion)
    let long =
      "<!DOCTYPE gpx [<!ENTITY a \"\(String(repeating: "ha", count: 10_000))\">]><gpx><trk><name>"
      + String(repeating: "&a;", count: 1_000) + "</name></trk></gpx>"
    #expect(failure(long)?.problem == .entityExpansion)
  }

  @Test("external entities are not read")
  func external() {
    let text =
      "<!DOCTYPE gpx [<!ENTITY out SYSTEM \"file:///etc/hostname\">]>"
      + "<gpx><trk><trkseg><trkpt lat='1' lon='2'><ele>1&out;</ele></trkpt></trkseg></trk></gpx>"
    #expect((try? read(text))?.points.first?.altitude_mm == 1_000)
  }

  @Test("an overlong value is rejected without being stored")
  func longValue() {
    let parts = "<ele>" + String(repeating: "1", count: 1_000_000) + "</ele>"
    #expect(
      failure(GPXReaderTests.point(parts))?.problem
        == .outOfRange(
          name: "ele", found: String(repeating: "1", count: 40), allowed: "-20000.0 to 1000000.0"))
  }

  @Test("every message states the problem and how to fix it")
  func messages() {
    let problems: [GPXError.Problem] = [
      .notXML("x"), .truncated, .unknownEncoding, .entityExpansion, .notGPX(root: "kml"),
      .missing(attribute: "lat", element: "trkpt"), .notANumber(name: "ele", found: "x"),
      .outOfRange(name: "lat", found: "91", allowed: "-90 to 90"), .badTime(found: "x"),
      .nestedTooDeep,
      .tooManyPoints, .tooLong, .noMemory,
    ]
    let messages = Set(
      problems.map {
        GPXError(position: GPXTextPosition(line: 1, column: 1), problem: $0).description
      })
    #expect(messages.count == problems.count && messages.allSatisfy { $0.count > 20 })
  }
}

@Suite("GPX value parser")
struct GPXValueTests {
  @Test(
    "timestamps with fraction and offset are converted to UTC",
    arguments: [
      ("2014-04-03T08:54:11Z", 0), ("2014-04-03T08:54:11", 0), (" 2014-04-03T08:54:11Z\n", 0),
      ("2014-04-03T08:54:11.5Z", 500_000), ("2014-04-03T08:54:11.123456789Z", 123_456),
      ("2014-04-03T10:54:11+02:00", 0), ("2014-04-03T05:24:11-0330", 0),
      ("2014-04-02T23:54:11.25-09:00", 250_000), ("2014-04-03T08:53:60Z", -11_000_000),
      ("2014-04-04T00:00:00Z", 54_349_000_000), ("2014-04-03T24:00:00Z", 54_349_000_000),
    ] as [(String, Int64)])
  func times(text: String, difference: Int64) {
    let expected = GPXReaderTests.time + Interval(microseconds: difference)
    #expect(GPXValueParser.time(text) == expected, "\(text)")
  }

  @Test(
    "invalid timestamps are rejected",
    arguments: [
      "", "2014", "2014-04-03", "2014-02-30T08:54:11Z", "2014-04-03T25:00:00Z",
      "2014-04-03T24:00:01Z", "2014-04-03T08:60:00Z", "2014-04-03T08:54:61Z",
      "2014-04-03T08:54:11.Z", "2014-04-03T08:54:11z", "2014-04-03 08:54:11Z",
      "2014-04-03T08:54:11Zx", "2014-04-03T08:54:11+2", "2014-04-03T08:54:11+15:00",
      "2014-04-03T08:54:11+01:60", "-2014-04-03T08:54:11Z", "12014-04-03T08:54:11Z",
      "2014-04-03T08:54:11,5Z", "２014-04-03T08:54:11Z",
    ])
  func noTimes(text: String) { #expect(GPXValueParser.time(text) == nil) }

  @Test("numbers are decimal")
  func numbers() {
    #expect(GPXValueParser.number(" 12.5\n") == 12.5 && GPXValueParser.number("-.5") == -0.5)
    #expect(GPXValueParser.number("+1e2") == 100)
    for text in ["", "-", "inf", "0x1p3", "1 2", "1,5", "1e999"] {
      #expect(GPXValueParser.number(text) == nil, "\(text)")
    }
  }
}
