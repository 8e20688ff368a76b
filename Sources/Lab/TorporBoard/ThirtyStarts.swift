import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// A client that starts and stops updates every two minutes, for an hour, in the simulator: the same that
/// torpord is to do on the virtual board, so that wakes and times can be compared.
enum ThirtyStarts {
  /// How often the client starts.
  static let count = 30
  /// The time from one start to the next.
  static let period = Interval.seconds(120)
  /// How long the client updates.
  static let length = Interval.seconds(60)

  /// What the client does: the acknowledgement of each fix is a request of its own.
  static var script: ClientScript {
    var script = ClientScript()
    script.defers = false
    script.acknowledgesAfter = Interval(microseconds: 500)
    script.sessions = (0..<count).map {
      let begin = Instant.boot + period * Int64($0)
      return begin..<(begin + length)
    }
    return script
  }

  /// Runs it on a board, and gives the line of figures.
  static func simulated(_ profile: String) throws -> String {
    var board = try BoardCatalog.standard().find(profile)
    // torpord suspends a board for which nothing is due only where the motion line wakes it.
    board.board.suspended?.wakesOn.insert(.motion)
    let hour = period * Int64(count)
    var plan = SimulationPlan(
      track: Scenario.drive.track(seed: 1, duration: hour), duration: hour)
    // The MOTION line stays low.
    plan.motion = []
    let result = Session(board, script).simulate(plan)
    guard result.violations.isEmpty else { throw Failure("\(result.violations)") }
    let summary = result.summary
    return line(
      wakes: summary.hostWakes, suspended: summary.suspended,
      notSuspended: summary.duration - summary.suspended, processor: summary.processor,
      fixes: summary.fixes, duration: summary.duration)
  }

  /// One JSON object, with the keys of both sides.
  static func line(
    wakes: Int, suspended: Interval, notSuspended: Interval, processor: Interval, fixes: Int,
    duration: Interval
  ) -> String {
    """
    {"wakes":\(wakes),"suspended_s":\(suspended.seconds),"not_suspended_s":\(notSuspended.seconds),\
    "processor_s":\(processor.seconds),"fixes":\(fixes),"starts":\(count),"duration_s":\(duration.seconds)}
    """
  }
}
