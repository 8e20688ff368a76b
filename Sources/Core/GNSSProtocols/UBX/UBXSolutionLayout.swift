import LocationTypes

/// Offsets of the fields in NAV-PVT and LOG-BATCH, shared by decoder and encoder.
///
/// Both have the same fields in the same order, LOG-BATCH four bytes later. Source: u-blox 8 / M8
/// receiver description R28, M10 SPG 5.10 interface description.
struct UBXSolutionLayout {
  /// Offset of the time of week.
  var shift: Int
  /// Length of the payload.
  var length: Int

  static let navPVT = UBXSolutionLayout(shift: 0, length: 92)
  /// Short form of protocol 14 and u-blox 7: without flags3 and the fields after it.
  fileprivate static let shortNavPVT = UBXSolutionLayout(shift: 0, length: 84)
  static let logBATCH = UBXSolutionLayout(shift: 4, length: 100)
  /// Offset of flags3 in the long form of NAV-PVT; its bit 0 is invalidLlh.
  fileprivate static let flags3 = 78

  var timeOfWeek: Int { shift }
  /// Year, month, day, hour, minute, second, validity flags: eight bytes.
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

  /// Time in microseconds since 1970, `.min` if invalid.
  ///
  /// Call this before reading other fields: it needs many registers, which are then still free.
  @inline(always) func moment(_ p: Span<UInt8>) -> Int64 {
    UBXCivilTime.microseconds(
      p, civilTime, valid: p[civilTime + 7], nanoseconds: p.i4(nanoseconds))
  }
}

extension UBXSolution {
  /// Whether a payload has the length of NAV-PVT: 92 bytes, or 84 of protocol 14 and u-blox 7.
  @inline(__always) static func isNavPVT(_ p: Span<UInt8>) -> Bool {
    p.count == UBXSolutionLayout.navPVT.length || p.count == UBXSolutionLayout.shortNavPVT.length
  }

  /// Reads NAV-PVT of either length.
  ///
  /// Not failable: inspecting an optional would copy the solution.
  ///
  /// - Precondition: ``isNavPVT(_:)`` is true for the payload.
  init(navPVT p: Span<UInt8>) {
    self.init(ofNavPVT: p, UBXSolution.moment(ofNavPVT: p))
  }

  /// Time of NAV-PVT, as ``utc_us``.
  @inline(always) static func moment(ofNavPVT p: Span<UInt8>) -> Int64 {
    precondition(UBXSolution.isNavPVT(p), "NAV-PVT has one of two lengths")
    return UBXSolutionLayout.navPVT.moment(p)
  }

  /// Reads the other fields of NAV-PVT, whose time is `utc_us`.
  @inline(always) init(ofNavPVT p: Span<UInt8>, _ utc_us: Int64) {
    precondition(UBXSolution.isNavPVT(p), "NAV-PVT has one of two lengths")
    // The short form has the same fields at the same offsets.
    self.init(p, .navPVT, utc_us)
    if p.count == UBXSolutionLayout.navPVT.length, p[UBXSolutionLayout.flags3] & 1 != 0 {
      isFixOK = false
    }
  }

  /// Reads all fields of a payload of the length of `layout`, or of its short form.
  init(_ p: Span<UInt8>, _ layout: UBXSolutionLayout) {
    self.init(p, layout, layout.moment(p))
  }

  @inline(always)
  private init(_ p: Span<UInt8>, _ layout: UBXSolutionLayout, _ utc_us: Int64) {
    let valid = p[layout.civilTime + 7]
    self.utc_us = utc_us
    coordinates = WordPair(bits: p.u8(layout.longitude))
    heights = WordPair(bits: p.u8(layout.height))
    accuracies = WordPair(bits: p.u8(layout.horizontalAccuracy))
    velocities = WordPair(bits: p.u8(layout.velocityNorth))
    downAndGround = WordPair(bits: p.u8(layout.velocityDown))
    headingAndSpeedAccuracy = WordPair(bits: p.u8(layout.headingOfMotion))
    // The flags after the position DOP are replaced by the bits of ``Known``.
    headingAccuracyAndDOP = WordPair(
      bits: p.u8(layout.headingAccuracy) & 0xFFFF_FFFF_FFFF | UInt64(Known.all) &<< 48)
    timeOfWeekAndTimeAccuracy = WordPair(
      bits: UInt64(p.u4(layout.timeOfWeek)) | UInt64(p.u4(layout.timeAccuracy)) &<< 32)
    let resolved = utc_us == .min ? 0 : UInt32(valid & 4) &<< 16
    state = WordPair(bits: UInt64(p.u4(layout.fixType) & State.copied | resolved))
  }

  /// Marks the fields as unknown that LOG-BATCH without extra PVT does not contain.
  mutating func clearExtraPVT() {
    timeOfWeekAndTimeAccuracy = WordPair()
    state.first &= 0xFF_FFFF
    heights.second = 0
    accuracies.second = 0
    velocities = WordPair()
    downAndGround.first = 0
    headingAndSpeedAccuracy.second = 0
    headingAccuracyAndDOP = WordPair()
  }
}

extension FrameBuffer {
  /// Writes all shared fields into a zeroed payload at `start`.
  mutating func put(_ s: UBXSolution, _ layout: UBXSolutionLayout, at start: Int) {
    put(s.timeOfWeek_ms ?? 0, at: start + layout.timeOfWeek)
    if let utc = s.utc {
      put(UBXCivilTime(utc), at: start + layout.civilTime)
      self[start + layout.civilTime + 7] = s.isTimeResolved ? 7 : 3
      put(
        Int32(utc.microsecondsOfDay % 1_000_000) * 1_000, at: start + layout.nanoseconds)
    }
    put(s.timeAccuracy_ns ?? 0, at: start + layout.timeAccuracy)
    self[start + layout.fixType] = s.fixType
    self[start + layout.flags] = (s.isFixOK ? 1 : 0) | (s.isDifferential ? 2 : 0)
    self[start + layout.satellites] = s.satellites ?? 0
    put(s.longitude_e7, at: start + layout.longitude)
    put(s.latitude_e7, at: start + layout.latitude)
    put(s.height_mm, at: start + layout.height)
    put(s.heightMSL_mm ?? 0, at: start + layout.heightMSL)
    put(s.horizontalAccuracy_mm, at: start + layout.horizontalAccuracy)
    put(s.verticalAccuracy_mm ?? 0, at: start + layout.verticalAccuracy)
    put(s.velocityNorth_mmps ?? 0, at: start + layout.velocityNorth)
    put(s.velocityEast_mmps ?? 0, at: start + layout.velocityEast)
    put(s.velocityDown_mmps ?? 0, at: start + layout.velocityDown)
    put(s.groundSpeed_mmps, at: start + layout.groundSpeed)
    put(s.headingOfMotion_e5, at: start + layout.headingOfMotion)
    put(s.speedAccuracy_mmps ?? 0, at: start + layout.speedAccuracy)
    put(s.headingAccuracy_e5 ?? 0, at: start + layout.headingAccuracy)
    put(s.positionDOP_e2 ?? 0, at: start + layout.positionDOP)
  }
}
