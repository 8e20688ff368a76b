import LocationTypes
import TextFormats

extension StoredFix: WireObject {
  /// Appends the members, directly from their integers without creating strings. Unknown values are omitted.
  func write(to json: inout JSONOutput) {
    name.write(to: &json)
    time.write(to: &json)
    fix.coordinate.write(to: &json)
    json.measurements(of: fix)
    json.member("mode", word: fix.mode.wireWord)
    if fix.quality != .unknown { json.member("quality", word: fix.quality.wireWord) }
    if fix.isDateUncertain { json.member("date_uncertain", true) }
    if fix.isSimulated { json.member("simulated", true) }
    if fix.isFromAccessory { json.member("accessory", true) }
  }

  init(_ fields: inout JSONFields) throws(WireError) {
    let name = try FixName(&fields)
    let time = try FixTime(&fields)
    var fix = Fix(
      acquired: time.acquired, coordinate: try Coordinate(&fields), mode: try fields.read("mode"))
    fix.utc = time.utc
    fix.altitude_mm = try fields.scaled("altitude_m", by: 1e3)
    fix.ellipsoidalAltitude_mm = try fields.scaled("ellipsoidal_altitude_m", by: 1e3)
    fix.speed_mmps = try fields.scaled("speed_mps", by: 1e3)
    fix.course_e4 = try fields.scaled("course_deg", by: 1e4)
    fix.horizontalAccuracy_mm = try fields.scaled("horizontal_accuracy_m", by: 1e3)
    fix.verticalAccuracy_mm = try fields.scaled("vertical_accuracy_m", by: 1e3)
    fix.speedAccuracy_mmps = try fields.scaled("speed_accuracy_mps", by: 1e3)
    fix.courseAccuracy_e2 = try fields.scaled("course_accuracy_deg", by: 1e2)
    fix.satellites = try fields.read("satellites_used")
    fix.quality = try fields.read("quality", else: .unknown)
    fix.isDateUncertain = try fields.read("date_uncertain", else: false)
    fix.isSimulated = try fields.read("simulated", else: false)
    fix.isFromAccessory = try fields.read("accessory", else: false)
    self.init(name: name, fix: fix)
  }
}

extension JSONOutput {
  /// Appends the values of a fix from its altitude to the number of its satellites, with the unit in each name; unknown
  /// ones are omitted.
  public mutating func measurements(of fix: Fix) {
    member("altitude_m", fix.altitude_mm, scale: 3)
    member("ellipsoidal_altitude_m", fix.ellipsoidalAltitude_mm, scale: 3)
    member("speed_mps", fix.speed_mmps, scale: 3)
    member("course_deg", fix.course_e4, scale: 4)
    member("horizontal_accuracy_m", fix.horizontalAccuracy_mm, scale: 3)
    member("vertical_accuracy_m", fix.verticalAccuracy_mm, scale: 3)
    member("speed_accuracy_mps", fix.speedAccuracy_mmps, scale: 3)
    member("course_accuracy_deg", fix.courseAccuracy_e2, scale: 2)
    if let satellites = fix.satellites { member("satellites_used", Int64(satellites)) }
  }
}

extension FixName: WireObject {
  /// Decodes the name, and checks the range of the sequence number.
  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      generation: try fields.read("generation"),
      sequence: try fields.read("sequence") { $0 < FixName.sequenceLimit })
  }

  func write(to json: inout JSONOutput) {
    json.member("generation", Int64(generation))
    json.member("sequence", Int64(clamping: sequence))
  }
}

extension FixTime: WireObject {
  /// Boot time without UTC, for a value that is decoded later.
  static let unset = FixTime(acquired: .boot, utc: nil)

  init(_ fields: inout JSONFields) throws(WireError) {
    let utc: Int64? = try fields.read("utc_us")
    self.init(
      acquired: Instant(microseconds: try fields.read("boot_us")),
      utc: utc.map { UTCTime(microseconds: $0) })
  }

  func write(to json: inout JSONOutput) {
    json.member("boot_us", acquired.microseconds)
    if let utc { json.member("utc_us", utc.microseconds) }
  }
}

extension Coordinate: WireObject {
  /// Decodes latitude and longitude, and checks their ranges.
  init(_ fields: inout JSONFields) throws(WireError) {
    let latitude: Double = try fields.read("latitude_deg", where: (-90...90).contains)
    let longitude: Double = try fields.read("longitude_deg")
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw fields.invalid("longitude_deg")
    }
    self = coordinate
  }

  func write(to json: inout JSONOutput) {
    json.member("latitude_deg", latitude_e9, scale: 9)
    json.member("longitude_deg", longitude_e9, scale: 9)
  }
}
