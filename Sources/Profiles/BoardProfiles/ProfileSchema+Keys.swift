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
