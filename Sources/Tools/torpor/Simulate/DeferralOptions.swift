import ArgumentParser
import LocationSimulation
import LocationTypes

/// What a deferring client asks for.
struct DeferralOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Deliver when this far has been travelled: metres, 2km, or unlimited (if not given).",
      valueName: "distance"),
    transform: ArgumentValues.distance)
  var distance: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Deliver when this long has passed: seconds, 10min, 1h, or unlimited (if not given).",
      valueName: "time"),
    transform: ArgumentValues.timeout)
  var timeout: Double?
}

extension DeferralOptions {
  /// The client that asks for this.
  var script: ClientScript {
    var script = ClientScript()
    script.distance = distance ?? .infinity
    script.timeout = timeout ?? .infinity
    return script
  }

  /// What is asked for, in words.
  var words: String {
    let way = script.distance.isFinite ? HumanFormat.distance(script.distance) : "unlimited"
    let time =
      script.timeout.isFinite
      ? HumanFormat.duration(Interval(seconds: script.timeout)) : "unlimited"
    return "deferred: distance \(way), timeout \(time)"
  }
}
