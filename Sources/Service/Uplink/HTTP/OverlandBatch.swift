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
    json.addPointFeatureMembers(at: fix.coordinate)
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

  /// Limits of an answer: servers may add members to it.
  private static let answerLimits = JSONLimits(members: 256, nodes: 16_384)

  /// Whether an answer is one with which a server accepts a batch: an object with the member `"result":"ok"`. Other members
  /// have no meaning.
  static func accepts(_ body: [UInt8]) -> Bool {
    guard let document = try? JSONDocument(body, limits: answerLimits) else {
      return false
    }
    return document.root["result"]?.string == "ok"
  }
}
