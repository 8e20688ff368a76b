import BoardProfiles
import LocationTypes

/// What a board would take under gpsd with one client that watches: what a user would run instead.
///
/// The receiver tracks all the time, and the board idles but for the processor time that gpsd 3.22 takes for a fix,
/// measured beside torpord (Docs/Reference/service-cost.md). What leaving idle costs is charged to Torpor's wakes and
/// not to gpsd's, so the comparison does not depend on that assumed figure in Torpor's favour.
public struct GpsdLoad: Equatable, Sendable {
  /// Processor time it takes for a fix, its client served.
  public var processorPerFix: Interval

  /// A receiver of 14 sentences at 9600 baud, which the kernel hands on in pieces of 16 bytes: 49.2 wakes a fix.
  public static let nmea = GpsdLoad(processorPerFix: Interval(microseconds: 6_459))
  /// NAV-PVT that comes at once. On a UART it comes in pieces, for which there is no measurement: the
  /// figure is too low, and so is what Torpor saves beside it.
  public static let navPVT = GpsdLoad(processorPerFix: Interval(microseconds: 184))

  /// The mean power of a board under this load, mW: awake for the processor time, at most all the time; else idle.
  public func board_mW(_ board: BoardProfile.Board, fixInterval: Interval) -> Double {
    let share = min(processorPerFix.seconds / fixInterval.seconds, 1)
    return board.idle.power_mw + (board.awake_mw - board.idle.power_mw) * share
  }
}

/// What a bill compares a run with, and what it adds to it.
public struct BillFigures: Equatable, Sendable {
  /// What the receiver takes while tracking, mW.
  public var tracking_mW: Double
  /// What the board takes awake, mW.
  public var awake_mW: Double
  /// What the board takes under gpsd with one client, mW.
  public var gpsdBoard_mW: Double

  /// Creates figures.
  public init(tracking_mW: Double, awake_mW: Double, gpsdBoard_mW: Double) {
    self.tracking_mW = tracking_mW
    self.awake_mW = awake_mW
    self.gpsdBoard_mW = gpsdBoard_mW
  }

  /// The figures of a board and its receiver. Without a receiver there is nothing for gpsd to do.
  public init(_ profile: BoardProfile) {
    let load = profile.receiver?.output == .ubx ? GpsdLoad.navPVT : .nmea
    self.init(
      tracking_mW: profile.receiver?.power.track_mw ?? 0, awake_mW: profile.board.awake_mw,
      gpsdBoard_mW: profile.receiver.map {
        load.board_mW(profile.board, fixInterval: $0.fixInterval)
      } ?? profile.board.idle.power_mw)
  }
}
