import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// A satellite as gpsd reports it in SKY, with the numbers of NMEA.
private struct SkyEntry: Hashable, Comparable {
  var number: Int
  var elevation: Int?
  var azimuth: Int?
  var signal: Int
  var isUsed: Bool

  static func < (a: SkyEntry, b: SkyEntry) -> Bool { a.number < b.number }

  /// An entry of `satellites`.
  init?(_ object: [String: Any]) {
    func value(_ key: String) -> Int? { (object[key] as? NSNumber).map { Int($0.doubleValue) } }
    guard let number = value("PRN") else { return nil }
    self.number = number
    elevation = value("el")
    azimuth = value("az").map { $0 % 360 }
    signal = value("ss") ?? 0
    isUsed = object["used"] as? Bool ?? false
  }

  init?(_ satellite: Satellite) {
    guard let number = satellite.nmeaNumber else { return nil }
    self.number = Int(number)
    elevation = satellite.elevation_deg.map { Int($0) }
    azimuth = satellite.azimuth_deg.map { Int($0) }
    signal = Int(satellite.signal_dBHz ?? 0)
    isUsed = satellite.isUsed
  }
}

@Suite(
  "Satellites as gpsd reports them", .enabled(if: RecordedData.isPresent, RecordedData.missing))
struct GpsdSatelliteTests {
  /// The satellites of all SKY lines that have some.
  private func skies(_ name: String) throws -> [[SkyEntry]] {
    let folder = try #require(recordings)
    let data = try Data(contentsOf: folder.appendingPathComponent(name))
    var found: [[SkyEntry]] = []
    for line in data.split(separator: 0x0A) where line.starts(with: #"{"class":"SKY""#.utf8) {
      let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
      guard let list = object?["satellites"] as? [[String: Any]], !list.isEmpty else { continue }
      found.append(list.compactMap { SkyEntry($0) }.sorted())
    }
    return found
  }

  /// All views of a recording.
  private func views(_ name: String) throws -> [[SkyEntry]] {
    let recording = try Recording(name)
    var decoder = GNSSDecoder()
    var collector = SatelliteCollector()
    var offset = 0
    var now = Instant.boot
    var found: [[SkyEntry]] = []
    while let message = decoder.next(recording.bytes.span, &offset) {
      now = now + .milliseconds(1)
      collector.collect(message, from: decoder, at: now)
      guard let view = collector.view(at: now) else { continue }
      let entries = view.satellites.compactMap { SkyEntry($0) }.sorted()
      if entries != found.last { found.append(entries) }
    }
    return found
  }

  @Test(
    "satellites, directions, signals and use agree with gpsd's for most views",
    arguments: [
      ("gpsd-logs/bu353s4.log", 0.9), ("gpsd-logs/mt3339.log", 0.9),
      ("gpsd-logs/neo-m8n.log", 0.9), ("gpsd-logs/quectel-l76k-nmea.log", 0.9),
      ("gpsd-logs/sirfstarv-nmea.log", 0.9), ("gpsd-logs/st-teseo-liv4f.log", 0.9),
      ("gpsd-logs/telit-pls83-w.log", 0.9), ("gpsd-logs/ublox-neo-m9n-nmea.log", 0.9),
      ("gpsd-logs/ublox-neo-m8n.log", 0.9), ("gpsd-logs/ublox-zed-f9p-hp.log", 0.9),
      ("gpsd-logs/ublox-zed-f9r.log", 0.9),
    ])
  func agrees(_ name: String, _ share: Double) throws {
    let skies = try skies(name + ".chk")
    let own = Set(try views(name))
    let equal = skies.count { own.contains($0) }
    #expect(Double(equal) >= share * Double(skies.count), "\(equal) of \(skies.count) views")
  }
}
