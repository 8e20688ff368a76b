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
    ProfileKey(
      "battery", "gauge", .text(1...64), optional: \.battery.gauge,
      "Name of the gauge on Linux, below `/sys/class/power_supply`."),
    ProfileKey(
      "battery", "low_line", .text(1...64), optional: \.battery.lowLine,
      "GPIO line that is active while the battery is low; for a board without a gauge."),
    ProfileKey(
      "battery", "low_percent", .integer(BoardProfile.Battery.chargeRange), \.battery.lowCharge,
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
    ProfileKey(
      "battery", "margin_percent", .integer(0...50), \.battery.margin, required: false,
      "Hysteresis: how far above its threshold the charge must be to restore a service; a charge of 100 always"
        + " suffices."),
  ]

  /// A charge below which a service is shed.
  private static func threshold(
    _ name: String, _ field: Field<Int?>, _ meaning: String
  ) -> ProfileKey {
    ProfileKey(
      "battery", name, .integer(BoardProfile.Battery.chargeRange), optional: field, meaning)
  }
}

extension ProfileSchema {
  private static let milliwatts = 0.0...100_000.0

  static let identity: [ProfileKey] = [
    ProfileKey(
      "", "name", .text(1...64), \.name,
      "Name of the board and of its folder: lower-case letters, digits and hyphens."),
    ProfileKey(
      "", "description", .text(1...200), \.summary, "Description of the board in one sentence."),
  ]

  static let board: [ProfileKey] = [
    ProfileKey(
      "board", "delivery_hold_s", .seconds(0...60), \.board.deliveryHold,
      "Maximum time that the board waits for the acknowledgement of a delivery before it is suspended."
    ),
    ProfileKey(
      "board", "session_light_line", .text(1...64), optional: \.board.sessionLightLine,
      "GPIO line of an indicator light that is on during a background session."),
    ProfileKey(
      "board.awake", "power_mw", .number(milliwatts), \.board.awake_mw,
      "Power while running code."),
    ProfileKey(
      "board.idle", "power_mw", .number(milliwatts), \.board.idle.power_mw, "Power in this state."),
    ProfileKey(
      "board.idle", "resume_s", .seconds(0...10), \.board.idle.resumeTime,
      "Time from the wake event until code runs."),
    ProfileKey(
      "board.idle", "alarm_resolution_s", .seconds(0...60), \.board.idle.alarmResolution,
      "Maximum delay of a timer."),
    ProfileKey(
      "board.suspended", "power_mw", .number(milliwatts), \.suspended.power_mw,
      "Power in this state."),
    ProfileKey(
      "board.suspended", "resume_s", .seconds(0...60), \.suspended.resumeTime,
      "Time from the wake event until code runs."),
    ProfileKey(
      "board.suspended", "alarm_resolution_s", .seconds(0...60), \.suspended.alarmResolution,
      "Maximum delay of the alarm; 1 for most real-time clocks."),
    ProfileKey(
      "board.suspended", "shortest_s", .seconds(0...3_600), \.suspended.minimumDuration,
      "Minimum time until the next alarm for this state; for a nearer alarm the board stays in a lighter state."
    ),
    ProfileKey(
      "board.suspended", "wakes_on", .wakeSources(), \.suspended.wakeSources,
      "Events that end this state; must contain `alarm`."),
    ProfileKey(
      "board.off", "power_mw", .number(milliwatts), \.off.power_mw, "Power in this state."),
    ProfileKey(
      "board.off", "resume_s", .seconds(0...600), \.off.resumeTime,
      "Time from the alarm until the service runs: the boot."),
    ProfileKey(
      "board.off", "alarm_resolution_s", .seconds(0...3_600), \.off.alarmResolution,
      "Maximum delay of the alarm."),
    ProfileKey(
      "board.off", "shortest_s", .seconds(120...86_400), \.off.minimumDuration,
      "Minimum time until the next alarm for this state; for a nearer alarm the board stays in a lighter state."
        + " The board is switched off only if no program has called the service for this time, or for 30 s after a start by its own alarm."
    ),
    ProfileKey(
      "board.off", "alarm", .word(BoardProfile.PowerOnAlarm.allCases.map { ($0.rawValue, $0) }),
      \.board.offAlarm, required: false,
      "The alarm that switches the board on: its real-time clock, or a HAT."),
    ProfileKey(
      "board.off", "i2c_bus", .integer(0...255), \.board.i2cBus, required: false,
      "Number of the I²C bus of the HAT; 1 is `/dev/i2c-1`."),
  ]

  static let motion: [ProfileKey] = [
    ProfileKey(
      "motion", "line", .text(1...64), \.motion.line,
      "GPIO line that is active while the sensor detects motion."),
    ProfileKey(
      "motion", "still_after_s", .seconds(0.1...600), \.motion.stillAfter, required: false,
      "Time from the last motion until the line becomes inactive."),
  ]

  static let cache: [ProfileKey] = [
    ProfileKey(
      "cache", "capacity_fixes", .integer(BoardProfile.Cache.capacityRange), \.cache.capacity,
      "Capacity of the ring, in fixes of 64 bytes."),
    ProfileKey(
      "cache", "deferral_limit_fixes", .integer(BoardProfile.Cache.deferralLimitRange),
      \.cache.deferralLimit,
      "Number of fixes at which a deferring client receives its batch; at most half of the capacity."
    ),
    ProfileKey(
      "cache", "sync_s", .seconds(1...3_600), \.cache.syncInterval, required: false,
      "Maximum time between two syncs of the ring to disk: fixes of this time can be lost in a power cut."
    ),
  ]

  static let policy: [ProfileKey] = [
    ProfileKey(
      "policy", "plausible_speed_mps", .number(0.1...1_000), \.policy.plausibleSpeed_mps,
      required: false, "Maximum plausible speed of the device."),
    ProfileKey(
      "policy", "shortest_poll_s", .seconds(1...3_600), \.policy.minimumCheckInterval,
      required: false,
      "Minimum time between two drains of a batching receiver that check the distance travelled."),
    ProfileKey(
      "policy", "receiver_hold_s", .seconds(0...600), \.policy.receiverHold, required: false,
      "Maximum time for which the receiver stays on after the last demand ended, to complete its"
        + " ephemeris."),
    ProfileKey(
      "policy", "search_limit_s", .seconds(10...3_600), \.policy.acquisitionTimeout,
      required: false, "Time after which an acquisition without a fix ends."),
  ]
}

extension ProfileSchema {
  /// Length of the value of a key that names a GPIO line, characters.
  private static let lineLength = 1...64

  static let receiver: [ProfileKey] =
    [
      ProfileKey(
        "receiver", "family", .word(ReceiverFamily.allCases.map { ("\($0.name)", $0) }),
        \.receiver.family,
        "Command set: UBX, or `$PMTK`, `$PAIR`, `$PCAS` or `$PSTM` sentences. `nmea` is a receiver that streams NMEA; "
          + "the service sends it nothing."),
      ProfileKey(
        "receiver", "output", .word([("ubx", .ubx), ("nmea", .nmea)]), \.receiver.output,
        "Output protocol: UBX-NAV-PVT (u-blox receivers only) or NMEA."),
      ProfileKey(
        "receiver", "model", .text(1...64), optional: \.receiver.model,
        "Name of the part, for display."),
      ProfileKey(
        "receiver", "device", .text(1...256), optional: \.receiver.device,
        "Path of the serial device on Linux, for example `/dev/serial0`."),
      ProfileKey(
        "receiver", "line_speed_baud", .lineSpeed(), \.receiver.lineSpeed_baud,
        "Line speed in operation."),
      ProfileKey(
        "receiver", "default_line_speed_baud", .lineSpeed(), \.receiver.defaultLineSpeed_baud,
        "Line speed after power-on, before any configuration."),
      ProfileKey(
        "receiver", "fix_interval_ms", .milliseconds(100...60_000), \.receiver.fixInterval,
        "Time between two fixes."),
      ProfileKey(
        "receiver", "wake_line", .text(lineLength), optional: \.receiver.wakeLine,
        "GPIO line that wakes the receiver from standby (EXTINT); omit it if not wired."),
      ProfileKey(
        "receiver", "supply_line", .text(lineLength), optional: \.receiver.supplyLine,
        "GPIO line that switches the supply; omit it if the receiver is always supplied."),
      ProfileKey(
        "receiver", "pulse_line", .text(lineLength), optional: \.receiver.pulseLine,
        "GPIO line of the pulse per second (TIMEPULSE, 1PPS), which the service uses to time fixes; omit it if "
          + "not wired."),
      ProfileKey(
        "receiver", "backup_supply", .boolean(), \.receiver.hasBackupSupply, required: false,
        "Whether a backup supply keeps clock and ephemeris while the supply is off."),
      ProfileKey(
        "receiver", "range_error_m", .number(0.1...100), \.receiver.rangeError_m, required: false,
        "Horizontal accuracy at HDOP 1."),
      ProfileKey(
        "receiver", "assumed_accuracy_m", .number(0.1...10_000), \.receiver.assumedAccuracy_m,
        required: false, "Horizontal accuracy of a fix for which the receiver reports none."),
      ProfileKey(
        "receiver", "acknowledge_timeout_s", .seconds(0.05...10), \.receiver.acknowledgeTimeout,
        required: false, "Timeout for the response to a command."),
      ProfileKey(
        "receiver", "wake_settle_s", .seconds(0...10), \.receiver.wakeSettle, required: false,
        "Time from the wake edge until the receiver accepts commands."),
      ProfileKey(
        "receiver", "supply_settle_s", .seconds(0...10), \.receiver.supplySettle, required: false,
        "Time from switching the supply on until the receiver accepts commands."),
      ProfileKey(
        "receiver", "silence_timeout_s", .seconds(1...600), \.receiver.silenceTimeout,
        required: false, "Time without input after which the receiver counts as lost."),
    ] + power + batch + timeToFix

  private static let power: [ProfileKey] = [
    ProfileKey(
      "receiver.power", "acquire_mw", .number(milliwatts), \.receiver.power.acquire_mw,
      "Acquisition: searching for satellites."),
    ProfileKey(
      "receiver.power", "track_mw", .number(milliwatts), \.receiver.power.track_mw,
      "Tracking, with a fix per interval."),
    ProfileKey(
      "receiver.power", "powersave_mw", .number(milliwatts),
      optional: \.receiver.power.powersave_mw,
      "Power save mode, tracking with its own duty cycle; if omitted, the mode is not used."),
    ProfileKey(
      "receiver.power", "standby_mw", .number(milliwatts), \.receiver.power.standby_mw,
      "Asleep by command with the supply on."),
    ProfileKey(
      "receiver.power", "backup_mw", .number(milliwatts), \.receiver.power.backup_mw,
      required: false, "Supply off, backup supply on."),
    ProfileKey(
      "receiver.power", "off_mw", .number(milliwatts), \.receiver.power.off_mw, required: false,
      "Supply and backup supply off; leakage of the supply switch."),
  ]

  private static let batch: [ProfileKey] = [
    ProfileKey(
      "receiver.batch", "capacity_fixes", .integer(2...65_535), \.batch.capacity,
      "Capacity of the receiver's buffer, in fixes."),
    ProfileKey(
      "receiver.batch", "watermark_fixes", .integer(1...65_534), \.batch.watermark,
      "Number of fixes at which the board is woken to drain the buffer; less than the capacity."),
    ProfileKey(
      "receiver.batch", "extra_pvt", .boolean(), \.batch.hasExtraPVT, required: false,
      "Whether entries also contain accuracies, satellites and velocity."),
    ProfileKey(
      "receiver.batch", "power_mw", .number(milliwatts), \.batchPower_mw,
      "Power while batching; most receivers keep tracking."),
    ProfileKey(
      "receiver.batch", "line", .text(lineLength), optional: \.batch.line,
      "GPIO line that is connected to the batch pin; omit it if not wired."),
    ProfileKey(
      "receiver.batch", "pio", .integer(0...31), optional: \.batch.pio,
      "PIO number of the batch pin in the receiver."),
    ProfileKey(
      "receiver.batch", "active_low", .boolean(), \.batch.isActiveLow, required: false,
      "Whether the pin is low while the watermark is reached."),
  ]

  private static let timeToFix: [ProfileKey] = [
    ProfileKey(
      "receiver.time_to_fix", "after_off", .points(0...10_000_000, most: 16),
      \.receiver.timeToFix.afterOff,
      "Median time to fix `fix_s` after `off_s` without fixes. The first pair has `off_s` 0; linear"
        + " between two pairs, constant after the last one; the same `off_s` twice forms a step."),
    ProfileKey(
      "receiver.time_to_fix", "ephemeris_s", .seconds(60...1_209_600),
      \.receiver.timeToFix.ephemerisLifetime,
      "Maximum age of a usable ephemeris."),
    ProfileKey(
      "receiver.time_to_fix", "ephemeris_download_s", .seconds(0...600),
      \.receiver.timeToFix.ephemerisDownload, required: false,
      "Tracking time until the receiver has a new ephemeris; GPS repeats it every 30 s."),
    ProfileKey(
      "receiver.time_to_fix", "cold_s", .seconds(0.1...3_600), \.receiver.timeToFix.coldStart,
      "Median time to fix without ephemeris."),
    ProfileKey(
      "receiver.time_to_fix", "p90_ratio", .number(1...20), \.receiver.timeToFix.p90Ratio,
      required: false, "The 90th percentile as a multiple of the median."),
  ]
}
