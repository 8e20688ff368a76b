import BoardHardware
import GNSSProtocols
import LocationTypes
import TOMLFiles

/// A rule that concerns several keys.
struct ProfileRule: Sendable {
  /// How a profile violates the rule.
  struct Violation: Equatable {
    var key: String
    var problem: String
    var expected: String
  }

  /// The keys and tables that the rule reads. It applies if their tables exist and all of them are valid.
  let keys: [String]
  /// Returns the violation; nil if the profile satisfies the rule.
  let check: @Sendable (ProfileDraft) -> Violation?
}

/// The rules that concern several keys of a profile, in addition to the range of each key.
enum ProfileRules {
  static let all: [ProfileRule] =
    [
      name, awakePowerIsPositive, awakePowerIsHighest, suspendedPowerBelowIdle, offPowerBelowIdle,
      deferralLimit, watermark,
      batchNeedsBuffer, batchLineNeedsPIO, batchPIONeedsLine,
      batchCapacity, outputOfFamily, intervalOfFamily, speedOfFamily, epochFitsLine, wakesOnAlarm,
      wakingBatchPinIsWired, wakingMotionIsWired,
      wakingReceiverExists,
      coldIsLongest, batteryHasThreshold, accuracyShedAfterEveryFix, updatesShedAfterEveryFix,
      updatesShedAfterAccuracy,
    ] + lineRules

  static let name = ProfileRule(keys: ["name"]) { draft in
    let isPlain = draft.name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
    }
    if isPlain { return nil }
    return .init(
      key: "name", problem: "\"\(draft.name)\" is not a portable folder name",
      expected: "lower-case letters, digits and hyphens")
  }

  private static let awakePowerIsPositive = ProfileRule(keys: ["board.awake.power_mw"]) { draft in
    guard draft.board.awake_mw <= 0 else { return nil }
    return .init(
      key: "board.awake.power_mw", problem: "0 mW is not possible while code runs",
      expected: "more than 0, measured with one core busy")
  }

  /// The planner assumes that a deeper sleep state needs less power.
  private static let awakePowerIsHighest = ProfileRule(
    keys: ["board.awake.power_mw", "board.idle.power_mw"]
  ) { draft in
    let awake = draft.board.awake_mw, idle = draft.board.idle.power_mw
    guard awake > 0, awake < idle else { return nil }
    return .init(
      key: "board.awake.power_mw",
      problem: "\(decimalText(awake)) mW is less than the \(decimalText(idle)) mW of [board.idle]",
      expected: "at least \(decimalText(idle)), measured with one core busy")
  }

  private static let suspendedPowerBelowIdle = ProfileRule(
    keys: ["board.idle.power_mw", "board.suspended.power_mw"]
  ) { draft in
    checkNotAboveIdle("board.suspended", draft.suspended.power_mw, idle: draft.board.idle.power_mw)
  }

  private static let offPowerBelowIdle = ProfileRule(
    keys: ["board.idle.power_mw", "board.off.power_mw"]
  ) { draft in
    checkNotAboveIdle("board.off", draft.off.power_mw, idle: draft.board.idle.power_mw)
  }

  private static func checkNotAboveIdle(
    _ table: String, _ power_mw: Double, idle idle_mw: Double
  ) -> ProfileRule.Violation? {
    guard power_mw > idle_mw else { return nil }
    return .init(
      key: table + ".power_mw",
      problem: "\(decimalText(power_mw)) mW is more than the \(decimalText(idle_mw)) mW of "
        + "[board.idle], so the state would save nothing",
      expected: "at most \(decimalText(idle_mw)), or no table [\(table)]")
  }

  static let deferralLimit = ProfileRule(
    keys: ["cache.capacity_fixes", "cache.deferral_limit_fixes"]
  ) { draft in
    let maximum = draft.cache.capacity / 2
    guard draft.cache.deferralLimit > maximum else { return nil }
    return .init(
      key: "cache.deferral_limit_fixes",
      problem: "\(draft.cache.deferralLimit) is more than half of capacity_fixes",
      expected: "at most \(maximum)")
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

  private static let batchNeedsBuffer = ProfileRule(keys: ["receiver.batch", "receiver.family"]) {
    draft in
    guard !draft.receiver.family.has(.batching) else { return nil }
    return .init(
      key: "receiver.batch",
      problem: "a receiver of the family \"\(draft.receiver.family.name)\" cannot batch",
      expected: "no table [receiver.batch], or the family \"ublox-m10\" or \"ublox-m8\"")
  }

  private static let batchLineNeedsPIO = ProfileRule(
    keys: ["receiver.batch.line", "receiver.batch.pio"]
  ) { draft in
    guard draft.batch.line != nil, draft.batch.pio == nil else { return nil }
    return .init(
      key: "receiver.batch.pio", problem: "is missing, but `line` is set",
      expected: "the receiver's PIO number of the batch pin")
  }

  private static let batchPIONeedsLine = ProfileRule(
    keys: ["receiver.batch.line", "receiver.batch.pio"]
  ) { draft in
    guard draft.batch.line == nil, draft.batch.pio != nil else { return nil }
    return .init(
      key: "receiver.batch.line", problem: "is missing, but `pio` is set",
      expected: "the GPIO line that the batch pin is connected to")
  }

  /// Capacity in UBX-LOG-BATCH entries: 600 basic ones or 309 with the extra PVT fields for the M10, 300 for the M8.
  private static let batchCapacity = ProfileRule(
    keys: ["receiver.family", "receiver.batch.capacity_fixes", "receiver.batch.extra_pvt"]
  ) { draft in
    let family = draft.receiver.family.descriptor
    guard let limits = family.batchLimits else { return nil }
    let maximum = limits.entries(extraPVT: draft.batch.hasExtraPVT)
    guard draft.batch.capacity > maximum else { return nil }
    let format =
      limits.basic == limits.extraPVT
      ? "" : " \(draft.batch.hasExtraPVT ? "with" : "without") extra_pvt"
    return .init(
      key: "receiver.batch.capacity_fixes",
      problem:
        "\(draft.batch.capacity) is more than a \(family.maker) \(family.generation) holds\(format)",
      expected: "at most \(maximum)")
  }

  private static let outputOfFamily = ProfileRule(keys: ["receiver.family", "receiver.output"]) {
    draft in
    guard !draft.receiver.family.has(.ubxOutput), draft.receiver.output == .ubx else { return nil }
    return .init(
      key: "receiver.output",
      problem: "a receiver of the family \"\(draft.receiver.family.name)\" sends no UBX",
      expected: "\"nmea\"")
  }

  /// An epoch with the longest fields must end before the next one. Ten bits per byte.
  static let epochFitsLine = ProfileRule(
    keys: [
      "receiver.family", "receiver.output", "receiver.line_speed_baud", "receiver.fix_interval_ms",
    ]
  ) { draft in
    let receiver = draft.receiver
    let bytes = receiver.family.epochLength(receiver.output).least
    let needed_ms = (bytes * 10 * 1_000 + receiver.lineSpeed_baud - 1) / receiver.lineSpeed_baud
    guard receiver.fixInterval < .milliseconds(Int64(needed_ms)) else { return nil }
    return .init(
      key: "receiver.fix_interval_ms",
      problem: "transmission of a fix lasts \(needed_ms) ms at \(receiver.lineSpeed_baud) baud",
      expected: "a longer interval or a faster line")
  }

  private static let wakesOnAlarm = ProfileRule(keys: ["board.suspended.wakes_on"]) { draft in
    guard !draft.suspended.wakeSources.contains(.alarm) else { return nil }
    return .init(
      key: "board.suspended.wakes_on", problem: "\"alarm\" is missing",
      expected: "\"alarm\", which the service needs to wake in time")
  }

  private static let wakingBatchPinIsWired = ProfileRule(
    keys: ["board.suspended.wakes_on"]
  ) { draft in
    guard draft.suspended.wakeSources.contains(.batchPin), draft.tables.contains("receiver"),
      !draft.tables.contains("receiver.batch") || !draft.batch.isPinWired
    else { return nil }
    return .init(
      key: "board.suspended.wakes_on", problem: "\"batch_pin\" is not wired",
      expected: "`line` and `pio` in [receiver.batch]")
  }

  private static let wakingMotionIsWired = ProfileRule(keys: ["board.suspended.wakes_on"]) {
    draft in
    guard draft.suspended.wakeSources.contains(.motion), !draft.tables.contains("motion") else {
      return nil
    }
    return .init(
      key: "board.suspended.wakes_on", problem: "\"motion\" is not wired",
      expected: "a table [motion]")
  }

  private static let wakingReceiverExists = ProfileRule(keys: ["board.suspended.wakes_on"]) {
    draft in
    let wakes = draft.suspended.wakeSources
    guard !wakes.isDisjoint(with: [.bytes, .batchPin]), !draft.tables.contains("receiver") else {
      return nil
    }
    return .init(
      key: "board.suspended.wakes_on",
      problem: "\"bytes\" and \"batch_pin\" need a receiver",
      expected: "neither of these, or a table [receiver]")
  }

  private static let coldIsLongest = ProfileRule(
    keys: ["receiver.time_to_fix.after_off", "receiver.time_to_fix.cold_s"]
  ) { draft in
    let timeToFix = draft.receiver.timeToFix
    guard let last = timeToFix.afterOff.last, last.fix > timeToFix.coldStart else { return nil }
    return .init(
      key: "receiver.time_to_fix.cold_s",
      problem: "\(decimalText(timeToFix.coldStart.seconds)) s is less than the last fix_s "
        + "of after_off",
      expected: "at least \(decimalText(last.fix.seconds))")
  }
}

// The battery thresholds must shed the most demanding services first (PWR-10).

extension ProfileRules {
  private static let batteryHasThreshold = ProfileRule(
    keys: [
      "battery.every_fix_percent", "battery.accuracy_percent", "battery.updates_percent",
      "battery.visits_percent", "battery.regions_percent", "battery.significant_percent",
    ]
  ) { draft in
    let battery = draft.battery
    let charges = [
      battery.everyFix, battery.accuracy, battery.updates, battery.visits, battery.regions,
      battery.significantChange,
    ]
    guard charges.allSatisfy({ ($0 ?? 0) == 0 }) else { return nil }
    return .init(
      key: "battery", problem: "sets no threshold, so it has no effect",
      expected: "one of every_fix_percent, updates_percent, visits_percent, regions_percent and"
        + " significant_percent, or no table [battery]")
  }

  private static let accuracyShedAfterEveryFix = ProfileRule(
    keys: ["battery.every_fix_percent", "battery.accuracy_percent"]
  ) { draft in
    guard let accuracy = draft.battery.accuracy else { return nil }
    guard let everyFix = draft.battery.everyFix else {
      return .init(
        key: "battery.accuracy_percent",
        problem: "every_fix_percent is missing, so clients that want every fix would lose nothing",
        expected: "every_fix_percent, at least \(accuracy)")
    }
    return checkThresholdOrder("accuracy_percent", accuracy, after: "every_fix_percent", everyFix)
  }

  private static let updatesShedAfterEveryFix = ProfileRule(
    keys: ["battery.every_fix_percent", "battery.updates_percent"]
  ) { draft in
    guard let updates = draft.battery.updates, let everyFix = draft.battery.everyFix else {
      return nil
    }
    return checkThresholdOrder("updates_percent", updates, after: "every_fix_percent", everyFix)
  }

  private static let updatesShedAfterAccuracy = ProfileRule(
    keys: ["battery.accuracy_percent", "battery.updates_percent"]
  ) { draft in
    guard let updates = draft.battery.updates, let accuracy = draft.battery.accuracy else {
      return nil
    }
    return checkThresholdOrder("updates_percent", updates, after: "accuracy_percent", accuracy)
  }

  private static func checkThresholdOrder(
    _ name: String, _ charge: Int, after first: String, _ firstCharge: Int
  ) -> ProfileRule.Violation? {
    guard charge > firstCharge else { return nil }
    return .init(
      key: "battery." + name, problem: "\(charge) is above the \(firstCharge) of \(first)",
      expected: "at most \(firstCharge); services that need more accuracy are shed first")
  }
}

// Limits of the commands of a receiver family.

extension ProfileRules {
  static let intervalOfFamily = ProfileRule(
    keys: ["receiver.family", "receiver.fix_interval_ms"]
  ) { draft in
    let interval = draft.receiver.fixInterval
    let permitted = draft.receiver.family.descriptor.intervals
    guard !permitted.contains(interval) else { return nil }
    let expected =
      switch permitted {
      case .any: "any"
      case .upTo(let maximum_ms): "at most \(maximum_ms)"
      case .list(let values):
        joinedWithOr(values.indices.map { values[$0] }.filter { $0 > 0 }.map { "\($0)" })
      }
    return .init(
      key: "receiver.fix_interval_ms",
      problem: "the commands of the family \"\(draft.receiver.family.name)\" cannot set "
        + "an interval of "
        + "\(interval.microseconds / 1_000) ms",
      expected: expected)
  }

  static let speedOfFamily = ProfileRule(
    keys: ["receiver.family", "receiver.line_speed_baud"]
  ) { draft in
    let maximum = draft.receiver.family.descriptor.maximumBaudRate
    guard draft.receiver.lineSpeed_baud > maximum else { return nil }
    return .init(
      key: "receiver.line_speed_baud",
      problem: "the commands of the family \"\(draft.receiver.family.name)\" cannot set "
        + "\(draft.receiver.lineSpeed_baud) baud",
      expected: "at most \(maximum)")
  }
}

extension ProfileRules {
  /// Each key that names a GPIO line has valid syntax, and no two keys name the same line.
  static var lineRules: [ProfileRule] {
    var rules = LineKey.all.map(lineSyntaxRule)
    for (index, first) in LineKey.all.enumerated() {
      rules += LineKey.all.dropFirst(index + 1).map { distinctLinesRule(first, $0) }
    }
    return rules
  }

  private static func lineSyntaxRule(_ key: LineKey) -> ProfileRule {
    ProfileRule(keys: [key.path]) { draft in
      guard let text = key.line(draft), !text.isEmpty else { return nil }
      do throws(GPIOLineError) {
        _ = try GPIOLine(text)
        return nil
      } catch {
        return .init(
          key: key.path, problem: "\"\(text)\" is not a GPIO line: \(error.description)",
          expected: "a line name or gpiochip0:17, followed by attributes separated by commas")
      }
    }
  }

  private static func distinctLinesRule(_ first: LineKey, _ second: LineKey) -> ProfileRule {
    ProfileRule(keys: [first.path, second.path]) { draft in
      guard let one = first.line(draft).flatMap({ try? GPIOLine($0) }),
        let other = second.line(draft).flatMap({ try? GPIOLine($0) }), one.address == other.address
      else { return nil }
      return .init(
        key: second.path, problem: "\(other.text) is already used for \(first.path)",
        expected: "a different line")
    }
  }
}
