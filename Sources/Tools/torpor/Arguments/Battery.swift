import ArgumentParser
import LocationTypes

/// The value of `--battery`: the nominal energy of a battery.
struct Battery: Equatable {
  /// Nominal energy when full and new, joules.
  let energy_J: Double

  private static let expected =
    "charge and voltage (3000mAh@3.7V, 3Ah@3.7V) or energy (11.1Wh, 500mWh)"

  /// Parses `3000mAh@3.7V`, `3Ah@3.7V`, `11.1Wh` or `500mWh`; spaces around numbers and units are allowed.
  ///
  /// - Throws: `ValidationError` that states the accepted forms.
  init(_ text: String) throws {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
      .map(Battery.trimmed)
    let charge = try Battery.number(parts[0], "Ah")
    let wattHours: Double
    if parts.count == 1, let energy = try Battery.number(parts[0], "Wh") {
      wattHours = energy
    } else if parts.count == 2, let charge, let voltage = try Battery.number(parts[1], "V") {
      wattHours = charge * voltage
    } else if parts.count == 1, charge != nil {
      throw ValidationError("a charge needs a voltage too, for example 3000mAh@3.7V")
    } else if parts.count <= 2, parts[0].first?.isNumber == true {
      throw ValidationError(
        "a unit is missing or wrong; write for example 10Wh or 3000mAh@3.7V")
    } else {
      throw ValidationError("it should be \(Battery.expected)")
    }
    guard wattHours > 0, wattHours <= 100_000 else {
      throw ValidationError("it should be more than 0 and at most 100 kWh: \(Battery.expected)")
    }
    energy_J = wattHours * 3_600
  }

  /// Battery life at a mean power, milliwatts; nil without consumption and above 100 years.
  ///
  /// - Parameter charge: Charge at the start, percent.
  func life(at power_mW: Double, charge: Double = 100) -> Interval? {
    let seconds = energy_J * 10 * charge / power_mW
    guard seconds.isFinite, seconds < 100 * 365.25 * 86_400 else { return nil }
    return Interval(seconds: seconds)
  }

  /// ``life(at:charge:)`` in one or two units.
  func lifeText(at power_mW: Double, charge: Double = 100) -> String {
    life(at: power_mW, charge: charge).map(HumanFormat.duration) ?? "over a century"
  }

  /// The nominal energy with its unit, and the charge, percent, unless full.
  func text(_ charge: Double = 100) -> String {
    let energy = HumanFormat.decimal(energy_J / 3_600, places: energy_J < 3_600 ? 3 : 2) + " Wh"
    return charge < 100 ? "\(energy), \(HumanFormat.percent(charge)) full" : energy
  }

  /// The number before `unit` or its thousandth, in `unit`; nil if `text` ends with neither.
  private static func number(_ text: String, _ unit: String) throws -> Double? {
    guard text.hasSuffix(unit) else { return nil }
    let isMilli = text.hasSuffix("m" + unit)
    let digits = trimmed(text.dropLast(unit.count + (isMilli ? 1 : 0)))
    let value = try ArgumentValues.nonNegative(digits, expected: expected)
    return isMilli ? value / 1_000 : value
  }

  /// `text` without spaces at both ends.
  private static func trimmed(_ text: Substring) -> String {
    text.split(separator: " ").joined(separator: " ")
  }
}
