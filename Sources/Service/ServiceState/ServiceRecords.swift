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
  /// The last event of it that its client has acknowledged, as ``EventRecord/notice``; nil where there
  /// was none since it was added (REG-13).
  public var handled: String?

  /// Creates a record.
  ///
  /// - Precondition: `name` may be kept, see ``StateStore/isName(_:)``; `handled` is a notice.
  public init(
    client: ClientNumber, name: String, region: Region, state: MonitorState, handled: String? = nil
  ) {
    precondition(StoredColumns.isText(name), "a region's name has 1 to 255 bytes")
    precondition(handled.map(EventRecord.isNotice) ?? true, "a notice is short")
    self.client = client
    self.name = name
    self.region = region
    self.state = state
    self.handled = handled
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
      "notify_on_entry", "notify_on_exit", "state", "handled",
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
        .number(state.rawValue), handled.map { .text($0) } ?? .null,
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
    let handled = columns.text(10, upTo: EventRecord.longestNotice)
    guard handled != nil || columns.isNull(10) else { return nil }
    self.init(
      client: client, name: name,
      region: Region(
        RegionIdentifier(kind, number), center: center, radius: radius, notifyOnEntry: entry,
        notifyOnExit: exit),
      state: state, handled: handled)
  }
}

/// A number that only rises, or a setting of the service itself.
public enum StateCounter: String, Sendable {
  /// The newest generation of the ring: its `generationFloor` (RNG-2).
  case ringGeneration = "ring_generation"
  /// The number that the next client gets.
  case nextClient = "next_client"
  /// Which boot of the board the service ran in last, as a number made of its id.
  case boot = "boot"
  /// Clients of before may be lost with a damaged file: until the ring's head has this number, a client that
  /// is not known may have been one of them. 0 where none is lost, `Int64.max` before the ring is open.
  case clientsLostUntil = "clients_lost_until"
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
