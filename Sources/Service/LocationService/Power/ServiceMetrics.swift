import LocationTypes
import LocationWire
import TextFormats

/// The service's metrics for Prometheus, without positions. Made by ``LocationServer/metrics(_:at:)``, for `GetMetrics`
/// and ``MetricsFile``.
struct ServiceMetrics {
  /// Version of the service.
  var version: String
  /// Name of the board.
  var board: String
  /// Number of connected clients.
  var clients = 0
  /// Fixes since the ring was created: the sequence number of the next one.
  var fixes: UInt64 = 0
  /// Number of slots from the oldest readable fix to the newest.
  var ringFixes = 0
  /// Capacity of the ring.
  var ringCapacity = 0
  /// Age of the oldest fix in the ring; nil if the ring is empty, or the age is unknown.
  var oldestAge: Interval?
  /// Age of the newest fix; nil likewise.
  var newestAge: Interval?
  /// Time of the newest fix; nil if unknown.
  var newestTime: UTCTime?
  /// Gaps that were reported to clients.
  var gaps = GapCount()
  /// Charge of the battery, percent; nil without a gauge.
  var charge: UInt8?
  /// Time and energy; nil before the first turn.
  var energy: WireEnergy?

  /// The metrics in Prometheus' text format. Unknown values have no sample.
  var text: String {
    var text = PrometheusText()
    text.begin("torpor_info", .gauge, "Version and board of the service.")
    text.sample(1, [("version", version), ("board", board)])
    text.begin("torpor_clients", .gauge, "Connected clients.")
    text.sample(Int64(clients))
    addRing(to: &text)
    text.begin("torpor_gaps_total", .counter, "Gaps that were reported to clients.")
    text.sample(Int64(clamping: gaps.count))
    text.begin(
      "torpor_gap_fixes_total", .counter, "Fixes that were lost to a client, in all gaps.")
    text.sample(Int64(clamping: gaps.fixes))
    if let charge {
      text.begin("torpor_battery_charge_ratio", .gauge, "Charge of the battery, 0 to 1.")
      text.sample(Int64(charge), scale: 2)
    }
    energy?.addMetrics(to: &text)
    return text.string
  }

  private func addRing(to text: inout PrometheusText) {
    text.begin("torpor_fixes_total", .counter, "Fixes since the ring was created.")
    text.sample(Int64(clamping: fixes))
    text.begin(
      "torpor_ring_fixes", .gauge, "Slots of the ring from the oldest readable fix to the newest.")
    text.sample(Int64(ringFixes))
    text.begin("torpor_ring_capacity_fixes", .gauge, "Capacity of the ring.")
    text.sample(Int64(ringCapacity))
    if let oldestAge {
      text.begin("torpor_ring_age_seconds", .gauge, "Age of the oldest fix in the ring.")
      text.sample(oldestAge.microseconds, scale: 6)
    }
    if let newestAge {
      text.begin("torpor_newest_fix_age_seconds", .gauge, "Age of the newest fix.")
      text.sample(newestAge.microseconds, scale: 6)
    }
    if let newestTime {
      text.begin(
        "torpor_newest_fix_timestamp_seconds", .gauge, "Time of the newest fix since 1970, UTC.")
      text.sample(newestTime.microseconds, scale: 6)
    }
  }
}

/// Number of gaps that were reported to clients since the service started, and of the fixes in them.
struct GapCount: Equatable {
  /// Number of gaps.
  private(set) var count: UInt64 = 0
  /// Number of fixes in them. Gaps with an unknown number count as those that are known.
  private(set) var fixes: UInt64 = 0

  /// Counts a gap.
  mutating func add(_ gap: Gap) {
    count += 1
    fixes += gap.count
  }
}
