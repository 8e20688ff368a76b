import LocationTypes

/// A rule between several keys.
struct ProfileRule: Sendable {
  /// What a profile broke.
  struct Broken: Equatable {
    var key: String
    var problem: String
    var expected: String
  }

  /// The keys and tables it looks at. It is applied when their tables are there and none was wrong.
  let keys: [String]
  /// What is broken; nil when nothing is.
  let check: @Sendable (ProfileDraft) -> Broken?
}

/// What must hold between the keys of a profile, beside each one's own range.
enum ProfileRules {
  static let all: [ProfileRule] =
    [
      name, awakeDraws, awakeDrawsMost, suspendingSaves, poweringOffSaves, deferralLimit, watermark,
      batchNeedsFamily, batchPinHasNumber, batchNumberHasPin,
      batchCapacity, outputOfFamily, intervalOfFamily, speedOfFamily, epochFitsLine, alarmWakes,
      batchPinWakes, motionWakes,
      receiverWakes,
      coldIsLongest, batteryGivesUp, accuracyGoesSecond, updatesGoAfterEveryFix,
      updatesGoAfterAccuracy,
    ] + lines

  static let name = ProfileRule(keys: ["name"]) { draft in
    let isPlain = draft.name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
    }
    if isPlain { return nil }
    return .init(
      key: "name", problem: "\"\(draft.name)\" cannot be a folder's name everywhere",
      expected: "small letters, digits and hyphens")
  }

  static let awakeDraws = ProfileRule(keys: ["board.awake.power_mw"]) { draft in
    guard draft.board.awake_mw <= 0 else { return nil }
    return .init(
      key: "board.awake.power_mw", problem: "0 mW: no board runs code without power",
      expected: "more than 0, measured with one core busy")
  }

  /// The planner takes it that a deeper state costs less.
  static let awakeDrawsMost = ProfileRule(
    keys: ["board.awake.power_mw", "board.idle.power_mw"]
  ) { draft in
    let awake = draft.board.awake_mw, idle = draft.board.idle.power_mw
    guard awake > 0, awake < idle else { return nil }
    return .init(
      key: "board.awake.power_mw",
      problem: "\(shown(awake)) mW is less than the \(shown(idle)) mW of [board.idle]",
      expected: "at least \(shown(idle)), measured with one core busy")
  }

  static let suspendingSaves = ProfileRule(
    keys: ["board.idle.power_mw", "board.suspended.power_mw"]
  ) { draft in
    costlier("board.suspended", draft.suspended.power_mw, thanIdle: draft.board.idle.power_mw)
  }

  static let poweringOffSaves = ProfileRule(
    keys: ["board.idle.power_mw", "board.off.power_mw"]
  ) { draft in
    costlier("board.off", draft.off.power_mw, thanIdle: draft.board.idle.power_mw)
  }

  private static func costlier(
    _ table: String, _ power_mw: Double, thanIdle idle_mw: Double
  ) -> ProfileRule.Broken? {
    guard power_mw > idle_mw else { return nil }
    return .init(
      key: table + ".power_mw",
      problem: "\(shown(power_mw)) mW is more than the \(shown(idle_mw)) mW of [board.idle]: it"
        + " would save nothing",
      expected: "at most \(shown(idle_mw)), or no table [\(table)]")
  }

  static let deferralLimit = ProfileRule(
    keys: ["cache.capacity_fixes", "cache.deferral_limit_fixes"]
  ) { draft in
    let most = draft.cache.capacity / 2
    guard draft.cache.deferralLimit > most else { return nil }
    return .init(
      key: "cache.deferral_limit_fixes",
      problem: "\(draft.cache.deferralLimit) is more than half of capacity_fixes",
      expected: "at most \(most)")
  }

  static let watermark = ProfileRule(
    keys: ["receiver.batch.capacity_fixes", "receiver.batch.watermark_fixes"]
  ) { draft in
    guard draft.batch.watermark >= draft.batch.capacity else { return nil }
    return .init(
      key: "receiver.batch.watermark_fixes",
      problem: "\(draft.batch.watermark) is not below capacity_fixes",
      expected: "at most \(draft.batch.capacity - 1)")
  }

  static let batchNeedsFamily = ProfileRule(keys: ["receiver.batch", "receiver.family"]) { draft in
    guard !draft.receiver.family.isUBlox else { return nil }
    return .init(
      key: "receiver.batch",
      problem: "a receiver of the family \"\(draft.receiver.family.rawValue)\" cannot batch",
      expected: "no such table, or the family \"ublox-m10\" or \"ublox-m8\"")
  }

  static let batchPinHasNumber = ProfileRule(
    keys: ["receiver.batch.line", "receiver.batch.pio"]
  ) { draft in
    guard draft.batch.line != nil, draft.batch.pio == nil else { return nil }
    return .init(
      key: "receiver.batch.pio", problem: "is missing, though `line` says that the pin is wired",
      expected: "the receiver's number of that pin")
  }

  static let batchNumberHasPin = ProfileRule(
    keys: ["receiver.batch.line", "receiver.batch.pio"]
  ) { draft in
    guard draft.batch.line == nil, draft.batch.pio != nil else { return nil }
    return .init(
      key: "receiver.batch.line", problem: "is missing, though `pio` says that the pin is wired",
      expected: "the name of the board's GPIO line")
  }

  /// UBX-LOG-BATCH entries of the M10: 600 basic ones, 309 with the extra PVT fields; of the M8, 300.
  static let batchCapacity = ProfileRule(
    keys: ["receiver.family", "receiver.batch.capacity_fixes", "receiver.batch.extra_pvt"]
  ) { draft in
    guard draft.receiver.family.isUBlox else { return nil }
    let isM8 = draft.receiver.family == .ubloxM8
    let most = isM8 ? 300 : draft.batch.hasExtraPVT ? 309 : 600
    guard draft.batch.capacity > most else { return nil }
    let kind =
      isM8 ? "M8 holds" : "M10 holds \(draft.batch.hasExtraPVT ? "with" : "without") extra_pvt"
    return .init(
      key: "receiver.batch.capacity_fixes",
      problem: "\(draft.batch.capacity) is more than a u-blox \(kind)",
      expected: "at most \(most)")
  }

  static let outputOfFamily = ProfileRule(keys: ["receiver.family", "receiver.output"]) { draft in
    guard !draft.receiver.family.isUBlox, draft.receiver.output == .ubx else { return nil }
    return .init(
      key: "receiver.output",
      problem: "a receiver of the family \"\(draft.receiver.family.rawValue)\" sends no UBX",
      expected: "\"nmea\"")
  }

  /// A NAV-PVT frame has 100 bytes; RMC and GGA may have 82 each. Ten bits a byte.
  static let epochFitsLine = ProfileRule(
    keys: ["receiver.output", "receiver.line_speed_baud", "receiver.fix_interval_ms"]
  ) { draft in
    let receiver = draft.receiver
    let bytes = receiver.output == .ubx ? 100 : 164
    let needed_ms = (bytes * 10 * 1_000 + receiver.lineSpeed_baud - 1) / receiver.lineSpeed_baud
    guard receiver.fixInterval < .milliseconds(Int64(needed_ms)) else { return nil }
    return .init(
      key: "receiver.fix_interval_ms",
      problem: "a fix takes \(needed_ms) ms on the line at \(receiver.lineSpeed_baud) baud",
      expected: "a longer interval or a faster line")
  }

  static let alarmWakes = ProfileRule(keys: ["board.suspended.wakes_on"]) { draft in
    guard !draft.suspended.wakesOn.contains(.alarm) else { return nil }
    return .init(
      key: "board.suspended.wakes_on", problem: "\"alarm\" is not among it",
      expected: "\"alarm\", without which no deadline could be kept")
  }

  static let batchPinWakes = ProfileRule(
    keys: ["board.suspended.wakes_on"]
  ) { draft in
    guard draft.suspended.wakesOn.contains(.batchPin), draft.tables.contains("receiver"),
      !draft.tables.contains("receiver.batch") || !draft.batch.isPinWired
    else { return nil }
    return .init(
      key: "board.suspended.wakes_on", problem: "\"batch_pin\" is not wired",
      expected: "`line` and `pio` in [receiver.batch]")
  }

  static let motionWakes = ProfileRule(keys: ["board.suspended.wakes_on"]) { draft in
    guard draft.suspended.wakesOn.contains(.motion), !draft.tables.contains("motion") else {
      return nil
    }
    return .init(
      key: "board.suspended.wakes_on", problem: "\"motion\" is not wired",
      expected: "a table [motion]")
  }

  static let receiverWakes = ProfileRule(keys: ["board.suspended.wakes_on"]) { draft in
    let wakes = draft.suspended.wakesOn
    guard !wakes.isDisjoint(with: [.bytes, .batchPin]), !draft.tables.contains("receiver") else {
      return nil
    }
    return .init(
      key: "board.suspended.wakes_on",
      problem: "without a receiver neither \"bytes\" nor \"batch_pin\" can wake",
      expected: "neither of them, or a table [receiver]")
  }

  static let coldIsLongest = ProfileRule(
    keys: ["receiver.time_to_fix.after_off", "receiver.time_to_fix.cold_s"]
  ) { draft in
    let timeToFix = draft.receiver.timeToFix
    guard let last = timeToFix.afterOff.last, last.fix > timeToFix.cold else { return nil }
    return .init(
      key: "receiver.time_to_fix.cold_s",
      problem: "\(shown(timeToFix.cold.seconds)) s is less than the last fix_s of after_off",
      expected: "at least \(shown(last.fix.seconds))")
  }
}
