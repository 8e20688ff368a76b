import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Fixes from before a time off")
struct ReplayTests {
  @Test("PWR-14: a change that was reported before the time off is not reported after it")
  func waitingChange() {
    for (end, isWaiting) in [(299.0, true), (300, false), (330, false)] {
      var change = SignificantChange()
      change.replay(fix(at: 0))
      change.replay(fix(at: 60, east: 600))
      #expect(change.isWaiting, "5 minutes are not over (SLC-3)")
      change.finishReplay(at: Instant(seconds: end))
      #expect(change.isWaiting == isWaiting)
      // Reported when 5 minutes were over, before the time off.
      #expect(change.lastReported == fix(at: isWaiting ? 0 : 60, east: isWaiting ? 0 : 600))
      #expect(change.earliestReport == Instant(seconds: isWaiting ? 300 : 600))
    }
  }

  @Test("PWR-14: a replay leads to the state of the services that handled the fixes when they came")
  func sameState() {
    var change = SignificantChange()
    var replayedChange = SignificantChange()
    var visits = VisitMonitor()
    var replayedVisits = VisitMonitor()
    _ = change.start(at: Instant(seconds: 0), cached: nil)
    _ = visits.start(at: Instant(seconds: 0))
    for n in 0..<120 {
      let time = Double(n) * 60
      // A stay, a journey of 12 km, and another stay.
      let east = min(max(Double(n) - 40, 0), 30) * 400
      let current = fix(at: time, east: east)
      if change.isWaiting, change.earliestReport <= current.acquired {
        _ = change.elapse(at: change.earliestReport)
      }
      _ = change.accept(current, at: current.acquired)
      _ = visits.accept(current)
      replayedChange.replay(current)
      replayedVisits.replay(current)
      #expect(replayedChange.lastReported == change.lastReported)
      #expect(replayedChange.isWaiting == change.isWaiting)
      #expect(replayedVisits == visits)
    }
    #expect(visits.state == .visiting && (change.lastReported?.acquired ?? .boot) > .boot)
  }

  @Test("PWR-14: after hours without a fix, a boot does not repeat short intervals between checks")
  func failedChecks() {
    func monitor(off seconds: Double) -> VisitMonitor {
      var visits = VisitMonitor()
      visits.replay(fix(at: 0))
      visits.replay(fix(at: 60))
      visits.finishReplay(at: Instant(seconds: seconds))
      return visits
    }
    let speed = PlausibleSpeed(limit: 70)
    for (off, interval) in [(90.0, 60.0), (7_200, 240)] {
      var visits = monitor(off: off)
      let now = Instant(seconds: off + 300)
      visits.acquisitionFailed(at: now)
      #expect(
        visits.nextFix(at: now, speed: speed, line: .absent) == now + Interval(seconds: interval))
    }
  }
}
