import LocationPolicy
import LocationTypes

// Rows of the durable state for regions and conditions, and for counters of the service.

/// A region or condition of a client, with its name and state (REG-1, REG-11).
public struct RegionRecord: StateRow {
  /// Key of a region.
  public struct Key: Hashable, Sendable {
    /// The client.
    public var client: ClientNumber
    /// Kind and number.
    public var identifier: RegionIdentifier

    /// Creates a key.
    public init(client: ClientNumber, identifier: RegionIdentifier) {
      self.client = client
      self.identifier = identifier
    }
  }

  /// The client.
  public var client: ClientNumber
  /// Name chosen by the client; for a condition, with the name of its monitor.
  public var name: String
  /// The circular region.
  public var region: Region
  /// State to restore it with: `Request.addRegion(_:assuming:)`.
  public var state: MonitorState
  /// The region's last event that the client has acknowledged, in the form of ``EventRecord/notice``; nil if there was
  /// none since the region was added (REG-13).
  public var handled: String?

  /// Creates a record.
  ///
  /// - Precondition: `name` is valid, see ``StateStore/isValidName(_:)``; `handled` is a valid notice.
  public init(
    client: ClientNumber, name: String, region: Region, state: MonitorState, handled: String? = nil
  ) {
    precondition(StoredColumns.isValidText(name), "a region's name has 1 to 255 bytes")
    precondition(handled.map(EventRecord.isValidNotice) ?? true, "a notice has 1 to 1,024 bytes")
    self.client = client
    self.name = name
    self.region = region
    self.state = state
    self.handled = handled
  }

  /// The row's key.
  public var key: Key { Key(client: client, identifier: region.identifier) }
  /// The client that the row belongs to.
  public var owner: ClientNumber? { client }

  /// Table and columns.
  public static let layout = StateLayout(
    table: "regions",
    columns: [
      "client", "kind", "number", "name", "latitude_e9", "longitude_e9", "radius_m",
      "notify_on_entry", "notify_on_exit", "state", "handled",
    ], keys: 3, capacity: ClientRecord.layout.capacity * RegionMonitor.capacity)

  /// The key as columns.
  public static func columns(of key: Key) -> StoredColumns {
    StoredColumns([
      .number(key.client), .number(key.identifier.kind.rawValue), .number(key.identifier.number),
    ])
  }

  /// The row as columns.
  public var stored: StoredColumns {
    let circle =
      switch region.shape {
      case .circle(let circle): circle
      }
    return StoredColumns(
      RegionRecord.columns(of: key).values + [
        .text(name), .number(circle.center.latitude_e9), .number(circle.center.longitude_e9),
        .real(circle.radius), .flag(region.notifyOnEntry), .flag(region.notifyOnExit),
        .number(state.rawValue), handled.map { .text($0) } ?? .null,
      ])
  }

  /// Reads a row from disk; nil if any value is invalid.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.integer(0, ClientNumber.self),
      let kind = columns.integer(1, UInt8.self).flatMap(RegionKind.init(rawValue:)),
      let number = columns.integer(2, UInt32.self), let name = columns.text(3),
      let latitude = columns.integer(4, Int64.self), let longitude = columns.integer(5, Int64.self),
      let radius = columns.real(6), radius > 0, radius.isFinite,
      let entry = columns.flag(7), let exit = columns.flag(8),
      let state = columns.integer(9, Int.self).flatMap(MonitorState.init(rawValue:))
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

/// A monotonic counter or a setting of the service.
public enum StateCounter: String, Sendable {
  /// Newest generation of the ring: its `generationFloor` (RNG-2).
  case ringGeneration = "ring_generation"
  /// Upper 32 bits of the ring's random number (RNG-2).
  case ringIDHigh = "ring_id_high"
  /// Lower 32 bits of the ring's random number.
  case ringIDLow = "ring_id_low"
  /// Number of the next new client.
  case nextClient = "next_client"
  /// Greatest number of an event of a removed client. Events of new clients have greater ones, because a program of
  /// the same name, or a store to which it sends them, may have kept earlier numbers.
  case eventFloor = "event_floor"
  /// The board's boot in which the service last ran, as a number derived from the boot ID.
  case boot = "boot"
  /// Ring head up to which an unknown client may be one that was lost with a damaged file. 0 if none was lost;
  /// `Int64.max` from the damage until the ring is open.
  case clientsLostUntil = "clients_lost_until"
  /// Hash of the configuration that was written to the receiver's flash.
  case receiverFlashTarget = "receiver_flash_target"
  /// Number of times that it was written.
  case receiverFlashWrites = "receiver_flash_writes"
  /// Hash of the values that the receiver kept instead; 0 if it kept those written.
  case receiverFlashKept = "receiver_flash_kept"
}

/// A counter with its value. Counters that this version does not use are kept.
public struct CounterRecord: StateRow {
  /// Name of the counter.
  public var name: String
  /// Its value, not negative.
  public var value: Int64

  /// The row's key.
  public var key: String { name }
  /// The client that the row belongs to: none.
  public var owner: ClientNumber? { nil }

  init(name: String, value: Int64) {
    self.name = name
    self.value = value
  }

  /// Table and columns.
  public static let layout = StateLayout(
    table: "counters", columns: ["name", "value"], keys: 1, capacity: 256)

  /// The key as columns.
  public static func columns(of key: String) -> StoredColumns { StoredColumns([.text(key)]) }

  /// The row as columns.
  public var stored: StoredColumns { StoredColumns([.text(name), .integer(value)]) }

  /// Reads a row from disk; nil if any value is invalid.
  public init?(_ columns: StoredColumns) {
    guard let name = columns.text(0), let value = columns.integer(1, Int64.self), value >= 0
    else { return nil }
    self.init(name: name, value: value)
  }
}
