import Testing

@testable import LocationTypes

@Suite("Optionals of large types") struct OptionalTests {
  /// A type whose comparison must not be called.
  struct Incomparable: Equatable {
    static func == (_: Incomparable, _: Incomparable) -> Bool { preconditionFailure("compared") }
  }

  @Test("The check for a value compares no values")
  func isNil() {
    let (none, some): (Incomparable?, Incomparable?) = (nil, Incomparable())
    #expect(none.isNil && !some.isNil)
    let (outer, inner): (Int??, Int??) = (.none, .some(nil))
    #expect(outer.isNil && !inner.isNil)
  }
}
