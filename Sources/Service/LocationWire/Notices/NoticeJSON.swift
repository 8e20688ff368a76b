import LocationPolicy
import LocationTypes
import TextFormats

extension WireNotice: WireObject {
  /// Encodes the single member that represents the notice.
  func write(to json: inout JSONOutput) {
    switch self {
    case .fixes(let fixes): json.write("fixes", fixes)
    case .report(let fix): json.write("report", fix)
    case .finished(let code): json.object("finished") { $0.write("code", code) }
    case .gap(let gap): json.write("gap", gap)
    case .visit(let visit, let number):
      json.object("visit") { json in
        visit.write(to: &json)
        json.write("number", number, unless: 0)
      }
    case .region(let event, let number):
      json.object("region") { json in
        event.write(to: &json)
        json.write("number", number, unless: 0)
      }
    case .live(let element): json.write("live", element)
    case .authorization(let authorization, let isReduced):
      json.object("authorization") { json in
        json.write("authorization", authorization)
        json.write("reduced_accuracy", isReduced)
      }
    case .paused: json.member("paused", true)
    case .resumed: json.member("resumed", true)
    case .failure(let code): json.object("failure") { $0.write("code", code) }
    case .degraded(let levels): json.write("degraded", levels)
    case .session(let number, let diagnostics):
      json.object("session") { json in
        json.write("number", number)
        diagnostics.write(to: &json)
      }
    case .takenOver: json.member("taken_over", true)
    }
  }

  /// Decodes the notice from the single member that represents it.
  init(_ fields: inout JSONFields) throws(WireError) {
    if fields.has("fixes") {
      self = .fixes(try fields.read("fixes"))
    } else if let fix = try fields.read("report") as StoredFix? {
      self = .report(fix)
    } else if let gap = try fields.read("gap") as Gap? {
      self = .gap(gap)
    } else if let element = try fields.read("live") as LiveElement? {
      self = .live(element)
    } else if var finished = try fields.object("finished") {
      self = .finished(try finished.read("code"))
    } else if var visit = try fields.object("visit") {
      self = .visit(try Visit(&visit), number: try visit.read("number", else: 0))
    } else if var event = try fields.object("region") {
      self = .region(try WireRegionEvent(&event), number: try event.read("number", else: 0))
    } else if var change = try fields.object("authorization") {
      self = .authorization(
        try change.read("authorization"), isReduced: try change.read("reduced_accuracy"))
    } else if var failure = try fields.object("failure") {
      self = .failure(try failure.read("code"))
    } else if var session = try fields.object("session") {
      self = .session(try session.read("number"), try SessionDiagnostics(&session))
    } else if let levels = try fields.read("degraded") as ServiceLevelSet? {
      self = .degraded(levels)
    } else if try fields.read("paused", else: false) {
      self = .paused
    } else if try fields.read("resumed", else: false) {
      self = .resumed
    } else if try fields.read("taken_over", else: false) {
      self = .takenOver
    } else {
      throw fields.invalid("notice")
    }
  }
}

extension Gap: WireObject {
  init(_ fields: inout JSONFields) throws(WireError) {
    let first: UInt64 = try fields.read("first")
    let next: UInt64 = try fields.read("next") { $0 >= first }
    self.init(unsyncedBefore: first, after: try fields.read("from"))
    range = first..<next
    count = try fields.read("count")
    to = try fields.read("to")
    mayBeMore = try fields.read("may_be_more", else: false)
  }

  func write(to json: inout JSONOutput) {
    json.write("count", count)
    json.write("first", range.lowerBound)
    json.write("next", range.upperBound)
    json.write("from", from)
    json.write("to", to)
    json.write("may_be_more", mayBeMore, unless: false)
  }
}

extension Visit {
  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      coordinate: try Coordinate(&fields),
      horizontalAccuracy: try fields.read("horizontal_accuracy_m"),
      arrival: try fields.read("arrival"),
      departure: try fields.read("departure"))
  }

  func write(to json: inout JSONOutput) {
    coordinate.write(to: &json)
    json.write("horizontal_accuracy_m", horizontalAccuracy)
    json.write("arrival", arrival)
    json.write("departure", departure)
  }
}

extension WireRegionEvent: WireObject {
  init(_ fields: inout JSONFields) throws(WireError) {
    let change: Change
    switch try fields.read("event") as String {
    case "entered": change = .entered(at: try fields.read("at"))
    case "exited": change = .exited(at: try fields.read("at"))
    case "determined": change = .determined(try fields.read("state"))
    case "monitor":
      change = .monitor(
        try fields.read("monitor_state"), try fields.read("problem"), at: try fields.read("at"))
    case "failed": change = .failed(try fields.read("code"))
    default: throw fields.invalid("event")
    }
    self.init(try fields.read("kind"), name: try fields.read("name"), change)
  }

  func write(to json: inout JSONOutput) {
    json.write("kind", kind)
    json.write("name", name)
    switch change {
    case .entered(let at):
      json.member("event", word: "entered")
      json.write("at", at)
    case .exited(let at):
      json.member("event", word: "exited")
      json.write("at", at)
    case .determined(let state):
      json.member("event", word: "determined")
      json.write("state", state)
    case .monitor(let state, let problem, let at):
      json.member("event", word: "monitor")
      json.write("monitor_state", state)
      json.write("problem", problem)
      json.write("at", at)
    case .failed(let code):
      json.member("event", word: "failed")
      json.write("code", code)
    }
  }
}

extension LiveElement: WireObject {
  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      iterator: try fields.read("number"), location: try fields.read("location"),
      flags: try fields.read("flags"), isStationary: try fields.read("stationary"),
      dropped: try fields.read("dropped", else: 0))
  }

  func write(to json: inout JSONOutput) {
    json.write("number", iterator)
    json.write("location", location)
    json.write("flags", flags)
    json.write("stationary", isStationary)
    json.write("dropped", dropped, unless: 0)
  }
}

extension SessionDiagnostics {
  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      flags: try fields.read("flags"),
      fullAccuracyDenied: try fields.read("full_accuracy_denied", else: false),
      alwaysAuthorizationDenied: try fields.read("always_authorization_denied", else: false))
  }

  func write(to json: inout JSONOutput) {
    json.write("flags", flags)
    json.write("full_accuracy_denied", fullAccuracyDenied, unless: false)
    json.write("always_authorization_denied", alwaysAuthorizationDenied, unless: false)
  }
}

// MARK: - Codes and sets

extension LocationErrorCode: WireScalar {
  init?(json: JSONValue) {
    guard let code = json.integer else { return nil }
    self.init(rawValue: Int(code))
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, Int64(rawValue)) }
}

extension ServiceLevelSet: WireScalar {
  init?(json: JSONValue) {
    guard let elements = json.elements else { return nil }
    self = .none
    for element in elements {
      guard let level = ServiceLevel(json: element) else { return nil }
      insert(level)
    }
  }

  func write(_ name: StaticString, to json: inout JSONOutput) {
    json.list(name) { json in
      for level in ServiceLevel.wireValues where contains(level) {
        json.element(word: level.wireWord)
      }
    }
  }
}

extension LiveFlags: WireScalar {
  /// All flags with their words, in the order of their bits; named after Core Location's properties.
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

  /// Words of the flags that are set.
  public var words: [StaticString] {
    LiveFlags.wireWords.filter { containsAny(of: $0.0) }.map(\.1)
  }

  init?(json: JSONValue) {
    guard let elements = json.elements else { return nil }
    self = .empty
    for element in elements {
      let flag = LiveFlags.wireWords.first { element.string == $0.1.description }
      guard let flag else { return nil }
      self = union(flag.0)
    }
  }

  func write(_ name: StaticString, to json: inout JSONOutput) {
    json.list(name) { json in
      for word in words { json.element(word: word) }
    }
  }
}
