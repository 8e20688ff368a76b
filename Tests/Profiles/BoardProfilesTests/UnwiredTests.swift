import Testing

@testable import BoardProfiles

@Suite("A board without its GPIO lines")
struct UnwiredTests {
  @Test("all keys for lines and wake sources on lines are removed, and the profile is valid")
  func unwired() throws {
    let profile = Sample.profile.withoutGPIOLines
    #expect(Sample.profile.text.contains("_line = ") && Sample.profile.text.contains("\nline = "))
    #expect(!profile.text.contains("_line = ") && !profile.text.contains("\nline = "))
    #expect(try BoardProfile.parse(profile.text, file: "p.toml") == profile)
    #expect(profile.receiver?.power == Sample.profile.receiver?.power)
    #expect(profile.withoutGPIOLines == profile)
  }
}
