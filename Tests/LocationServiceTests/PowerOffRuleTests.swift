import LocationTypes
import Testing

@testable import LocationService

@Suite("When the board may be off") struct PowerOffRuleTests {
  private let start = Instant(microseconds: 1_000_000)
  private var rule = PowerOffRule(shortest: .seconds(120), lead: .seconds(31))

  private func at(_ seconds: Int64) -> Instant { start + .seconds(seconds) }

  @Test(
    "nobody was there for the shortest time, and the next thing is further than the boot and that")
  mutating func holds() {
    #expect(!rule.holds(until: at(9_000), at: at(0)), "nobody has looked yet")
    rule.see(clients: 0, at: at(0))
    #expect(!rule.holds(until: at(9_000), at: at(119)) && rule.holds(until: at(9_000), at: at(120)))
    #expect(rule.nextLook(until: at(9_000)) == at(120), "one wake for that, and no more")
    #expect(rule.holds(until: at(271), at: at(120)) && !rule.holds(until: at(270), at: at(120)))
    #expect(rule.nextLook(until: at(270)) == nil)
    #expect(!rule.holds(until: nil, at: at(500)) && rule.nextLook(until: nil) == nil)
  }

  @Test("a client that comes starts the time anew when it goes")
  mutating func client() {
    rule.see(clients: 0, at: at(0))
    rule.see(clients: 1, at: at(100))
    #expect(!rule.holds(until: at(9_000), at: at(300)) && rule.nextLook(until: at(9_000)) == nil)
    rule.see(clients: 0, at: at(300))
    rule.see(clients: 0, at: at(350))
    #expect(!rule.holds(until: at(9_000), at: at(419)) && rule.holds(until: at(9_000), at: at(420)))
  }
}
