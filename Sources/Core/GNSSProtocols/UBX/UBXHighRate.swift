import LocationTypes

/// Offsets of the fields in HNR-PVT, shared by decoder and encoder.
///
/// Source: u-blox 8 / M8 receiver description R28 (ADR and UDR products), F9 HPS.
enum UBXHighRateLayout {
  static let length = 72
  /// As in NAV-PVT.
  static let civilTime = 4
  static let nanoseconds = 12
  static let fixType = 16
  static let flags = 17
  static let longitude = 20
  static let latitude = 24
  static let height = 28
  static let heightMSL = 32
  static let groundSpeed = 36
  static let headingOfMotion = 44
  static let horizontalAccuracy = 52
  static let verticalAccuracy = 56
  static let speedAccuracy = 60
  static let headingAccuracy = 64
}

extension UBXSolution {
  /// Reads an HNR-PVT; nil if its length is wrong. It contains neither satellites nor DOP.
  init?(highRate p: Span<UInt8>) {
    guard p.count == UBXHighRateLayout.length else { return nil }
    let valid = p[UBXHighRateLayout.civilTime + 7]
    let utc = UBXCivilTime.utc(
      p, UBXHighRateLayout.civilTime, valid: valid,
      nanoseconds: p.i4(UBXHighRateLayout.nanoseconds))
    let flags = p[UBXHighRateLayout.flags]
    self.init(
      utc: utc, fixType: p[UBXHighRateLayout.fixType],
      isFixOK: flags & 1 != 0, longitude_e7: p.i4(UBXHighRateLayout.longitude),
      latitude_e7: p.i4(UBXHighRateLayout.latitude), height_mm: p.i4(UBXHighRateLayout.height),
      horizontalAccuracy_mm: p.u4(UBXHighRateLayout.horizontalAccuracy))
    isTimeResolved = utc != nil && valid & 4 != 0
    isDifferential = flags & 2 != 0
    timeOfWeek_ms = p.u4(0)
    heightMSL_mm = p.i4(UBXHighRateLayout.heightMSL)
    groundSpeed_mmps = p.i4(UBXHighRateLayout.groundSpeed)
    headingOfMotion_e5 = p.i4(UBXHighRateLayout.headingOfMotion)
    verticalAccuracy_mm = p.u4(UBXHighRateLayout.verticalAccuracy)
    speedAccuracy_mmps = p.u4(UBXHighRateLayout.speedAccuracy)
    headingAccuracy_e5 = p.u4(UBXHighRateLayout.headingAccuracy)
  }
}
