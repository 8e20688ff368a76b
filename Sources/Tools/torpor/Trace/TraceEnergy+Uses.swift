import LocationSimulation
import LocationTypes
import LocationWire

extension TraceEnergy {
  /// Name of a state, time and energy in it.
  typealias Use = (name: String, time: Interval, energy_mJ: Double)

  /// The use of each state of the receiver.
  var receiverUses: [Use] {
    TraceReceiverState.allCases.map {
      ($0.name, receiverTime[$0.rawValue], receiverUse_mJ[$0.rawValue])
    }
  }

  /// The use of each state of the board.
  var boardUses: [Use] {
    boardTime.indices.compactMap { index in
      BoardState(rawValue: UInt8(index)).map {
        ($0.jsonName, boardTime[index], boardUse_mJ[index])
      }
    }
  }
}
