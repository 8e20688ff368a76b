import LocationTypes
import TOMLFiles

/// A profile that is made by asking: what to ask next, what to propose, what an answer breaks.
///
/// Knows nothing of terminals. Whatever is not answered is proposed, and told apart for good: a
/// proposal is an order of magnitude and no measurement.
public struct NewProfile: Sendable {
  /// Something to ask for.
  public struct Question: Equatable, Sendable {
    /// The key or the optional table, `receiver.batch`.
    public let path: String
    /// The table it stands in; empty at the top of the file.
    public let table: String
    /// What that table is about.
    public let tableMeaning: String
    /// What it means.
    public let meaning: String
    /// What it takes, in words.
    public let takes: String
    /// What holds when the answer is empty; nil when the key is then left out.
    public let proposal: String?

    /// Whether it asks for an optional table, and not for a key.
    public var isTable: Bool { ProfileSchema.table(path) != nil }
  }

  /// Why an answer was not taken; nothing has changed then.
  public struct Rejection: Error, Equatable, Sendable {
    /// What is wrong, what was expected, what was meant.
    public let message: String

    /// Creates one that says `message`.
    public init(_ message: String) { self.message = message }
  }

  var draft = ProfileDraft()
  /// Keys and tables that were answered, were given, or are done with.
  var settled: Set<String> = []
  /// Keys whose value somebody gave.
  var given: Set<String> = []
  /// What was answered for keys and tables: two answers that exclude each other are refused.
  private var answered: [String: Answered] = [:]

  /// What an answer says of a table.
  private enum Answered { case isThere, isLeftOut }

  /// What stands in the comments beside what the schema says, by key or table.
  var notes: [String: String] = [:]

  /// Creates one in which everything is proposed: a board that only idles, with a receiver that
  /// streams NMEA.
  public init() {
    draft.tables = Set(ProfileSchema.tables.filter(\.isRequired).map(\.path))
    draft.tables.insert("receiver")
    draft.tables.remove("receiver.batch")
    propose()
  }

  /// The name as far as it was given.
  public var name: String { draft.name }

  /// Answers for the key or table at `path`; a table takes yes or no.
  ///
  /// - Parameters:
  ///   - path: With its tables, `receiver.power.track_mw`. A key brings its tables with it.
  ///   - answer: As ``Question/takes`` says. An empty one takes the proposal.
  ///   - alone: Whether rules between keys wait for ``profile(file:)``: when answers come in any
  ///     order.
  /// - Throws: ``Rejection``.
  public mutating func answer(
    _ path: String, _ answer: String, alone: Bool = false
  ) throws(Rejection) {
    let before = self
    do throws(Rejection) {
      try take(path, answer)
      settled.insert(path)
      propose()
      if !alone { try checkRules(of: path) }
    } catch {
      self = before
      throw error
    }
  }

  private mutating func take(_ path: String, _ answer: String) throws(Rejection) {
    if !path.isEmpty, ProfileSchema.table(path) != nil {
      return try takeTable(path, answer)
    }
    guard let key = ProfileSchema.key(path) else {
      throw Rejection(unknown(path))
    }
    // There is nothing to propose for a name.
    if answer.isEmpty, path != "name" || !draft.name.isEmpty { return }
    switch key.value(of: answer) {
    case .success(let value):
      try checkAround(path)
      answered[path] = .isThere
      include(key.table)
      key.put(&draft, value)
      given.insert(path)
    case .failure(let refusal):
      let expected = refusal.expected ?? key.expectation
      throw Rejection(refusal.element + " " + refusal.problem + "; expected " + expected)
        .trimmed
    }
  }

  private mutating func takeTable(_ path: String, _ answer: String) throws(Rejection) {
    let isThere = answer.isEmpty ? draft.tables.contains(path) : yesOrNo(answer)
    guard let isThere else {
      throw Rejection("\"\(printable(answer))\" is neither yes nor no")
    }
    if isThere {
      try checkAround(path)
      answered[path] = .isThere
      return include(path)
    }
    guard ProfileSchema.table(path)?.isRequired == false else {
      throw Rejection("every profile has a table [\(path)]; it can only be yes")
    }
    if let inside = answered.keys.filter({ $0.hasPrefix(path + ".") && answered[$0] == .isThere })
      .min()
    {
      throw Rejection(
        "no leaves the table [\(path)] out, and a value was given for \(inside) in it; "
          + "give only one of the two")
    }
    if !answer.isEmpty { answered[path] = .isLeftOut }
    draft.tables = draft.tables.filter { $0 != path && !$0.hasPrefix(path + ".") }
  }

  /// Refuses what lies in a table that an answer left out.
  private func checkAround(_ path: String) throws(Rejection) {
    var table = ProfileSchema.outer(path)
    while !table.isEmpty {
      if answered[table] == .isLeftOut {
        throw Rejection("\(table)=no leaves the table [\(table)] out; give only one of the two")
      }
      table = ProfileSchema.outer(table)
    }
  }

  private mutating func include(_ table: String) {
    var path = table
    while !path.isEmpty {
      draft.tables.insert(path)
      settled.insert(path)
      path = ProfileSchema.outer(path)
    }
    if draft.tables.contains("receiver") {
      draft.tables.formUnion(["receiver.power", "receiver.time_to_fix"])
    }
  }

  private func unknown(_ path: String) -> String {
    if path.isEmpty { return "there is no such key" }
    let guess = ProfileSchema.guess(ProfileSchema.last(path), in: ProfileSchema.outer(path))
    let meant = guess.map { "; did you mean `\($0.path)`?" } ?? ""
    return "there is no such key" + meant
  }

  /// Applies the rules that look at `path` and at nothing that is still to be asked.
  private func checkRules(of path: String) throws(Rejection) {
    let waiting = Set(pending)
    for rule in ProfileRules.all
    where rule.keys.contains(path) && rule.keys.allSatisfy({ !waiting.contains($0) && has($0) }) {
      guard let broken = rule.check(draft) else { continue }
      let other = broken.key == path ? "" : broken.key + ": "
      throw Rejection("\(other)\(broken.problem); expected \(broken.expected)")
    }
  }

  /// Whether the profile has this table, or the table of this key.
  private func has(_ path: String) -> Bool {
    let isKey = ProfileSchema.key(path) != nil
    return draft.tables.contains(isKey ? ProfileSchema.outer(path) : path)
  }

  /// The profile, checked as a file with its text would be.
  ///
  /// - Throws: ``ProfileErrors``, in which the places are those of ``ProfileTemplate/text(_:)``.
  public func profile(file: String) throws(ProfileErrors) -> BoardProfile {
    try BoardProfile.parse(ProfileTemplate.text(self), file: file)
  }
}

extension NewProfile.Rejection {
  fileprivate var trimmed: NewProfile.Rejection {
    NewProfile.Rejection(String(message.drop { $0 == " " }))
  }
}

extension NewProfile {
  /// What is asked, in this order; what does not apply is passed over.
  static let order = [
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

  /// What is still to be asked as things stand.
  var pending: [String] { NewProfile.order.filter { !settled.contains($0) && applies($0) } }

  /// The next thing to ask; nil when there is nothing left.
  public var next: Question? {
    guard let path = pending.first else { return nil }
    let key = ProfileSchema.key(path)
    let value = path == "name" && draft.name.isEmpty ? nil : key?.get(draft)
    let takes = key?.form == .flag ? nil : key?.expectation
    let around = ProfileSchema.table(ProfileSchema.outer(path))
    return Question(
      path: path, table: around?.path ?? "", tableMeaning: around?.meaning ?? "",
      meaning: key?.meaning ?? ProfileSchema.table(path)?.meaning ?? "",
      takes: takes ?? "yes or no",
      proposal: key == nil ? (draft.tables.contains(path) ? "yes" : "no") : value?.typed)
  }

  /// Whether `path` says something about a board like this one.
  private func applies(_ path: String) -> Bool {
    let isKey = ProfileSchema.key(path) != nil
    let around = ProfileSchema.outer(path)
    guard draft.tables.contains(around) || (!isKey && around == "board") else { return false }
    switch path {
    // Only u-blox receivers send anything but NMEA, and have a buffer.
    case "receiver.output", "receiver.batch": return draft.receiver.family.isUBlox
    // A receiver that only streams has one speed, no commands, no standby.
    case "receiver.default_line_speed_baud", "receiver.wake_line", "receiver.power.standby_mw":
      return draft.receiver.family.takesCommands
    case "receiver.backup_supply": return draft.receiver.hasSupplySwitch
    case "receiver.power.backup_mw": return draft.receiver.hasBackupSupply
    default: return true
    }
  }
}

extension ProfileValue {
  /// As somebody would type it: ``ProfileKey/value(of:)`` gives the same value again.
  var typed: String {
    switch self {
    case .text(let text): text
    case .words(let words): words.joined(separator: ", ")
    case .flag(let flag): flag ? "yes" : "no"
    case .whole, .number, .points: text
    }
  }
}

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

// A new profile of one that there is, in which something turned out to be otherwise.

extension NewProfile {
  /// One that begins as `profile`: what it says is given, and what it leaves out stays out.
  public init(revising profile: BoardProfile) {
    draft = ProfileDraft(profile)
    given = Set(ProfileSchema.keys.filter { draft.tables.contains($0.table) }.map(\.path))
    settled = given.union(draft.tables)
    propose()
  }

  /// The receiver is another one than the figures are of: they are forgotten, and proposed where a
  /// profile must have them. How it is wired, supplied and how often it is to fix stays.
  ///
  /// - Parameter family: How the new one is spoken to.
  public mutating func replaceReceiver(family: BoardProfile.Receiver.Family) {
    let before = draft.receiver
    var receiver = BoardProfile.Receiver()
    receiver.family = family
    receiver.device = before.device
    receiver.wakeLine = family.takesCommands ? before.wakeLine : nil
    receiver.supplyLine = before.supplyLine
    receiver.pulseLine = before.pulseLine
    receiver.hasBackupSupply = before.hasBackupSupply
    receiver.fixInterval = before.fixInterval
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

  /// A line is not on this board: it is taken out, and what needs it.
  ///
  /// - Parameter path: The key that names it.
  public mutating func leaveOutLine(_ path: String) {
    switch path {
    case "receiver.wake_line": draft.receiver.wakeLine = nil
    case "receiver.supply_line": draft.receiver.supplyLine = nil
    case "receiver.pulse_line": draft.receiver.pulseLine = nil
    case "receiver.batch.line":
      draft.batch.line = nil
      draft.batch.pio = nil
      draft.suspended.wakesOn.subtract(.batchPin)
    case "motion.line":
      draft.tables.remove("motion")
      draft.suspended.wakesOn.subtract(.motion)
    case "battery.low_line": draft.battery.lowLine = nil
    case "board.session_light_line": draft.board.sessionLightLine = nil
    case _: preconditionFailure("\(path) is no key of a line")
    }
  }

  private mutating func removeBatch() {
    draft.tables.remove("receiver.batch")
    draft.batch = BoardProfile.Batch()
    draft.suspended.wakesOn.subtract(.batchPin)
  }

  /// Says something of a key or an optional table in the comment above it.
  ///
  /// - Parameter words: A sentence.
  public mutating func note(_ path: String, _ words: String) {
    notes[path] = printable(words, longest: 300)
  }
}
