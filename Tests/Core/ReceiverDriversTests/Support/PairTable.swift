@testable import ReceiverDrivers

/// Common parts of the state and event tables of all drivers.
enum PairTable {
  /// In active states, a fault of any line makes the receiver lost for now.
  static let faults = "fault:lost(lost) wake-fault:lost(lost) supply-fault:lost(lost)"
}

extension DriverObservation {
  /// The observation as written in a table.
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
