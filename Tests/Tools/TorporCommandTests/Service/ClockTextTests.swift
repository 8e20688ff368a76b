import LocationTypes
import LocationWire
import Testing

@testable import torpor

@Suite("The clock in the output of status and doctor")
struct ClockTextTests {
  private let now = FixTime(
    acquired: Instant(seconds: 100), utc: UTCTime(microseconds: 1_800_000_000_000_000))

  private func text(_ change: (inout WireClock) -> Void) -> String {
    var clock = WireClock(socket: "/run/chrony.torpor.sock")
    change(&clock)
    return ClockText(clock: clock, times: ServiceClock(now: now)).line
  }

  @Test("a clock that is fed: when last, with which offset, by what")
  func fed() {
    let line = text {
      $0.isFeeding = true
      $0.samples = 1_234
      $0.last = FixTime(acquired: Instant(seconds: 99), utc: nil)
      $0.offset_us = -12
      $0.isPulse = true
    }
    #expect(line == "fed to chronyd; last 1 s ago, offset -0.012 ms by pulse (1,234 samples)")
  }

  @Test("a clock that is not fed: why")
  func notFed() {
    #expect(text { $0.suggestion = "no fix yet" } == "not fed; no fix yet")
    let line = text {
      $0.samples = 1
      $0.last = FixTime(acquired: Instant(seconds: 40), utc: nil)
      $0.offset_us = 1_500_000
      $0.isPulse = false
      $0.suggestion = "nobody reads the socket"
    }
    #expect(
      line
        == "not fed; last 1 min ago, offset +1.500 s by arrival (1 sample); nobody reads the socket"
    )
  }

  @Test(
    "offsets have a sign and a unit",
    arguments: [
      (0, "+0.000 ms"), (-999_999, "-999.999 ms"), (1_000_000, "+1.000 s"),
      (-59_999_999, "-59.999 s"), (3_600_000_000, "+3600 s"), (86_400_000_000 * 400, "+400 d"),
      (1_771_000_000_000_000, "+56 years"), (.min, "-292277 years"),
    ] as [(Int64, String)])
  func offsets(_ offset_us: Int64, _ text: String) {
    #expect(WireClock.text(offset_us: offset_us) == text)
  }
}
