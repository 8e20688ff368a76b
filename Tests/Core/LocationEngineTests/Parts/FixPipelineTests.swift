import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine

@Suite("Fix pipeline: time, accuracy, held fix, ring")
struct FixPipelineTests {
  private let memory = RingMemory(capacity: 4)

  private func pipeline(_ change: (inout EngineSetup) -> Void = { _ in }) throws -> FixPipeline {
    var setup = EngineBench.setup()
    change(&setup)
    return FixPipeline(setup, ring: try memory.openSynced())
  }

  private func fix(_ seconds: Double, accuracy_mm: Int32? = 3_000) -> Fix {
    var fix = Fix(acquired: Instant(seconds: seconds), coordinate: EngineBench.home)
    fix.horizontalAccuracy_mm = accuracy_mm
    return fix
  }

  @Test("measurement times never decrease; the newest counts whether or not the fix is stored")
  func order() throws {
    var fixes = try pipeline()
    #expect(fixes.complete(fix(5), .live).acquired == Instant(seconds: 5))
    #expect(fixes.complete(fix(4), .live).acquired == Instant(seconds: 5))
    #expect(fixes.complete(fix(6), .batch).acquired == Instant(seconds: 6))
    #expect(fixes.newestTime == Instant(seconds: 6))
    #expect(fixes.newest == nil)
  }

  @Test("LOC-8: a fix gets its source, and the assumed accuracy if it has none")
  func completed() throws {
    var fixes = try pipeline { $0.isAccessory = true }
    let bare = fixes.complete(fix(1, accuracy_mm: nil), .live)
    #expect(bare.isFromAccessory && bare.horizontalAccuracy_mm == 10_000)
    #expect(FixPipeline.accuracy(of: bare) == 10)
    var own = try pipeline()
    let exact = own.complete(fix(1), .live)
    #expect(!exact.isFromAccessory && exact.horizontalAccuracy_mm == 3_000)
  }

  @Test("PWR-7: of the held fix and the next one the more accurate is delivered, then none is held")
  func held() throws {
    var fixes = try pipeline()
    let (coarse, fine) = (fix(1, accuracy_mm: 9_000), fix(2, accuracy_mm: 4_000))
    #expect(fixes.best(of: fine, mayReplace: true) == fine)
    fixes.hold(coarse)
    #expect(fixes.held == coarse)
    #expect(fixes.best(of: fine, mayReplace: true) == fine)
    #expect(fixes.held == nil)
    fixes.hold(fine)
    #expect(fixes.best(of: coarse, mayReplace: true) == fine)
    fixes.hold(fine)
    #expect(fixes.takeHeld() == fine)
    #expect(fixes.takeHeld() == nil && fixes.held == nil)
    fixes.hold(fine)
    #expect(fixes.best(of: coarse, mayReplace: false) == coarse)
    #expect(fixes.held == nil)
    fixes.hold(fine)
    #expect(
      fixes.best(of: fix(3, accuracy_mm: 4_000), mayReplace: true) == fix(3, accuracy_mm: 4_000))
  }

  @Test("RNG-6: a fix that no client may receive is stored with reduced accuracy")
  func reduced() throws {
    var fixes = try pipeline()
    let first = fixes.append(fix(1), isPrecise: true)
    #expect(first.name.sequence == 0 && fixes.newest == first)
    let precise = fixes.ring.stored(at: 0)?.fix.coordinate
    #expect(precise == EngineBench.home)
    let second = fixes.append(fix(2), isPrecise: false)
    #expect(second.fix.coordinate == EngineBench.home)
    let inRing = fixes.ring.stored(at: 1)
    let stored = try #require(inRing)
    #expect(stored.fix.coordinate != EngineBench.home)
    fixes.erase(below: 1)
    let erased = fixes.ring.stored(at: 0)?.fix.coordinate
    #expect(erased == nil)
  }

  @Test("the ring is full when the next fix overwrites the oldest one")
  func full() throws {
    var fixes = try pipeline()
    for count in 1...4 {
      let isFull = fixes.isFull
      #expect(!isFull)
      _ = fixes.append(fix(Double(count)), isPrecise: true)
    }
    let isFull = fixes.isFull
    #expect(isFull)
  }
}
