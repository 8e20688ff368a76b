import BoardProfiles
import LocationTypes

/// Power of a board that runs gpsd with one client in watch mode, the alternative that users would run.
///
/// The receiver tracks all the time. The board idles except for the processor time that gpsd 3.22 needs per fix,
/// measured together with torpord (Docs/Reference/service-cost.md). The resume time of the idle state, which is an
/// assumption, is added to Torpor's wakes but not to gpsd's, so it does not favour Torpor.
public struct GpsdLoad: Equatable, Sendable {
  /// Processor time per fix, including its delivery to the client.
  public var processorPerFix: Interval

  /// A receiver with 14 sentences at 9600 baud, which the kernel delivers in pieces of 16 bytes: 49.2 wakes per fix.
  public static let nmea = GpsdLoad(processorPerFix: Interval(microseconds: 6_459))
  /// NAV-PVT that arrives in one piece. On a UART it arrives in several pieces, for which no measurement exists: the
  /// value is too low, and so is Torpor's saving compared with it.
  public static let navPVT = GpsdLoad(processorPerFix: Interval(microseconds: 184))

  /// Returns the board's mean power under this load, mW: awake for the processor time, at most all the time;
  /// otherwise idle.
  public func board_mW(_ board: BoardProfile.Board, fixInterval: Interval) -> Double {
    let share = min(processorPerFix.seconds / fixInterval.seconds, 1)
    return board.idle.power_mw + (board.awake_mw - board.idle.power_mw) * share
  }
}

/// Reference powers with which a run's energy is compared.
public struct EnergyBaseline: Equatable, Sendable {
  /// Receiver power while tracking, mW.
  public var tracking_mW: Double
  /// Board power while awake, mW.
  public var awake_mW: Double
  /// Board power with gpsd and one client, mW.
  public var gpsdBoard_mW: Double

  /// Creates a baseline.
  public init(tracking_mW: Double, awake_mW: Double, gpsdBoard_mW: Double) {
    self.tracking_mW = tracking_mW
    self.awake_mW = awake_mW
    self.gpsdBoard_mW = gpsdBoard_mW
  }

  /// Creates the baseline of a board and its receiver. Without a receiver, gpsd needs no processor time.
  public init(_ profile: BoardProfile) {
    let load = profile.receiver?.output == .ubx ? GpsdLoad.navPVT : .nmea
    self.init(
      tracking_mW: profile.receiver?.power.track_mw ?? 0, awake_mW: profile.board.awake_mw,
      gpsdBoard_mW: profile.receiver.map {
        load.board_mW(profile.board, fixInterval: $0.fixInterval)
      } ?? profile.board.idle.power_mw)
  }
}
