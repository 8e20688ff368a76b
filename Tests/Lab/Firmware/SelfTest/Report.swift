import CFirmware

/// What the self-test says and counts; its lines are read by `.ci/firmware`.
struct Report {
  /// How many checks failed.
  private(set) var failures: Int32 = 0

  /// Says what was checked, if it does not hold.
  mutating func check(_ holds: Bool, _ what: StaticString) {
    guard !holds else { return }
    failures += 1
    Report.put("FAILED ")
    Report.put(what)
    Report.put("\n")
  }

  /// A result that is the same on every machine.
  func result(_ name: StaticString, _ value: Int64) { Report.line("result ", name, value) }

  /// A length in millimetres: libms differ in the last bits, so it may differ by one.
  func length(_ name: StaticString, _ metres: Double) {
    Report.line("length ", name, Int64((metres * 1_000).rounded()))
  }

  /// A size in bytes, which depends on the machine.
  func size(_ name: StaticString, _ bytes: Int) { Report.line("size ", name, Int64(bytes)) }

  /// A cost in instructions; only where the machine counts them.
  func cost(_ name: StaticString, _ instructions: UInt64) {
    guard instructions > 0 else { return }
    Report.line("cost ", name, Int64(clamping: instructions))
  }

  private static func line(_ kind: StaticString, _ name: StaticString, _ value: Int64) {
    put(kind)
    put(name)
    put(" ")
    put(value)
    put("\n")
  }

  static func put(_ text: StaticString) {
    for i in 0..<text.utf8CodeUnitCount { unsafe firmware_put(text.utf8Start[i]) }
  }

  private static func put(_ number: Int64) {
    if number < 0 { firmware_put(UInt8(ascii: "-")) }
    var rest = number.magnitude
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var count = 0
    repeat {
      digits[count] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
      count += 1
    } while rest > 0
    while count > 0 {
      count -= 1
      firmware_put(digits[count])
    }
  }
}
