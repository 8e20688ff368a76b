/// A test of the service on the virtual board.
struct BoardScenario {
  let name: String
  /// Time limit in seconds of guest time, including a boot.
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

  /// Checks that fixes are in order, each delivered once.
  static func expectOrder(_ fixes: [GuestClient.FixReport]) throws {
    for (a, b) in zip(fixes, fixes.dropFirst()) {
      try expect(a.sequence < b.sequence && a.utc < b.utc, "\(b) was delivered after \(a)")
    }
  }
}
