import LinuxHAL
import LocationTypes
import Testing

@testable import LocationService

@Suite("When the board may be off") struct PowerOffRuleTests {
  private let start = Instant(microseconds: 1_000_000)
  private var rule = PowerOffRule(shortest: .seconds(120), startupTime: .seconds(31))

  private func at(_ seconds: Int64) -> Instant { start + .seconds(seconds) }

  /// Looks, nobody being there if nothing else is said.
  private mutating func look(_ now: Int64, until end: Int64?, present: Int = 0) -> Bool {
    rule.check(callers: present, until: end.map(at), at: at(now))
  }

  @Test(
    "nobody was there for the shortest time, and the next thing is further than the boot and that")
  mutating func holds() {
    #expect(rule.nextCheck(until: at(9_000), at: at(0)) == nil, "nobody has looked yet")
    let early = (look(0, until: 9_000), look(119, until: 9_000))
    #expect(early == (false, false))
    #expect(rule.nextCheck(until: at(9_000), at: at(119)) == at(120), "one wake for that")
    let near = (look(120, until: 270), look(120, until: 271), look(120, until: nil))
    #expect(near == (false, true, false))
    #expect(rule.nextCheck(until: at(270), at: at(119)) == nil)
  }

  @Test("once its moment has passed no wake is asked for: each turn looks anyway")
  mutating func passed() {
    _ = look(0, until: 9_000)
    // A duty was near then, and the next one is, too.
    for now in [120, 121, 300, 5_000] as [Int64] {
      #expect(rule.nextCheck(until: at(now + 9_000), at: at(now)) == nil, "\(now)")
      let isToAsk = look(now, until: now + 100)
      #expect(!isToAsk)
      #expect(rule.nextCheck(until: at(now + 100), at: at(now)) == nil)
    }
  }

  @Test("a client that comes starts the time anew when it goes")
  mutating func client() {
    _ = look(0, until: 9_000)
    let there = look(300, until: 9_000, present: 1)
    #expect(!there && rule.nextCheck(until: at(9_000), at: at(300)) == nil)
    _ = look(300, until: 9_000)
    let again = (look(419, until: 9_000), look(420, until: 9_000))
    #expect(again == (false, true))
  }

  @Test("PWR-4: what is refused is asked again after 1, 2, 4 … 60 minutes, and told once")
  mutating func refused() {
    _ = look(0, until: 99_000)
    var now: Int64 = 120
    for pause in [60, 120, 240, 480, 960, 1_920, 3_600, 3_600] as [Int64] {
      let isToAsk = look(now, until: 99_000)
      #expect(isToAsk)
      let isNews = rule.recordRefusal(.inhibited(by: "apt"), at: at(now))
      #expect(isNews == (now == 120))
      let soon = look(now + pause - 1, until: 99_000)
      #expect(!soon && rule.obstacle == .inhibited(by: "apt"))
      #expect(rule.nextCheck(until: at(99_000), at: at(now)) == at(now + pause))
      now += pause
    }
    let isOther = rule.recordRefusal(.alarmTooNear, at: at(now))
    #expect(isOther)
  }

  @Test("what was refused is over where the board could not be off anyway, or somebody comes")
  mutating func forgotten() {
    for isThere in [true, false] {
      rule = PowerOffRule(shortest: .seconds(120), startupTime: .seconds(31))
      _ = look(0, until: 9_000)
      _ = look(120, until: 9_000)
      _ = rule.recordRefusal(.inhibited(by: "apt"), at: at(120))
      _ = look(130, until: isThere ? 9_000 : nil, present: isThere ? 1 : 0)
      #expect(rule.obstacle == nil)
      let later = look(140, until: 9_000)
      // Who came takes his time with him.
      #expect(later == !isThere)
      let isNews = rule.recordRefusal(.inhibited(by: "apt"), at: at(140))
      #expect(isNews)
    }
  }
}
