import LocationPolicy
import LocationTypes
import TextFormats

extension JSONOutput {
  /// Appends the single member that represents a notice.
  mutating func member(of notice: WireNotice) {
    switch notice {
    case .fixes(let fixes):
      list("fixes") { json in
        for fix in fixes { json.element { $0.members(of: fix) } }
      }
    case .report(let fix): object("report") { $0.members(of: fix) }
    case .finished(let code):
      object("finished") { if let code { $0.member("code", Int64(code.rawValue)) } }
    case .gap(let gap): object("gap") { $0.members(of: gap) }
    case .visit(let visit, let number):
      object("visit") { json in
        json.members(of: visit)
        json.eventNumber(number)
      }
    case .region(let event, let number):
      object("region") { json in
        json.members(of: event)
        json.eventNumber(number)
      }
    case .live(let element): object("live") { $0.members(of: element) }
    case .authorization(let authorization, let isReduced):
      object("authorization") { json in
        json.member("authorization", word: authorization.wireWord)
        json.member("reduced_accuracy", isReduced)
      }
    case .paused: member("paused", true)
    case .resumed: member("resumed", true)
    case .failure(let code): object("failure") { $0.member("code", Int64(code.rawValue)) }
    case .degraded(let levels): list("degraded", levels)
    case .session(let number, let diagnostics):
      object("session") { json in
        json.member("number", Int64(number))
        json.members(of: diagnostics)
      }
    case .takenOver: member("taken_over", true)
    }
  }

  mutating func list(_ name: StaticString, _ levels: ServiceLevelSet) {
    list(name) { json in
      for (level, word) in ServiceLevel.wireWords where levels.contains(level) {
        json.element(word: word)
      }
    }
  }

  mutating func members(of gap: Gap) {
    member("count", Int64(clamping: gap.count))
    member("first", Int64(clamping: gap.range.lowerBound))
    member("next", Int64(clamping: gap.range.upperBound))
    object("from", gap.from)
    object("to", gap.to)
    if gap.mayBeMore { member("may_be_more", true) }
  }

  /// Appends the number with which the client acknowledges the event; 0 is omitted.
  private mutating func eventNumber(_ number: UInt32) {
    if number > 0 { member("number", Int64(number)) }
  }

  private mutating func members(of visit: Visit) {
    members(of: visit.coordinate)
    member("horizontal_accuracy_m", visit.horizontalAccuracy)
    object("arrival", visit.arrival.map { FixTime(acquired: $0.instant, utc: $0.utc) })
    object("departure", visit.departure.map { FixTime(acquired: $0.instant, utc: $0.utc) })
  }

  mutating func members(of event: WireRegionEvent) {
    member("kind", word: event.kind.wireWord)
    member("name", event.name)
    switch event.change {
    case .entered(let at):
      member("event", word: "entered")
      object("at", at)
    case .exited(let at):
      member("event", word: "exited")
      object("at", at)
    case .determined(let state):
      member("event", word: "determined")
      member("state", word: state.wireWord)
    case .monitor(let state, let problem, let at):
      member("event", word: "monitor")
      member("monitor_state", word: state.wireWord)
      if let problem { member("problem", word: problem.wireWord) }
      object("at", at)
    case .failed(let code):
      member("event", word: "failed")
      member("code", Int64(code.rawValue))
    }
  }

  private mutating func members(of element: LiveElement) {
    member("number", Int64(element.iterator))
    if let fix = element.location { object("location") { $0.members(of: fix) } }
    list("flags", element.flags)
    member("stationary", element.isStationary)
    if element.dropped > 0 { member("dropped", Int64(element.dropped)) }
  }
}

extension LiveFlags {
  /// Words of the flags that are set, in the order of their bits; named after Core Location's properties.
  public var words: [StaticString] {
    LiveFlags.wireWords.filter { containsAny(of: $0.0) }.map(\.1)
  }
}

extension JSONOutput {
  private mutating func list(_ name: StaticString, _ flags: LiveFlags) {
    list(name) { json in
      for word in flags.words { json.element(word: word) }
    }
  }

  private mutating func members(of diagnostics: SessionDiagnostics) {
    list("flags", diagnostics.flags)
    if diagnostics.fullAccuracyDenied { member("full_accuracy_denied", true) }
    if diagnostics.alwaysAuthorizationDenied { member("always_authorization_denied", true) }
  }
}

extension SessionRequirement: WireEnum {
  static let wireWords: [(SessionRequirement, StaticString)] = [
    (.none, "none"), (.whenInUse, "when_in_use"), (.always, "always"),
  ]
}

extension LiveFlags: WireEnum {
  static let wireWords: [(LiveFlags, StaticString)] = [
    (.authorizationDenied, "authorization_denied"),
    (.authorizationDeniedGlobally, "authorization_denied_globally"),
    (.authorizationRestricted, "authorization_restricted"),
    (.insufficientlyInUse, "insufficiently_in_use"),
    (.locationUnavailable, "location_unavailable"),
    (.accuracyLimited, "accuracy_limited"),
    (.serviceSessionRequired, "service_session_required"),
    (.authorizationRequestInProgress, "authorization_request_in_progress"),
  ]
}

// MARK: - Reading

extension JSONFields {
  /// Decodes the notice from the single member that represents it.
  mutating func notice() throws(WireError) -> WireNotice {
    if let fixes = try objects("fixes", { f throws(WireError) in try f.storedFix() }) {
      return .fixes(fixes)
    }
    if let fix = try object("report", { f throws(WireError) in try f.storedFix() }) {
      return .report(fix)
    }
    if let end = try object("finished", { f throws(WireError) in try f.optionalCode() }) {
      return .finished(end)
    }
    if let gap = try object("gap", { f throws(WireError) in try f.gap() }) { return .gap(gap) }
    if let visit = try object("visit", { f throws(WireError) in try f.visit() }) { return visit }
    if let event = try object(
      "region",
      { f throws(WireError) in
        WireNotice.region(try f.regionEvent(), number: try f.eventNumber())
      })
    {
      return event
    }
    if let element = try object("live", { f throws(WireError) in try f.liveElement() }) {
      return .live(element)
    }
    return try smallNotice()
  }

  private mutating func smallNotice() throws(WireError) -> WireNotice {
    if let change = try object(
      "authorization",
      { f throws(WireError) in
        WireNotice.authorization(
          try f.word("authorization"), isReduced: try f.bool("reduced_accuracy"))
      })
    {
      return change
    }
    if let code = try object("failure", { f throws(WireError) in try f.code() }) {
      return .failure(code)
    }
    if let session = try object("session", { f throws(WireError) in try f.session() }) {
      return session
    }
    if has("degraded") { return .degraded(try serviceLevels("degraded")) }
    if try flag("paused") { return .paused }
    if try flag("resumed") { return .resumed }
    if try flag("taken_over") { return .takenOver }
    throw invalid("notice")
  }

  mutating func code() throws(WireError) -> LocationErrorCode {
    try required("code") { $0.integer.flatMap { LocationErrorCode(rawValue: Int($0)) } }
  }

  private mutating func optionalCode() throws(WireError) -> LocationErrorCode? {
    try optional("code") { $0.integer.flatMap { LocationErrorCode(rawValue: Int($0)) } }
  }

  /// Decodes a list of words.
  ///
  /// - Throws: ``WireError/invalidParameter(_:)`` for an unknown word.
  mutating func words<W: WireEnum>(_ name: StaticString, _: W.Type) throws(WireError) -> [W] {
    let elements = try required(name) { $0.elements }
    var all: [W] = []
    for element in elements {
      guard let value = element.string.flatMap({ W(wireWord: $0) }) else { throw invalid(name) }
      all.append(value)
    }
    return all
  }

  mutating func serviceLevels(_ name: StaticString) throws(WireError) -> ServiceLevelSet {
    var set = ServiceLevelSet.none
    for level in try words(name, ServiceLevel.self) { set.insert(level) }
    return set
  }

  mutating func gap() throws(WireError) -> Gap {
    let first = try number("first", UInt64.self)
    let next = try number("next", UInt64.self)
    guard first <= next else { throw invalid("next") }
    var gap = Gap(unsyncedBefore: first, after: try time("from"))
    gap.range = first..<next
    gap.count = try number("count")
    gap.to = try time("to")
    gap.mayBeMore = try flag("may_be_more")
    return gap
  }

  private mutating func eventNumber() throws(WireError) -> UInt32 {
    has("number") ? try number("number") : 0
  }

  private mutating func visit() throws(WireError) -> WireNotice {
    let coordinate = try coordinate()
    let accuracy = try double("horizontal_accuracy_m")
    let arrival = try time("arrival")
    let departure = try time("departure")
    let visit = Visit(
      coordinate: coordinate, horizontalAccuracy: accuracy,
      arrival: arrival.map { VisitMoment(instant: $0.acquired, utc: $0.utc) },
      departure: departure.map { VisitMoment(instant: $0.acquired, utc: $0.utc) })
    return .visit(visit, number: try eventNumber())
  }

  private mutating func eventTime() throws(WireError) -> FixTime {
    guard let at = try time("at") else { throw invalid("at") }
    return at
  }

  mutating func regionEvent() throws(WireError) -> WireRegionEvent {
    let change: WireRegionEvent.Change
    switch try string("event") {
    case "entered": change = .entered(at: try eventTime())
    case "exited": change = .exited(at: try eventTime())
    case "determined": change = .determined(try word("state"))
    case "monitor":
      change = .monitor(
        try word("monitor_state"), try optionalWord("problem"), at: try eventTime())
    case "failed": change = .failed(try code())
    default: throw invalid("event")
    }
    return WireRegionEvent(try word("kind"), name: try string("name"), change)
  }

  private mutating func liveFlags() throws(WireError) -> LiveFlags {
    var flags = LiveFlags.empty
    for flag in try words("flags", LiveFlags.self) { flags = flags.union(flag) }
    return flags
  }

  private mutating func session() throws(WireError) -> WireNotice {
    .session(
      try number("number"),
      SessionDiagnostics(
        flags: try liveFlags(), fullAccuracyDenied: try flag("full_accuracy_denied"),
        alwaysAuthorizationDenied: try flag("always_authorization_denied")))
  }

  private mutating func liveElement() throws(WireError) -> LiveElement {
    let flags = try liveFlags()
    return LiveElement(
      iterator: try number("number"),
      location: try object("location") { f throws(WireError) in try f.storedFix() }, flags: flags,
      isStationary: try bool("stationary"),
      dropped: has("dropped") ? try number("dropped") : 0)
  }
}
