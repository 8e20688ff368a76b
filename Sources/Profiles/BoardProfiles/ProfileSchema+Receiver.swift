extension ProfileSchema {
  private static let milliwatts = 0.0...100_000.0
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
