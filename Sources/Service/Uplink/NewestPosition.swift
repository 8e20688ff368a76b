import LocationTypes
import TextFormats
import UplinkPayload

/// The newest fix as a location of OwnTracks, and its announcement for Home Assistant (Docs/Reference/uplink.md, "Newest
/// position").
enum NewestPosition {
  /// JSON of OwnTracks; nil if the time of the fix is unknown.
  static func json(_ fix: Fix, device: DeviceName) -> [UInt8]? {
    guard let utc = fix.utc else { return nil }
    var output = JSONOutput()
    output.object { json in
      json.member("_type", "location")
      json.member("tid", String(device.description.suffix(2)))
      json.member("lat", fix.coordinate.latitude_e9, scale: 9)
      json.member("lon", fix.coordinate.longitude_e9, scale: 9)
      json.member("tst", rounded(utc.microseconds, by: 1_000_000))
      // Never better than the receiver's accuracy.
      if let accuracy = fix.horizontalAccuracy_mm {
        json.member("acc", (Int64(accuracy) + 999) / 1_000)
      }
      if let altitude = fix.altitude_mm { json.member("alt", rounded(Int64(altitude), by: 1_000)) }
      if let speed = fix.speed_mmps { json.member("vel", rounded(Int64(speed) * 36, by: 10_000)) }
      if let course = fix.course_e4 { json.member("cog", rounded(Int64(course), by: 10_000) % 360) }
    }
    return output.bytes
  }

  /// Topic of the announcement.
  static func announcementTopic(_ device: DeviceName) -> String {
    "homeassistant/device_tracker/torpor/\(device)/config"
  }

  /// The announcement: Home Assistant adds a tracker that follows the topic of the newest position.
  static func announcement(_ device: DeviceName) -> [UInt8] {
    var output = JSONOutput()
    output.object { json in
      json.member("unique_id", "torpor_\(device)")
      json.member("name", device.description)
      json.member("source_type", "gps")
      json.member("json_attributes_topic", "torpor/\(device)/newest")
      json.member(
        "json_attributes_template",
        "{{ {'latitude': value_json.lat, 'longitude': value_json.lon, "
          + "'gps_accuracy': value_json.acc | default(0)} | tojson }}")
      json.object("device") { json in
        json.list("identifiers") { $0.element(text: "torpor_\(device)") }
        json.member("name", device.description)
        json.member("manufacturer", "Torpor")
      }
    }
    return output.bytes
  }

  /// `value` / `unit`, rounded to the nearest integer, halves up.
  private static func rounded(_ value: Int64, by unit: Int64) -> Int64 {
    let sum = value + unit / 2
    return sum / unit - (sum % unit < 0 ? 1 : 0)
  }
}

/// Publishes the newest position after uploads, and announces the board before the first one.
///
/// A failure is logged, once for each reason, and changes nothing else: no receipt depends on it.
struct NewestPublication {
  private let device: DeviceName
  private let announces: Bool
  private var fix: Fix?
  /// Address of the broker that has the announcement.
  private var announced: String?
  private var problem: String?

  /// Nil if the settings do not ask for it.
  init?(_ settings: UplinkSettings) {
    guard settings.publishesNewest else { return nil }
    device = settings.device
    announces = settings.announces
  }

  /// Adds delivered fixes, the newest last.
  mutating func add(_ fixes: [StoredFix]) {
    if let last = fixes.last { fix = last.fix }
  }

  /// Forgets the fix: it may not be sent any more.
  mutating func removeAll() { fix = nil }

  /// Publishes the newest fix, if there is one that was not published.
  mutating func publish<Connection: BrokerConnection & ~Copyable>(
    over broker: inout Connection, at address: String, log: (String) -> Void
  ) {
    guard let fix, let json = NewestPosition.json(fix, device: device) else { return }
    do throws(BrokerError) {
      if announces, announced != address {
        try broker.publish(
          NewestPosition.announcement(device), to: NewestPosition.announcementTopic(device),
          isRetained: true)
        announced = address
      }
      try broker.publish(json, to: "torpor/\(device)/newest", isRetained: true)
      self.fix = nil
      problem = nil
    } catch {
      if problem != error.description {
        log("the newest position is not published: \(error.description)")
      }
      problem = error.description
    }
  }
}
