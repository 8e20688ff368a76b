import LocationTypes
import TextFormats

extension JSONOutput {
  /// Appends the members of a fix, directly from its integers without creating strings. Unknown values are omitted.
  mutating func members(of stored: StoredFix) {
    let fix = stored.fix
    members(of: stored.name)
    members(of: stored.time)
    members(of: fix.coordinate)
    member("altitude_m", fix.altitude_mm, scale: 3)
    member("ellipsoidal_altitude_m", fix.ellipsoidalAltitude_mm, scale: 3)
    member("speed_mps", fix.speed_mmps, scale: 3)
    member("course_deg", fix.course_e4, scale: 4)
    member("horizontal_accuracy_m", fix.horizontalAccuracy_mm, scale: 3)
    member("vertical_accuracy_m", fix.verticalAccuracy_mm, scale: 3)
    member("speed_accuracy_mps", fix.speedAccuracy_mmps, scale: 3)
    member("course_accuracy_deg", fix.courseAccuracy_e2, scale: 2)
    if let satellites = fix.satellites { member("satellites_used", Int64(satellites)) }
    member("mode", word: fix.mode.wireWord)
    if fix.quality != .unknown { member("quality", word: fix.quality.wireWord) }
    if fix.isDateUncertain { member("date_uncertain", true) }
    if fix.isSimulated { member("simulated", true) }
    if fix.isFromAccessory { member("accessory", true) }
  }

  /// Appends a time on both clocks.
  mutating func members(of time: FixTime) {
    member("boot_us", time.acquired.microseconds)
    if let utc = time.utc { member("utc_us", utc.microseconds) }
  }

  /// Appends a time as an object.
  mutating func object(_ name: StaticString, _ time: FixTime?) {
    guard let time else { return }
    object(name) { $0.members(of: time) }
  }
}

extension JSONFields {
  /// Decodes a fix that ``JSONOutput/members(of:)`` wrote.
  mutating func storedFix() throws(WireError) -> StoredFix {
    let name = try fixName()
    let time = try fixTime()
    var fix = Fix(
      acquired: time.acquired, coordinate: try coordinate(), mode: try word("mode"))
    fix.utc = time.utc
    fix.altitude_mm = try scaled("altitude_m", by: 1e3)
    fix.ellipsoidalAltitude_mm = try scaled("ellipsoidal_altitude_m", by: 1e3)
    fix.speed_mmps = try scaled("speed_mps", by: 1e3)
    fix.course_e4 = try scaled("course_deg", by: 1e4)
    fix.horizontalAccuracy_mm = try scaled("horizontal_accuracy_m", by: 1e3)
    fix.verticalAccuracy_mm = try scaled("vertical_accuracy_m", by: 1e3)
    fix.speedAccuracy_mmps = try scaled("speed_accuracy_mps", by: 1e3)
    fix.courseAccuracy_e2 = try scaled("course_accuracy_deg", by: 1e2)
    fix.satellites = try optional("satellites_used") { $0.integer.flatMap { Int16(exactly: $0) } }
    fix.quality = try optionalWord("quality") ?? .unknown
    fix.isDateUncertain = try flag("date_uncertain")
    fix.isSimulated = try flag("simulated")
    fix.isFromAccessory = try flag("accessory")
    return StoredFix(name: name, fix: fix)
  }

  /// Decodes a time on both clocks.
  mutating func fixTime() throws(WireError) -> FixTime {
    let boot = try integer("boot_us")
    let utc = try optional("utc_us") { $0.integer }
    return FixTime(
      acquired: Instant(microseconds: boot), utc: utc.map { UTCTime(microseconds: $0) })
  }

  /// Decodes a time from the object `name`; nil if the member is missing.
  mutating func time(_ name: StaticString) throws(WireError) -> FixTime? {
    try object(name) { inner throws(WireError) in try inner.fixTime() }
  }
}
