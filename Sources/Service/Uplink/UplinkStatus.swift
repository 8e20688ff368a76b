import LocationTypes
import TextFormats
import UplinkPayload

/// What the program reports about its uploads, for `torpor uplink status` and Prometheus. It has no position.
public struct UplinkStatus: Equatable, Sendable {
  /// Name of the board.
  var device: DeviceName
  /// Host and port of the last broker that was used; nil before the first upload.
  var broker: String?
  /// Time of the last complete upload; nil before the first one.
  var lastUpload: UTCTime?
  /// Age of the oldest fix of the last upload, complete or failed, at its end; nil without a known one.
  var delay: Interval?
  /// Fixes that were confirmed since the start of the program.
  var fixes = 0
  /// Uploads since then.
  var uploads = 0
  /// Fixes and gaps that are not confirmed yet.
  var pending = 0
  /// Failed uploads since the last complete one.
  var failures = 0
  /// Earliest time of the next attempt after a failure; nil without one.
  var nextAttempt: UTCTime?
  /// Why the last upload, or the service's last answer, failed; nil without a failure.
  var problem: String?

  init(_ device: DeviceName) { self.device = device }

  /// One JSON object and a line feed.
  var json: [UInt8] {
    var output = JSONOutput()
    output.line { json in
      json.member("device", device.description)
      if let broker { json.member("broker", broker) }
      if let lastUpload { json.member("last_upload_us", lastUpload.microseconds) }
      json.member("fixes", Int64(fixes))
      json.member("uploads", Int64(uploads))
      json.member("pending", Int64(pending))
      json.member("failures", Int64(failures))
      if let nextAttempt { json.member("next_attempt_us", nextAttempt.microseconds) }
      if let problem { json.member("problem", problem) }
    }
    return output.bytes
  }

  /// Metrics in Prometheus' text format. Unknown values have no sample.
  var metrics: String {
    var text = PrometheusText()
    if let delay {
      text.begin(
        "torpor_uplink_delay_seconds", .gauge,
        "Age of the oldest fix of the last upload, complete or failed, at its end.")
      text.sample(delay.microseconds, scale: 6)
    }
    if let lastUpload {
      text.begin(
        "torpor_uplink_last_upload_timestamp_seconds", .gauge,
        "Time of the last complete upload since 1970, UTC.")
      text.sample(lastUpload.microseconds, scale: 6)
    }
    text.begin("torpor_uplink_uploads_total", .counter, "Complete uploads.")
    text.sample(Int64(uploads))
    text.begin("torpor_uplink_fixes_total", .counter, "Fixes that were confirmed.")
    text.sample(Int64(fixes))
    text.begin(
      "torpor_uplink_failures", .gauge, "Failed uploads since the last complete one.")
    text.sample(Int64(failures))
    return text.string
  }

  /// Replaces the file with the status. A failure is ignored: the status is for people only.
  func write(to path: String) { _ = TextFile.replace(path, with: json, for: .all) }

  /// Replaces the file with the metrics. Returns the error number, 0 on success.
  func writeMetrics(to path: String) -> Int32 {
    TextFile.replace(path, with: Array(metrics.utf8), for: .all)
  }
}
