import CoreLocation
import Testing

// A program with its own `code` of an error, as many have it: it has priority over the property of Core Location.

extension Error {
  fileprivate var code: Int { (self as NSError).code }
}

@Suite("A program's own property of errors")
struct ErrorCodeUses {
  @Test("the program's property has priority, that of a CLError stays")
  func priority() {
    let error: any Error = CLError(.network)
    #expect(error.code == 2)
    #expect(CLError(.network).code == .network)
    #expect(CocoaError(.featureUnsupported).code == .featureUnsupported)
  }
}
