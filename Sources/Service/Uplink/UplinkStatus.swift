import Glibc
import LocationTypes
import TextFormats
import UplinkPayload

/// What the program reports about its uploads, for `torpor uplink status`. It has no position.
public struct UplinkStatus: Equatable, Sendable {
  /// Name of the board.
  var device: DeviceName
  /// Host and port of the last broker that was used; nil before the first upload.
  var broker: String?
  /// Time of the last complete upload; nil before the first one.
  var lastUpload: UTCTime?
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

  /// Replaces the file. A failure is ignored: the status is for people only.
  func write(to path: String) {
    let temporary = path + ".new"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return }
    let bytes = json
    let count = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
    }
    close(descriptor)
    if count == bytes.count { _ = unsafe rename(temporary, path) }
  }
}
