/// One table of a profile.
public struct ProfileTable: Sendable {
  /// Its path, `receiver.power`; empty for the root.
  public let path: String
  /// Whether it must be there when the table around it is.
  public let isRequired: Bool
  /// What it is about, one sentence.
  public let meaning: String
}

/// Everything a profile may say, in one place: reading, `torpor board show` and the reference page
/// (`Docs/Reference/board-profile.md`) come from it.
public enum ProfileSchema {
  /// All tables, outer before inner.
  public static let tables: [ProfileTable] = [
    ProfileTable(path: "", isRequired: true, meaning: "Who the board is."),
    ProfileTable(path: "board", isRequired: true, meaning: "The board without its receiver."),
    ProfileTable(path: "board.awake", isRequired: true, meaning: "Running code."),
    ProfileTable(
      path: "board.idle", isRequired: true,
      meaning: "Waiting for an event, clocks running; any byte, edge or timer ends it."),
    ProfileTable(
      path: "board.suspended", isRequired: false,
      meaning: "Suspended (s2idle or mem). Leave it out where the kernel cannot."),
    ProfileTable(
      path: "board.off", isRequired: false,
      meaning: "Powered off until an alarm. Leave it out where nothing switches the board on again."
    ),
    ProfileTable(
      path: "receiver", isRequired: false,
      meaning: "The GNSS receiver and its wiring. Leave it out on a board without one."),
    ProfileTable(
      path: "receiver.power", isRequired: true,
      meaning: "What the receiver draws, antenna included, by state."),
    ProfileTable(
      path: "receiver.batch", isRequired: false,
      meaning: "Storing fixes inside the receiver. Leave it out where it cannot or shall not."),
    ProfileTable(
      path: "receiver.time_to_fix", isRequired: true,
      meaning: "How long after a time off the first fix comes."),
    ProfileTable(
      path: "motion", isRequired: false,
      meaning:
        "A sensor that tells of motion. Leave it out on a board without one. "
        + "What `[board.suspended]` does not hear is not made use of: "
        + "staying out of that sleep costs more than the looks it spares."
    ),
    ProfileTable(
      path: "battery", isRequired: false,
      meaning:
        "A battery that is watched, by a gauge or by a line that says low: below which charge"
        + " which promise is given up. One charge at least is named."),
    ProfileTable(path: "cache", isRequired: true, meaning: "The ring in which fixes wait."),
    ProfileTable(path: "policy", isRequired: false, meaning: "What the planner may assume."),
  ]

  /// All keys, table by table.
  public static let keys: [ProfileKey] =
    identity + board + receiver + motion + battery + cache + policy

  private static let byPath = Dictionary(uniqueKeysWithValues: keys.map { ($0.path, $0) })

  /// The key at `path`; nil when there is none.
  static func key(_ path: String) -> ProfileKey? { byPath[path] }

  /// The table at `path`; nil when there is none.
  static func table(_ path: String) -> ProfileTable? { tables.first { $0.path == path } }

  /// The keys of one table.
  static func keys(of table: String) -> [ProfileKey] { keys.filter { $0.table == table } }

  /// The tables right inside `table`.
  static func tables(in table: String) -> [ProfileTable] {
    tables.filter { $0.path != "" && ProfileSchema.outer($0.path) == table }
  }

  /// The path of the table around `path`.
  static func outer(_ path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return "" }
    return String(path[..<dot])
  }

  /// The last name of `path`.
  static func last(_ path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return path }
    return String(path[path.index(after: dot)...])
  }
}

extension ProfileSchema {
  static let battery: [ProfileKey] = [
    .text(
      "battery", "gauge", optional: \.battery.gauge, 1...64,
      "The gauge's name on Linux, below `/sys/class/power_supply`."),
    .text(
      "battery", "low_line", optional: \.battery.lowLine, 1...64,
      "GPIO line that is active while the battery is low; for a board without a gauge."),
    .whole(
      "battery", "low_percent", \.battery.lowCharge, BoardProfile.Battery.charges, required: false,
      "The charge that is taken to be there while `low_line` is active; 100 while it is not."),
    charge(
      "every_fix_percent", \.battery.everyFix,
      "Below it nobody gets every fix, nor a position nearer than 100 m: who wants that gets 100 m."
    ),
    charge(
      "accuracy_percent", \.battery.accuracy,
      "Below it nobody gets a position nearer than 1 km: who wants that gets 1 km."),
    charge(
      "updates_percent", \.battery.updates,
      "Below it there are no updates, deferred or live, and no single fixes."),
    charge("visits_percent", \.battery.visits, "Below it there are no visits."),
    charge(
      "regions_percent", \.battery.regions, "Below it no region or condition is monitored."),
    charge(
      "significant_percent", \.battery.significantChange,
      "Below it no significant change is told."),
    .whole(
      "battery", "margin_percent", \.battery.margin, 0...50, required: false,
      "How far above its figure the charge must be before a promise holds again; 100 is always"
        + " enough."),
  ]

  /// A charge below which something is given up.
  private static func charge(
    _ name: String, _ field: Field<Int?>, _ meaning: String
  ) -> ProfileKey {
    .whole("battery", name, optional: field, BoardProfile.Battery.charges, meaning)
  }
}

extension ProfileSchema {
  private static let milliwatts = 0.0...100_000.0

  static let identity: [ProfileKey] = [
    .text(
      "", "name", \.name, 1...64,
      "The board's name, the same as its folder's: small letters, digits and hyphens."),
    .text("", "description", \.summary, 1...200, "One sentence for people."),
  ]

  static let board: [ProfileKey] = [
    .seconds(
      "board", "delivery_hold_s", \.board.deliveryHold, 0...60,
      "How long the board is not suspended, at most, for the acknowledgement of a delivery."
    ),
    .text(
      "board", "session_light_line", optional: \.board.sessionLightLine, 1...64,
      "GPIO line of a light that is on during a background session."),
    .number("board.awake", "power_mw", \.board.awake_mw, milliwatts, "Power while running code."),
    .number("board.idle", "power_mw", \.board.idle.power_mw, milliwatts, "Power in this state."),
    .seconds(
      "board.idle", "resume_s", \.board.idle.resume, 0...10,
      "From the wake event until code runs."),
    .seconds(
      "board.idle", "alarm_resolution_s", \.board.idle.alarmResolution, 0...60,
      "How late a timer may be."),
    .number(
      "board.suspended", "power_mw", \.suspended.power_mw, milliwatts, "Power in this state."),
    .seconds(
      "board.suspended", "resume_s", \.suspended.resume, 0...60,
      "From the wake event until code runs."),
    .seconds(
      "board.suspended", "alarm_resolution_s", \.suspended.alarmResolution, 0...60,
      "How late the alarm may be; 1 for most real-time clocks."),
    .seconds(
      "board.suspended", "shortest_s", \.suspended.shortest, 0...3_600,
      "An alarm nearer than this is waited for in a lighter state."),
    .wakes(
      "board.suspended", "wakes_on", \.suspended.wakesOn,
      "What ends this state; `alarm` must be among it."),
    .number("board.off", "power_mw", \.off.power_mw, milliwatts, "Power in this state."),
    .seconds(
      "board.off", "resume_s", \.off.resume, 0...600,
      "From the alarm until the service runs: the boot."),
    .seconds(
      "board.off", "alarm_resolution_s", \.off.alarmResolution, 0...3_600,
      "How late the alarm may be."),
    .seconds(
      "board.off", "shortest_s", \.off.shortest, 120...86_400,
      "An alarm nearer than this is waited for in a lighter state. The board is switched off only after"
        + " no client was there for as long."),
    .word(
      "board.off", "alarm", \.board.offAlarm, required: false,
      "What switches it on again: its real-time clock, or a HAT's."),
    .whole(
      "board.off", "i2c_bus", \.board.i2cBus, 0...255, required: false,
      "Number of the I²C bus that the HAT is on, `/dev/i2c-1`."),
  ]

  static let motion: [ProfileKey] = [
    .text(
      "motion", "line", \.motion.line, 1...64,
      "GPIO line that is active while the sensor sees motion."),
    .seconds(
      "motion", "still_after_s", \.motion.stillAfter, 0.1...600, required: false,
      "How long after the last motion the line falls back."),
  ]

  static let cache: [ProfileKey] = [
    .whole(
      "cache", "capacity_fixes", \.cache.capacity, BoardProfile.Cache.capacityRange,
      "Fixes the ring holds, 64 bytes each."),
    .whole(
      "cache", "deferral_limit_fixes", \.cache.deferralLimit,
      BoardProfile.Cache.deferralLimitRange,
      "Fixes after which a deferring client is given its batch, at most half the capacity."),
    .seconds(
      "cache", "sync_s", \.cache.syncInterval, 1...3_600, required: false,
      "How often the ring is synced to disk at least: what a power cut may cost."),
  ]

  static let policy: [ProfileKey] = [
    .number(
      "policy", "plausible_speed_mps", \.policy.plausibleSpeed_mps, 0.1...1_000, required: false,
      "Nobody who carries this board is faster."),
    .seconds(
      "policy", "shortest_poll_s", \.policy.shortestPoll, 1...3_600, required: false,
      "A batching receiver is not asked more often than this whether the distance was travelled."),
    .seconds(
      "policy", "receiver_hold_s", \.policy.receiverHold, 0...600, required: false,
      "How long the receiver goes on after the last demand for it ended, to complete its"
        + " ephemeris."),
    .seconds(
      "policy", "search_limit_s", \.policy.searchLimit, 10...3_600, required: false,
      "A search that finds nothing ends after this."),
  ]
}

extension ProfileSchema {
  private static let line = 1...64

  static let receiver: [ProfileKey] =
    [
      .word(
        "receiver", "family", \.receiver.family,
        "How it is spoken to: in UBX, in `$PMTK`, `$PAIR` or `$PCAS` sentences. `nmea` is a receiver "
          + "that only streams and is never written to."),
      .word(
        "receiver", "output", \.receiver.output,
        "What it sends: UBX-NAV-PVT, which only u-blox receivers do, or NMEA."),
      .text("receiver", "model", optional: \.receiver.model, 1...64, "The part, for people."),
      .text(
        "receiver", "device", optional: \.receiver.device, 1...256,
        "The serial device on Linux, for instance `/dev/serial0`."),
      .speed(
        "receiver", "line_speed_baud", \.receiver.lineSpeed_baud,
        "Speed at which the line is used."),
      .speed(
        "receiver", "default_line_speed_baud", \.receiver.defaultLineSpeed_baud,
        "Speed after power-on, before any configuration."),
      .milliseconds(
        "receiver", "fix_interval_ms", \.receiver.fixInterval, 100...60_000,
        "From one fix to the next."),
      .text(
        "receiver", "wake_line", optional: \.receiver.wakeLine, line,
        "GPIO line that wakes it from standby (EXTINT); leave it out when not wired."),
      .text(
        "receiver", "supply_line", optional: \.receiver.supplyLine, line,
        "GPIO line that switches its supply; leave it out when it is always supplied."),
      .text(
        "receiver", "pulse_line", optional: \.receiver.pulseLine, line,
        "GPIO line of its pulse per second (TIMEPULSE, 1PPS), by which fixes are timed; leave it out when "
          + "not wired."),
      .flag(
        "receiver", "backup_supply", \.receiver.hasBackupSupply, required: false,
        "Whether its clock and ephemeris are kept when the supply is cut."),
      .number(
        "receiver", "range_error_m", \.receiver.rangeError_m, 0.1...100, required: false,
        "Horizontal accuracy that goes with HDOP 1."),
      .number(
        "receiver", "assumed_accuracy_m", \.receiver.assumedAccuracy_m, 0.1...10_000,
        required: false, "Horizontal accuracy of a fix of which the receiver says nothing."),
      .seconds(
        "receiver", "acknowledge_timeout_s", \.receiver.acknowledgeTimeout, 0.05...10,
        required: false, "How long the answer to a command may take."),
      .seconds(
        "receiver", "wake_settle_s", \.receiver.wakeSettle, 0...10, required: false,
        "From the edge that wakes it until it takes commands."),
      .seconds(
        "receiver", "supply_settle_s", \.receiver.supplySettle, 0...10, required: false,
        "From supply on until it takes commands."),
      .seconds(
        "receiver", "silence_timeout_s", \.receiver.silenceTimeout, 1...600, required: false,
        "Silence after which it counts as gone."),
    ] + power + batch + timeToFix

  private static let power: [ProfileKey] = [
    .number(
      "receiver.power", "acquire_mw", \.receiver.power.acquire_mw, milliwatts,
      "Searching for satellites."),
    .number(
      "receiver.power", "track_mw", \.receiver.power.track_mw, milliwatts,
      "Tracking, a fix every interval."),
    .number(
      "receiver.power", "powersave_mw", optional: \.receiver.power.powersave_mw, milliwatts,
      "Tracking in its own duty cycle; without it the mode is not used."),
    .number(
      "receiver.power", "standby_mw", \.receiver.power.standby_mw, milliwatts,
      "Asleep by command with the supply on."),
    .number(
      "receiver.power", "backup_mw", \.receiver.power.backup_mw, milliwatts, required: false,
      "Supply cut, backup supply on."),
    .number(
      "receiver.power", "off_mw", \.receiver.power.off_mw, milliwatts, required: false,
      "No supply at all; what its switch leaks."),
  ]

  private static let batch: [ProfileKey] = [
    .whole(
      "receiver.batch", "capacity_fixes", \.batch.capacity, 2...65_535,
      "Fixes its buffer holds."),
    .whole(
      "receiver.batch", "watermark_fixes", \.batch.watermark, 1...65_534,
      "Fixes at which the board is woken to drain it, below the capacity."),
    .flag(
      "receiver.batch", "extra_pvt", \.batch.hasExtraPVT, required: false,
      "Whether entries carry accuracies, satellites and velocity as well."),
    .number(
      "receiver.batch", "power_mw", \.batch.power_mw, milliwatts,
      "Power while it batches; most track meanwhile."),
    .text(
      "receiver.batch", "line", optional: \.batch.line, line,
      "GPIO line on which its batch pin arrives; leave it out when not wired."),
    .whole(
      "receiver.batch", "pio", optional: \.batch.pio, 0...31,
      "The receiver's own number of that pin."),
    .flag(
      "receiver.batch", "active_low", \.batch.isActiveLow, required: false,
      "Whether the pin is low while the watermark is reached."),
  ]

  private static let timeToFix: [ProfileKey] = [
    .points(
      "receiver.time_to_fix", "after_off", \.receiver.timeToFix.afterOff, 0...10_000_000, most: 16,
      "Median time to fix `fix_s` after `off_s` without fixes. The first pair has `off_s` 0; linear"
        + " between two pairs, the last one goes on; the same `off_s` twice makes a step."),
    .seconds(
      "receiver.time_to_fix", "ephemeris_s", \.receiver.timeToFix.ephemeris, 60...1_209_600,
      "Age at which the ephemeris is of no more use."),
    .seconds(
      "receiver.time_to_fix", "ephemeris_download_s", \.receiver.timeToFix.ephemerisDownload,
      0...600, required: false,
      "How long the receiver must track before it has a new ephemeris; GPS repeats it every 30 s."),
    .seconds(
      "receiver.time_to_fix", "cold_s", \.receiver.timeToFix.cold, 0.1...3_600,
      "Median time to fix without ephemeris."),
    .number(
      "receiver.time_to_fix", "p90_ratio", \.receiver.timeToFix.p90Ratio, 1...20, required: false,
      "The 90th percentile as a multiple of the median."),
  ]
}
