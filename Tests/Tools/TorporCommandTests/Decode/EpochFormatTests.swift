import GNSSProtocols
import GPXFiles
import LocationTypes
import Testing

@testable import torpor

@Suite("Formats of torpor decode")
struct EpochFormatTests {
  /// An epoch at 2014-04-03T08:54:11Z with every field set.
  static var full: Epoch {
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(latitude_e9: -37_784_788_333, longitude_e9: 175_314_896_667))
    fix.utc = UTCTime(microseconds: 1_396_515_251_000_000)
    fix.ellipsoidalAltitude_mm = 83_600
    fix.altitude_mm = 59_900
    fix.speed_mmps = 355
    fix.course_e4 = 1_813_900
    fix.horizontalAccuracy_mm = 2_500
    fix.verticalAccuracy_mm = 4_000
    fix.speedAccuracy_mmps = 170
    fix.courseAccuracy_e2 = 876
    fix.satellites = 8
    fix.quality = .differential
    var epoch = Epoch()
    epoch.utc = fix.utc
    epoch.fix = fix
    epoch.mode = .threeDimensional
    epoch.hdop_e2 = 110
    epoch.climb_mmps = -11
    epoch.geoidSeparation_mm = 23_700
    epoch.timeAccuracy_ns = 30
    epoch.latitudeError_mm = 1_500
    epoch.longitudeError_mm = 2_000
    epoch.satellitesInView = 12
    return epoch
  }

  static func fix(_ seconds: Int64, longitude_e9: Int64 = 0) -> Epoch {
    var fix = Fix(
      acquired: .boot, coordinate: Coordinate(latitude_e9: 0, longitude_e9: longitude_e9),
      mode: .twoDimensional)
    fix.utc = UTCTime(microseconds: seconds * 1_000_000)
    var epoch = Epoch()
    epoch.utc = fix.utc
    epoch.fix = fix
    epoch.mode = .twoDimensional
    return epoch
  }

  static var noFix: Epoch {
    var epoch = Epoch()
    epoch.utc = UTCTime(microseconds: 1_396_515_251_250_000)
    epoch.mode = .noFix
    return epoch
  }

  func text(_ format: EpochFormat, _ epochs: [Epoch]) -> String {
    var writer = EpochWriter(format)
    for epoch in epochs { writer.write(epoch) }
    writer.finish()
    return writer.output.text.string
  }

  @Test("tpv has gpsd's field names, digits and order")
  func tpv() {
    #expect(
      text(.tpv, [Self.full])
        == #"{"class":"TPV","status":2,"mode":3,"time":"2014-04-03T08:54:11.000Z","#
        + #""ept":0.00000003,"lat":-37.784788333,"lon":175.314896667,"altHAE":83.6000,"#
        + #""altMSL":59.9000,"alt":59.9000,"epx":2.000,"epy":1.500,"epv":4.000,"#
        + #""track":181.3900,"speed":0.355,"climb":-0.011,"epd":8.7600,"eps":0.17,"#
        + #""geoidSep":23.700,"eph":2.500}"# + "\n")
  }

  @Test("tpv omits unknown fields and reports an epoch without a fix")
  func sparse() {
    #expect(
      text(.tpv, [Self.noFix])
        == #"{"class":"TPV","mode":1,"time":"2014-04-03T08:54:11.250Z"}"# + "\n")
    #expect(text(.tpv, [Epoch()]) == #"{"class":"TPV","mode":0}"# + "\n")
    var flat = Self.fix(0)
    flat.climb_mmps = 100
    flat.geoidSeparation_mm = 100
    #expect(
      text(.tpv, [flat])
        == #"{"class":"TPV","mode":2,"time":"1970-01-01T00:00:00.000Z","lat":0.000000000,"#
        + #""lon":0.000000000}"# + "\n")
  }

  @Test(
    "tpv has gpsd's status for the fix quality",
    arguments: [
      (.unknown, ""), (.autonomous, ""), (.manual, ""), (.differential, "\"status\":2,"),
      (.rtkFixed, "\"status\":3,"), (.rtkFloat, "\"status\":4,"),
      (.deadReckoning, "\"status\":5,"), (.combined, "\"status\":6,"),
      (.surveyed, "\"status\":7,"), (.simulated, "\"status\":8,"),
    ] as [(FixQuality, String)])
  func status(quality: FixQuality, expected: String) {
    var epoch = Self.fix(0)
    epoch.fix?.quality = quality
    #expect(text(.tpv, [epoch]).hasPrefix("{\"class\":\"TPV\",\(expected)\"mode\":2"))
  }

  @Test("jsonl has units in its key names")
  func jsonl() {
    #expect(
      text(.jsonl, [Self.full])
        == #"{"time":"2014-04-03T08:54:11.000Z","unix_time_s":1396515251,"mode":"3d","#
        + #""quality":"differential","latitude_deg":-37.784788333,"longitude_deg":175.314896667,"#
        + #""altitude_m":59.9,"ellipsoidal_altitude_m":83.6,"speed_mps":0.355,"#
        + #""course_deg":181.39,"horizontal_accuracy_m":2.5,"vertical_accuracy_m":4,"#
        + #""speed_accuracy_mps":0.17,"course_accuracy_deg":8.76,"satellites_used":8,"#
        + #""climb_mps":-0.011,"geoid_separation_m":23.7,"latitude_error_m":1.5,"#
        + #""longitude_error_m":2,"time_accuracy_s":0.00000003,"satellites_in_view":12,"#
        + #""hdop":1.1,"origin":"live"}"# + "\n")
    var timeOnly = Epoch(origin: .batch)
    timeOnly.timeOfDay_us = 1_500_000
    timeOnly.isDateUncertain = true
    timeOnly.mode = .noFix
    #expect(
      text(.jsonl, [timeOnly])
        == #"{"time_of_day_s":1.5,"date_uncertain":true,"mode":"no_fix","origin":"batch"}"# + "\n")
  }

  @Test("csv has a header and the same number of fields per line; unknown fields are empty")
  func csv() {
    let lines = text(.csv, [Self.full, Self.noFix]).split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4 && lines[3].isEmpty)
    #expect(lines[0].hasPrefix("unix_time,lat,lon,alt,speed,time,mode"))
    #expect(
      lines[1]
        == "1396515251,-37.784788333,175.314896667,59.9,0.355,2014-04-03T08:54:11.000Z,3d,"
        + "differential,83.6,181.39,-0.011,2.5,4,0.17,8.76,8,1.1,live")
    #expect(lines[2] == "1396515251.25,,,,,2014-04-03T08:54:11.250Z,no_fix,,,,,,,,,,,live")
    let counts = lines.prefix(3).map { $0.filter { $0 == "," }.count }
    #expect(counts[0] == counts[1] && counts[0] == counts[2])
  }

  @Test("gpx has a point for each fix, its elements in the order of the schema")
  func gpx() {
    let track = text(.gpx, [Self.full])
    #expect(track.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\""))
    #expect(track.hasSuffix("  </trkseg>\n </trk>\n</gpx>\n"))
    #expect(
      track.contains(
        """
           <trkpt lat="-37.784788333" lon="175.314896667"><ele>59.9</ele>\
        <time>2014-04-03T08:54:11.000Z</time><geoidheight>23.7</geoidheight><fix>dgps</fix>\
        <sat>8</sat><hdop>1.1</hdop><extensions><gpxtpx:TrackPointExtension>\
        <gpxtpx:speed>0.355</gpxtpx:speed><gpxtpx:course>181.39</gpxtpx:course>\
        </gpxtpx:TrackPointExtension></extensions></trkpt>
        """))
  }

  @Test("gpx: a longitude of 180° is written as −180°, because GPX excludes 180°")
  func antimeridian() {
    #expect(
      text(.gpx, [Self.fix(0, longitude_e9: 180_000_000_000)]).contains("lon=\"-180.000000000\""))
  }

  func segments(_ epochs: [Epoch]) -> [Int] {
    text(.gpx, epochs).split(separator: "<trkseg>").dropFirst().map {
      $0.split(separator: "<trkpt").count - 1
    }
  }

  @Test("gpx starts a new segment if fixes are missing or time goes back")
  func gaps() {
    let even = [0, 2, 4, 6].map { Self.fix($0) }
    #expect(segments(even) == [4])
    #expect(segments(even + [Self.fix(1_256), Self.fix(1_258)]) == [4, 2])
    #expect(segments(even + [Self.fix(16)]) == [5])
    #expect(segments(even + [Self.fix(17)]) == [4, 1])
    #expect(segments(even + [Self.noFix, Self.fix(8)]) == [4, 1])
    #expect(segments(even + [Self.fix(6)]) == [4, 1])
    #expect(segments([0, 3, 6, 21].map { Self.fix($0) }) == [4])
    #expect(segments([0, 3, 6, 22].map { Self.fix($0) }) == [3, 1])
    #expect(segments([0, 60, 120, 180].map { Self.fix($0) }) == [4])
    #expect(segments([Self.noFix]) == [])
  }

  @Test("without an epoch, a table has its header and a track is empty")
  func empty() throws {
    #expect(text(.tpv, []).isEmpty && text(.jsonl, []).isEmpty)
    #expect(text(.csv, []) == text(.csv, [Self.full]).prefix { $0 != "\n" } + "\n")
    var reader = try GPXReader()
    try reader.add(Array(text(.gpx, []).utf8))
    #expect(try reader.finish().points.isEmpty)
  }

  @Test("gpx is read back by an XML parser with equal values")
  func readBack() throws {
    let epochs = [Self.full, Self.fix(1_396_515_252, longitude_e9: -1), Self.noFix, Self.fix(0)]
    var writer = EpochWriter(.gpx, name: "a<&>\"b\".nmea")
    for epoch in epochs { writer.write(epoch) }
    writer.finish()
    var reader = try GPXReader()
    try reader.add(writer.output.bytes)
    let points = try reader.finish().points
    let fixes = epochs.filter { $0.fix != nil }
    #expect(points.count == 3)
    for (point, epoch) in zip(points, fixes) {
      #expect(point.coordinate == epoch.fix?.coordinate && point.utc == epoch.utc)
      #expect(point.altitude_mm == epoch.fix?.altitude_mm)
      #expect(point.speed_mmps == epoch.fix?.speed_mmps)
    }
  }
}
