import LinuxHAL
import Testing

@testable import DeferralCache
@testable import LocationService

@Suite("The report on the ring at startup")
struct RingReportTests {
  private func report(_ change: (inout RingRecovery) -> Void) -> RingReport {
    var recovery = RingRecovery()
    change(&recovery)
    return RingReport(recovery, count: 12, path: "/r")
  }

  @Test("a clean shutdown and a new ring are no warnings")
  func inOrder() {
    #expect(report { $0.wasClosed = true }.lines.map(\.priority) == [.info])
    #expect(report { $0.isNew = true }.lines.map(\.priority) == [.notice])
  }

  @Test("a missing ring or state that existed before is a warning")
  func missing() {
    var recovery = RingRecovery()
    recovery.wasClosed = true
    let stateless = RingReport(recovery, count: 12, path: "/r", hasState: false).lines
    #expect(stateless.map(\.priority) == [.info, .warning])
    #expect(stateless[1].text.contains("durable state is missing"))
    recovery.isNew = true
    let lost = RingReport(recovery, count: 0, path: "/r", hadRing: true).lines
    #expect(lost.map(\.priority) == [.warning] && lost[0].text.contains("was removed or erased"))
  }

  @Test("a ring error is described in words")
  func noRing() {
    let text = RingProblem(
      path: "/r", error: .capacityMismatch(found: 64, requested: 128), state: "/s"
    )
    .description
    #expect(text.contains("it holds 64 fixes, and the profile requires 128"))
    #expect(
      !RingProblem(path: "/r", error: .notARing, state: "/s").description.contains("notARing"))
  }

  @Test("RNG-2: if no generation is left, the message names all files to move away")
  func exhausted() {
    let text = RingProblem(path: "/d/ring", error: .exhausted, state: "/d/state.db").description
    #expect(text.contains("move away '/d/ring', '/d/state.db' and '/d/state.db-wal'"))
    #expect(!text.contains("move the file away"))
  }

  @Test("each repair is reported in its own line (RNG-7)")
  func repaired() {
    let lines = report {
      $0.lostHeaders = 1
      $0.missing = 3
    }.lines
    #expect(lines.map(\.priority) == [.warning, .warning, .warning])
    #expect(lines[0].text.contains("it contains 12 fixes"))
    #expect(lines[1].text.contains("header"))
    #expect(lines[2].text.contains("3 fixes in it"))
  }
}
