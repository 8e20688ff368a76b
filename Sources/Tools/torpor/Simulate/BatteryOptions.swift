import ArgumentParser

/// Options for running from a battery.
struct BatteryOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Report the life of this battery: 3000mAh@3.7V, or 11.1Wh; full at the start, or charged as "
        + "given with --charge.",
      valueName: "battery"),
    transform: { try Battery($0) })
  var battery: Battery?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Simulate the battery of --battery with this charge at the start: as it discharges, services "
        + "are reduced according to the profile's [battery] table.",
      valueName: "percent"),
    transform: ArgumentValues.charge)
  var charge: Double?

  mutating func validate() throws {
    if charge != nil, battery == nil {
      throw ValidationError(
        "--charge needs a battery; add --battery with its energy, such as 11.1Wh")
    }
  }
}
