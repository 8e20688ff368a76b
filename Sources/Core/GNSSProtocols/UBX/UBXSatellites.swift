/// What NAV-SAT or NAV-SVINFO adds up to: how many satellites, and how well they are heard.
public struct UBXSatellites: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// How many it lists.
  public var inView: UInt8
  /// Of these, how many the position is made of.
  public var used: UInt8
  /// The sum of C/N0 of those used, dBHz.
  public var signalSum_dBHz: UInt16
  /// The best C/N0 of those used, dBHz.
  public var best_dBHz: UInt8

  /// Creates a summary without satellites.
  public init(timeOfWeek_ms: UInt32) {
    self.timeOfWeek_ms = timeOfWeek_ms
    inView = 0
    used = 0
    signalSum_dBHz = 0
    best_dBHz = 0
  }

  /// The mean C/N0 of those used, dBHz, rounded; nil where none is used.
  public var mean_dBHz: UInt8? {
    if used == 0 { return nil }
    let count = UInt16(used)
    return UInt8((signalSum_dBHz + count / 2) / count)
  }

  /// Counts a satellite.
  mutating func count(isUsed: Bool, signal_dBHz: UInt8) {
    inView += 1
    guard isUsed else { return }
    used += 1
    signalSum_dBHz += UInt16(signal_dBHz)
    best_dBHz = max(best_dBHz, signal_dBHz)
  }
}
