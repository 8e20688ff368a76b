import LinuxHAL
import Testing

@testable import DeferralCache
@testable import LocationService

@Suite("What is told of the ring at the start")
struct RingNewsTests {
  private func news(_ change: (inout RingRecovery) -> Void) -> RingReport {
    var recovery = RingRecovery()
    change(&recovery)
    return RingReport(recovery, count: 12, path: "/r")
  }

  @Test("an end in order is no warning, and a new ring neither")
  func inOrder() {
    #expect(news { $0.wasClosed = true }.lines.map(\.priority) == [.info])
    #expect(news { $0.isNew = true }.lines.map(\.priority) == [.notice])
  }

  @Test("a ring that was there and is gone is told as such, and a state that is, too")
  func gone() {
    var recovery = RingRecovery()
    recovery.wasClosed = true
    let stateless = RingReport(recovery, count: 12, path: "/r", hasState: false).lines
    #expect(stateless.map(\.priority) == [.info, .warning])
    #expect(stateless[1].text.contains("durable state is missing"))
    recovery.isNew = true
    let lost = RingReport(recovery, count: 0, path: "/r", hadRing: true).lines
    #expect(lost.map(\.priority) == [.warning] && lost[0].text.contains("was removed or erased"))
  }

  @Test("a file that holds no ring is told in words")
  func noRing() {
    let told = RingProblem(
      path: "/r", error: .capacityMismatch(found: 64, wanted: 128), state: "/s"
    )
    .description
    #expect(told.contains("it holds 64 fixes, and the profile requires 128"))
    #expect(
      !RingProblem(path: "/r", error: .notARing, state: "/s").description.contains("notARing"))
  }

  @Test("RNG-2: where no generation is left, all files that have one are to be moved away")
  func exhausted() {
    let told = RingProblem(path: "/d/ring", error: .exhausted, state: "/d/state.db").description
    #expect(told.contains("move away '/d/ring', '/d/state.db' and '/d/state.db-wal'"))
    #expect(!told.contains("move the file away"))
  }

  @Test("what was repaired is told, each in a line (RNG-7)")
  func repaired() {
    let lines = news {
      $0.lostHeaders = 1
      $0.missing = 3
    }.lines
    #expect(lines.map(\.priority) == [.warning, .warning, .warning])
    #expect(lines[0].text.contains("it contains 12 fixes"))
    #expect(lines[1].text.contains("header"))
    #expect(lines[2].text.contains("3 fixes in it"))
  }
}
