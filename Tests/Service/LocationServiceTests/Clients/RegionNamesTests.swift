import LocationPolicy
import Testing

@testable import LocationService

@Suite("Names of a client's regions")
struct RegionNamesTests {
  @Test("REG-8: a name keeps its identifier after its region was removed")
  func lateEvents() throws {
    var names = RegionNames()
    let added = names.identifier(.region, named: "home")
    let home = try #require(added)
    #expect(names.identifier(.region, named: "home") == home)
    #expect(names.identifier(.condition, named: "home") != home, "kinds are apart")
    #expect(names.remove(.region, named: "home") == home)
    #expect(names.remove(.region, named: "other") == nil)
    #expect(names.name(of: home) == "home")
    #expect(names.identifier(ofKnown: .region, named: "home") == home)
    #expect(names.hasConditions && names.hasRegions)
  }

  @Test("REG-8: a full table replaces the first removed name, and refuses a name without one")
  func capacity() throws {
    var names = RegionNames()
    var all: [RegionIdentifier] = []
    for number in 0..<RegionNames.capacity {
      let added = names.identifier(.region, named: "r\(number)")
      all.append(try #require(added))
    }
    #expect(Set(all).count == RegionNames.capacity)
    #expect(names.identifier(.region, named: "more") == nil)
    _ = names.remove(.region, named: "r3")
    let replacement = names.identifier(.region, named: "more")
    let more = try #require(replacement)
    #expect(!all.contains(more) && names.name(of: more) == "more")
    #expect(names.identifier(ofKnown: .region, named: "r3") == nil)
  }

  @Test("BKG-20: restored names keep their numbers, and new ones get higher numbers")
  func restored() throws {
    var names = RegionNames()
    names.restore(RegionIdentifier(.region, 41), named: "home")
    let added = names.identifier(.region, named: "work")
    let next = try #require(added)
    #expect(next.number == 42)
    // Regions that are not monitored any more count as removed.
    names.setMonitored([next])
    #expect(names.hasRegions)
    names.setMonitored([])
    #expect(!names.hasRegions && names.name(of: next) == "work")
  }
}
