import ArgumentParser
import LocationTypes

/// The value of `--battery`: the nominal energy of a battery.
struct Battery: Equatable {
  /// Nominal energy when full and new, joules.
  let energy_J: Double

  /// Largest accepted energy, watt-hours.
  static let maximumWattHours = 100_000.0

  private static let expected =
    "charge and voltage (3000mAh@3.7V, 3Ah@3.7V) or energy (11.1Wh, 500mWh)"

  /// Parses `3000mAh@3.7V`, `3Ah@3.7V`, `11.1Wh` or `500mWh`; spaces around numbers and units are allowed.
  ///
  /// - Throws: `ValidationError` that states the accepted forms.
  init(_ text: String) throws {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
    let wattHours: Double
    switch parts.count {
    case 1:
      if let energy = try Battery.number(parts[0], [("mWh", 1e-3), ("Wh", 1)]) {
        wattHours = energy
      } else if try Battery.number(parts[0], [("mAh", 1e-3), ("Ah", 1)]) != nil {
        throw ValidationError("a charge needs a voltage too, for example 3000mAh@3.7V")
      } else {
        throw Battery.unitError(parts[0])
      }
    case 2:
      guard let charge = try Battery.number(parts[0], [("mAh", 1e-3), ("Ah", 1)]),
        let voltage = try Battery.number(parts[1], [("mV", 1e-3), ("V", 1)])
      else { throw Battery.unitError(parts[0]) }
      wattHours = charge * voltage
    case _:
      throw ValidationError("it should be \(Battery.expected)")
    }
    guard wattHours > 0, wattHours <= Battery.maximumWattHours else {
      throw ValidationError("it should be more than 0 and at most 100 kWh: \(Battery.expected)")
    }
    energy_J = wattHours * 3_600
  }

  /// Battery life at a mean power; nil without consumption and above 100 years.
  ///
  /// - Parameters:
  ///   - power_mW: Mean power, milliwatts.
  ///   - charge: Charge at the start, percent.
  func life(at power_mW: Double, charge: Double = 100) -> Interval? {
    let seconds = energy_J * 10 * charge / power_mW
    guard seconds.isFinite, seconds < 100 * 365.25 * 86_400 else { return nil }
    return Interval(seconds: seconds)
  }

  /// The nominal energy with its unit.
  var text: String {
    "\(HumanFormat.decimal(energy_J / 3_600, places: energy_J < 3_600 ? 3 : 2)) Wh"
  }

  /// The nominal energy with its unit, and the charge, percent, unless full.
  func text(_ charge: Double) -> String {
    charge < 100 ? "\(text), \(HumanFormat.percent(charge)) full" : text
  }

  /// Error for a value without one of the units; if it begins with a number, only the unit is wrong.
  private static func unitError(_ text: String) -> ValidationError {
    let isNumber = text.trimmed.first?.isNumber == true
    return ValidationError(
      isNumber
        ? "a unit is missing or wrong; write for example 10Wh or 3000mAh@3.7V"
        : "it should be \(expected)")
  }

  /// The number before one of `units`, times the factor of that unit; nil if `text` ends with none of `units`.
  private static func number(_ text: String, _ units: [(String, Double)]) throws -> Double? {
    let text = text.trimmed
    for (unit, factor) in units where text.hasSuffix(unit) {
      let digits = String(text.dropLast(unit.utf8.count)).trimmed
      return try ArgumentValues.nonNegative(digits, expected: expected) * factor
    }
    return nil
  }
}

extension String {
  /// The string without spaces at both ends.
  fileprivate var trimmed: String {
    var remaining = self[...]
    while remaining.first == " " { remaining.removeFirst() }
    while remaining.last == " " { remaining.removeLast() }
    return String(remaining)
  }
}
