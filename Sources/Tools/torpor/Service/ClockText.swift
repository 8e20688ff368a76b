import LocationTypes
import LocationWire
import TextFormats

/// Human-readable description of the feed of the system clock, for `torpor status` and `torpor doctor`.
struct ClockText {
  let clock: WireClock
  let times: ServiceClock

  /// Whether it is fed, when last, and with which offset, in one line.
  var line: String {
    var text = clock.isFeeding ? "fed to chronyd" : "not fed"
    if let last = clock.last {
      text += "; last \(times.relative(last))"
      if let offset_us = clock.offset_us {
        text += ", offset \(WireClock.text(offset_us: offset_us))"
      }
      if let isPulse = clock.isPulse { text += isPulse ? " by pulse" : " by arrival" }
      text += " (\(HumanFormat.count(Int(clock.samples), of: "sample")))"
    }
    if let suggestion = clock.suggestion { text += "; \(suggestion)" }
    return text
  }
}
