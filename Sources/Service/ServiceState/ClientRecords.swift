import LocationPolicy
import LocationTypes

/// What a client is called for good: counted from 1, never used twice.
public typealias ClientNumber = UInt32

/// Who a client is and what it may (AUT-2).
public struct ClientRecord: StateRow {
  /// Its number.
  public var id: ClientNumber
  /// The user of its processes, as the socket's credentials tell it.
  public var uid: UInt32
  /// Its name among that user's programs: 1 to 255 bytes, no control characters.
  public var name: String
  /// What it was told last that it may.
  public var authorization: Authorization
  /// What it was told last of its accuracy.
  public var isReduced: Bool
  /// What a command has decided (`torpor clients allow`), nil where none has.
  public var decision: Authorization?
  /// The command reduced its accuracy; only with a ``decision``.
  public var isDecidedReduced: Bool
  /// It has asked for more than when-in-use, which counts once (AUT-4).
  public var hasAskedAlways: Bool

  /// Creates the record of a client that nothing was decided about.
  ///
  /// - Precondition: `name` is one that may be kept, see ``StateStore/isName(_:)``.
  public init(id: ClientNumber, uid: UInt32, name: String) {
    precondition(StoredColumns.isText(name), "a client's name has 1 to 255 bytes")
    self.id = id
    self.uid = uid
    self.name = name
    authorization = .notDetermined
    isReduced = false
    decision = nil
    isDecidedReduced = false
    hasAskedAlways = false
  }

  /// What tells it from the others.
  public var key: ClientNumber { id }
  /// The client that it goes with.
  public var owner: ClientNumber? { nil }

  /// What a command has decided is written in any case.
  public func isWritten(without volatile: Set<ClientNumber>) -> Bool {
    decision != nil || !volatile.contains(id)
  }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "clients",
    columns: [
      "id", "uid", "name", "authorization", "is_reduced", "decision", "is_decided_reduced",
      "has_asked_always",
    ], keys: 1, capacity: 1_024)

  /// The columns of a key.
  public static func columns(of key: ClientNumber) -> StoredColumns {
    StoredColumns([.number(key)])
  }

  /// What is written of it.
  public var stored: StoredColumns {
    StoredColumns([
      .number(id), .number(uid), .text(name), .number(authorization.rawValue), .flag(isReduced),
      decision.map { .number($0.rawValue) } ?? .null, .flag(isDecidedReduced),
      .flag(hasAskedAlways),
    ])
  }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    let authorization = { columns.whole($0, UInt8.self).flatMap(Authorization.init(rawValue:)) }
    guard let id = columns.whole(0, ClientNumber.self), id > 0,
      let uid = columns.whole(1, UInt32.self), let name = columns.text(2),
      let current = authorization(3), let isReduced = columns.flag(4),
      let decision = columns.optional(5, authorization), let isDecidedReduced = columns.flag(6),
      let hasAskedAlways = columns.flag(7)
    else { return nil }
    self.init(id: id, uid: uid, name: name)
    self.authorization = current
    self.isReduced = isReduced
    self.decision = decision
    self.isDecidedReduced = isDecidedReduced
    self.hasAskedAlways = hasAskedAlways
  }
}

/// A client's place in the ring (RNG-3).
public struct CursorRecord: StateRow {
  /// Whose.
  public var client: ClientNumber
  /// The place.
  public var bookmark: ClientBookmark
  /// A power cut may have taken fixes of it, and it was not told (RNG-4).
  public var mayHaveLost: Bool

  /// Creates a record.
  public init(client: ClientNumber, bookmark: ClientBookmark, mayHaveLost: Bool = false) {
    self.client = client
    self.bookmark = bookmark
    self.mayHaveLost = mayHaveLost
  }

  /// What tells it from the others.
  public var key: ClientNumber { client }
  /// The client that it goes with.
  public var owner: ClientNumber? { client }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "cursors",
    columns: [
      "client", "acknowledged_generation", "acknowledged_sequence", "owes_all",
      "owed_generation", "owed_sequence", "passed_after_generation", "passed_after_sequence",
      "passed_through_generation", "passed_through_sequence", "may_have_lost",
    ], keys: 1, capacity: ClientRecord.layout.capacity)

  /// The columns of a key.
  public static func columns(of key: ClientNumber) -> StoredColumns {
    StoredColumns([.number(key)])
  }

  /// What is written of it.
  public var stored: StoredColumns {
    var values: [StateValue] = [.number(client)]
    values += StateValue.name(bookmark.acknowledged)
    values.append(.flag(bookmark.owesAll))
    values += StateValue.name(bookmark.owedThrough)
    values += StateValue.name(bookmark.passedAfter)
    values += StateValue.name(bookmark.passedThrough)
    values.append(.flag(mayHaveLost))
    return StoredColumns(values)
  }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.whole(0, ClientNumber.self), let acknowledged = columns.name(1),
      let owesAll = columns.flag(3), let owed = columns.name(4), let after = columns.name(6),
      let through = columns.name(8), let mayHaveLost = columns.flag(10)
    else { return nil }
    self.client = client
    self.mayHaveLost = mayHaveLost
    bookmark = ClientBookmark(
      acknowledged: acknowledged, owesAll: owesAll, owedThrough: owed, passedAfter: after,
      passedThrough: through)
  }
}

/// What a client asked for that outlives its process (BKG-20). Plain updates do not (STD-12).
public struct ServicesRecord: StateRow {
  /// Whose.
  public var client: ClientNumber
  /// `startMonitoringSignificantLocationChanges` was called and not taken back (SLC-8).
  public var significantChange = false
  /// `startMonitoringVisits` was called and not taken back (VIS-8).
  public var visits = false
  /// A background session is active (BKG-9).
  public var backgroundSession = false
  /// The number of the newest event that it was told, 0 for none; no number is used twice.
  public var lastEvent: UInt32 = 0

  /// Whether anything of it goes on without a process.
  public var outlivesProcess: Bool { significantChange || visits || backgroundSession }

  /// Creates the record of a client that asked for nothing.
  public init(client: ClientNumber) { self.client = client }

  /// What tells it from the others.
  public var key: ClientNumber { client }
  /// The client that it goes with.
  public var owner: ClientNumber? { client }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "services",
    columns: ["client", "significant_change", "visits", "background_session", "last_event"],
    keys: 1,
    capacity: ClientRecord.layout.capacity)

  /// The columns of a key.
  public static func columns(of key: ClientNumber) -> StoredColumns {
    StoredColumns([.number(key)])
  }

  /// What is written of it.
  public var stored: StoredColumns {
    StoredColumns([
      .number(client), .flag(significantChange), .flag(visits), .flag(backgroundSession),
      .number(lastEvent),
    ])
  }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.whole(0, ClientNumber.self), let significant = columns.flag(1),
      let visits = columns.flag(2), let background = columns.flag(3),
      let lastEvent = columns.whole(4, UInt32.self), lastEvent < .max
    else { return nil }
    self.client = client
    significantChange = significant
    self.visits = visits
    backgroundSession = background
    self.lastEvent = lastEvent
  }
}
