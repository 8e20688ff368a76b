import Glibc
import LocationTypes
import TextFormats

/// The values of gpsd's report of time, position and velocity (TPV), from a report of the service or from an epoch of a
/// recording. Nil values are omitted.
///
/// Source: gpsd_json(5), class TPV, and `json_tpv_dump` of gpsd 3.22 and 3.27: names, units, digits and order of members.
public struct GPSDPosition: Sendable {
  /// Path of the device.
  public var device: String?
  /// gpsd's mode: 0 for no epoch, 1 for no fix, 2 or 3.
  public var mode: Int64
  /// Time of the fix.
  public var utc: UTCTime?
  /// Its estimated error.
  public var timeError_ns: Int64?
  /// The fix; without one, the members from `lat` on are omitted.
  public var fix: Fix?
  /// `alt`, deprecated in gpsd, but many programs read it.
  public var height_mm: Int32?
  /// Estimated error of the longitude.
  public var longitudeError_mm: Int32?
  /// Estimated error of the latitude.
  public var latitudeError_mm: Int32?
  /// Vertical speed, used with three dimensions.
  public var climb_mmps: Int32?
  /// Height of mean sea level above the ellipsoid, used with three dimensions.
  public var geoidSeparation_mm: Int32?
  /// Velocity to the north, east and down.
  public var velocity_mmps: (north: Int32?, east: Int32?, down: Int32?)
  /// Estimated error in three dimensions.
  public var sphericalError_mm: Int32?

  /// Creates the values of no fix.
  public init(mode: Int64) { self.mode = mode }
}

extension GPSDPosition {
  /// The values of a report of the service.
  init(_ report: GPSDReport, _ device: GPSDDevice) {
    self.init(mode: report.mode)
    self.device = device.path
    utc = report.utc
    // gpsd's constant for receivers that do not report it.
    timeError_ns = 5_000_000
    guard let fix = report.fix else { return }
    self.fix = fix
    height_mm = fix.altitude_mm
    if let eph = fix.horizontalAccuracy_mm {
      let axis = Int32((Double(eph) * 0.5.squareRoot()).rounded())
      (longitudeError_mm, latitudeError_mm) = (axis, axis)
    }
    guard fix.mode == .threeDimensional else { return }
    climb_mmps = report.climb_mmps
    if let ellipsoidal = fix.ellipsoidalAltitude_mm, let altitude = fix.altitude_mm {
      let (separation, isOver) = ellipsoidal.subtractingReportingOverflow(altitude)
      geoidSeparation_mm = isOver ? nil : separation
    }
    if let speed = fix.speed, let course = fix.course {
      let angle = course * .pi / 180
      velocity_mmps.north = Int32((speed * cos(angle) * 1e3).rounded())
      velocity_mmps.east = Int32((speed * sin(angle) * 1e3).rounded())
    }
    if let climb = report.climb_mmps, climb > .min { velocity_mmps.down = -climb }
    if let eph = fix.horizontalAccuracy_mm, let epv = fix.verticalAccuracy_mm {
      let square = Double(eph) * Double(eph) + Double(epv) * Double(epv)
      sphericalError_mm = Int32(square.squareRoot().rounded())
    }
  }
}

extension JSONOutput {
  /// Appends the members of a TPV.
  public mutating func gpsdMembers(_ position: GPSDPosition) {
    member("class", word: "TPV")
    if let device = position.device { member("device", device) }
    if let status = position.fix?.gpsdStatus { member("status", status) }
    member("mode", position.mode)
    if let utc = position.utc {
      string("time") { $0.add(iso8601: utc) }
      if let error = position.timeError_ns { member("ept", error, scale: 9) }
    }
    if let fix = position.fix { gpsdMembers(fix, position) }
  }

  private mutating func gpsdMembers(_ fix: Fix, _ position: GPSDPosition) {
    let isSpatial = fix.mode == .threeDimensional
    member("lat", fix.coordinate.latitude_e9, scale: 9, places: 9)
    member("lon", fix.coordinate.longitude_e9, scale: 9, places: 9)
    optional("altHAE", fix.ellipsoidalAltitude_mm, 3, 4)
    optional("altMSL", fix.altitude_mm, 3, 4)
    optional("alt", position.height_mm, 3, 4)
    optional("epx", position.longitudeError_mm, 3, 3)
    optional("epy", position.latitudeError_mm, 3, 3)
    optional("epv", fix.verticalAccuracy_mm, 3, 3)
    optional("track", fix.course_e4, 4, 4)
    optional("speed", fix.speed_mmps, 3, 3)
    if isSpatial { optional("climb", position.climb_mmps, 3, 3) }
    optional("epd", fix.courseAccuracy_e2, 2, 4)
    optional("eps", fix.speedAccuracy_mmps, 3, 2)
    if isSpatial {
      optional("geoidSep", position.geoidSeparation_mm, 3, 3)
      optional("velN", position.velocity_mmps.north, 3, 3)
      optional("velE", position.velocity_mmps.east, 3, 3)
      optional("velD", position.velocity_mmps.down, 3, 3)
    }
    optional("eph", fix.horizontalAccuracy_mm, 3, 3)
    if isSpatial { optional("sep", position.sphericalError_mm, 3, 3) }
  }

  private mutating func optional(
    _ name: StaticString, _ value: Int32?, _ scale: Int, _ places: Int
  ) {
    if let value { member(name, Int64(value), scale: scale, places: places) }
  }
}

extension Fix {
  /// gpsd's `status`; nil for an autonomous fix and if unknown, as in gpsd, and for a manually entered position.
  var gpsdStatus: Int64? {
    switch quality {
    case .unknown, .autonomous, .manual: nil
    case .differential: 2
    case .rtkFixed: 3
    case .rtkFloat: 4
    case .deadReckoning: 5
    case .combined: 6
    case .surveyed: 7
    case .simulated: 8
    }
  }
}
