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
  public var path: String { table.isEmpty ? name : table + "." + name }
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

// Constructors that connect a key of the schema with its field in the draft.

typealias Field<Value> = WritableKeyPath<ProfileDraft, Value> & Sendable

extension ProfileKey {
  private init(
    _ table: String, _ name: String, _ constraint: ValueConstraint, required: Bool,
    _ meaning: String,
    get: @escaping @Sendable (ProfileDraft) -> ProfileValue?,
    put: @escaping @Sendable (inout ProfileDraft, ProfileValue) -> Void
  ) {
    self.table = table
    self.name = name
    self.constraint = constraint
    isRequired = required
    self.meaning = meaning
    self.get = get
    self.put = put
  }

  static func text(
    _ table: String, _ name: String, _ field: Field<String>, _ length: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .text(length), required: true, meaning, get: { .text($0[keyPath: field]) },
      put: { if case .text(let text) = $1 { $0[keyPath: field] = text } })
  }

  static func text(
    _ table: String, _ name: String, optional field: Field<String?>, _ length: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .text(length), required: false, meaning,
      get: { $0[keyPath: field].map { .text($0) } },
      put: { if case .text(let text) = $1 { $0[keyPath: field] = text } })
  }

  static func word<Word: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
    _ table: String, _ name: String, _ field: Field<Word>, required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    word(
      table, name, field, words: Word.allCases.map { ($0.rawValue, $0) }, required: required,
      meaning)
  }

  /// One of `words`, which stand for the values beside them.
  static func word<Value: Equatable & Sendable>(
    _ table: String, _ name: String, _ field: Field<Value>, words: [(String, Value)],
    required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .word(words.map(\.0)), required: required, meaning,
      get: { draft in words.first { $0.1 == draft[keyPath: field] }.map { .text($0.0) } },
      put: { draft, value in
        guard case .text(let text) = value else { return }
        if let word = words.first(where: { $0.0 == text }) { draft[keyPath: field] = word.1 }
      })
  }

  static func boolean(
    _ table: String, _ name: String, _ field: Field<Bool>, required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .boolean, required: required, meaning, get: { .boolean($0[keyPath: field]) },
      put: { if case .boolean(let flag) = $1 { $0[keyPath: field] = flag } })
  }

  static func integer(
    _ table: String, _ name: String, _ field: Field<Int>, _ range: ClosedRange<Int>,
    required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .integer(range), required: required, meaning,
      get: { .integer($0[keyPath: field]) },
      put: { if case .integer(let whole) = $1 { $0[keyPath: field] = whole } })
  }

  static func integer(
    _ table: String, _ name: String, optional field: Field<Int?>, _ range: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .integer(range), required: false, meaning,
      get: { $0[keyPath: field].map { .integer($0) } },
      put: { if case .integer(let whole) = $1 { $0[keyPath: field] = whole } })
  }

  static func lineSpeed(
    _ table: String, _ name: String, _ field: Field<Int>, _ meaning: String
  ) -> ProfileKey {
    let speeds = BaudRate.all.indices.map { Int(BaudRate.all[$0]) }
    return ProfileKey(
      table, name, .integerAmong(speeds), required: true, meaning,
      get: { .integer($0[keyPath: field]) },
      put: { if case .integer(let whole) = $1 { $0[keyPath: field] = whole } })
  }

  static func number(
    _ table: String, _ name: String, _ field: Field<Double>, _ range: ClosedRange<Double>,
    required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .number(range), required: required, meaning,
      get: { .number($0[keyPath: field]) },
      put: { if case .number(let number) = $1 { $0[keyPath: field] = number } })
  }

  static func number(
    _ table: String, _ name: String, optional field: Field<Double?>, _ range: ClosedRange<Double>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .number(range), required: false, meaning,
      get: { $0[keyPath: field].map { .number($0) } },
      put: { if case .number(let number) = $1 { $0[keyPath: field] = number } })
  }

  /// A duration in seconds; the name ends in `_s`.
  static func seconds(
    _ table: String, _ name: String, _ field: Field<Interval>, _ range: ClosedRange<Double>,
    required: Bool = true, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .number(range), required: required, meaning,
      get: { .number($0[keyPath: field].seconds) },
      put: { if case .number(let number) = $1 { $0[keyPath: field] = Interval(seconds: number) } })
  }

  /// A duration in whole milliseconds; the name ends in `_ms`.
  static func milliseconds(
    _ table: String, _ name: String, _ field: Field<Interval>, _ range: ClosedRange<Int>,
    _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .integer(range), required: true, meaning,
      get: { .integer(Int($0[keyPath: field].microseconds / 1_000)) },
      put: {
        if case .integer(let whole) = $1 { $0[keyPath: field] = .milliseconds(Int64(whole)) }
      })
  }

  static func wakeSources(
    _ table: String, _ name: String, _ field: Field<WakeSources>, _ meaning: String
  ) -> ProfileKey {
    let words: [(String, WakeSources)] = [
      ("alarm", .alarm), ("bytes", .bytes), ("batch_pin", .batchPin),
      ("motion", .motion),
    ]
    return ProfileKey(
      table, name, .words(words.map(\.0)), required: true, meaning,
      get: { draft in
        .words(words.filter { draft[keyPath: field].contains($0.1) }.map(\.0))
      },
      put: { draft, value in
        guard case .words(let given) = value else { return }
        draft[keyPath: field] = WakeSources(words.filter { given.contains($0.0) }.map(\.1))
      })
  }

  static func points(
    _ table: String, _ name: String, _ field: Field<[TimeToFix.Point]>,
    _ range: ClosedRange<Double>, most: Int, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      table, name, .points(range, most: most), required: true, meaning,
      get: { .points($0[keyPath: field]) },
      put: { if case .points(let points) = $1 { $0[keyPath: field] = points } })
  }
}
