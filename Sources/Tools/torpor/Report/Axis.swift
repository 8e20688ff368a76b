import Glibc
import LocationTypes

/// An axis of a chart: a linear or logarithmic scale, and its ticks.
struct Axis {
  /// Values at both ends.
  let low: Double
  let high: Double
  var isLogarithmic = false
  /// Ascending values with their labels; an empty label draws only a line of the grid.
  var ticks: [(value: Double, label: String)] = []

  /// Position of `value`, from 0 at ``low`` to 1 at ``high``; beyond the ends, that of the end.
  func position(_ value: Double) -> Double {
    let part =
      isLogarithmic
      ? log10(max(value, low) / low) / log10(high / low) : (value - low) / (high - low)
    return min(max(part, 0), 1)
  }

  /// An axis from 0 to a round number of at least `greatest`.
  static func linear(to greatest: Double) -> Axis {
    let greatest = greatest > 0 && greatest.isFinite ? greatest : 1
    let step = round(up: greatest / 3)
    let values = (0...Int((greatest / step - 1e-9).rounded(.up))).map { Double($0) * step }
    return Axis(low: 0, high: values[values.count - 1], ticks: values.map { ($0, label($0, step)) })
  }

  /// A logarithmic axis between powers of ten if the values span more than a factor of 30, else a linear one.
  /// Values below a hundred-thousandth of the greatest, as 0, are at its lower end.
  static func power(from least: Double, to greatest: Double) -> Axis {
    let least = max(least, greatest * 1e-5)
    guard least > 0, greatest / least > 30 else { return linear(to: greatest) }
    let values = (Int(log10(least).rounded(.down))...Int(log10(greatest).rounded(.up))).map {
      pow(10, Double($0))
    }
    return Axis(
      low: values[0], high: values[values.count - 1], isLogarithmic: true,
      ticks: values.map { ($0, label($0, $0)) })
  }

  /// Shortest round step, seconds, that divides `length` into at most `maximum` steps, for any duration that the command
  /// accepts (31 days).
  static func timeStep(for length: Interval, atMost maximum: Int64 = 6) -> Int64 {
    let steps: [Int64] = [
      1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200,
      86_400, 172_800, 432_000,
    ]
    // A tolerance of 1 %, because a run can end shortly after a round time.
    return steps.first { $0 * 1_010_000 * maximum >= length.microseconds } ?? 604_800
  }

  /// The time of a run in seconds, with at most seven ticks.
  static func time(_ length: Interval) -> Axis {
    let step = timeStep(for: length)
    let seconds = stride(from: 0, through: length.microseconds / 1_000_000, by: Int(step))
    return Axis(
      low: 0, high: max(length.seconds, 1e-6),
      ticks: seconds.map { (Double($0), timeLabel($0, step)) })
  }

  /// Unit of the labels of ``time(_:)``.
  static func timeUnit(_ length: Interval) -> String {
    let step = timeStep(for: length)
    return step >= 86_400 ? "days" : step >= 60 ? "hours and minutes" : "minutes and seconds"
  }

  /// Label of a time: days, hours and minutes, or minutes and seconds, depending on the step.
  static func timeLabel(_ second: Int64, _ step: Int64) -> String {
    if step >= 86_400 { return "\(second / 86_400) d" }
    let minor = step >= 60 ? second / 60 : second
    return "\(minor / 60):\(minor % 60 < 10 ? "0" : "")\(minor % 60)"
  }

  /// Least 1, 2 or 5 times a power of ten that is at least `value`, which is greater than 0.
  static func round(up value: Double) -> Double {
    let unit = pow(10, log10(value * (1 - 1e-12)).rounded(.down))
    return [1, 2, 5].map { $0 * unit }.first { $0 >= value } ?? 10 * unit
  }

  /// Greatest 1, 2 or 5 times a power of ten that is at most `value`, which is greater than 0.
  static func round(down value: Double) -> Double { 1 / round(up: 1 / value) }

  /// Label of a value, with as many decimals as `step` needs.
  private static func label(_ value: Double, _ step: Double) -> String {
    let places = min(max(0, -Int((log10(step) + 1e-9).rounded(.down))), 6)
    return places == 0
      ? HumanFormat.count(Int(value.rounded())) : HumanFormat.decimal(value, places: places)
  }
}
