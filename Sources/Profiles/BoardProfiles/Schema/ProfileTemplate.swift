import LocationTypes

/// Writes a profile as TOML with comments from the schema: meaning, type and range of each key, and the
/// optional keys that can be added.
public enum ProfileTemplate {
  /// The tables and keys of `new` with comments. Optional tables and keys that are not set are commented out.
  ///
  /// Lines have at most 80 columns, except where a name or value is longer.
  public static func text(_ new: NewProfile) -> String {
    var text = comment(
      "Capabilities and power of this board and its receiver. To set an optional key, remove the # before"
        + " it. `torpor board check` reports errors. README.md names the source of each value.")
    for table in ProfileSchema.tables {
      let isIncluded = new.draft.tables.contains(table.path)
      let absence = isIncluded ? "" : new.notes[table.path] == nil ? " Not on this board." : ""
      let note = new.notes[table.path].map { " " + $0 } ?? ""
      text += "\n" + comment(table.meaning + absence + note)
      if !table.path.isEmpty { text += (isIncluded ? "" : "# ") + "[\(table.path)]\n" }
      for key in ProfileSchema.keys(of: table.path) {
        text += entry(key, new, isIncluded)
      }
    }
    return text
  }

  /// The template in the documentation, with only a name given.
  public static var example: String {
    var new = NewProfile()
    new.draft.name = "my-board"
    new.propose()
    return text(new)
  }

  /// `words` as comment lines of at most 80 columns, each with a newline.
  public static func comment(_ words: String) -> String {
    var lines: [String] = []
    var line = "#"
    for word in words.split(separator: " ") {
      if line.count + 1 + word.count > 80, line.count > 1 {
        lines.append(line)
        line = "#"
      }
      line += " " + word
    }
    return (lines + [line]).joined(separator: "\n") + "\n"
  }

  /// Remarks on values that are proposed and not given.
  private static let measureRemark =
    " Measure this: the proposed value is only an order of magnitude."
  private static let lookUpRemark = " Look this up: the value is only proposed."

  private static func entry(_ key: ProfileKey, _ new: NewProfile, _ isIncluded: Bool) -> String {
    let value = key.get(new.draft), blank = key.get(ProfileDraft())
    let isDefault = !key.isRequired && value != nil && value == blank
    var remarks = key.meaning + " Value: " + key.expectation + "."
    if isDefault {
      remarks += " This is the default."
    } else if isIncluded, new.isProposed(key.path), value != nil {
      remarks += key.unit == "baud" ? lookUpRemark : measureRemark
    }
    if let note = new.notes[key.path] { remarks += " " + note }
    let line = "\(key.name) = \((value ?? example(key)).text)\n"
    return comment(remarks) + (isIncluded && value != nil && !isDefault ? "" : "# ") + line
  }

  /// An example value of an optional key.
  private static func example(_ key: ProfileKey) -> ProfileValue {
    switch key.constraint {
    case .text: return .text(examples[key.path] ?? "NAME")
    case .word(let words): return .text(words[0])
    case .words(let words): return .words([words[0]])
    case .boolean: return .boolean(true)
    case .integer(let range): return .integer(range.lowerBound)
    case .integerAmong(let numbers): return .integer(numbers[0])
    case .number(let range): return .number(range.lowerBound)
    case .points: return .points([.init(off: .zero, fix: .seconds(1))])
    }
  }

  private static let examples = [
    "receiver.model": "the part's name", "receiver.device": "/dev/ttyS0",
    "receiver.wake_line": "GNSS_WAKE", "receiver.supply_line": "GNSS_SUPPLY",
    "receiver.pulse_line": "GNSS_PULSE", "receiver.batch.line": "GNSS_BATCH",
    "motion.line": "MOTION", "battery.gauge": "battery", "battery.low_line": "BATTERY_LOW",
    "board.session_light_line": "SESSION_LIGHT",
  ]
}

extension NewProfile {
  /// Whether the value at `path` is a proposal for a property of the board, which the user must measure or look
  /// up.
  fileprivate func isProposed(_ path: String) -> Bool {
    !given.contains(path) && !NewProfile.notMeasured.contains(path)
  }

  /// Keys whose values are choices and not measurements.
  private static let notMeasured: Set<String> = [
    "name", "description", "board.delivery_hold_s", "receiver.family", "receiver.output",
    "receiver.fix_interval_ms", "receiver.backup_supply", "receiver.batch.watermark_fixes",
    "motion.line",
    "cache.capacity_fixes", "cache.deferral_limit_fixes",
    "battery.every_fix_percent", "battery.accuracy_percent", "battery.updates_percent",
    "battery.visits_percent", "battery.regions_percent", "battery.significant_percent",
  ]

  /// The values that the profile sets and whether each was given, for the table of sources in the README. A choice
  /// (``notMeasured``) is listed only if it was given.
  public var values: [(path: String, value: String, isGiven: Bool)] {
    let blank = ProfileDraft()
    return ProfileSchema.keys.compactMap { key in
      guard draft.tables.contains(key.table), !key.table.isEmpty, let value = key.get(draft),
        key.isRequired || value != key.get(blank),
        given.contains(key.path) || isProposed(key.path)
      else { return nil }
      return (key.path, value.text, given.contains(key.path))
    }
  }

  /// The lines that connect board, receiver and motion sensor: key and name, as far as they are set.
  public var wiring: [(key: String, name: String)] {
    let device = draft.tables.contains("receiver") ? draft.receiver.device : nil
    let lines = draft.lines.filter {
      $0.path.hasPrefix("receiver.") || $0.path.hasPrefix("motion.")
    }
    return (device.map { [("device", $0)] } ?? []) + lines.map { ($0.name, $0.text) }
  }
}
