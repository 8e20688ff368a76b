import LocationTypes

/// Where the marks of time are, and what they say.
struct TimeAxis {
  private static let steps: [Int64] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
    86_400, 172_800, 432_000,
  ]

  /// From the start to the end of the run.
  let length: Interval
  /// Between two marks, seconds.
  let step: Int64

  /// Makes at most `most` steps, as long as the run is no longer than a command may ask for.
  init(_ length: Interval, atMost most: Int64) {
    self.length = length
    step = TimeAxis.step(for: length, atMost: most)
  }

  /// The shortest round step that divides `length` into at most `most`.
  static func step(for length: Interval, atMost most: Int64) -> Int64 {
    // A run that ends a moment after a round time is as good as round.
    steps.first { $0 * 1_010_000 * most >= length.microseconds } ?? steps[steps.count - 1]
  }

  /// The marks: part of the axis, 0 to 1, and words.
  var marks: [(part: Double, words: String)] {
    var marks: [(part: Double, words: String)] = []
    var second: Int64 = 0
    while second * 1_000_000 <= length.microseconds {
      marks.append((part(of: .boot + .seconds(second)), words(second)))
      second += step
    }
    return marks
  }

  /// Where `moment` is, 0 to 1.
  func part(of moment: Instant) -> Double {
    let part = Double(moment.microseconds) / Double(max(length.microseconds, 1))
    return min(max(part, 0), 1)
  }

  /// A moment in the words of the marks: days, hours and minutes, or minutes and seconds.
  func words(_ second: Int64) -> String {
    if step >= 86_400 { return "\(second / 86_400) d" }
    var text = TextBuffer()
    text.add(step >= 60 ? second / 3_600 : second / 60)
    text.add(":")
    text.add(step >= 60 ? second / 60 % 60 : second % 60, width: 2)
    return text.string
  }

  /// What the marks count.
  var unit: String {
    step >= 86_400 ? "days" : step >= 60 ? "hours and minutes" : "minutes and seconds"
  }
}

/// Where the marks of a value are.
struct ValueAxis {
  /// Between two marks.
  let step: Double
  /// The value at the top.
  let top: Double

  /// From 0 to a round number that is not below `greatest`.
  init(to greatest: Double) {
    let greatest = greatest > 0 && greatest.isFinite ? greatest : 1
    step = ValueAxis.round(up: greatest / 3)
    top = (greatest / step - 1e-9).rounded(.up) * step
  }

  /// The marks, ascending, 0 and the top among them.
  var marks: [Double] { (0...Int((top / step).rounded())).map { Double($0) * step } }

  /// 1, 2 or 5 times a power of ten, not below `value`, which is over 0.
  static func round(up value: Double) -> Double {
    var unit = 1.0
    while unit < value { unit *= 10 }
    while unit >= value { unit /= 10 }
    return [2, 5, 10].map { $0 * unit }.first { $0 >= value } ?? 10 * unit
  }

  /// The greatest 1, 2 or 5 times a power of ten that is not above `value`, which is over 0.
  static func round(down value: Double) -> Double {
    var unit = 1.0
    while unit > value { unit /= 10 }
    while unit * 10 <= value { unit *= 10 }
    return [5, 2, 1].map { $0 * unit }.first { $0 <= value } ?? unit
  }

  /// A value with no more digits than its mark needs.
  func words(_ value: Double) -> String {
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
