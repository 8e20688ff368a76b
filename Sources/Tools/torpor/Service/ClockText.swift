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
      if let offset_us = clock.offset_us { text += ", offset \(ClockText.offset(offset_us))" }
      if let isPulse = clock.isPulse { text += isPulse ? " by pulse" : " by arrival" }
      text += " (\(HumanFormat.count(Int(clock.samples), of: "sample")))"
    }
    if let suggestion = clock.suggestion { text += "; \(suggestion)" }
    return text
  }

  /// UTC minus system clock with sign and unit: `+0.012 ms`, `-1.250 s`, `+56 years`.
  static func offset(_ offset_us: Int64) -> String {
    let magnitude = Int64(clamping: offset_us.magnitude)
    let sign = offset_us < 0 ? "-" : "+"
    let year_us: Int64 = 31_556_952_000_000
    if magnitude >= 2 * year_us { return "\(sign)\(magnitude / year_us) years" }
    var text = TextBuffer()
    if magnitude < 1_000_000 {
      text.add(magnitude, scale: 3, places: 3)
      return "\(sign)\(text.string) ms"
    }
    if magnitude < 60_000_000 {
      text.add(magnitude / 1_000, scale: 3, places: 3)
      return "\(sign)\(text.string) s"
    }
    return sign + HumanFormat.duration(Interval(microseconds: magnitude))
  }
}
