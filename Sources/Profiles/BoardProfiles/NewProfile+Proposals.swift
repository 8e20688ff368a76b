import LocationTypes

extension NewProfile {
  /// Fills in what nobody gave, from what somebody did; every rule between keys holds among
  /// proposals, whatever was given first.
  mutating func propose() {
    proposeReceiver()
    proposeBoard()
    propose("motion.line", \.motion.line, "MOTION")
    proposeBattery()
    propose("cache.capacity_fixes", \.cache.capacity, 8_192)
    // Half an answered limit of a ring is the most there is (RNG-1).
    propose("cache.deferral_limit_fixes", \.cache.deferralLimit, max(1, draft.cache.capacity / 2))
    propose("description", \.summary, "A board that nobody has described yet")
  }

  private mutating func proposeReceiver() {
    let streams = !draft.receiver.family.takesCommands
    let isUBlox = draft.receiver.family.isUBlox
    propose("receiver.output", \.receiver.output, isUBlox ? .ubx : .nmea)
    propose("receiver.line_speed_baud", \.receiver.lineSpeed_baud, isUBlox ? 115_200 : 9_600)
    propose(
      "receiver.default_line_speed_baud", \.receiver.defaultLineSpeed_baud,
      streams ? draft.receiver.lineSpeed_baud : 9_600)
    propose("receiver.fix_interval_ms", \.receiver.fixInterval, .seconds(1))
    propose("receiver.power.acquire_mw", \.receiver.power.acquire_mw, isUBlox ? 30 : 82.5)
    propose("receiver.power.track_mw", \.receiver.power.track_mw, isUBlox ? 25 : 66)
    let track = draft.receiver.power.track_mw
    // One that takes no commands goes on tracking.
    propose(
      "receiver.power.standby_mw", \.receiver.power.standby_mw, streams ? track : isUBlox ? 0.2 : 2)
    propose(
      "receiver.power.backup_mw", \.receiver.power.backup_mw,
      draft.receiver.hasBackupSupply ? 0.05 : 0)
    let capacity =
      draft.receiver.family == .ubloxM8 ? 300 : draft.batch.hasExtraPVT ? 309 : 600
    propose("receiver.batch.capacity_fixes", \.batch.capacity, capacity)
    let room = max(1, draft.batch.capacity / 10)
    propose("receiver.batch.watermark_fixes", \.batch.watermark, draft.batch.capacity - room)
    propose("receiver.batch.power_mw", \.batch.power_mw, track)
    propose("receiver.time_to_fix.ephemeris_s", \.receiver.timeToFix.ephemeris, .seconds(14_400))
    propose("receiver.time_to_fix.cold_s", \.receiver.timeToFix.cold, .seconds(30))
    propose("receiver.time_to_fix.after_off", \.receiver.timeToFix.afterOff, timesToFix)
  }

  /// A few seconds while the ephemeris is good, then slower, up to a cold start.
  private var timesToFix: [BoardProfile.TimeToFixPoint] {
    let cold = draft.receiver.timeToFix.cold
    let warm = min(.seconds(3), cold)
    return [
      .init(off: .zero, fix: warm), .init(off: .seconds(60), fix: warm),
      .init(off: .seconds(600), fix: min(.seconds(11), cold)),
      .init(off: .seconds(14_400), fix: cold),
    ]
  }

  private mutating func proposeBoard() {
    propose("board.delivery_hold_s", \.board.deliveryHold, .milliseconds(500))
    let idleGiven = given.contains("board.idle.power_mw") ? draft.board.idle.power_mw : 0
    propose("board.awake.power_mw", \.board.awake_mw, max(1_000, idleGiven))
    propose("board.idle.power_mw", \.board.idle.power_mw, min(600, draft.board.awake_mw))
    propose("board.idle.resume_s", \.board.idle.resume, .milliseconds(1))
    propose("board.idle.alarm_resolution_s", \.board.idle.alarmResolution, .milliseconds(1))
    let idle = draft.board.idle.power_mw
    propose("board.suspended.power_mw", \.suspended.power_mw, min(100, idle))
    propose("board.suspended.resume_s", \.suspended.resume, .seconds(1))
    propose("board.suspended.alarm_resolution_s", \.suspended.alarmResolution, .seconds(1))
    propose("board.suspended.shortest_s", \.suspended.shortest, .seconds(5))
    propose("board.suspended.wakes_on", \.suspended.wakesOn, .alarm)
    propose("board.off.power_mw", \.off.power_mw, min(20, idle))
    propose("board.off.resume_s", \.off.resume, .seconds(30))
    propose("board.off.alarm_resolution_s", \.off.alarmResolution, .seconds(1))
    propose("board.off.shortest_s", \.off.shortest, .seconds(120))
  }

  /// From the finest to the least, what costs most first; a day's reserve for the last ones.
  private mutating func proposeBattery() {
    func given(_ path: String, _ charge: Int?) -> Int {
      self.given.contains(path) ? charge ?? 0 : 0
    }
    let updates = given("battery.updates_percent", draft.battery.updates)
    let accuracy = max(given("battery.accuracy_percent", draft.battery.accuracy), updates)
    propose("battery.every_fix_percent", \.battery.everyFix, max(30, accuracy))
    let most = draft.battery.everyFix ?? 0
    propose("battery.accuracy_percent", \.battery.accuracy, min(max(20, updates), most))
    propose("battery.updates_percent", \.battery.updates, min(12, draft.battery.accuracy ?? 0))
    propose("battery.visits_percent", \.battery.visits, 8)
    propose("battery.regions_percent", \.battery.regions, 6)
    propose("battery.significant_percent", \.battery.significantChange, 4)
  }

  private mutating func propose<Value>(
    _ path: String, _ field: WritableKeyPath<ProfileDraft, Value>, _ value: Value
  ) {
    if !given.contains(path) { draft[keyPath: field] = value }
  }
}
