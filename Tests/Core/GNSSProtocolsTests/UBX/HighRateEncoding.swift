import LocationTypes

@testable import GNSSProtocols

extension FrameBuffer {
  /// Appends an HNR-PVT, 80 bytes; nil is written as zero.
  mutating func appendHNRPVT(_ s: UBXSolution) {
    let start = beginUBX(.hnrPVT)
    let p = appendZeroes(UBXHighRateLayout.length)
    put(s.timeOfWeek_ms ?? 0, at: p)
    if let utc = s.utc {
      put(UBXCivilTime(utc), at: p + UBXHighRateLayout.civilTime)
      self[p + UBXHighRateLayout.civilTime + 7] = s.isTimeResolved ? 7 : 3
      put(
        Int32(utc.microsecondsOfDay % 1_000_000) * 1_000, at: p + UBXHighRateLayout.nanoseconds)
    }
    self[p + UBXHighRateLayout.fixType] = s.fixType
    self[p + UBXHighRateLayout.flags] = (s.isFixOK ? 1 : 0) | (s.isDifferential ? 2 : 0)
    put(s.longitude_e7, at: p + UBXHighRateLayout.longitude)
    put(s.latitude_e7, at: p + UBXHighRateLayout.latitude)
    put(s.height_mm, at: p + UBXHighRateLayout.height)
    put(s.heightMSL_mm ?? 0, at: p + UBXHighRateLayout.heightMSL)
    put(s.groundSpeed_mmps, at: p + UBXHighRateLayout.groundSpeed)
    put(s.headingOfMotion_e5, at: p + UBXHighRateLayout.headingOfMotion)
    put(s.horizontalAccuracy_mm, at: p + UBXHighRateLayout.horizontalAccuracy)
    put(s.verticalAccuracy_mm ?? 0, at: p + UBXHighRateLayout.verticalAccuracy)
    put(s.speedAccuracy_mmps ?? 0, at: p + UBXHighRateLayout.speedAccuracy)
    put(s.headingAccuracy_e5 ?? 0, at: p + UBXHighRateLayout.headingAccuracy)
    endUBX(start)
  }
}
