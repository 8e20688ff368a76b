import Foundation
import GNSSProtocols
import GPXFiles
import LocationTypes
import Testing

@testable import torpor

@Suite("Formats of torpor export")
struct FixWriterTests {
  /// Three fixes, the second without optional fields, then one after a gap in the sequence.
  private var fixes: [StoredFix] {
    let start: Int64 = 1_767_225_600_250_000
    func fix(_ sequence: UInt64, _ change: (inout Fix) -> Void) -> StoredFix {
      var fix = Fix(
        acquired: Instant(microseconds: 5_000_000 + Int64(sequence) * 1_000_000),
        coordinate: Coordinate(
          latitude_e9: -33_857_058_000 + Int64(sequence) * 1_000, longitude_e9: 151_214_897_000))
      fix.utc = UTCTime(microseconds: start + Int64(sequence) * 1_000_000)
      change(&fix)
      return StoredFix(name: FixName(generation: 3, sequence: sequence), fix: fix)
    }
    return [
      fix(0) { fix in
        fix.altitude_mm = 4_250
        fix.ellipsoidalAltitude_mm = 26_750
        fix.speed_mmps = 1_543
        fix.course_e4 = 3_141_500
        fix.horizontalAccuracy_mm = 2_500
        fix.satellites = 11
        fix.quality = .differential
      },
      fix(1) { fix in
        fix.utc = nil
        fix.mode = .twoDimensional
      },
      fix(2) { $0.altitude_mm = 4_000 }, fix(9) { $0.altitude_mm = 5_000 },
    ]
  }

  private func written(_ format: ExportFormat, _ fixes: [StoredFix]) -> String {
    var writer = FixWriter(format, name: "a <b> \"c\"")
    for fix in fixes { writer.write(fix) }
    writer.finish()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test("GPX is read back with equal values, and a gap in the sequence ends a segment")
  func gpx() throws {
    let text = written(.gpx, fixes)
    #expect(text.contains("<name>a &lt;b&gt; &quot;c&quot;</name>"))
    #expect(text.components(separatedBy: "<trkseg>").count == 3)
    var reader = try GPXReader()
    try reader.add(Array(text.utf8))
    let points = try reader.finish().points
    #expect(points.map(\.coordinate) == fixes.map(\.fix.coordinate))
    #expect(points.map(\.altitude_mm) == fixes.map(\.fix.altitude_mm))
    #expect(points[0].speed_mmps == 1_543 && points[1].utc == nil)
    #expect(text.contains("<geoidheight>22.5</geoidheight>") && text.contains("<sat>11</sat>"))
  }

  @Test("GeoJSON: longitude first, height above the ellipsoid, unknown values absent (RFC 7946)")
  func geojson() throws {
    let data = Data(written(.geojson, fixes).utf8)
    let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(root["type"] as? String == "FeatureCollection")
    let features = try #require(root["features"] as? [[String: Any]])
    #expect(features.count == 4)
    let coordinates = features.compactMap {
      ($0["geometry"] as? [String: Any])?["coordinates"] as? [Double]
    }
    #expect(coordinates[0] == [151.214897, -33.857058, 26.75])
    #expect(coordinates[1] == [151.214897, -33.857057])
    let facts = features.compactMap { $0["properties"] as? [String: Any] }
    #expect(facts[0]["time"] as? String == "2026-01-01T00:00:00.250Z")
    #expect(facts[0]["altitude_m"] as? Double == 4.25 && facts[0]["speed_mps"] as? Double == 1.543)
    #expect(Set(facts[1].keys) == ["generation", "sequence", "mode"])
    #expect(facts[3]["sequence"] as? Int == 9)
    for empty in [ExportFormat.geojson] {
      let none = Data(written(empty, []).utf8)
      let document = try JSONSerialization.jsonObject(with: none) as? [String: Any]
      #expect((document?["features"] as? [Any])?.isEmpty == true)
    }
  }

  @Test("CSV: one header, the same number of cells per line, line ends as in RFC 4180")
  func csv() {
    let text = written(.csv, fixes)
    let lines = text.components(separatedBy: "\r\n")
    #expect(lines.count == 6 && lines[5].isEmpty)
    let rows = lines.dropLast().map { $0.components(separatedBy: ",") }
    #expect(Set(rows.map(\.count)) == [18])
    let first = Dictionary(uniqueKeysWithValues: zip(rows[0], rows[1]))
    #expect(first["unix_time"] == "1767225600.25" && first["lat"] == "-33.857058")
    #expect(
      first["lon"] == "151.214897" && first["alt"] == "4.25" && first["quality"] == "differential")
    #expect(first["boot_time"] == "5" && first["sequence"] == "0" && first["generation"] == "3")
    let second = Dictionary(uniqueKeysWithValues: zip(rows[0], rows[2]))
    #expect(second["unix_time"] == "" && second["alt"] == "" && second["mode"] == "2d")
    // The table can be read as a track for simulation.
    #expect(rows[0].prefix(5) == ["unix_time", "lat", "lon", "alt", "speed"])
  }

  @Test("NMEA: each sentence has at most 82 characters and is read back with its checksum")
  func nmea() throws {
    let text = written(.nmea, fixes)
    let lines = text.components(separatedBy: "\r\n").dropLast()
    #expect(lines.count == 8 && lines.allSatisfy { $0.utf8.count <= 80 })
    var decoder = RecordingDecoder(dateGiven: nil)
    var epochs: [Epoch] = []
    decoder.decode(Array(text.utf8)) { epochs.append($0) }
    decoder.finish { epochs.append($0) }
    let read = epochs.compactMap(\.fix)
    #expect(read.count == 4)
    for (one, other) in zip(read, fixes) {
      let north = one.coordinate.latitude_e9 - other.fix.coordinate.latitude_e9
      let east = one.coordinate.longitude_e9 - other.fix.coordinate.longitude_e9
      #expect(abs(north) <= 10 && abs(east) <= 10, "0.5e-6 of a minute of arc")
      #expect(one.utc == other.fix.utc)
      #expect(one.altitude_mm == other.fix.altitude_mm)
    }
    #expect(read[0].quality == .differential && abs((read[0].speed_mmps ?? 0) - 1_543) <= 3)
  }

  @Test("JSON Lines: one fix per line")
  func lines() throws {
    let lines = written(.jsonl, fixes).split(separator: "\n")
    #expect(lines.count == 4)
    for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
  }
}
