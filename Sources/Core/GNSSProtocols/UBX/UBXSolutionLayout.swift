import LocationTypes

/// Offsets of the fields in NAV-PVT and LOG-BATCH, shared by decoder and encoder.
///
/// Both have the same fields in the same order, LOG-BATCH four bytes later. Source: u-blox 8 / M8
/// receiver description R28, M10 SPG 5.10 interface description.
enum UBXSolutionLayout {
  /// Length of the payload of NAV-PVT.
  static let length = 92
  /// Length in protocol 14 and u-blox 7: without flags3 and the fields after it.
  fileprivate static let shortLength = 84
  /// Offset of the same fields in LOG-BATCH.
  static let batchOffset = 4
  /// Length of the payload of LOG-BATCH.
  static let batchLength = 100

  static let timeOfWeek = 0
  /// Year, month, day, hour, minute, second, validity flags: eight bytes.
  static let civilTime = 4
  static let timeAccuracy = 12
  static let nanoseconds = 16
  static let fixType = 20
  static let flags = 21
  static let satellites = 23
  static let longitude = 24
  static let latitude = 28
  static let height = 32
  static let heightMSL = 36
  static let horizontalAccuracy = 40
  static let verticalAccuracy = 44
  static let velocityNorth = 48
  static let velocityEast = 52
  static let velocityDown = 56
  static let groundSpeed = 60
  static let headingOfMotion = 64
  static let speedAccuracy = 68
  static let headingAccuracy = 72
  static let positionDOP = 76
  /// In the long form of NAV-PVT; its bit 0 is invalidLlh.
  fileprivate static let flags3 = 78
}

extension UBXSolution {
  /// Whether a payload has the length of NAV-PVT: 92 bytes, or 84 of protocol 14 and u-blox 7.
  static func isNavPVT(_ p: Span<UInt8>) -> Bool {
    p.count == UBXSolutionLayout.length || p.count == UBXSolutionLayout.shortLength
  }

  /// Reads NAV-PVT of either length.
  @inline(always) init(navPVT p: Span<UInt8>) {
    self.init(sharedFields: p)
    // Flag invalidLlh of the long form.
    if p.count == UBXSolutionLayout.length, p[UBXSolutionLayout.flags3] & 1 != 0 {
      isFixOK = false
    }
  }

  /// Reads the fields that NAV-PVT and LOG-BATCH share, of which the first is the time of week.
  ///
  /// - Precondition: The payload has at least the length of the short NAV-PVT.
  @inline(always) init(sharedFields p: Span<UInt8>) {
    precondition(p.count >= UBXSolutionLayout.shortLength, "all shared fields are present")
    let valid = p[UBXSolutionLayout.civilTime + 7]
    utc_us = UBXCivilTime.microseconds(
      p, UBXSolutionLayout.civilTime, valid: valid,
      nanoseconds: p.i4(UBXSolutionLayout.nanoseconds))
    coordinates = WordPair(bits: p.u8(UBXSolutionLayout.longitude))
    heights = WordPair(bits: p.u8(UBXSolutionLayout.height))
    accuracies = WordPair(bits: p.u8(UBXSolutionLayout.horizontalAccuracy))
    velocities = WordPair(bits: p.u8(UBXSolutionLayout.velocityNorth))
    downAndGround = WordPair(bits: p.u8(UBXSolutionLayout.velocityDown))
    headingAndSpeedAccuracy = WordPair(bits: p.u8(UBXSolutionLayout.headingOfMotion))
    // The flags after the position DOP are replaced by the bits of ``Known``.
    headingAccuracyAndDOP = WordPair(
      bits: p.u8(UBXSolutionLayout.headingAccuracy) & 0xFFFF_FFFF_FFFF | UInt64(Known.all) &<< 48)
    timeOfWeekAndTimeAccuracy = WordPair(
      bits: UInt64(p.u4(UBXSolutionLayout.timeOfWeek)) | UInt64(
        p.u4(UBXSolutionLayout.timeAccuracy)) &<< 32)
    let resolved = utc_us == .min ? 0 : UInt32(valid & 4) &<< 16
    state = WordPair(bits: UInt64(p.u4(UBXSolutionLayout.fixType) & State.copied | resolved))
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
  mutating func put(_ s: UBXSolution, at start: Int) {
    put(s.timeOfWeek_ms ?? 0, at: start + UBXSolutionLayout.timeOfWeek)
    if let utc = s.utc {
      put(UBXCivilTime(utc), at: start + UBXSolutionLayout.civilTime)
      self[start + UBXSolutionLayout.civilTime + 7] = s.isTimeResolved ? 7 : 3
      put(
        Int32(utc.microsecondsOfDay % 1_000_000) * 1_000, at: start + UBXSolutionLayout.nanoseconds)
    }
    put(s.timeAccuracy_ns ?? 0, at: start + UBXSolutionLayout.timeAccuracy)
    self[start + UBXSolutionLayout.fixType] = s.fixType
    self[start + UBXSolutionLayout.flags] = (s.isFixOK ? 1 : 0) | (s.isDifferential ? 2 : 0)
    self[start + UBXSolutionLayout.satellites] = s.satellites ?? 0
    put(s.longitude_e7, at: start + UBXSolutionLayout.longitude)
    put(s.latitude_e7, at: start + UBXSolutionLayout.latitude)
    put(s.height_mm, at: start + UBXSolutionLayout.height)
    put(s.heightMSL_mm ?? 0, at: start + UBXSolutionLayout.heightMSL)
    put(s.horizontalAccuracy_mm, at: start + UBXSolutionLayout.horizontalAccuracy)
    put(s.verticalAccuracy_mm ?? 0, at: start + UBXSolutionLayout.verticalAccuracy)
    put(s.velocityNorth_mmps ?? 0, at: start + UBXSolutionLayout.velocityNorth)
    put(s.velocityEast_mmps ?? 0, at: start + UBXSolutionLayout.velocityEast)
    put(s.velocityDown_mmps ?? 0, at: start + UBXSolutionLayout.velocityDown)
    put(s.groundSpeed_mmps, at: start + UBXSolutionLayout.groundSpeed)
    put(s.headingOfMotion_e5, at: start + UBXSolutionLayout.headingOfMotion)
    put(s.speedAccuracy_mmps ?? 0, at: start + UBXSolutionLayout.speedAccuracy)
    put(s.headingAccuracy_e5 ?? 0, at: start + UBXSolutionLayout.headingAccuracy)
    put(s.positionDOP_e2 ?? 0, at: start + UBXSolutionLayout.positionDOP)
  }
}
