import LocationTypes

@testable import GNSSProtocols

extension FrameBuffer {
  /// Appends an HNR-PVT, 80 bytes; nil is written as zero.
  mutating func appendHNRPVT(_ s: UBXSolution) {
    let start = beginUBX(.hnrPVT)
    let p = appendZeroes(72)
    put(s.timeOfWeek_ms ?? 0, at: p)
    if let utc = s.utc {
      put(UBXCivilTime(utc), at: p + 4)
      self[p + 11] = s.isTimeResolved ? 7 : 3
      put(Int32(utc.microsecondsOfDay % 1_000_000) * 1_000, at: p + 12)
    }
    self[p + 16] = s.fixType
    self[p + 17] = (s.isFixOK ? 1 : 0) | (s.isDifferential ? 2 : 0)
    put(s.longitude_e7, at: p + 20)
    put(s.latitude_e7, at: p + 24)
    put(s.height_mm, at: p + 28)
    put(s.heightMSL_mm ?? 0, at: p + 32)
    put(s.groundSpeed_mmps, at: p + 36)
    put(s.headingOfMotion_e5, at: p + 44)
    put(s.horizontalAccuracy_mm, at: p + 52)
    put(s.verticalAccuracy_mm ?? 0, at: p + 56)
    put(s.speedAccuracy_mmps ?? 0, at: p + 60)
    put(s.headingAccuracy_e5 ?? 0, at: p + 64)
    endUBX(start)
  }
}
