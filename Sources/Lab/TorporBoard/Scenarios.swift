/// What is shown of the board, one after the other.
struct BoardScenario {
  let name: String
  /// Seconds of the guest's own time that it may take, a boot included.
  var limit = 90.0
  let run: (Bench) throws -> Void

  static func all(_ options: BoardOptions) -> [BoardScenario] {
    let first = suspend + lines
    let second = receiver + [resets(options.resets, seed: options.seed)]
    switch options.lane {
    case 1: return first
    case 2: return second
    case 3: return off
    default: return first + second + off
    }
  }

  static func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard condition else { throw Failure(what()) }
  }

  /// Fixes come one second after the other, each once.
  static func expectOrder(_ told: [GuestClient.Told]) throws {
    for (a, b) in zip(told, told.dropFirst()) {
      try expect(a.sequence < b.sequence && a.utc < b.utc, "\(b) was told after \(a)")
    }
  }
}
