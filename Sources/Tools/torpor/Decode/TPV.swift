import GNSSProtocols
import GPSDProtocol
import LocationTypes
import TextFormats

/// Encodes epochs as gpsd's time-position-velocity reports, with gpsd's names, units, digits and order of members.
///
/// Source: gpsd_json(5), class TPV, and `json_tpv_dump` of gpsd 3.27. Unknown values are omitted.
enum TPV {
  /// Adds `epoch` as an object on its own line.
  static func write(_ epoch: Epoch, to json: inout JSONOutput) {
    json.line { json in
      json.member("class", "TPV")
      if let status = epoch.fix?.gpsdStatus { json.member("status", status) }
      json.member("mode", Int64(epoch.mode.rawValue))
      if let utc = epoch.utc {
        json.string("time") { $0.add(iso8601: utc) }
        if let error = epoch.timeAccuracy_ns {
          json.member("ept", Int64(error), scale: 9)
        }
      }
      if let fix = epoch.fix { write(epoch, fix, to: &json) }
    }
  }

  private static func write(_ epoch: Epoch, _ fix: Fix, to json: inout JSONOutput) {
    json.member("lat", fix.coordinate.latitude_e9, scale: 9, places: 9)
    json.member("lon", fix.coordinate.longitude_e9, scale: 9, places: 9)
    member("altHAE", fix.ellipsoidalAltitude_mm, 3, 4, &json)
    member("altMSL", fix.altitude_mm, 3, 4, &json)
    // Deprecated in gpsd, but many programs read it.
    member("alt", fix.altitude_mm ?? fix.ellipsoidalAltitude_mm, 3, 4, &json)
    member("epx", epoch.longitudeError_mm, 3, 3, &json)
    member("epy", epoch.latitudeError_mm, 3, 3, &json)
    member("epv", fix.verticalAccuracy_mm, 3, 3, &json)
    member("track", fix.course_e4, 4, 4, &json)
    member("speed", fix.speed_mmps, 3, 3, &json)
    if fix.mode == .threeDimensional { member("climb", epoch.climb_mmps, 3, 3, &json) }
    member("epd", fix.courseAccuracy_e2, 2, 4, &json)
    member("eps", fix.speedAccuracy_mmps, 3, 2, &json)
    if fix.mode == .threeDimensional {
      member("geoidSep", epoch.geoidSeparation_mm, 3, 3, &json)
    }
    member("eph", fix.horizontalAccuracy_mm, 3, 3, &json)
  }

  private static func member(
    _ name: StaticString, _ value: Int32?, _ scale: Int, _ places: Int, _ json: inout JSONOutput
  ) {
    if let value { json.member(name, Int64(value), scale: scale, places: places) }
  }
}
