/// Summary of NAV-SAT or NAV-SVINFO: number of satellites and their signal strength.
public struct UBXSatellites: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// Number of satellites listed.
  public var inView: UInt8
  /// Number of satellites used for the position.
  public var used: UInt8
  /// Sum of C/N0 of the satellites used, dBHz.
  public var signalSum_dBHz: UInt16
  /// Best C/N0 of the satellites used, dBHz.
  public var best_dBHz: UInt8

  /// Creates a summary without satellites.
  public init(timeOfWeek_ms: UInt32) {
    self.timeOfWeek_ms = timeOfWeek_ms
    inView = 0
    used = 0
    signalSum_dBHz = 0
    best_dBHz = 0
  }

  /// Mean C/N0 of the satellites used, dBHz, rounded; nil if none is used.
  public var mean_dBHz: UInt8? {
    if used == 0 { return nil }
    let count = UInt16(used)
    return UInt8((signalSum_dBHz + count / 2) / count)
  }

  /// Adds a satellite to the summary.
  mutating func add(isUsed: Bool, signal_dBHz: UInt8) {
    inView += 1
    guard isUsed else { return }
    used += 1
    signalSum_dBHz += UInt16(signal_dBHz)
    best_dBHz = max(best_dBHz, signal_dBHz)
  }
}
