import CFirmware

/// Output of the self-test; `.ci/firmware` reads its lines.
struct Report {
  /// Number of failed checks.
  private(set) var failures: Int32 = 0

  /// Prints the name of a check if it failed.
  mutating func check(_ holds: Bool, _ what: StaticString) {
    guard !holds else { return }
    failures += 1
    Report.put("FAILED ")
    Report.put(what)
    Report.put("\n")
  }

  /// Prints a result that is the same on every machine.
  func result(_ name: StaticString, _ value: Int64) { Report.line("result ", name, value) }

  /// Prints a length in millimetres. It may differ by one, because libms differ in the last bits.
  func length(_ name: StaticString, _ metres: Double) {
    Report.line("length ", name, Int64((metres * 1_000).rounded()))
  }

  /// Prints a size in bytes, which depends on the machine.
  func size(_ name: StaticString, _ bytes: Int) { Report.line("size ", name, Int64(bytes)) }

  /// Prints a cost in instructions, if the machine counts them.
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
    var remainder = number.magnitude
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var count = 0
    repeat {
      digits[count] = UInt8(ascii: "0") + UInt8(remainder % 10)
      remainder /= 10
      count += 1
    } while remainder > 0
    while count > 0 {
      count -= 1
      firmware_put(digits[count])
    }
  }
}
