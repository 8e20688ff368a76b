import LocationTypes

/// Where the fields of a solution stand: the one table that decoder and encoder go by.
///
/// NAV-PVT and LOG-BATCH have the same fields in the same order, LOG-BATCH four bytes later.
/// Source: u-blox 8 / M8 receiver description R28, M10 SPG 5.10 interface description.
struct UBXSolutionLayout {
  /// What stands before the time of week.
  var shift: Int
  /// The payload's length.
  var length: Int

  static let navPVT = UBXSolutionLayout(shift: 0, length: 92)
  /// As protocol 14 and u-blox 7 have it: without flags3 and what follows.
  static let shortNavPVT = UBXSolutionLayout(shift: 0, length: 84)
  static let logBATCH = UBXSolutionLayout(shift: 4, length: 100)
  /// flags3 of NAV-PVT in its long form; bit 0 is invalidLlh.
  static let flags3 = 78

  var timeOfWeek: Int { shift }
  /// Year, month, day, hour, minute, second, flags of validity: eight bytes.
  var civilTime: Int { shift + 4 }
  var timeAccuracy: Int { shift + 12 }
  var nanoseconds: Int { shift + 16 }
  var fixType: Int { shift + 20 }
  var flags: Int { shift + 21 }
  var satellites: Int { shift + 23 }
  var longitude: Int { shift + 24 }
  var latitude: Int { shift + 28 }
  var height: Int { shift + 32 }
  var heightMSL: Int { shift + 36 }
  var horizontalAccuracy: Int { shift + 40 }
  var verticalAccuracy: Int { shift + 44 }
  var velocityNorth: Int { shift + 48 }
  var velocityEast: Int { shift + 52 }
  var velocityDown: Int { shift + 56 }
  var groundSpeed: Int { shift + 60 }
  var headingOfMotion: Int { shift + 64 }
  var speedAccuracy: Int { shift + 68 }
  var headingAccuracy: Int { shift + 72 }
  var positionDOP: Int { shift + 76 }
}

extension UBXSolution {
  /// Reads all fields of a payload that is as long as `layout` says.
  @inline(__always) init(_ p: Span<UInt8>, _ layout: UBXSolutionLayout) {
    let flags = p[layout.flags]
    longitude_e7 = p.i4(layout.longitude)
    latitude_e7 = p.i4(layout.latitude)
    height_mm = p.i4(layout.height)
    heightMSL_raw = p.i4(layout.heightMSL)
    horizontalAccuracy_mm = p.u4(layout.horizontalAccuracy)
    verticalAccuracy_raw = p.u4(layout.verticalAccuracy)
    velocityNorth_raw = p.i4(layout.velocityNorth)
    velocityEast_raw = p.i4(layout.velocityEast)
    velocityDown_raw = p.i4(layout.velocityDown)
    groundSpeed_mmps = p.i4(layout.groundSpeed)
    headingOfMotion_e5 = p.i4(layout.headingOfMotion)
    speedAccuracy_raw = p.u4(layout.speedAccuracy)
    headingAccuracy_raw = p.u4(layout.headingAccuracy)
    timeAccuracy_raw = p.u4(layout.timeAccuracy)
    timeOfWeek_raw = p.u4(layout.timeOfWeek)
    positionDOP_raw = p.u2(layout.positionDOP)
    known = Known(bits: Known.all)
    fixType = p[layout.fixType]
    satellites_raw = p[layout.satellites]
    isFixOK = flags & 1 != 0
    isDifferential = flags & 2 != 0
    let time = UBXCivilTime(p, layout.civilTime)
    let valid = p[layout.civilTime + 7]
    utc_us = time.microseconds(valid: valid, nanoseconds: p.i4(layout.nanoseconds))
    isTimeResolved = utc_us != .min && valid & 4 != 0
  }

  /// What LOG-BATCH without extra PVT does not carry is unknown.
  mutating func dropExtra() {
    known = Known()
    timeOfWeek_raw = 0
    timeAccuracy_raw = 0
    satellites_raw = 0
    heightMSL_raw = 0
    verticalAccuracy_raw = 0
    velocityNorth_raw = 0
    velocityEast_raw = 0
    velocityDown_raw = 0
    speedAccuracy_raw = 0
    headingAccuracy_raw = 0
    positionDOP_raw = 0
  }
}

extension FrameBuffer {
  /// Writes all fields but those of the message alone into a payload of zeroes at `start`.
  mutating func put(_ s: UBXSolution, _ layout: UBXSolutionLayout, at start: Int) {
    put(s.timeOfWeek_raw, at: start + layout.timeOfWeek)
    if let utc = s.utc {
      put(UBXCivilTime(utc), at: start + layout.civilTime)
      self[start + layout.civilTime + 7] = s.isTimeResolved ? 7 : 3
      put(
        Int32(utc.microsecondsOfDay % 1_000_000) * 1_000, at: start + layout.nanoseconds)
    }
    put(s.timeAccuracy_raw, at: start + layout.timeAccuracy)
    self[start + layout.fixType] = s.fixType
    self[start + layout.flags] = (s.isFixOK ? 1 : 0) | (s.isDifferential ? 2 : 0)
    self[start + layout.satellites] = s.satellites_raw
    put(s.longitude_e7, at: start + layout.longitude)
    put(s.latitude_e7, at: start + layout.latitude)
    put(s.height_mm, at: start + layout.height)
    put(s.heightMSL_raw, at: start + layout.heightMSL)
    put(s.horizontalAccuracy_mm, at: start + layout.horizontalAccuracy)
    put(s.verticalAccuracy_raw, at: start + layout.verticalAccuracy)
    put(s.velocityNorth_raw, at: start + layout.velocityNorth)
    put(s.velocityEast_raw, at: start + layout.velocityEast)
    put(s.velocityDown_raw, at: start + layout.velocityDown)
    put(s.groundSpeed_mmps, at: start + layout.groundSpeed)
    put(s.headingOfMotion_e5, at: start + layout.headingOfMotion)
    put(s.speedAccuracy_raw, at: start + layout.speedAccuracy)
    put(s.headingAccuracy_raw, at: start + layout.headingAccuracy)
    put(s.positionDOP_raw, at: start + layout.positionDOP)
  }
}
