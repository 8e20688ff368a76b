/// Satellites in view and dilutions of precision at one time, as the receiver reported them.
///
/// Holds at most ``capacity`` satellites inline; more are dropped, unused ones first. No satellite is contained twice.
public struct SatelliteView: Sendable {
  /// Maximum number of satellites.
  public static let capacity = 64

  /// Arrival time of the view's last message.
  public var time: Instant
  /// Dilutions of precision of the last fix.
  public var dilutions = DilutionsOfPrecision()
  /// Number of satellites, 0 to ``capacity``.
  public private(set) var count = 0
  private var satellites = InlineArray<64, Satellite>(repeating: Satellite(.gps, 0))

  /// Creates a view without satellites.
  public init(at time: Instant = .boot) { self.time = time }

  /// The satellite at `index`, in the order of the receiver's messages.
  ///
  /// - Precondition: `index` is below ``count``.
  public subscript(index: Int) -> Satellite {
    precondition(index < count, "past the last satellite")
    return satellites[index]
  }

  /// Number of satellites that were used for the last fix.
  public var usedCount: Int {
    var sum = 0
    for i in 0..<count where satellites[i].isUsed { sum += 1 }
    return sum
  }

  /// Adds a satellite. A satellite that the view already contains keeps its strongest signal, and the values that are
  /// known. O(satellites).
  public mutating func add(_ satellite: Satellite) {
    for i in 0..<count where satellites[i].isSame(as: satellite) {
      satellites[i].merge(satellite)
      return
    }
    if count < SatelliteView.capacity {
      satellites[count] = satellite
      count += 1
    } else if satellite.isUsed {
      for i in 0..<count where !satellites[i].isUsed {
        satellites[i] = satellite
        return
      }
    }
  }

  /// Sets whether the satellite at `index`, below ``count``, was used.
  public mutating func setUsed(_ isUsed: Bool, at index: Int) {
    precondition(index < count, "past the last satellite")
    satellites[index].isUsed = isUsed
  }
}

extension Satellite {
  /// Adds what another report of the same satellite contains, for example that of another signal.
  fileprivate mutating func merge(_ other: Satellite) {
    isUsed = isUsed || other.isUsed
    elevation_deg = elevation_deg ?? other.elevation_deg
    azimuth_deg = azimuth_deg ?? other.azimuth_deg
    if let signal = other.signal_dBHz { signal_dBHz = max(signal, signal_dBHz ?? 0) }
  }
}

extension SatelliteView: Equatable {
  /// Whether time, dilutions and satellites are equal, in the same order.
  public static func == (a: SatelliteView, b: SatelliteView) -> Bool {
    guard a.time == b.time, a.dilutions == b.dilutions, a.count == b.count else { return false }
    for i in 0..<a.count where a.satellites[i] != b.satellites[i] { return false }
    return true
  }
}
