@testable import ReceiverDrivers

/// What the tables of state and event of all drivers have in common.
enum PairTable {
  /// Where something is at work, a fault of any line gives the receiver up for now.
  static let faults = "fault:lost(lost) wake-fault:lost(lost) supply-fault:lost(lost)"
}

extension DriverObservation {
  /// The observation as a table writes it.
  var word: String {
    switch self {
    case .none: "none"
    case .reached: "settled"
    case .drained: "drained"
    case .lost: "lost"
    case .recovered: "recovered"
    case .refused: "refused"
    }
  }
}
