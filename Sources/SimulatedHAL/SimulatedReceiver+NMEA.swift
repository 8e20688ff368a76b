import GNSSProtocols
import LocationTypes

extension SimulatedReceiver {
  /// Sends the sentences of an epoch that are due.
  mutating func sendSentences(_ solution: UBXSolution, at now: Instant) {
  }
}
