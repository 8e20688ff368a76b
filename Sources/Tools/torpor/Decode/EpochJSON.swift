import GNSSProtocols
import LocationTypes
import LocationWire
import TextFormats

/// Encodes epochs as JSON objects with the unit in each name; unknown values are omitted.
enum EpochJSON {
  /// Adds `epoch` as an object on its own line.
  static func write(_ epoch: Epoch, to json: inout JSONOutput) {
    json.line { json in
      if let utc = epoch.utc {
        json.string("time") { $0.add(iso8601: utc) }
        json.member("unix_time_s", utc.microseconds, scale: 6)
      } else if let timeOfDay_us = epoch.timeOfDay_us {
        json.member("time_of_day_s", timeOfDay_us, scale: 6)
      }
      if epoch.isDateUncertain { json.member("date_uncertain", true) }
      json.member("mode", EpochNames.mode(epoch.mode))
      if let fix = epoch.fix { write(fix, to: &json) }
      json.member("climb_mps", epoch.climb_mmps, scale: 3)
      json.member("geoid_separation_m", epoch.geoidSeparation_mm, scale: 3)
      json.member("latitude_error_m", epoch.latitudeError_mm, scale: 3)
      json.member("longitude_error_m", epoch.longitudeError_mm, scale: 3)
      if let error = epoch.timeAccuracy_ns {
        json.member("time_accuracy_s", Int64(error), scale: 9)
      }
      if let satellites = epoch.satellitesInView {
        json.member("satellites_in_view", Int64(satellites))
      }
      json.member("hdop", epoch.hdop_e2.map(Int32.init), scale: 2)
      json.member("vdop", epoch.vdop_e2.map(Int32.init), scale: 2)
      json.member("pdop", epoch.pdop_e2.map(Int32.init), scale: 2)
      switch epoch.origin {
      case .live: json.member("origin", "live")
      case .batch: json.member("origin", "batch")
      }
    }
  }

  /// Adds the members of a fix.
  ///
  /// - Parameter withCoordinate: Whether to include latitude and longitude.
  static func write(_ fix: Fix, withCoordinate: Bool = true, to json: inout JSONOutput) {
    if let quality = EpochNames.quality(fix.quality) { json.member("quality", quality) }
    if withCoordinate {
      json.member("latitude_deg", fix.coordinate.latitude_e9, scale: 9)
      json.member("longitude_deg", fix.coordinate.longitude_e9, scale: 9)
    }
    json.measurements(of: fix)
  }
}

/// Names of fix modes and qualities in JSON and tables.
enum EpochNames {
  /// Name of the fix mode: `none`, `no_fix`, `2d` or `3d`.
  static func mode(_ mode: EpochMode) -> String {
    switch mode {
    case .notSeen: "none"
    case .noFix: "no_fix"
    case .twoDimensional: "2d"
    case .threeDimensional: "3d"
    }
  }

  /// Name of the positioning method; nil if the receiver does not report it.
  static func quality(_ quality: FixQuality) -> String? {
    quality == .unknown ? nil : quality.jsonName
  }
}
