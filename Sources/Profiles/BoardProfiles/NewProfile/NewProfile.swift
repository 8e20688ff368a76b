import BoardHardware
import GNSSProtocols
import LocationTypes
import TOMLFiles

/// A new profile in progress: selects the next question, proposes values, and checks answers.
///
/// Used by `torpor board new`, and by `ProposedProfile` to revise a profile; independent of the terminal. Unanswered
/// keys get proposed values, which remain marked as such: a proposal is an order of magnitude, not a measurement.
public struct NewProfile: Sendable {
  /// A question to the user about one key or optional table.
  public struct Question: Equatable, Sendable {
    /// Path of the key or optional table, `receiver.batch`.
    public let path: String
    /// Path of the enclosing table; empty at the top of the file.
    public let table: String
    /// Meaning of the enclosing table.
    public let tableMeaning: String
    /// Meaning of the key or table.
    public let meaning: String
    /// Type and range of the value, in words.
    public let expectation: String
    /// Value for an empty answer; nil if an empty answer omits the key.
    public let proposal: String?

    /// Whether the question is about a table and not a key.
    public var isTable: Bool { ProfileSchema.table(path) != nil }
  }

  /// Why an answer was rejected; a rejected answer changes nothing.
  public struct Rejection: Error, Equatable, Sendable {
    /// Problem, expected value and suggestion.
    public let message: String

    /// Creates a rejection with this message.
    public init(_ message: String) { self.message = message }
  }

  var draft = ProfileDraft()
  /// Paths of keys and tables that need no more questions: answered, given, or implied by an answer.
  var resolved: Set<String> = []
  /// Paths of keys whose value was given by the user or by an existing profile.
  var given: Set<String> = []
  /// Answers for keys and tables, to reject two answers that contradict each other.
  private var answers: [String: Presence] = [:]

  /// Whether an answer includes or omits a table.
  private enum Presence { case included, omitted }

  /// Remarks for the comments in addition to the schema, by path of key or table.
  var notes: [String: String] = [:]

  /// Creates a profile of proposed values only: a board without deeper sleep than idle, with a receiver that
  /// streams NMEA.
  public init() {
    draft.tables = Set(ProfileSchema.tables.filter(\.isRequired).map(\.path))
    draft.tables.insert("receiver")
    draft.tables.remove("receiver.batch")
    propose()
  }

  /// Name of the board; empty until it is given.
  public var name: String { draft.name }

  /// Applies the answer for the key or table at `path`; for a table the answer is yes or no.
  ///
  /// - Parameters:
  ///   - path: Full path, `receiver.power.track_mw`. An answer for a key also includes the tables that contain the key.
  ///   - answer: A value as described by ``Question/expectation``. An empty answer accepts the proposal.
  ///   - deferringRules: Whether ``profile(file:)`` checks the rules that concern several keys, instead of this call.
  ///     Set it if the order of the answers is arbitrary.
  /// - Throws: ``Rejection`` if the answer is invalid; the profile is then unchanged.
  public mutating func answer(
    _ path: String, _ answer: String, deferringRules: Bool = false
  ) throws(Rejection) {
    let previous = self
    do throws(Rejection) {
      try apply(path, answer)
      resolved.insert(path)
      propose()
      if !deferringRules { try checkRules(of: path) }
    } catch {
      self = previous
      throw error
    }
  }

  private mutating func apply(_ path: String, _ answer: String) throws(Rejection) {
    if !path.isEmpty, ProfileSchema.table(path) != nil {
      return try applyTable(path, answer)
    }
    guard let key = ProfileSchema.key(path) else {
      throw Rejection(unknownKeyMessage(path))
    }
    // A name has no proposal.
    if answer.isEmpty, path != "name" || !draft.name.isEmpty { return }
    let value: ProfileValue
    do throws(InvalidValue) { value = try key.value(of: answer) } catch {
      let element = error.element.isEmpty ? "" : error.element + " "
      throw Rejection("\(element)\(error.problem); expected \(error.expected ?? key.expectation)")
    }
    try checkEnclosingTables(of: path)
    answers[path] = .included
    include(key.table)
    key.put(&draft, value)
    given.insert(path)
  }

  private mutating func applyTable(_ path: String, _ answer: String) throws(Rejection) {
    let isIncluded = answer.isEmpty ? draft.tables.contains(path) : yesOrNo(answer)
    guard let isIncluded else {
      throw Rejection("\"\(printable(answer))\" is neither yes nor no")
    }
    if isIncluded {
      try checkEnclosingTables(of: path)
      answers[path] = .included
      return include(path)
    }
    guard ProfileSchema.table(path)?.isRequired == false else {
      throw Rejection("every profile needs the table [\(path)]; the answer must be yes")
    }
    if let inner = answers.keys.filter({ $0.hasPrefix(path + ".") && answers[$0] == .included })
      .min()
    {
      throw Rejection(
        "no omits the table [\(path)], but a value was given for \(inner) in it; "
          + "remove one of the two")
    }
    if !answer.isEmpty { answers[path] = .omitted }
    draft.tables = draft.tables.filter { $0 != path && !$0.hasPrefix(path + ".") }
  }

  /// Rejects a path in a table that an earlier answer omitted.
  private func checkEnclosingTables(of path: String) throws(Rejection) {
    var table = ProfileSchema.parentPath(of: path)
    while !table.isEmpty {
      if answers[table] == .omitted {
        throw Rejection("\(table)=no omits the table [\(table)]; remove one of the two")
      }
      table = ProfileSchema.parentPath(of: table)
    }
  }

  private mutating func include(_ table: String) {
    var path = table
    while !path.isEmpty {
      draft.tables.insert(path)
      resolved.insert(path)
      path = ProfileSchema.parentPath(of: path)
    }
    if draft.tables.contains("receiver") {
      draft.tables.formUnion(["receiver.power", "receiver.time_to_fix"])
    }
  }

  private func unknownKeyMessage(_ path: String) -> String {
    if path.isEmpty { return "unknown key" }
    let suggestion = ProfileSchema.suggestion(
      for: ProfileSchema.lastComponent(of: path), in: ProfileSchema.parentPath(of: path))
    let suggestionText = suggestion.map { "; did you mean `\($0.path)`?" } ?? ""
    return "unknown key" + suggestionText
  }

  /// Checks the rules that read `path` and no path with a pending question.
  private func checkRules(of path: String) throws(Rejection) {
    let pendingPaths = Set(pending)
    for rule in ProfileRules.all
    where rule.keys.contains(path)
      && rule.keys.allSatisfy({ !pendingPaths.contains($0) && draft.hasTable(for: $0) })
    {
      guard let violation = rule.check(draft) else { continue }
      let other = violation.key == path ? "" : violation.key + ": "
      throw Rejection("\(other)\(violation.problem); expected \(violation.expected)")
    }
  }

  /// The complete profile, after parsing and checking its text.
  ///
  /// - Throws: ``ProfileErrors`` with positions in ``ProfileTemplate/text(_:)``.
  public func profile(file: String) throws(ProfileErrors) -> BoardProfile {
    try BoardProfile.parse(ProfileTemplate.text(self), file: file)
  }
}

extension NewProfile {
  /// Paths of the questions in order; questions that do not apply are skipped.
  static let questionOrder = [
    "name", "description",
    "receiver", "receiver.family", "receiver.output", "receiver.model", "receiver.device",
    "receiver.line_speed_baud", "receiver.default_line_speed_baud", "receiver.fix_interval_ms",
    "receiver.wake_line", "receiver.supply_line", "receiver.backup_supply",
    "receiver.power.acquire_mw", "receiver.power.track_mw", "receiver.power.standby_mw",
    "receiver.power.backup_mw",
    "receiver.batch", "receiver.batch.extra_pvt", "receiver.batch.capacity_fixes",
    "receiver.batch.watermark_fixes", "receiver.batch.power_mw", "receiver.batch.pio",
    "receiver.batch.line",
    "receiver.time_to_fix.cold_s",
    "motion", "motion.line",
    "board.awake.power_mw", "board.idle.power_mw",
    "board.suspended", "board.suspended.power_mw", "board.suspended.resume_s",
    "board.suspended.alarm_resolution_s", "board.suspended.shortest_s",
    "board.suspended.wakes_on",
    "board.off", "board.off.power_mw", "board.off.resume_s", "board.off.alarm_resolution_s",
    "board.off.shortest_s",
    "cache.capacity_fixes", "cache.deferral_limit_fixes",
    "battery", "battery.gauge", "battery.every_fix_percent", "battery.accuracy_percent",
    "battery.updates_percent", "battery.visits_percent", "battery.regions_percent",
    "battery.significant_percent",
  ]

  /// Paths of the questions that are still open.
  var pending: [String] {
    NewProfile.questionOrder.filter { !resolved.contains($0) && applies($0) }
  }

  /// The next question; nil if none is left.
  public var next: Question? {
    guard let path = pending.first else { return nil }
    let key = ProfileSchema.key(path)
    let value = path == "name" && draft.name.isEmpty ? nil : key?.get(draft)
    let expectation = key?.constraint == .boolean ? nil : key?.expectation
    let enclosing = ProfileSchema.table(ProfileSchema.parentPath(of: path))
    return Question(
      path: path, table: enclosing?.path ?? "", tableMeaning: enclosing?.meaning ?? "",
      meaning: key?.meaning ?? ProfileSchema.table(path)?.meaning ?? "",
      expectation: expectation ?? "yes or no",
      proposal: key == nil ? (draft.tables.contains(path) ? "yes" : "no") : value?.answerText)
  }

  /// Whether the question about `path` applies to the board as described so far.
  private func applies(_ path: String) -> Bool {
    let isKey = ProfileSchema.key(path) != nil
    let enclosing = ProfileSchema.parentPath(of: path)
    guard draft.tables.contains(enclosing) || (!isKey && enclosing == "board") else { return false }
    switch path {
    // Only u-blox receivers have another output than NMEA, and a batch buffer.
    case "receiver.output": return draft.receiver.family.has(.ubxOutput)
    case "receiver.batch": return draft.receiver.family.has(.batching)
    // A receiver that only streams has one speed, and neither commands nor standby.
    case "receiver.default_line_speed_baud", "receiver.wake_line", "receiver.power.standby_mw":
      return draft.receiver.family.acceptsCommands
    case "receiver.backup_supply": return draft.receiver.hasSupplySwitch
    case "receiver.power.backup_mw": return draft.receiver.hasBackupSupply
    default: return true
    }
  }
}

extension ProfileValue {
  /// The value as a user would type it; ``ProfileKey/value(of:)`` converts it back.
  var answerText: String {
    switch self {
    case .text(let text): text
    case .words(let words): words.joined(separator: ", ")
    case .boolean(let flag): flag ? "yes" : "no"
    case .integer, .number, .points: text
    }
  }
}

extension NewProfile {
  /// Proposes a value for each key that was not given, derived from the given ones. The proposals satisfy all rules
  /// that concern several keys, in any order of answers.
  mutating func propose() {
    proposeReceiver()
    proposeBoard()
    propose("motion.line", \.motion.line, "MOTION")
    proposeBattery()
    propose("cache.capacity_fixes", \.cache.capacity, 8_192)
    // The deferral limit is at most half of the capacity (RNG-1).
    propose("cache.deferral_limit_fixes", \.cache.deferralLimit, max(1, draft.cache.capacity / 2))
    propose("description", \.summary, "A board that nobody has described yet")
  }

  private mutating func proposeReceiver() {
    let streams = !draft.receiver.family.acceptsCommands
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
    // A receiver that accepts no commands keeps tracking in standby.
    propose(
      "receiver.power.standby_mw", \.receiver.power.standby_mw, streams ? track : isUBlox ? 0.2 : 2)
    propose(
      "receiver.power.backup_mw", \.receiver.power.backup_mw,
      draft.receiver.hasBackupSupply ? 0.05 : 0)
    // A family without a batch buffer has the table [receiver.batch] only in the template.
    let limits =
      draft.receiver.family.descriptor.batchLimits ?? BatchLimits(basic: 600, extraPVT: 309)
    propose(
      "receiver.batch.capacity_fixes", \.batch.capacity,
      limits.entries(extraPVT: draft.batch.hasExtraPVT))
    let reserve = max(1, draft.batch.capacity / 10)
    propose("receiver.batch.watermark_fixes", \.batch.watermark, draft.batch.capacity - reserve)
    propose("receiver.batch.power_mw", \.batchPower_mw, track)
    propose(
      "receiver.time_to_fix.ephemeris_s", \.receiver.timeToFix.ephemerisLifetime, .seconds(14_400))
    propose("receiver.time_to_fix.cold_s", \.receiver.timeToFix.coldStart, .seconds(30))
    propose("receiver.time_to_fix.after_off", \.receiver.timeToFix.afterOff, timesToFix)
  }

  /// A few seconds while the ephemeris is fresh, then longer, up to a cold start.
  private var timesToFix: [TimeToFix.Point] {
    let cold = draft.receiver.timeToFix.coldStart
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
    propose("board.idle.resume_s", \.board.idle.resumeTime, .milliseconds(1))
    propose("board.idle.alarm_resolution_s", \.board.idle.alarmResolution, .milliseconds(1))
    let idle = draft.board.idle.power_mw
    propose("board.suspended.power_mw", \.suspended.power_mw, min(100, idle))
    propose("board.suspended.resume_s", \.suspended.resumeTime, .seconds(1))
    propose("board.suspended.alarm_resolution_s", \.suspended.alarmResolution, .seconds(1))
    propose("board.suspended.shortest_s", \.suspended.minimumDuration, .seconds(5))
    propose("board.suspended.wakes_on", \.suspended.wakeSources, .alarm)
    propose("board.off.power_mw", \.off.power_mw, min(20, idle))
    propose("board.off.resume_s", \.off.resumeTime, .seconds(30))
    propose("board.off.alarm_resolution_s", \.off.alarmResolution, .seconds(1))
    propose("board.off.shortest_s", \.off.minimumDuration, .seconds(120))
  }

  /// Thresholds in descending order: the services that need most energy are shed first; below the lowest threshold, a
  /// reserve of about a day remains.
  private mutating func proposeBattery() {
    func given(_ path: String, _ charge: Int?) -> Int {
      self.given.contains(path) ? charge ?? 0 : 0
    }
    let updates = given("battery.updates_percent", draft.battery.updates)
    let accuracy = max(given("battery.accuracy_percent", draft.battery.accuracy), updates)
    propose("battery.every_fix_percent", \.battery.everyFix, max(30, accuracy))
    let everyFix = draft.battery.everyFix ?? 0
    propose("battery.accuracy_percent", \.battery.accuracy, min(max(20, updates), everyFix))
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

// Revision of an existing profile after the doctor found differences.

extension NewProfile {
  /// Starts from `profile`: its values count as given, and tables that it omits stay omitted.
  public init(revising profile: BoardProfile) {
    draft = ProfileDraft(profile)
    given = Set(ProfileSchema.keys.filter { draft.tables.contains($0.table) }.map(\.path))
    resolved = given.union(draft.tables)
    propose()
  }

  /// Replaces the receiver by another model: discards its parameters and proposes new ones where a profile requires
  /// them. Keeps wiring, supply and, if the new family supports it, the fix interval.
  ///
  /// - Parameter family: Command set of the new receiver.
  public mutating func replaceReceiver(family: ReceiverFamily) {
    let previous = draft.receiver
    var receiver = BoardProfile.Receiver()
    receiver.family = family
    receiver.device = previous.device
    receiver.wakeLine = family.acceptsCommands ? previous.wakeLine : nil
    receiver.supplyLine = previous.supplyLine
    receiver.pulseLine = previous.pulseLine
    receiver.hasBackupSupply = previous.hasBackupSupply
    receiver.fixInterval = previous.fixInterval
    draft.receiver = receiver
    removeBatch()
    given = given.filter { !$0.hasPrefix("receiver.") }
    given.formUnion([
      "receiver.family", "receiver.device", "receiver.wake_line", "receiver.supply_line",
      "receiver.pulse_line", "receiver.backup_supply",
    ])
    if ProfileRules.intervalOfFamily.check(draft) == nil {
      given.insert("receiver.fix_interval_ms")
    }
    propose()
  }

  /// Removes a GPIO line that does not exist on this board, and the settings that need it.
  ///
  /// - Parameter path: Path of the key that names the line.
  public mutating func removeLine(_ path: String) {
    switch path {
    case "receiver.wake_line": draft.receiver.wakeLine = nil
    case "receiver.supply_line": draft.receiver.supplyLine = nil
    case "receiver.pulse_line": draft.receiver.pulseLine = nil
    case "receiver.batch.line":
      draft.batch.line = nil
      draft.batch.pio = nil
      draft.suspended.wakeSources.subtract(.batchPin)
    case "motion.line":
      draft.tables.remove("motion")
      draft.suspended.wakeSources.subtract(.motion)
    case "battery.low_line": draft.battery.lowLine = nil
    case "board.session_light_line": draft.board.sessionLightLine = nil
    case _: preconditionFailure("\(path) is not the key of a GPIO line")
    }
  }

  private mutating func removeBatch() {
    draft.tables.remove("receiver.batch")
    draft.batch = BoardProfile.Batch()
    draft.batchPower_mw = 0
    draft.suspended.wakeSources.subtract(.batchPin)
  }

  /// Adds a remark to the comment above a key or optional table.
  ///
  /// - Parameter words: A sentence.
  public mutating func note(_ path: String, _ words: String) {
    notes[path] = printable(words, maxLength: 300)
  }
}
