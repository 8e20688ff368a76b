import LocationTypes
import TextFormats

// The two axes of the report's charts: the time axis, common to all charts, and the value axis of each.

/// The time axis of the report's charts: positions and labels of its ticks.
struct TimeAxis {
  private static let steps: [Int64] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
    86_400, 172_800, 432_000,
  ]

  /// Duration of the run.
  let length: Interval
  /// Interval between two ticks, seconds.
  let step: Int64

  /// Creates an axis with at most `maximum` steps, for any duration that the command accepts (31 days).
  init(_ length: Interval, atMost maximum: Int64) {
    self.length = length
    step = TimeAxis.step(for: length, atMost: maximum)
  }

  /// Shortest round step, seconds, that divides `length` into at most `maximum` steps.
  static func step(for length: Interval, atMost maximum: Int64) -> Int64 {
    // A tolerance of 1 %, because a run can end shortly after a round time.
    steps.first { $0 * 1_010_000 * maximum >= length.microseconds } ?? steps[steps.count - 1]
  }

  /// The ticks: position on the axis, 0 to 1, and label.
  var ticks: [(fraction: Double, label: String)] {
    var marks: [(fraction: Double, label: String)] = []
    var second: Int64 = 0
    while second * 1_000_000 <= length.microseconds {
      marks.append((fraction(of: .boot + .seconds(second)), label(second)))
      second += step
    }
    return marks
  }

  /// Position of `moment` on the axis, 0 to 1.
  func fraction(of moment: Instant) -> Double {
    let part = Double(moment.microseconds) / Double(max(length.microseconds, 1))
    return min(max(part, 0), 1)
  }

  /// Label of a time: days, hours and minutes, or minutes and seconds, depending on the step.
  func label(_ second: Int64) -> String {
    if step >= 86_400 { return "\(second / 86_400) d" }
    var text = TextBuffer()
    text.add(step >= 60 ? second / 3_600 : second / 60)
    text.add(":")
    text.add(step >= 60 ? second / 60 % 60 : second % 60, width: 2)
    return text.string
  }

  /// Unit of the labels.
  var unit: String {
    step >= 86_400 ? "days" : step >= 60 ? "hours and minutes" : "minutes and seconds"
  }
}

/// The value axis of a chart: positions and labels of its ticks.
struct ValueAxis {
  /// Distance between two ticks.
  let step: Double
  /// Value at the top of the axis.
  let top: Double

  /// Creates an axis from 0 to a round number of at least `greatest`.
  init(to greatest: Double) {
    let greatest = greatest > 0 && greatest.isFinite ? greatest : 1
    step = ValueAxis.round(up: greatest / 3)
    top = (greatest / step - 1e-9).rounded(.up) * step
  }

  /// Values of the ticks, ascending, from 0 to ``top``.
  var ticks: [Double] { (0...Int((top / step).rounded())).map { Double($0) * step } }

  /// Least 1, 2 or 5 times a power of ten that is at least `value`, which is greater than 0.
  static func round(up value: Double) -> Double {
    var unit = 1.0
    while unit < value { unit *= 10 }
    while unit >= value { unit /= 10 }
    return [2, 5, 10].map { $0 * unit }.first { $0 >= value } ?? 10 * unit
  }

  /// Greatest 1, 2 or 5 times a power of ten that is at most `value`, which is greater than 0.
  static func round(down value: Double) -> Double {
    var unit = 1.0
    while unit > value { unit /= 10 }
    while unit * 10 <= value { unit *= 10 }
    return [5, 2, 1].map { $0 * unit }.first { $0 <= value } ?? unit
  }

  /// Label of a value, with as many decimals as ``step`` needs.
  func label(_ value: Double) -> String {
    var places = 0
    var unit = 1.0
    while places < 6, step < unit * 0.999 {
      unit /= 10
      places += 1
    }
    if places == 0 { return HumanFormat.count(Int(value.rounded())) }
    return HumanFormat.decimal(value, places: places)
  }
}
