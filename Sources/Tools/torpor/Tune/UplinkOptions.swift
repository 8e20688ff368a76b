import ArgumentParser
import BoardHardware
import LocationSimulation
import LocationTypes

extension UplinkRadio: ExpressibleByArgument {}

/// The options for uploads to a store: radio and cadence.
struct UplinkOptions: ParsableArguments {
  @Option(
    name: .customLong("uplink"),
    help: ArgumentHelp(
      "Include the energy of uploads with this radio, and of the board that waits for them.",
      valueName: "radio"))
  var radio: UplinkRadio?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Time between two uploads, for --uplink: 10 s to 24 h (1h if not given).", valueName: "time"),
    transform: UplinkOptions.cadence)
  var every: Interval?

  mutating func validate() throws {
    if every != nil, radio == nil {
      throw ValidationError("--every is the time between uploads and needs --uplink <radio>")
    }
  }

  /// Radio and cadence; nil without uploads.
  var uplink: TuneUplink? { radio.map { TuneUplink(radio: $0, every: every ?? .seconds(3_600)) } }

  /// The range of the key `every_s` in uplink.toml.
  private static func cadence(_ text: String) throws -> Interval {
    let seconds = try ArgumentValues.timeout(text)
    guard seconds >= 10, seconds <= 86_400 else {
      throw ValidationError("it should be 10 s to 24 h (600, 10min, 1h)")
    }
    return Interval(seconds: seconds)
  }
}

/// Uploads to a store in the runs of `torpor tune`.
struct TuneUplink: Equatable {
  var radio: UplinkRadio
  /// Time between two uploads: the timeout of deferred updates; of other services, an upload joins the first delivery
  /// after this time.
  var every: Interval

  /// Shortest time between two uploads of deferred updates, whose batches can be earlier than the timeout.
  private static let shortestInterval = Interval.seconds(60)

  /// The uploads of a simulated client.
  func script(isDeferred: Bool) -> UploadScript {
    var script = UploadScript(hold: radio.hold)
    script.every = isDeferred ? min(TuneUplink.shortestInterval, every) : every
    return script
  }
}
