import GNSSProtocols

/// One table of a profile.
public struct ProfileTable: Sendable {
  /// Path of the table, `receiver.power`; empty for the root.
  public let path: String
  /// Whether the table is required if its parent table exists.
  public let isRequired: Bool
  /// Meaning of the table, one sentence.
  public let meaning: String
}

/// The tables and keys of a profile. ``ProfileReader``, `torpor board show`, ``ProfileTemplate`` and the reference page
/// (`Docs/Reference/board-profile.md`) all use this schema.
public enum ProfileSchema {
  /// All tables; a table precedes its subtables.
  public static let tables: [ProfileTable] = [
    ProfileTable(path: "", isRequired: true, meaning: "Name and description of the board."),
    ProfileTable(path: "board", isRequired: true, meaning: "The board without its receiver."),
    ProfileTable(path: "board.awake", isRequired: true, meaning: "Running code."),
    ProfileTable(
      path: "board.idle", isRequired: true,
      meaning: "Waiting for an event, clocks running; any byte, edge or timer ends it."),
    ProfileTable(
      path: "board.suspended", isRequired: false,
      meaning: "Suspended (s2idle or mem). Omit it if the kernel cannot suspend the board."),
    ProfileTable(
      path: "board.off", isRequired: false,
      meaning: "Powered off until an alarm. Omit it if no alarm can switch the board on again."
    ),
    ProfileTable(
      path: "receiver", isRequired: false,
      meaning: "The GNSS receiver and its wiring. Omit it on a board without a receiver."),
    ProfileTable(
      path: "receiver.power", isRequired: true,
      meaning: "Power of the receiver and its antenna in each state."),
    ProfileTable(
      path: "receiver.batch", isRequired: false,
      meaning: "Batching of fixes in the receiver. Omit it if the receiver cannot batch or "
        + "must not."),
    ProfileTable(
      path: "receiver.time_to_fix", isRequired: true,
      meaning: "Time to first fix after a time off."),
    ProfileTable(
      path: "motion", isRequired: false,
      meaning:
        "A motion sensor. Omit it on a board without one. On a board that can suspend, the service uses it only "
        + "if `wakes_on` in `[board.suspended]` contains `motion`: staying out of suspend to watch the sensor "
        + "would cost more energy than the avoided position checks."
    ),
    ProfileTable(
      path: "battery", isRequired: false,
      meaning:
        "A battery that is monitored by a gauge or a low-battery line, and the charges below which services"
        + " are shed. Set at least one of these charges."),
    ProfileTable(
      path: "cache", isRequired: true,
      meaning: "The ring that stores fixes until they are delivered."),
    ProfileTable(
      path: "policy", isRequired: false,
      meaning: "Assumptions and limits of the planner."),
  ]

  /// All keys, table by table.
  public static let keys: [ProfileKey] =
    identity + board + receiver + motion + battery + cache + policy

  private static let byPath = Dictionary(uniqueKeysWithValues: keys.map { ($0.path, $0) })

  /// The key at `path`; nil if it does not exist.
  static func key(_ path: String) -> ProfileKey? { byPath[path] }

  /// The table at `path`; nil if it does not exist.
  static func table(_ path: String) -> ProfileTable? { tables.first { $0.path == path } }

  /// The keys of one table.
  static func keys(of table: String) -> [ProfileKey] { keys.filter { $0.table == table } }

  /// The direct subtables of `table`.
  static func tables(in table: String) -> [ProfileTable] {
    tables.filter { $0.path != "" && ProfileSchema.parentPath(of: $0.path) == table }
  }

  /// Path of the table that contains `path`.
  static func parentPath(of path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return "" }
    return String(path[..<dot])
  }

  /// Last component of `path`.
  static func lastComponent(of path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return path }
    return String(path[path.index(after: dot)...])
  }
}

extension ProfileSchema {
  static let battery: [ProfileKey] = [
    .text(
      "battery", "gauge", optional: \.battery.gauge, 1...64,
      "Name of the gauge on Linux, below `/sys/class/power_supply`."),
    .text(
      "battery", "low_line", optional: \.battery.lowLine, 1...64,
      "GPIO line that is active while the battery is low; for a board without a gauge."),
    .integer(
      "battery", "low_percent", \.battery.lowCharge, BoardProfile.Battery.chargeRange,
      required: false,
      "Charge that is assumed while `low_line` is active; 100 is assumed while it is inactive."),
    threshold(
      "every_fix_percent", \.battery.everyFix,
      "Charge below which no client receives every fix or an accuracy better than 100 m; such clients receive 100 m."
    ),
    threshold(
      "accuracy_percent", \.battery.accuracy,
      "Charge below which no client receives an accuracy better than 1 km; such clients receive 1 km."
    ),
    threshold(
      "updates_percent", \.battery.updates,
      "Charge below which the service delivers no updates, deferred or live, and no single fixes."),
    threshold(
      "visits_percent", \.battery.visits,
      "Charge below which the service delivers no visits."),
    threshold(
      "regions_percent", \.battery.regions,
      "Charge below which the service monitors no region or condition."),
    threshold(
      "significant_percent", \.battery.significantChange,
      "Charge below which the service delivers no significant change."),
    .integer(
      "battery", "margin_percent", \.battery.margin, 0...50, required: false,
      "Hysteresis: how far above its threshold the charge must be to restore a service; a charge of 100 always"
        + " suffices."),
  ]

  /// A charge below which a service is shed.
  private static func threshold(
    _ name: String, _ field: Field<Int?>, _ meaning: String
  ) -> ProfileKey {
    .integer("battery", name, optional: field, BoardProfile.Battery.chargeRange, meaning)
  }
}

extension ProfileSchema {
  private static let milliwatts = 0.0...100_000.0

  static let identity: [ProfileKey] = [
    .text(
      "", "name", \.name, 1...64,
      "Name of the board and of its folder: lower-case letters, digits and hyphens."),
    .text("", "description", \.summary, 1...200, "Description of the board in one sentence."),
  ]

  static let board: [ProfileKey] = [
    .seconds(
      "board", "delivery_hold_s", \.board.deliveryHold, 0...60,
      "Maximum time that the board waits for the acknowledgement of a delivery before it is suspended."
    ),
    .text(
      "board", "session_light_line", optional: \.board.sessionLightLine, 1...64,
      "GPIO line of an indicator light that is on during a background session."),
    .number("board.awake", "power_mw", \.board.awake_mw, milliwatts, "Power while running code."),
    .number("board.idle", "power_mw", \.board.idle.power_mw, milliwatts, "Power in this state."),
    .seconds(
      "board.idle", "resume_s", \.board.idle.resumeTime, 0...10,
      "Time from the wake event until code runs."),
    .seconds(
      "board.idle", "alarm_resolution_s", \.board.idle.alarmResolution, 0...60,
      "Maximum delay of a timer."),
    .number(
      "board.suspended", "power_mw", \.suspended.power_mw, milliwatts, "Power in this state."),
    .seconds(
      "board.suspended", "resume_s", \.suspended.resumeTime, 0...60,
      "Time from the wake event until code runs."),
    .seconds(
      "board.suspended", "alarm_resolution_s", \.suspended.alarmResolution, 0...60,
      "Maximum delay of the alarm; 1 for most real-time clocks."),
    .seconds(
      "board.suspended", "shortest_s", \.suspended.minimumDuration, 0...3_600,
      "Minimum time until the next alarm for this state; for a nearer alarm the board stays in a lighter state."
    ),
    .wakeSources(
      "board.suspended", "wakes_on", \.suspended.wakeSources,
      "Events that end this state; must contain `alarm`."),
    .number("board.off", "power_mw", \.off.power_mw, milliwatts, "Power in this state."),
    .seconds(
      "board.off", "resume_s", \.off.resumeTime, 0...600,
      "Time from the alarm until the service runs: the boot."),
    .seconds(
      "board.off", "alarm_resolution_s", \.off.alarmResolution, 0...3_600,
      "Maximum delay of the alarm."),
    .seconds(
      "board.off", "shortest_s", \.off.minimumDuration, 120...86_400,
      "Minimum time until the next alarm for this state; for a nearer alarm the board stays in a lighter state."
        + " The board is switched off only if no program has called the service for this time, or for 30 s after a start by its own alarm."
    ),
    .word(
      "board.off", "alarm", \.board.offAlarm, required: false,
      "The alarm that switches the board on: its real-time clock, or a HAT."),
    .integer(
      "board.off", "i2c_bus", \.board.i2cBus, 0...255, required: false,
      "Number of the I²C bus of the HAT; 1 is `/dev/i2c-1`."),
  ]

  static let motion: [ProfileKey] = [
    .text(
      "motion", "line", \.motion.line, 1...64,
      "GPIO line that is active while the sensor detects motion."),
    .seconds(
      "motion", "still_after_s", \.motion.stillAfter, 0.1...600, required: false,
      "Time from the last motion until the line becomes inactive."),
  ]

  static let cache: [ProfileKey] = [
    .integer(
      "cache", "capacity_fixes", \.cache.capacity, BoardProfile.Cache.capacityRange,
      "Capacity of the ring, in fixes of 64 bytes."),
    .integer(
      "cache", "deferral_limit_fixes", \.cache.deferralLimit,
      BoardProfile.Cache.deferralLimitRange,
      "Number of fixes at which a deferring client receives its batch; at most half of the capacity."
    ),
    .seconds(
      "cache", "sync_s", \.cache.syncInterval, 1...3_600, required: false,
      "Maximum time between two syncs of the ring to disk: fixes of this time can be lost in a power cut."
    ),
  ]

  static let policy: [ProfileKey] = [
    .number(
      "policy", "plausible_speed_mps", \.policy.plausibleSpeed_mps, 0.1...1_000, required: false,
      "Maximum plausible speed of the device."),
    .seconds(
      "policy", "shortest_poll_s", \.policy.minimumCheckInterval, 1...3_600, required: false,
      "Minimum time between two drains of a batching receiver that check the distance travelled."),
    .seconds(
      "policy", "receiver_hold_s", \.policy.receiverHold, 0...600, required: false,
      "Maximum time for which the receiver stays on after the last demand ended, to complete its"
        + " ephemeris."),
    .seconds(
      "policy", "search_limit_s", \.policy.acquisitionTimeout, 10...3_600, required: false,
      "Time after which an acquisition without a fix ends."),
  ]
}

extension ProfileSchema {
  /// Length of the value of a key that names a GPIO line, characters.
  private static let lineLength = 1...64

  static let receiver: [ProfileKey] =
    [
      .word(
        "receiver", "family", \.receiver.family,
        words: ReceiverFamily.allCases.map { ("\($0.name)", $0) },
        "Command set: UBX, or `$PMTK`, `$PAIR`, `$PCAS` or `$PSTM` sentences. `nmea` is a receiver that streams NMEA; "
          + "the service sends it nothing."),
      .word(
        "receiver", "output", \.receiver.output, words: [("ubx", .ubx), ("nmea", .nmea)],
        "Output protocol: UBX-NAV-PVT (u-blox receivers only) or NMEA."),
      .text(
        "receiver", "model", optional: \.receiver.model, 1...64,
        "Name of the part, for display."),
      .text(
        "receiver", "device", optional: \.receiver.device, 1...256,
        "Path of the serial device on Linux, for example `/dev/serial0`."),
      .lineSpeed(
        "receiver", "line_speed_baud", \.receiver.lineSpeed_baud,
        "Line speed in operation."),
      .lineSpeed(
        "receiver", "default_line_speed_baud", \.receiver.defaultLineSpeed_baud,
        "Line speed after power-on, before any configuration."),
      .milliseconds(
        "receiver", "fix_interval_ms", \.receiver.fixInterval, 100...60_000,
        "Time between two fixes."),
      .text(
        "receiver", "wake_line", optional: \.receiver.wakeLine, lineLength,
        "GPIO line that wakes the receiver from standby (EXTINT); omit it if not wired."),
      .text(
        "receiver", "supply_line", optional: \.receiver.supplyLine, lineLength,
        "GPIO line that switches the supply; omit it if the receiver is always supplied."),
      .text(
        "receiver", "pulse_line", optional: \.receiver.pulseLine, lineLength,
        "GPIO line of the pulse per second (TIMEPULSE, 1PPS), which the service uses to time fixes; omit it if "
          + "not wired."),
      .boolean(
        "receiver", "backup_supply", \.receiver.hasBackupSupply, required: false,
        "Whether a backup supply keeps clock and ephemeris while the supply is off."),
      .number(
        "receiver", "range_error_m", \.receiver.rangeError_m, 0.1...100, required: false,
        "Horizontal accuracy at HDOP 1."),
      .number(
        "receiver", "assumed_accuracy_m", \.receiver.assumedAccuracy_m, 0.1...10_000,
        required: false, "Horizontal accuracy of a fix for which the receiver reports none."),
      .seconds(
        "receiver", "acknowledge_timeout_s", \.receiver.acknowledgeTimeout, 0.05...10,
        required: false, "Timeout for the response to a command."),
      .seconds(
        "receiver", "wake_settle_s", \.receiver.wakeSettle, 0...10, required: false,
        "Time from the wake edge until the receiver accepts commands."),
      .seconds(
        "receiver", "supply_settle_s", \.receiver.supplySettle, 0...10, required: false,
        "Time from switching the supply on until the receiver accepts commands."),
      .seconds(
        "receiver", "silence_timeout_s", \.receiver.silenceTimeout, 1...600, required: false,
        "Time without input after which the receiver counts as lost."),
    ] + power + batch + timeToFix

  private static let power: [ProfileKey] = [
    .number(
      "receiver.power", "acquire_mw", \.receiver.power.acquire_mw, milliwatts,
      "Acquisition: searching for satellites."),
    .number(
      "receiver.power", "track_mw", \.receiver.power.track_mw, milliwatts,
      "Tracking, with a fix per interval."),
    .number(
      "receiver.power", "powersave_mw", optional: \.receiver.power.powersave_mw, milliwatts,
      "Power save mode, tracking with its own duty cycle; if omitted, the mode is not used."),
    .number(
      "receiver.power", "standby_mw", \.receiver.power.standby_mw, milliwatts,
      "Asleep by command with the supply on."),
    .number(
      "receiver.power", "backup_mw", \.receiver.power.backup_mw, milliwatts, required: false,
      "Supply off, backup supply on."),
    .number(
      "receiver.power", "off_mw", \.receiver.power.off_mw, milliwatts, required: false,
      "Supply and backup supply off; leakage of the supply switch."),
  ]

  private static let batch: [ProfileKey] = [
    .integer(
      "receiver.batch", "capacity_fixes", \.batch.capacity, 2...65_535,
      "Capacity of the receiver's buffer, in fixes."),
    .integer(
      "receiver.batch", "watermark_fixes", \.batch.watermark, 1...65_534,
      "Number of fixes at which the board is woken to drain the buffer; less than the capacity."),
    .boolean(
      "receiver.batch", "extra_pvt", \.batch.hasExtraPVT, required: false,
      "Whether entries also contain accuracies, satellites and velocity."),
    .number(
      "receiver.batch", "power_mw", \.batchPower_mw, milliwatts,
      "Power while batching; most receivers keep tracking."),
    .text(
      "receiver.batch", "line", optional: \.batch.line, lineLength,
      "GPIO line that is connected to the batch pin; omit it if not wired."),
    .integer(
      "receiver.batch", "pio", optional: \.batch.pio, 0...31,
      "PIO number of the batch pin in the receiver."),
    .boolean(
      "receiver.batch", "active_low", \.batch.isActiveLow, required: false,
      "Whether the pin is low while the watermark is reached."),
  ]

  private static let timeToFix: [ProfileKey] = [
    .points(
      "receiver.time_to_fix", "after_off", \.receiver.timeToFix.afterOff, 0...10_000_000, most: 16,
      "Median time to fix `fix_s` after `off_s` without fixes. The first pair has `off_s` 0; linear"
        + " between two pairs, constant after the last one; the same `off_s` twice forms a step."),
    .seconds(
      "receiver.time_to_fix", "ephemeris_s", \.receiver.timeToFix.ephemerisLifetime, 60...1_209_600,
      "Maximum age of a usable ephemeris."),
    .seconds(
      "receiver.time_to_fix", "ephemeris_download_s", \.receiver.timeToFix.ephemerisDownload,
      0...600, required: false,
      "Tracking time until the receiver has a new ephemeris; GPS repeats it every 30 s."),
    .seconds(
      "receiver.time_to_fix", "cold_s", \.receiver.timeToFix.coldStart, 0.1...3_600,
      "Median time to fix without ephemeris."),
    .number(
      "receiver.time_to_fix", "p90_ratio", \.receiver.timeToFix.p90Ratio, 1...20, required: false,
      "The 90th percentile as a multiple of the median."),
  ]
}
