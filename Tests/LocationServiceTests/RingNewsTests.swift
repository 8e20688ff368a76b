import LinuxHAL
import Testing

@testable import DeferralCache
@testable import LocationService

@Suite("What is told of the ring at the start")
struct RingNewsTests {
  private func news(_ change: (inout RingRecovery) -> Void) -> RingNews {
    var recovery = RingRecovery()
    change(&recovery)
    return RingNews(recovery, count: 12, path: "/r")
  }

  @Test("an end in order is no warning, and a new ring neither")
  func inOrder() {
    #expect(news { $0.wasClosed = true }.lines.map(\.priority) == [.info])
    #expect(news { $0.isNew = true }.lines.map(\.priority) == [.notice])
  }

  @Test("what was repaired is told, each in a line (RNG-7)")
  func repaired() {
    let lines = news {
      $0.lostHeaders = 1
      $0.missing = 3
    }.lines
    #expect(lines.map(\.priority) == [.warning, .warning, .warning])
    #expect(lines[0].text.contains("12 fixes are there"))
    #expect(lines[1].text.contains("header"))
    #expect(lines[2].text.contains("3 fixes among them"))
  }
}
