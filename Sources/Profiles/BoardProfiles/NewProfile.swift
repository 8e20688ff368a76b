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
