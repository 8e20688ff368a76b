import LocationTypes

/// The device in the objects of gpsd's protocol.
public struct GPSDDevice: Equatable, Sendable {
  /// Path, in ASCII.
  public let path: String
  /// gpsd's name of the driver.
  public let driver: String
  /// Whether the driver uses the receiver's binary protocol.
  public let isBinary: Bool
  /// Line speed.
  public let speed_baud: Int

  /// Creates a device. Characters of the path that are not printable ASCII are replaced.
  public init(path: String, driver: String, isBinary: Bool, speed_baud: Int) {
    let bytes = path.utf8.map { (0x21..<0x7F).contains($0) ? $0 : 0x3F }
    self.path = String(decoding: bytes.prefix(GPSDDevice.longestPath), as: UTF8.self)
    self.driver = driver
    self.isBinary = isBinary
    self.speed_baud = speed_baud
  }

  /// Longest path in gpsd's protocol, bytes.
  static let longestPath = 127
}

/// A fix, or its absence, as reported to gpsd's clients.
public struct GPSDReport: Equatable, Sendable {
  /// The fix; nil for none.
  public let fix: Fix?
  /// Time of the fix; nil if unknown.
  public let utc: UTCTime?
  /// Vertical speed, mm/s; nil if unknown.
  public let climb_mmps: Int32?

  /// Longest time between two fixes of which the vertical speed is computed.
  private static let climbLimit = Interval.seconds(3)

  /// The report of no fix.
  public static let none = GPSDReport(nil, utc: nil)

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - utc: Time of the fix.
  ///   - previous: The fix before it, for the vertical speed, which fixes do not contain.
  public init(_ fix: Fix?, utc: UTCTime?, after previous: Fix? = nil) {
    self.fix = fix
    self.utc = utc
    climb_mmps = fix.flatMap { GPSDReport.climb($0, after: previous) }
  }

  private static func climb(_ fix: Fix, after previous: Fix?) -> Int32? {
    guard let previous, fix.mode == .threeDimensional, previous.mode == .threeDimensional,
      let altitude = fix.altitude_mm ?? fix.ellipsoidalAltitude_mm,
      let earlier = previous.altitude_mm ?? previous.ellipsoidalAltitude_mm
    else { return nil }
    let time = fix.acquired - previous.acquired
    guard time > .zero, time <= climbLimit else { return nil }
    let difference = Double(altitude) - Double(earlier)
    return Int32(clamping: Int64((difference / time.seconds).rounded()))
  }

  /// gpsd's mode: 1 for no fix, 2 or 3.
  public var mode: Int64 { fix.map { Int64($0.mode.rawValue) } ?? 1 }
}
