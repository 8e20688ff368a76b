/// The resolution of a column: every value is a multiple of a step, rounded to an integer.
///
/// Receivers send coordinates in decimals of a minute and speeds in decimals of a knot, so their values in billionths of
/// a degree and mm/s have large differences with few distinct steps.
struct ColumnStep: Equatable {
  /// Code of the step in a message.
  let code: UInt8
  /// Numerator and denominator of the step.
  let numerator, denominator: Int64

  /// All steps: powers of ten, decimals of a minute, decimals of a knot.
  static let all: [ColumnStep] = decimals + minutes + knots
  /// The step 1, which reproduces every value.
  static let one = ColumnStep(code: 0, numerator: 1, denominator: 1)

  private static let decimals = (0...9).map { exponent in
    ColumnStep(code: UInt8(exponent), numerator: power(exponent), denominator: 1)
  }
  private static let minutes = (0...4).map { exponent in
    ColumnStep(code: 16 + UInt8(exponent), numerator: 5 * power(exponent), denominator: 3)
  }
  private static let knots = (0...2).map { exponent in
    ColumnStep(code: 32 + UInt8(exponent), numerator: 463, denominator: 9 * power(exponent))
  }

  private static func power(_ exponent: Int) -> Int64 {
    (0..<exponent).reduce(1) { value, _ in value * 10 }
  }

  /// The step with a code; nil if there is none.
  static func step(_ code: UInt8) -> ColumnStep? { all.first { $0.code == code } }

  /// The value of a multiple, rounded to the nearest integer, halves away from zero; nil if it has more than 63 bits.
  func value(of multiple: Int64) -> Int64? {
    if numerator == 1 && denominator == 1 { return multiple }
    let (product, isOver) = multiple.magnitude.multipliedReportingOverflow(
      by: UInt64(numerator))
    guard !isOver, product < 1 << 63 - UInt64(denominator) else { return nil }
    let magnitude = Int64((product + UInt64(denominator / 2)) / UInt64(denominator))
    return multiple < 0 ? -magnitude : magnitude
  }

  /// The multiple whose value is `value`; nil if there is none.
  func multiple(of value: Int64) -> Int64? {
    if numerator == 1 && denominator == 1 { return value }
    let (product, isOver) = value.magnitude.multipliedReportingOverflow(by: UInt64(denominator))
    guard !isOver, product < 1 << 63 - UInt64(numerator) else { return nil }
    let magnitude = Int64((product + UInt64(numerator / 2)) / UInt64(numerator))
    let multiple = value < 0 ? -magnitude : magnitude
    return self.value(of: multiple) == value ? multiple : nil
  }
}
