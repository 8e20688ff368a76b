import LocationPolicy
import LocationTypes

/// A region or condition of a client, with its name and state (REG-1, REG-11).
public struct RegionRecord: StateRow {
  /// What tells one from the other.
  public struct Key: Hashable, Sendable {
    /// Whose.
    public var client: ClientNumber
    /// Kind and number.
    public var identifier: RegionIdentifier

    /// Creates a key.
    public init(client: ClientNumber, identifier: RegionIdentifier) {
      self.client = client
      self.identifier = identifier
    }
  }

  /// Whose.
  public var client: ClientNumber
  /// The client's own word for it; a condition's with that of its monitor.
  public var name: String
  /// The circle.
  public var region: Region
  /// What it is added with again: `Request.addRegion(_:assuming:)`.
  public var state: MonitorState

  /// Creates a record.
  ///
  /// - Precondition: `name` may be kept, see ``StateStore/isName(_:)``.
  public init(client: ClientNumber, name: String, region: Region, state: MonitorState) {
    precondition(StoredColumns.isText(name), "a region's name has 1 to 255 bytes")
    self.client = client
    self.name = name
    self.region = region
    self.state = state
  }

  /// What tells it from the others.
  public var key: Key { Key(client: client, identifier: region.identifier) }
  /// The client that it goes with.
  public var owner: ClientNumber? { client }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "regions",
    columns: [
      "client", "kind", "number", "name", "latitude_e9", "longitude_e9", "radius_m",
      "notify_on_entry", "notify_on_exit", "state",
    ], keys: 3, capacity: ClientRecord.layout.capacity * RegionMonitor.capacity)

  /// The columns of a key.
  public static func columns(of key: Key) -> StoredColumns {
    StoredColumns([
      .number(key.client), .number(key.identifier.kind.rawValue), .number(key.identifier.number),
    ])
  }

  /// What is written of it.
  public var stored: StoredColumns {
    StoredColumns(
      RegionRecord.columns(of: key).values + [
        .text(name), .number(region.center.latitude_e9), .number(region.center.longitude_e9),
        .real(region.radius), .flag(region.notifyOnEntry), .flag(region.notifyOnExit),
        .number(state.rawValue),
      ])
  }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.whole(0, ClientNumber.self),
      let kind = columns.whole(1, UInt8.self).flatMap(RegionKind.init(rawValue:)),
      let number = columns.whole(2, UInt32.self), let name = columns.text(3),
      let latitude = columns.whole(4, Int64.self), let longitude = columns.whole(5, Int64.self),
      let radius = columns.real(6), radius > 0, radius.isFinite,
      let entry = columns.flag(7), let exit = columns.flag(8),
      let state = columns.whole(9, Int.self).flatMap(MonitorState.init(rawValue:))
    else { return nil }
    let center = Coordinate(latitude_e9: latitude, longitude_e9: longitude)
    guard center.isValid else { return nil }
    self.init(
      client: client, name: name,
      region: Region(
        RegionIdentifier(kind, number), center: center, radius: radius, notifyOnEntry: entry,
        notifyOnExit: exit),
      state: state)
  }
}

/// Which session a client holds.
public enum SessionKind: UInt8, Sendable {
  /// `CLServiceSession` (BKG-12).
  case service = 0
  /// `CLBackgroundActivitySession` (BKG-9).
  case background = 1
}

/// What a `CLServiceSession` asks for (BKG-12).
public enum SessionRequirement: UInt8, Sendable {
  /// No authorization.
  case none = 0
  /// While in use.
  case whenInUse = 1
  /// At any time.
  case always = 2
}

/// A session that outlives its client's process (BKG-9).
public struct SessionRecord: StateRow {
  /// What tells one from the other.
  public struct Key: Hashable, Sendable {
    /// Whose.
    public var client: ClientNumber
    /// Which sort.
    public var kind: SessionKind
    /// The client's number of it.
    public var number: UInt32

    /// Creates a key.
    public init(client: ClientNumber, kind: SessionKind, number: UInt32) {
      self.client = client
      self.kind = kind
      self.number = number
    }
  }

  /// Whose, which sort, which number.
  public var key: Key
  /// What it asks for.
  public var requirement: SessionRequirement
  /// `fullAccuracyPurposeKey` was given.
  public var wantsFullAccuracy: Bool
  /// When it was made, where known.
  public var since: UTCTime?

  /// Creates a record.
  public init(
    _ key: Key, requirement: SessionRequirement = .none, wantsFullAccuracy: Bool = false,
    since: UTCTime? = nil
  ) {
    self.key = key
    self.requirement = requirement
    self.wantsFullAccuracy = wantsFullAccuracy
    self.since = since
  }

  /// The client that it goes with.
  public var owner: ClientNumber? { key.client }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "sessions",
    columns: ["client", "kind", "number", "requirement", "wants_full_accuracy", "since_utc"],
    keys: 3, capacity: ClientRecord.layout.capacity * 16)

  /// The columns of a key.
  public static func columns(of key: Key) -> StoredColumns {
    StoredColumns([.number(key.client), .number(key.kind.rawValue), .number(key.number)])
  }

  /// What is written of it.
  public var stored: StoredColumns {
    StoredColumns(
      SessionRecord.columns(of: key).values + [
        .number(requirement.rawValue), .flag(wantsFullAccuracy), .utc(since),
      ])
  }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.whole(0, ClientNumber.self),
      let kind = columns.whole(1, UInt8.self).flatMap(SessionKind.init(rawValue:)),
      let number = columns.whole(2, UInt32.self),
      let requirement = columns.whole(3, UInt8.self).flatMap(SessionRequirement.init(rawValue:)),
      let wantsFull = columns.flag(4), let since = columns.utc(5)
    else { return nil }
    self.init(
      Key(client: client, kind: kind, number: number), requirement: requirement,
      wantsFullAccuracy: wantsFull, since: since)
  }
}

/// A number that only rises, or a setting of the service itself.
public enum StateCounter: String, Sendable {
  /// The newest generation of the ring: its `generationFloor` (RNG-2).
  case ringGeneration = "ring_generation"
  /// The number that the next client gets.
  case nextClient = "next_client"
  /// How often the service was started with this file.
  case starts = "starts"
}

/// A counter with its value. Names that this version does not know are kept.
public struct CounterRecord: StateRow {
  /// Which.
  public var name: String
  /// Its value.
  public var value: Int64

  /// What tells it from the others.
  public var key: String { name }
  /// The client that it goes with.
  public var owner: ClientNumber? { nil }

  init(name: String, value: Int64) {
    self.name = name
    self.value = value
  }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "counters", columns: ["name", "value"], keys: 1, capacity: 256)

  /// The columns of a key.
  public static func columns(of key: String) -> StoredColumns { StoredColumns([.text(key)]) }

  /// What is written of it.
  public var stored: StoredColumns { StoredColumns([.text(name), .integer(value)]) }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    guard let name = columns.text(0), let value = columns.whole(1, Int64.self), value >= 0
    else { return nil }
    self.init(name: name, value: value)
  }
}
