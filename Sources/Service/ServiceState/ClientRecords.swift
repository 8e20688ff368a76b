import LocationPolicy
import LocationTypes

// Rows of the durable state with one row per client: identity and permission, position in the ring, services.

/// Permanent number of a client, counted from 1. A number that was written to the disk is never used again.
public typealias ClientNumber = UInt32

/// Identity and permission of a client (AUT-2).
public struct ClientRecord: StateRow {
  /// The client's number, the primary key.
  public var id: ClientNumber
  /// User of the client's processes, from the socket's peer credentials.
  public var uid: UInt32
  /// The client's name, unique among the clients of its user: 1 to 255 bytes, no control characters.
  public var name: String
  /// Authorization that was last reported to the client.
  public var authorization: Authorization
  /// Whether the accuracy that was last reported to the client is reduced.
  public var isReduced: Bool
  /// Authorization decided by a command (`torpor clients allow`); nil without a decision.
  public var decision: Authorization?
  /// Whether the command reduced the accuracy; only with a ``decision``.
  public var isReducedByDecision: Bool
  /// Whether the client has requested "always" while it had "when in use"; only the first such request is submitted to
  /// the administrator (AUT-4).
  public var hasRequestedAlways: Bool

  /// Creates the record of a client without a decision.
  ///
  /// - Precondition: `name` is valid, see ``StateStore/isValidName(_:)``.
  public init(id: ClientNumber, uid: UInt32, name: String) {
    precondition(StoredColumns.isValidText(name), "a client's name has 1 to 255 bytes")
    self.id = id
    self.uid = uid
    self.name = name
    authorization = .notDetermined
    isReduced = false
    decision = nil
    isReducedByDecision = false
    hasRequestedAlways = false
  }

  /// The row's key.
  public var key: ClientNumber { id }
  /// None: the row is that of the client itself.
  public var owner: ClientNumber? { nil }

  /// Whether the row is written. The decision of a command is always written.
  public func isWritten(without volatile: Set<ClientNumber>) -> Bool {
    decision != nil || !volatile.contains(id)
  }

  /// Table and columns.
  public static let layout = StateLayout(
    table: "clients",
    columns: [
      "id", "uid", "name", "authorization", "is_reduced", "decision", "is_decided_reduced",
      "has_asked_always",
    ], keys: 1, capacity: 1_024)

  /// The row as columns.
  public var stored: StoredColumns {
    StoredColumns([
      .number(id), .number(uid), .text(name), .number(authorization.rawValue), .flag(isReduced),
      decision.map { .number($0.rawValue) } ?? .null, .flag(isReducedByDecision),
      .flag(hasRequestedAlways),
    ])
  }

  /// Reads a row from disk; nil if any value is invalid.
  public init?(_ columns: StoredColumns) {
    let authorization = { columns.integer($0, UInt8.self).flatMap(Authorization.init(rawValue:)) }
    guard let id = columns.integer(0, ClientNumber.self), id > 0,
      let uid = columns.integer(1, UInt32.self), let name = columns.text(2),
      let current = authorization(3), let isReduced = columns.flag(4),
      let decision = columns.optional(5, authorization), let isDecidedReduced = columns.flag(6),
      let hasRequestedAlways = columns.flag(7)
    else { return nil }
    self.init(id: id, uid: uid, name: name)
    self.authorization = current
    self.isReduced = isReduced
    self.decision = decision
    self.isReducedByDecision = isDecidedReduced
    self.hasRequestedAlways = hasRequestedAlways
  }
}

/// A client's position in the ring (RNG-3).
public struct CursorRecord: StateRow {
  /// The client.
  public var client: ClientNumber
  /// Position and undelivered range.
  public var bookmark: ClientBookmark
  /// Whether fixes of the client may have been lost, and the gap was not reported yet (RNG-4).
  public var mayHaveLostFixes: Bool

  /// Creates a record.
  public init(client: ClientNumber, bookmark: ClientBookmark, mayHaveLostFixes: Bool = false) {
    self.client = client
    self.bookmark = bookmark
    self.mayHaveLostFixes = mayHaveLostFixes
  }

  /// The row's key.
  public var key: ClientNumber { client }

  /// Table and columns.
  public static let layout = StateLayout(
    table: "cursors",
    columns: [
      "client", "acknowledged_generation", "acknowledged_sequence", "owes_all",
      "owed_generation", "owed_sequence", "passed_after_generation", "passed_after_sequence",
      "passed_through_generation", "passed_through_sequence", "may_have_lost",
      "significant_generation", "significant_sequence", "visits_generation", "visits_sequence",
    ], keys: 1, capacity: ClientRecord.layout.capacity)

  /// The row as columns.
  public var stored: StoredColumns {
    var values: [StateValue] = [.number(client)]
    values += StateValue.fixName(bookmark.acknowledged)
    values.append(.flag(bookmark.isOpenEnded))
    values += StateValue.fixName(bookmark.undeliveredThrough)
    values += StateValue.fixName(bookmark.excludedAfter)
    values += StateValue.fixName(bookmark.excludedThrough)
    values.append(.flag(mayHaveLostFixes))
    values += StateValue.fixName(bookmark.significantFrom)
    values += StateValue.fixName(bookmark.visitsFrom)
    return StoredColumns(values)
  }

  /// Reads a row from disk; nil if any value is invalid.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.integer(0, ClientNumber.self), let acknowledged = columns.fixName(1),
      let isOpenEnded = columns.flag(3), let undeliveredThrough = columns.fixName(4),
      let excludedAfter = columns.fixName(6), let excludedThrough = columns.fixName(8),
      let mayHaveLost = columns.flag(10), let significantFrom = columns.fixName(11),
      let visitsFrom = columns.fixName(13)
    else { return nil }
    self.client = client
    self.mayHaveLostFixes = mayHaveLost
    bookmark = ClientBookmark(
      acknowledged: acknowledged, isOpenEnded: isOpenEnded, undeliveredThrough: undeliveredThrough,
      excludedAfter: excludedAfter, excludedThrough: excludedThrough,
      significantFrom: significantFrom, visitsFrom: visitsFrom)
  }
}

/// The services of a client that outlive its process (BKG-20). Standard updates do not (STD-12).
public struct ServicesRecord: StateRow {
  /// The client.
  public var client: ClientNumber
  /// Whether significant-change monitoring was started and not stopped (SLC-8).
  public var significantChange = false
  /// Whether visit monitoring was started and not stopped (VIS-8).
  public var visits = false
  /// Whether a background session is active (BKG-9).
  public var backgroundSession = false
  /// Number of the client's newest event, 0 for none. Numbers are never reused.
  public var lastEvent: UInt32 = 0

  /// Whether any of the services continues without a process.
  public var outlivesProcess: Bool { significantChange || visits || backgroundSession }

  /// Creates the record of a client without services.
  public init(client: ClientNumber) { self.client = client }

  /// The row's key.
  public var key: ClientNumber { client }

  /// Table and columns.
  public static let layout = StateLayout(
    table: "services",
    columns: ["client", "significant_change", "visits", "background_session", "last_event"],
    keys: 1,
    capacity: ClientRecord.layout.capacity)

  /// The row as columns.
  public var stored: StoredColumns {
    StoredColumns([
      .number(client), .flag(significantChange), .flag(visits), .flag(backgroundSession),
      .number(lastEvent),
    ])
  }

  /// Reads a row from disk; nil if any value is invalid.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.integer(0, ClientNumber.self), let significant = columns.flag(1),
      let visits = columns.flag(2), let background = columns.flag(3),
      let lastEvent = columns.integer(4, UInt32.self), lastEvent < .max
    else { return nil }
    self.client = client
    significantChange = significant
    self.visits = visits
    backgroundSession = background
    self.lastEvent = lastEvent
  }
}
