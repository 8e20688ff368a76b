import GNSSProtocols
import LocationTypes
import TestSupport
import Testing
import TextFormats

@testable import GPSDProtocol

private let device = GPSDDevice(
  path: "/dev/ttyS0", driver: "u-blox", isBinary: true, speed_baud: 9_600)

private func fix(altitude_mm: Int32? = 520_000, at seconds: Int64 = 10) -> Fix {
  var fix = Fix(
    acquired: .boot + .seconds(seconds),
    coordinate: Coordinate(latitude_e9: 48_137_500_000, longitude_e9: -11_575_000_000))
  fix.utc = UTCTime(microseconds: 1_750_000_000_000_000)
  fix.altitude_mm = altitude_mm
  fix.ellipsoidalAltitude_mm = altitude_mm.map { Int32(clamping: Int64($0) + 47_000) }
  fix.speed_mmps = 10_000
  fix.course_e4 = 900_000
  fix.horizontalAccuracy_mm = 3_000
  fix.verticalAccuracy_mm = 4_000
  return fix
}

private func text(_ body: (inout JSONOutput) -> Void) -> String {
  var json = JSONOutput()
  body(&json)
  return json.text.string
}

private func view() -> SatelliteView {
  var view = SatelliteView()
  view.add(Satellite(.gps, 2, isUsed: true, elevation_deg: 71, azimuth_deg: 285, signal_dBHz: 46))
  view.add(Satellite(.gps, 5, elevation_deg: 3, azimuth_deg: 10))
  view.add(
    Satellite(.galileo, 7, isUsed: true, elevation_deg: 30, azimuth_deg: 90, signal_dBHz: 40))
  view.add(Satellite(.glonass, 255))
  view.dilutions.horizontal_e2 = 90
  view.dilutions.position_e2 = 150
  return view
}

@Suite("Reports of gpsd's protocol")
struct GPSDReportTests {
  @Test("a TPV has gpsd's members, digits and order")
  func tpv() {
    let report = GPSDReport(
      fix(), utc: fix().utc, after: fix(altitude_mm: 519_500, at: 9))
    #expect(
      text { $0.gpsdTPV(report, device) }
        == #"{"class":"TPV","device":"/dev/ttyS0","mode":3,"time":"2025-06-15T15:06:40.000Z","ept":0.005,"#
        + #""lat":48.137500000,"lon":-11.575000000,"altHAE":567.0000,"altMSL":520.0000,"alt":520.0000,"#
        + #""epx":2.121,"epy":2.121,"epv":4.000,"track":90.0000,"speed":10.000,"climb":0.500,"#
        + #""geoidSep":47.000,"velN":0.000,"velE":10.000,"velD":-0.500,"eph":3.000,"sep":5.000}"#
        + "\r\n")
  }

  @Test("what needs three dimensions is missing in two; without a fix only mode and device remain")
  func modes() {
    var flat = fix()
    flat.mode = .twoDimensional
    let line = text { $0.gpsdTPV(GPSDReport(flat, utc: flat.utc), device) }
    for name in ["climb", "geoidSep", "velN", "velD", "sep"] {
      #expect(!line.contains("\"\(name)\""))
    }
    #expect(line.contains("\"mode\":2") && line.contains("\"alt\":520.0000"))
    flat.altitude_mm = nil
    let ellipsoidal = text { $0.gpsdTPV(GPSDReport(flat, utc: flat.utc), device) }
    #expect(ellipsoidal.contains("\"altHAE\":567.0000") && !ellipsoidal.contains("\"alt\""))
    #expect(
      text { $0.gpsdTPV(.none, device) }
        == #"{"class":"TPV","device":"/dev/ttyS0","mode":1}"# + "\r\n")
  }

  @Test("the vertical speed needs two consecutive fixes")
  func climb() {
    let far = GPSDReport(fix(at: 100), utc: nil, after: fix(altitude_mm: 1))
    #expect(far.climb_mmps == nil)
    #expect(GPSDReport(fix(), utc: nil).climb_mmps == nil)
    #expect(
      GPSDReport(fix(altitude_mm: .max), utc: nil, after: fix(altitude_mm: -.max, at: 9)).climb_mmps
        == .max)
  }

  @Test(
    "GPD-12: SKY has the satellites with gpsd's numbers, and without a view the number of used ones, if known"
  )
  func sky() {
    let report = GPSDReport(fix(), utc: fix().utc)
    let line = text { $0.gpsdSKY(report, view(), device) }
    #expect(
      line.contains(#""hdop":0.90,"pdop":1.50,"nSat":3,"uSat":2,"satellites":[{"PRN":2,"el":71.0,"#)
    )
    #expect(
      line.contains(#"{"PRN":307,"el":30.0,"az":90.0,"ss":40.0,"used":true,"gnssid":2,"svid":7}"#))
    #expect(!line.contains(#""svid":255"#), "it has no PRN")
    #expect(!text { $0.gpsdSKY(report, nil, device) }.contains("Sat"))
    var counted = fix()
    counted.satellites = 7
    #expect(
      text { $0.gpsdSKY(GPSDReport(counted, utc: nil), nil, device) }.hasSuffix("\"uSat\":7}\r\n"))
    var full = SatelliteView()
    for number in 1...63 {
      full.add(
        Satellite(
          .beidou, UInt8(number), isUsed: true, elevation_deg: -89, azimuth_deg: 359,
          signal_dBHz: 99))
    }
    #expect(text { $0.gpsdSKY(report, full, device) }.utf8.count < 10_240)
  }

  @Test("POLL is one line with whole objects")
  func poll() {
    let time = UTCTime(microseconds: 1_750_000_001_500_000)
    #expect(
      text { $0.gpsdPoll(nil, nil, hasSky: false, device, at: time) }
        == #"{"class":"POLL","time":"2025-06-15T15:06:41.500Z","active":0,"tpv":[],"gst":[],"sky":[]}"#
        + "\r\n")
    let report = GPSDReport(fix(), utc: fix().utc)
    let line = text { $0.gpsdPoll(report, view(), hasSky: true, device, at: time) }
    #expect(line.contains(#""active":1,"tpv":[{"class":"TPV","device""#))
    #expect(line.contains(#""sky":[{"class":"SKY","device""#))
    let unknown = text { $0.gpsdPoll(report, nil, hasSky: true, device, at: time) }
    #expect(unknown.contains(#""sky":[{"class":"SKY","device""#), "some programs need an entry")
    let reduced = text { $0.gpsdPoll(report, nil, hasSky: false, device, at: time) }
    #expect(reduced.hasSuffix(#""sky":[]}"# + "\r\n"))
  }

  @Test("times of TOFF and PPS are split into seconds and nanoseconds")
  func times() {
    let real = UTCTime(microseconds: 1_750_000_000_000_000)
    let line = text { $0.gpsdTOFF(real, clock: real + .milliseconds(250), device) }
    #expect(
      line.contains(
        #""real_sec":1750000000,"real_nsec":0,"clock_sec":1750000000,"clock_nsec":250000000"#))
    #expect(text { $0.gpsdPPS(real, clock: real, device) }.contains("\"precision\":-20"))
  }

  @Test("GPD-10: sentences have correct checksums and decode to the fix and its satellites")
  func sentences() {
    var text = TextBuffer()
    GPSDSentences.write(GPSDReport(fix(), utc: fix().utc), view(), to: &text)
    let lines = text.string.split(separator: "\r\n").map(String.init)
    #expect(
      lines.map { String($0.prefix(6)) } == [
        "$GNRMC", "$GNGGA", "$GNGSA", "$GNGSA", "$GPGSV", "$GAGSV", "$GNVTG", "$GNZDA",
      ])
    #expect(lines[2].hasPrefix("$GNGSA,A,3,02,") && lines[2].contains(",1.50,0.90,,1*"))
    #expect(lines[4].hasPrefix("$GPGSV,1,1,02,02,71,285,46,05,03,010,"))
    #expect(lines[5].hasPrefix("$GAGSV,1,1,01,07,30,090,40"))
    var decoder = GNSSDecoder()
    var offset = 0
    var count = 0
    let bytes = text.bytes
    while decoder.next(bytes.span, &offset) != nil { count += 1 }
    #expect(count == lines.count)
  }

  @Test("without a fix, the sentences are valid and say so")
  func noFix() {
    var text = TextBuffer()
    GPSDSentences.write(.none, nil, to: &text)
    #expect(text.string.hasPrefix("$GNRMC,,V,"))
    #expect(text.string.contains("$GNGSA,A,1,"))
  }

  @Test("a path of a device is printable ASCII")
  func paths() {
    let odd = GPSDDevice(path: "/dev/ä \u{7}", driver: "x", isBinary: false, speed_baud: 1)
    #expect(odd.path == "/dev/????")
  }
}
