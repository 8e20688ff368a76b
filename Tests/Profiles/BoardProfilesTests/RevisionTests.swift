import TestSupport
import Testing

@testable import BoardProfiles

@Suite("A profile derived from another one")
struct RevisionTests {
  @Test(
    "an unchanged revision equals its profile, on every board",
    arguments: PackageBoards.names)
  func same(_ board: String) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let revised = NewProfile(revising: profile)
    #expect(try revised.profile(file: "p.toml") == profile)
    #expect(!revised.values.contains { !$0.isGiven }, "nothing is proposed")
  }

  @Test("an interval that the new family does not support is reset")
  func interval() throws {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    profile.receiver?.fixInterval = .seconds(20)
    var revised = NewProfile(revising: profile)
    revised.replaceReceiver(family: .casic)
    #expect(try revised.profile(file: "p.toml").receiver?.fixInterval == .seconds(1))
    var revisedM8 = NewProfile(revising: profile)
    revisedM8.replaceReceiver(family: .ubloxM8)
    #expect(try revisedM8.profile(file: "p.toml").receiver?.fixInterval == .seconds(20))
  }

  @Test("a note is written as a comment only, whatever it contains")
  func notes() throws {
    var new = NewProfile()
    try new.answer("name", "a")
    new.note("receiver.device", "Found\nname = \"evil\"")
    new.note("battery", "Seen.")
    let text = ProfileTemplate.text(new)
    #expect(text.contains("Found") && text.contains("# [battery]\n"))
    #expect(!text.contains("\nname = \"evil\""))
    #expect(try new.profile(file: "p.toml").name == "a")
  }
}
