import BoardHardware
import GNSSProtocols
import LocationTypes
import TOMLFiles

// A key of the schema: the type, range and unit of its values, and its field in a `ProfileDraft`.

/// A value of a profile key, as TOML represents it.
enum ProfileValue: Equatable, Sendable {
  case text(String)
  case boolean(Bool)
  case integer(Int)
  case number(Double)
  case words([String])
  case points([TimeToFix.Point])
}

/// The type and range of the values of a key.
enum ValueConstraint: Equatable, Sendable {
  /// A string with a number of characters in this range.
  case text(ClosedRange<Int>)
  /// One of these words.
  case word([String])
  /// A non-empty list of these words without repetition.
  case words([String])
  /// True or false.
  case boolean
  /// A whole number in this range.
  case integer(ClosedRange<Int>)
  /// One of these whole numbers.
  case integerAmong([Int])
  /// A finite number in this range.
  case number(ClosedRange<Double>)
  /// Pairs of time off and time to fix, both in seconds and in this range.
  case points(ClosedRange<Double>, most: Int)
}

/// One key of a profile: its path, type, range and meaning. ``ProfileSchema`` has one for each key.
public struct ProfileKey: Sendable {
  /// Path of the table, `receiver.power`; empty for the root.
  public let table: String
  /// Name of the key in its table; ends in the unit.
  public let name: String
  /// Whether the key is required in its table.
  public let isRequired: Bool
  /// Meaning of the key, one sentence.
  public let meaning: String
  let constraint: ValueConstraint
  /// Reads the value from a draft; nil if an optional key is not set.
  let get: @Sendable (ProfileDraft) -> ProfileValue?
  /// Writes a value that satisfies ``constraint`` into a draft.
  let put: @Sendable (inout ProfileDraft, ProfileValue) -> Void

  /// Table and name, `receiver.power.track_mw`.
  public var path: String { ProfileSchema.joined(table, name) }
  /// Unit at the end of the name, in words; empty if the key has none.
  public var unit: String { Unit.of(name)?.word ?? "" }
  /// Type and range of the value, in words.
  public var expectation: String { constraint.expectation(unit: unit) }
}

/// A unit that key names can end in.
struct Unit: Equatable, Sendable {
  let suffix: String
  let word: String

  static let all = [
    Unit(suffix: "mw", word: "milliwatts"), Unit(suffix: "uw", word: "microwatts"),
    Unit(suffix: "w", word: "watts"), Unit(suffix: "ma", word: "milliamperes"),
    Unit(suffix: "ua", word: "microamperes"), Unit(suffix: "s", word: "seconds"),
    Unit(suffix: "ms", word: "milliseconds"), Unit(suffix: "us", word: "microseconds"),
    Unit(suffix: "min", word: "minutes"), Unit(suffix: "h", word: "hours"),
    Unit(suffix: "m", word: "metres"), Unit(suffix: "mm", word: "millimetres"),
    Unit(suffix: "km", word: "kilometres"), Unit(suffix: "mps", word: "metres per second"),
    Unit(suffix: "kmh", word: "kilometres per hour"), Unit(suffix: "baud", word: "baud"),
    Unit(suffix: "bps", word: "bits per second"), Unit(suffix: "hz", word: "hertz"),
    Unit(suffix: "fixes", word: "fixes"), Unit(suffix: "percent", word: "percent"),
  ]

  /// The unit at the end of `name`; nil if it has none.
  static func of(_ name: String) -> Unit? {
    guard let last = name.split(separator: "_", omittingEmptySubsequences: false).last,
      last.count < name.count
    else { return nil }
    return all.first { $0.suffix == last }
  }

  /// `name` without its unit.
  static func stem(of name: String) -> String {
    guard let unit = of(name) else { return name }
    return String(name.dropLast(unit.suffix.count + 1))
  }
}

extension ValueConstraint {
  /// Text that follows "expected" in messages.
  func expectation(unit: String) -> String {
    let of = unit.isEmpty ? "" : " of " + unit
    switch self {
    case .text(let range): return "text of \(range.lowerBound) to \(range.upperBound) characters"
    case .word(let words): return joinedWithOr(words.map { "\"\($0)\"" })
    case .words(let words): return "a list of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
    case .boolean: return "true or false"
    case .integer(let range):
      return "a whole number\(of), \(range.lowerBound) to \(range.upperBound)"
    case .integerAmong(let numbers): return joinedWithOr(numbers.map { "\($0)" })
    case .number(let range):
      return "a number\(of), \(decimalText(range.lowerBound)) to \(decimalText(range.upperBound))"
    case .points(_, let most):
      return "a list of 1 to \(most) pairs { off_s = …, fix_s = … }"
    }
  }
}

/// A number in decimal notation without exponent: 24.6, 600, 0.000001.
func decimalText(_ number: Double) -> String {
  if number == number.rounded(), abs(number) < 1e15 { return "\(Int(number))" }
  let text = "\(number)"
  guard let e = text.firstIndex(of: "e") else { return text }
  // Only small numbers such as 1e-06 have an exponent here; the other numbers of profiles print without one.
  guard let exponent = Int(text[text.index(after: e)...]), exponent < 0 else { return text }
  let isNegative = text.first == "-"
  let digits = text[..<e].filter(\.isNumber)
  let zeros = String(repeating: "0", count: -exponent - 1)
  return (isNegative ? "-0." : "0.") + zeros + digits
}

// Constructors that connect a key of the schema with its field in the draft. The type of the field determines which kinds
// of values the key can have.

typealias Field<Value> = WritableKeyPath<ProfileDraft, Value> & Sendable

extension ProfileKey {
  /// Creates a key whose value is in `field`.
  init<Value>(
    _ table: String, _ name: String, _ kind: ValueKind<Value>, _ field: Field<Value>,
    required: Bool = true, _ meaning: String
  ) {
    self.init(
      table: table, name: name, isRequired: required, meaning: meaning,
      constraint: kind.constraint, get: { kind.write($0[keyPath: field]) },
      put: { if let value = kind.read($1) { $0[keyPath: field] = value } })
  }

  /// Creates an optional key without a default; `field` is nil if it is not set.
  init<Value>(
    _ table: String, _ name: String, _ kind: ValueKind<Value>, optional field: Field<Value?>,
    _ meaning: String
  ) {
    self.init(
      table: table, name: name, isRequired: false, meaning: meaning, constraint: kind.constraint,
      get: { $0[keyPath: field].flatMap(kind.write) },
      put: { if let value = kind.read($1) { $0[keyPath: field] = value } })
  }
}

/// The constraint of values of the type `Value`, and their conversion to and from the values of a key.
struct ValueKind<Value>: Sendable {
  let constraint: ValueConstraint
  let write: @Sendable (Value) -> ProfileValue?
  /// Converts a value that satisfies ``constraint``; nil for a value of another type.
  let read: @Sendable (ProfileValue) -> Value?

  static func text(_ length: ClosedRange<Int>) -> Self where Value == String {
    ValueKind(constraint: .text(length), write: { .text($0) }) {
      if case .text(let text) = $0 { text } else { nil }
    }
  }

  /// One of `words`, which stand for the values beside them.
  static func word(_ words: [(String, Value)]) -> Self where Value: Equatable & Sendable {
    ValueKind(
      constraint: .word(words.map(\.0)),
      write: { value in words.first { $0.1 == value }.map { .text($0.0) } },
      read: { word in words.first { word == .text($0.0) }?.1 })
  }

  static func boolean() -> Self where Value == Bool {
    ValueKind(constraint: .boolean, write: { .boolean($0) }) {
      if case .boolean(let flag) = $0 { flag } else { nil }
    }
  }

  static func integer(_ range: ClosedRange<Int>) -> Self where Value == Int {
    integer(.integer(range))
  }

  /// The speed of a serial line, baud.
  static func lineSpeed() -> Self where Value == Int {
    integer(.integerAmong(BaudRate.all.indices.map { Int(BaudRate.all[$0]) }))
  }

  private static func integer(_ constraint: ValueConstraint) -> Self where Value == Int {
    ValueKind(constraint: constraint, write: { .integer($0) }) {
      if case .integer(let whole) = $0 { whole } else { nil }
    }
  }

  static func number(_ range: ClosedRange<Double>) -> Self where Value == Double {
    ValueKind(constraint: .number(range), write: { .number($0) }) {
      if case .number(let number) = $0 { number } else { nil }
    }
  }

  /// A duration in seconds; the name ends in `_s`.
  static func seconds(_ range: ClosedRange<Double>) -> Self where Value == Interval {
    ValueKind(constraint: .number(range), write: { .number($0.seconds) }) {
      if case .number(let number) = $0 { Interval(seconds: number) } else { nil }
    }
  }

  /// A duration in whole milliseconds; the name ends in `_ms`.
  static func milliseconds(_ range: ClosedRange<Int>) -> Self where Value == Interval {
    ValueKind(constraint: .integer(range), write: { .integer(Int($0.microseconds / 1_000)) }) {
      if case .integer(let whole) = $0 { .milliseconds(Int64(whole)) } else { nil }
    }
  }

  static func wakeSources() -> Self where Value == WakeSources {
    let words: [(String, WakeSources)] = [
      ("alarm", .alarm), ("bytes", .bytes), ("batch_pin", .batchPin), ("motion", .motion),
    ]
    return ValueKind(
      constraint: .words(words.map(\.0)),
      write: { sources in .words(words.filter { sources.contains($0.1) }.map(\.0)) },
      read: { value in
        guard case .words(let given) = value else { return nil }
        return WakeSources(words.filter { given.contains($0.0) }.map(\.1))
      })
  }

  static func points(
    _ range: ClosedRange<Double>, most: Int
  ) -> Self where Value == [TimeToFix.Point] {
    ValueKind(constraint: .points(range, most: most), write: { .points($0) }) {
      if case .points(let points) = $0 { points } else { nil }
    }
  }
}
