import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// A client that starts and stops updates every two minutes for an hour, in the simulator: the same schedule as
/// ``StartsOnBoard``, so that wakes and times can be compared.
enum ThirtyStarts {
  /// Number of starts.
  static let count = 30
  /// Time from one start to the next.
  static let period = Interval.seconds(120)
  /// Duration of the updates after each start.
  static let updateTime = Interval.seconds(60)

  /// The client's schedule; the acknowledgement of each fix is a separate request.
  static var script: ClientScript {
    var script = ClientScript()
    script.defers = false
    script.acknowledgementDelay = Interval(microseconds: 500)
    script.sessions = (0..<count).map {
      let begin = Instant.boot + period * Int64($0)
      return begin..<(begin + updateTime)
    }
    return script
  }

  /// Runs the schedule on a board; returns one line of JSON.
  static func simulated(_ profile: String) throws -> String {
    var board = try BoardCatalog.standard().find(profile)
    // torpord suspends a board without deadlines only if the motion line wakes it.
    board.board.suspended?.wakeSources.insert(.motion)
    let hour = period * Int64(count)
    var plan = SimulationPlan(
      track: Scenario.drive.track(seed: 1, duration: hour), duration: hour)
    // The MOTION line stays low.
    plan.motionPeriods = []
    let result = SimulationRun(board, script).simulate(plan)
    guard result.violations.isEmpty else { throw Failure("\(result.violations)") }
    let summary = result.summary
    let notSuspended = summary.duration - summary.suspendedTime
    // The keys that both measurements have.
    return """
      {"wakes":\(summary.hostWakes),"suspended_s":\(summary.suspendedTime.seconds),\
      "not_suspended_s":\(notSuspended.seconds),"processor_s":\(summary.processorTime.seconds),\
      "fixes":\(summary.fixes),"starts":\(count),"duration_s":\(summary.duration.seconds)}
      """
  }
}
