import Foundation
import LocationTypes
import Testing

@testable import GNSSProtocols

/// What gpsd says of one moment.
private struct TPV {
  var mode: Int
  var values: [String: Double]

  /// All TPV lines of a `.chk`, by time in ms; of each time the last.
  static func read(_ name: String) throws -> [Int64: TPV] {
    let folder = try #require(recordings)
    let data = try Data(contentsOf: folder.appendingPathComponent(name))
    var found: [Int64: TPV] = [:]
    for line in data.split(separator: 0x0A) where line.starts(with: #"{"class":"TPV""#.utf8) {
      guard
        let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
        let time = (object["time"] as? String).flatMap(milliseconds)
      else { continue }
      let values = object.compactMapValues { ($0 as? NSNumber)?.doubleValue }
      found[time] = TPV(mode: Int(values["mode"] ?? 0), values: values)
    }
    return found
  }

  private static func milliseconds(_ text: String) -> Int64? {
    let numbers = text.split { !$0.isNumber }.compactMap { Int64($0) }
    guard numbers.count == 7,
      let date = CalendarDate(
        year: Int(numbers[0]), month: Int(numbers[1]), day: Int(numbers[2]))
    else { return nil }
    let seconds = numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
    return date.start.microseconds / 1_000 + seconds * 1_000 + numbers[6]
  }
}

@Suite("gpsd's recordings", .enabled(if: recordings != nil, "no recordings beside the package"))
struct GpsdTests {
  @Test(
    "agree with gpsd",
    arguments: [
      "bu353s4", "garmin48", "gp-320fw-2019-04-07-coldboot", "mt3339", "neo-m8n",
      "nmea-fuzzy-cases", "quectel-l76k-nmea", "sirfstarv-nmea", "st-teseo-liv4f", "tcp-torture",
      "telit-pls83-w", "ublox-lea-4t", "ublox-neo-m8n", "ublox-neo-m9n-nmea", "ublox-zed-f9p-hp",
      "ublox-zed-f9r", "ublox-zoe-m8b-logbatch",
    ])
  func agree(name: String) throws {
    let file = try Recording("gpsd-logs/\(name).log", removing: name == "tcp-torture" ? 0x7C : nil)
    let said = try TPV.read("gpsd-logs/\(name).log.chk")
    var options = EpochOptions()
    options.recordingDate = file.date
    let decoded = decode(file.bytes)
    print(name, decoded.counters)
    let all = epochs(file.bytes, options)
    print(name, "epochs", all.count, "fixes", all.filter { $0.fix != nil }.count, "chk", said.count)
    var ours: [Int64: Epoch] = [:]
    for e in all {
      if let u = e.utc {
        let k = (u.microseconds + 500) / 1000; if ours[k] != nil { print("  doubled", k) };
        ours[k] = e
      }
    }
    for (time, tpv) in said.sorted(by: { $0.key < $1.key }) {
      var hit = ours[time]
      for k in [-1, 1] where hit == nil { hit = ours[time + Int64(k) * 7_168 * 86_400_000] }
      guard let hit else { print("  missing", time, tpv.mode); continue }
      func d(_ key: String, _ v: Double?, _ tol: Double) {
        let g = tpv.values[key]
        switch (g, v) {
        case (nil, nil): break
        case let (g?, v?):
          if abs(g - v) > tol { print("  ", time % 86_400_000, key, "gpsd", g, "ours", v) }
        case let (g?, nil): print("  ", time % 86_400_000, key, "gpsd", g, "ours nil")
        case let (nil, v?): print("  ", time % 86_400_000, key, "gpsd nil ours", v)
        }
      }
      if tpv.mode != Int(hit.mode.rawValue) {
        print("  ", time % 86_400_000, "mode gpsd", tpv.mode, "ours", hit.mode.rawValue)
      }
      d("lat", hit.fix?.coordinate.latitude, 1.5e-8)
      d("lon", hit.fix?.coordinate.longitude, 1.5e-8)
      d("altMSL", hit.fix?.altitude_mm.map { Double($0) / 1000 }, 2e-3)
      d("altHAE", hit.fix?.ellipsoidalAltitude_mm.map { Double($0) / 1000 }, 2e-3)
      d("speed", hit.fix?.speed, 2e-3)
      d("track", hit.fix?.course, 2e-3)
    }
    for k in ours.keys.sorted()
    where said[k] == nil && said[k + 7_168 * 86_400_000] == nil
      && said[k - 7_168 * 86_400_000] == nil
    { print("  extra", k % 86_400_000, ours[k]!.mode) }
  }
}
