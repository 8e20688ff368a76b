import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Coarse fixes of a client") struct CoarseFixesTests {
  static func stored(_ sequence: UInt64, at seconds: Double) -> StoredFix {
    StoredFix(name: FixName(generation: 1, sequence: sequence), fix: fix(at: seconds))
  }

  @Test("AUT-5: the next coarse fix is due after 15 minutes; until then the last one is valid")
  func interval() throws {
    var coarse = CoarseFixes()
    #expect(coarse.due == .boot && coarse.valid(at: Instant(seconds: 1)) == nil)
    let reduced = coarse.reduce(Self.stored(1, at: 10))
    let first = try #require(reduced)
    #expect(first.name.sequence == 1 && first.fix.horizontalAccuracy_mm == 5_000_000)
    #expect(coarse.due == Instant(seconds: 910))
    let early = coarse.reduce(Self.stored(2, at: 909))
    #expect(early == nil)
    #expect(coarse.valid(at: Instant(seconds: 910)) == first)
    #expect(coarse.valid(at: Instant(seconds: 911)) == nil)
    let second = coarse.reduce(Self.stored(3, at: 910))
    #expect(second?.name.sequence == 3)
  }

  @Test("A fix less accurate than 5 km gives no coarse one and does not delay the next")
  func inaccurate() {
    var coarse = CoarseFixes()
    var bad = Self.stored(1, at: 10)
    bad.fix.horizontalAccuracy_mm = 5_000_001
    let reduced = coarse.reduce(bad)
    #expect(reduced == nil && coarse.due == .boot)
  }
}
