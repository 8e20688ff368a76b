/// A row of a ``StateTable`` as a Swift type.
public protocol StateRow: Equatable, Sendable {
  /// Primary key type.
  associatedtype Key: Hashable & Sendable
  /// The row's primary key.
  var key: Key { get }
  /// The client that the row belongs to, nil for rows of the service. A row of a missing client is dropped.
  var owner: ClientNumber? { get }
  /// Whether the row is written although the rows of these clients are kept in memory only. Used by the store only.
  func isWritten(without volatile: Set<ClientNumber>) -> Bool
  /// Table, columns and capacity. Used by the store only.
  static var layout: StateLayout { get }
  /// The row as columns, the key first. Used by the store only.
  var stored: StoredColumns { get }
  /// A key as columns. Used by the store only.
  static func columns(of key: Key) -> StoredColumns
  /// Reads a row from disk; nil if any value is invalid.
  init?(_ columns: StoredColumns)
}

extension StateRow {
  /// True for rows of the service and of clients that are not in `volatile`.
  public func isWritten(without volatile: Set<ClientNumber>) -> Bool {
    owner.map { !volatile.contains($0) } ?? true
  }
}

extension StateRow where Key == ClientNumber {
  /// The client that the row belongs to.
  public var owner: ClientNumber? { key }
  /// The key as columns.
  public static func columns(of key: ClientNumber) -> StoredColumns {
    StoredColumns([.number(key)])
  }
}

/// Table and columns of a type of row.
public struct StateLayout: Sendable {
  /// Name of the table.
  let table: String
  /// Names of the columns, in order.
  let columns: [String]
  /// Number of leading columns that form the primary key.
  let keys: Int
  /// Maximum number of rows.
  let capacity: Int

  var insertion: String {
    let placeholders = columns.map { _ in "?" }.joined(separator: ", ")
    // INSERT OR REPLACE would delete the old row first, and cascade to all rows of a client.
    let changes = columns.dropFirst(keys).map { "\($0) = excluded.\($0)" }
    return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(placeholders)) "
      + "ON CONFLICT (\(columns.prefix(keys).joined(separator: ", "))) DO UPDATE SET "
      + changes.joined(separator: ", ")
  }

  var deletion: String {
    "DELETE FROM \(table) WHERE "
      + columns.prefix(keys).map { $0 + " = ?" }.joined(separator: " AND ")
  }

  var selection: String {
    let names = columns.joined(separator: ", ")
    return "SELECT \(names) FROM \(table) ORDER BY \(columns.prefix(keys).joined(separator: ", "))"
  }
}

/// The column values of a row.
public struct StoredColumns: Sendable {
  private(set) var values: [StateValue]

  init(_ values: [StateValue]) { self.values = values }
}

/// All rows of one type in memory, with the keys that have changed since the last flush.
public struct StateTable<Row: StateRow>: Sendable {
  private var rows: [Row.Key: Row] = [:]
  /// Keys of rows that were put or removed since the last flush. Each is written once.
  private(set) var changed: Set<Row.Key> = []
  /// Clients whose rows are kept in memory only.
  private var volatile: Set<ClientNumber> = []

  /// The row with that key, if it is to be on the disk.
  func durableRow(_ key: Row.Key) -> Row? {
    rows[key].flatMap { $0.isWritten(without: volatile) ? $0 : nil }
  }

  /// All rows that are to be on the disk.
  var durableRows: [Row] { rows.values.filter { $0.isWritten(without: volatile) } }

  /// Whether the rows of a client are kept in memory only.
  func isVolatile(_ client: ClientNumber) -> Bool { volatile.contains(client) }

  /// Sets whether the rows of a client are kept in memory only.
  mutating func setVolatile(_ client: ClientNumber, _ isVolatile: Bool) {
    let before = volatile
    if isVolatile { volatile.insert(client) } else { volatile.remove(client) }
    for row in rows.values
    where row.isWritten(without: before) != row.isWritten(without: volatile) {
      changed.insert(row.key)
    }
  }

  /// The row with that key.
  public subscript(key: Row.Key) -> Row? { rows[key] }
  /// All rows, unordered.
  public var all: Dictionary<Row.Key, Row>.Values { rows.values }
  /// Number of rows.
  public var count: Int { rows.count }
  /// Maximum number of rows.
  public static var capacity: Int { Row.layout.capacity }

  /// Inserts a row or replaces the row with the same key. An unchanged row is not written again.
  ///
  /// - Returns: false, with nothing changed, if the table is full.
  public mutating func put(_ row: Row) -> Bool {
    if let old = rows[row.key] {
      if old == row { return true }
    } else if rows.count >= Row.layout.capacity {
      return false
    }
    let wasWritten = durableRow(row.key) != nil
    rows[row.key] = row
    if wasWritten || row.isWritten(without: volatile) { changed.insert(row.key) }
    return true
  }

  /// Removes the row with that key, if it exists.
  public mutating func remove(_ key: Row.Key) {
    guard let row = rows.removeValue(forKey: key) else { return }
    if row.isWritten(without: volatile) { changed.insert(key) }
  }

  /// Removes all rows of a client.
  mutating func remove(of client: ClientNumber) {
    for row in rows.values where row.owner == client { remove(row.key) }
  }

  /// Adds a row that is already on the disk; false if the table is full or has a row with that key.
  mutating func load(_ row: Row) -> Bool {
    guard rows.count < Row.layout.capacity, rows[row.key] == nil else { return false }
    rows[row.key] = row
    return true
  }

  mutating func markWritten() { changed.removeAll(keepingCapacity: true) }
}
