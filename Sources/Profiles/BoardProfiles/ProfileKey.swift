import LocationTypes
import TOMLFiles

/// A value as a profile's text holds it.
enum ProfileValue: Equatable, Sendable {
  case text(String)
  case flag(Bool)
  case whole(Int)
  case number(Double)
  case words([String])
  case points([BoardProfile.TimeToFixPoint])
}

/// Which values a key takes.
enum ProfileForm: Equatable, Sendable {
  /// Text of so many characters.
  case text(ClosedRange<Int>)
  /// One of these words.
  case word([String])
  /// A list of some of these words, each once, at least one.
  case words([String])
  /// True or false.
  case flag
  /// A whole number in this range.
  case whole(ClosedRange<Int>)
  /// One of these whole numbers.
  case oneOf([Int])
  /// A finite number in this range.
  case number(ClosedRange<Double>)
  /// Pairs of time off and time to fix, both in seconds in this range.
  case points(ClosedRange<Double>, most: Int)
}

/// One key of a profile: its place, what it takes, what it means. Rows of ``ProfileSchema``.
public struct ProfileKey: Sendable {
  /// The table, `receiver.power`; empty for the root.
  public let table: String
  /// The key within it; ends in the unit.
  public let name: String
  /// Whether its table must have it.
  public let isRequired: Bool
  /// What it means, one sentence.
  public let meaning: String
  let form: ProfileForm
  /// The value in a draft; nil where an optional one is absent.
  let get: @Sendable (ProfileDraft) -> ProfileValue?
  /// Puts a value that fits ``form`` into a draft.
  let put: @Sendable (inout ProfileDraft, ProfileValue) -> Void

  /// Table and name, `receiver.power.track_mw`.
  public var path: String { table.isEmpty ? name : table + "." + name }
  /// The unit that the name ends in; empty when it has none.
  public var unit: String { Unit.of(name)?.word ?? "" }
  /// What it takes, in words.
  public var expectation: String { form.expectation(unit: unit) }
}

/// A unit as key names end in it.
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

  /// The unit that `name` ends in.
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

extension ProfileForm {
  /// For "expected …".
  func expectation(unit: String) -> String {
    let of = unit.isEmpty ? "" : " of " + unit
    switch self {
    case .text(let range): return "text of \(range.lowerBound) to \(range.upperBound) characters"
    case .word(let words): return listed(words.map { "\"\($0)\"" })
    case .words(let words): return "a list of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
    case .flag: return "true or false"
    case .whole(let range):
      return "a whole number\(of), \(range.lowerBound) to \(range.upperBound)"
    case .oneOf(let numbers): return listed(numbers.map { "\($0)" })
    case .number(let range):
      return "a number\(of), \(shown(range.lowerBound)) to \(shown(range.upperBound))"
    case .points(_, let most):
      return "a list of 1 to \(most) pairs { off_s = …, fix_s = … }"
    }
  }
}

/// `a, b or c`.
func listed(_ words: [String]) -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " or " + last
}

/// A number as a person writes it: 24.6, 600, 0.000001.
func shown(_ number: Double) -> String {
  if number == number.rounded(), abs(number) < 1e15 { return "\(Int(number))" }
  let text = "\(number)"
  guard let e = text.firstIndex(of: "e") else { return text }
  // Small numbers only: 1e-06 and the like, all profiles' other numbers print without exponent.
  guard let exponent = Int(text[text.index(after: e)...]), exponent < 0 else { return text }
  let isNegative = text.first == "-"
  let digits = text[..<e].filter(\.isNumber)
  let zeros = String(repeating: "0", count: -exponent - 1)
  return (isNegative ? "-0." : "0.") + zeros + digits
}
