import Testing

@testable import LocationService

@Suite("Starting of clients' programs")
struct ClientStarterTests {
  @Test(
    "BKG-19: a value in a unit's environment file cannot end its quotation",
    arguments: [
      ("A=trail-log", "A=\"trail-log\"\n"),
      ("A=b=c", "A=\"b=c\"\n"),
      (#"A="\`$"#, #"A="\"\\\`\$""# + "\n"),
      ("A=\u{301}b", "A=\"\u{301}b\"\n"),
      ("A=b\"\u{301} c$\u{301}", "A=\"b\\\"\u{301} c\\$\u{301}\"\n"),
    ] as [(String, String)])
  func environmentLine(_ variable: String, _ expected: String) {
    let line = ClientStarter.quoted(variable)
    #expect(Array(line.unicodeScalars) == Array(expected.unicodeScalars))
  }
}
