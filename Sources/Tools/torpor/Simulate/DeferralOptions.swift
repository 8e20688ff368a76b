import ArgumentParser
import LocationSimulation
import LocationTypes

/// Options for the request of deferred updates: distance and timeout.
struct DeferralOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Deliver after this distance travelled: metres, 2km, or unlimited (if not given).",
      valueName: "distance"),
    transform: ArgumentValues.distance)
  var distance: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Deliver after this time: seconds, 10min, 1h, or unlimited (if not given).",
      valueName: "time"),
    transform: ArgumentValues.timeout)
  var timeout: Double?
}

extension DeferralOptions {
  /// A simulated client with these options.
  var script: ClientScript {
    var script = ClientScript()
    script.distance = distance ?? .infinity
    script.timeout = timeout ?? .infinity
    return script
  }

  /// Human-readable form of the options.
  var text: String {
    let distance = script.distance.isFinite ? HumanFormat.distance(script.distance) : "unlimited"
    let time =
      script.timeout.isFinite
      ? HumanFormat.duration(Interval(seconds: script.timeout)) : "unlimited"
    return "deferred: distance \(distance), timeout \(time)"
  }
}
