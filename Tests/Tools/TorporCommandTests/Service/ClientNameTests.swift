import LocationWire
import Testing

@testable import torpor

@Suite("Clients on the command line")
struct ClientNameTests {
  @Test("a client is USER/NAME; the name may begin with a combining mark, and may contain a slash")
  func names() throws {
    #expect(try ClientName.parse("7/trail-log") == WireClientName(user: 7, name: "trail-log"))
    #expect(try ClientName.parse("7/\u{301}x") == WireClientName(user: 7, name: "\u{301}x"))
    #expect(try ClientName.parse("7/a/b") == WireClientName(user: 7, name: "a/b"))
  }

  @Test("a text without user or name is refused", arguments: ["", "trail-log", "/trail-log", "7/"])
  func refusals(_ text: String) {
    #expect(throws: (any Error).self) { try ClientName.parse(text) }
  }
}
