import GNSSProtocols
import GPSDProtocol
import TextFormats

/// Encodes epochs as gpsd's time-position-velocity reports. Unknown values are omitted.
enum TPV {
  /// Adds `epoch` as an object on its own line.
  static func write(_ epoch: Epoch, to json: inout JSONOutput) {
    var position = GPSDPosition(mode: Int64(epoch.mode.rawValue))
    position.utc = epoch.utc
    position.timeError_ns = epoch.timeAccuracy_ns.map { Int64($0) }
    position.fix = epoch.fix
    position.height_mm = epoch.fix.flatMap { $0.altitude_mm ?? $0.ellipsoidalAltitude_mm }
    position.longitudeError_mm = epoch.longitudeError_mm
    position.latitudeError_mm = epoch.latitudeError_mm
    position.climb_mmps = epoch.climb_mmps
    position.geoidSeparation_mm = epoch.geoidSeparation_mm
    json.line { $0.gpsdMembers(position) }
  }
}
