import BoardHardware
import LocationTypes

extension EnergyLedger {
  /// Adds an event. Events must be added in ascending order of time.
  mutating func add(_ event: BoardEvent, at time: Instant) {
    switch event {
    case .receiver(let state, let mW): setReceiver(state, mW: mW, at: time)
    case .board(let state, let mW): setBoard(state, mW: mW, at: time)
    case .wake(let reason): countWakes(for: reason)
    case .battery, .batteryEmpty: break
    }
  }
}
