import LocationTypes

extension UBXSolution {
  /// Reads an HNR-PVT; nil if its length is wrong. It contains neither satellites nor DOP.
  ///
  /// Source: u-blox 8 / M8 receiver description R28 (ADR and UDR products), F9 HPS.
  init?(highRate p: Span<UInt8>) {
    guard p.count == 72 else { return nil }
    let valid = p[11]
    let utc = UBXCivilTime.utc(p, 4, valid: valid, nanoseconds: p.i4(12))
    let flags = p[17]
    self.init(
      utc: utc, fixType: p[16], isFixOK: flags & 1 != 0, longitude_e7: p.i4(20),
      latitude_e7: p.i4(24), height_mm: p.i4(28), horizontalAccuracy_mm: p.u4(52))
    isTimeResolved = utc != nil && valid & 4 != 0
    isDifferential = flags & 2 != 0
    timeOfWeek_ms = p.u4(0)
    heightMSL_mm = p.i4(32)
    groundSpeed_mmps = p.i4(36)
    headingOfMotion_e5 = p.i4(44)
    verticalAccuracy_mm = p.u4(56)
    speedAccuracy_mmps = p.u4(60)
    headingAccuracy_e5 = p.u4(64)
  }
}
