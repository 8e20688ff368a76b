import LocationTypes
import TextFormats
import UplinkPayload

/// Batches of Overland's HTTP interface, which Dawarich, Compass and others accept (Docs/Reference/uplink.md, "HTTP
/// destinations").
enum OverlandBatch {
  /// Largest number of fixes of a batch.
  static let limit = 1_000

  /// JSON of a batch.
  ///
  /// - Parameter offset: UTC minus boot clock, for fixes without date.
  static func json(_ fixes: [StoredFix], device: DeviceName, offset: Int64) -> [UInt8] {
    var output = JSONOutput()
    output.object { json in
      json.list("locations") { list in
        for stored in fixes {
          list.element { write(stored.fix, device, offset, to: &$0) }
        }
      }
    }
    return output.bytes
  }

  private static func write(
    _ fix: Fix, _ device: DeviceName, _ offset: Int64, to json: inout JSONOutput
  ) {
    let utc = fix.utc ?? UTCTime(microseconds: fix.acquired.microseconds + offset)
    json.member("type", word: "Feature")
    json.object("geometry") { json in
      json.member("type", word: "Point")
      json.list("coordinates") { list in
        list.element(fix.coordinate.longitude_e9, scale: 9)
        list.element(fix.coordinate.latitude_e9, scale: 9)
      }
    }
    json.object("properties") { json in
      json.string("timestamp") { $0.add(iso8601: utc) }
      json.member("device_id", device.description)
      json.member("altitude", fix.altitude_mm, scale: 3)
      json.member("speed", fix.speed_mmps, scale: 3)
      json.member("course", fix.course_e4, scale: 4)
      json.member("horizontal_accuracy", fix.horizontalAccuracy_mm, scale: 3)
      json.member("vertical_accuracy", fix.verticalAccuracy_mm, scale: 3)
    }
  }

  /// UTC minus boot clock of the first fix that has both; nil if none has.
  static func offset(in fixes: [StoredFix]) -> Int64? {
    for stored in fixes {
      if let utc = stored.fix.utc { return utc.microseconds - stored.fix.acquired.microseconds }
    }
    return nil
  }

  /// Whether an answer is exactly the one with which a server accepts a batch: `{"result":"ok"}`.
  static func accepts(_ body: [UInt8]) -> Bool {
    guard let document = try? JSONDocument(body, limits: JSONLimits(nodes: 64)) else {
      return false
    }
    return document.root.members?.first { $0.name == "result" }?.value.string == "ok"
  }
}
