/// One row of a table, with its types.
public protocol StateRow: Equatable, Sendable {
  /// What tells it from the others of its table.
  associatedtype Key: Hashable & Sendable
  /// Its own.
  var key: Key { get }
  /// The client that it belongs to; a row whose client is gone is dropped. nil for rows of the service.
  var owner: ClientNumber? { get }
  /// Whether it is written although the rows of these clients are kept in memory alone. For the store alone.
  func isWritten(without volatile: Set<ClientNumber>) -> Bool
  /// Table, columns and bound. For the store alone.
  static var layout: StateLayout { get }
  /// Its columns, those of the key first. For the store alone.
  var stored: StoredColumns { get }
  /// The columns of a key. For the store alone.
  static func columns(of key: Key) -> StoredColumns
  /// Checks a row that comes from disk; nil if any value of it is not to be taken.
  init?(_ columns: StoredColumns)
}

extension StateRow {
  /// A row of the service, or of a client that is not among them.
  public func isWritten(without volatile: Set<ClientNumber>) -> Bool {
    owner.map { !volatile.contains($0) } ?? true
  }
}

/// How a kind of row lies in the database.
public struct StateLayout: Sendable {
  /// The name of the table.
  let table: String
  /// The names of its columns, in their order.
  let columns: [String]
  /// How many of them are its key.
  let keys: Int
  /// How many rows there may be.
  let capacity: Int

  var insertion: String {
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    // A replacement would delete the old row first, and with a client all that is its.
    let changes = columns.dropFirst(keys).map { "\($0) = excluded.\($0)" }
    return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places)) "
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

/// The values of a row, as they lie in the database.
public struct StoredColumns: Sendable {
  var values: [StateValue]

  init(_ values: [StateValue]) { self.values = values }
}

/// The rows of one kind, in memory, and which of them the disk does not know yet.
public struct StateTable<Row: StateRow>: Sendable {
  private var rows: [Row.Key: Row] = [:]
  /// Keys whose row was put or removed since the last flush: one write for each, however often.
  private(set) var changed: Set<Row.Key> = []
  /// Clients whose rows are kept in memory alone.
  private var volatile: Set<ClientNumber> = []

  init() {}

  /// The row of that key, if the disk is to have it.
  func written(_ key: Row.Key) -> Row? {
    rows[key].flatMap { $0.isWritten(without: volatile) ? $0 : nil }
  }

  /// All rows that the disk is to have.
  var allWritten: [Row] { rows.values.filter { $0.isWritten(without: volatile) } }

  /// Whether the rows of a client are kept in memory alone.
  func isVolatile(_ client: ClientNumber) -> Bool { volatile.contains(client) }

  /// Keeps the rows of a client in memory alone, or on the disk again.
  mutating func setVolatile(_ client: ClientNumber, _ isVolatile: Bool) {
    let before = volatile
    if isVolatile { volatile.insert(client) } else { volatile.remove(client) }
    for row in rows.values
    where row.isWritten(without: before) != row.isWritten(without: volatile) {
      changed.insert(row.key)
    }
  }

  /// The row of that key.
  public subscript(key: Row.Key) -> Row? { rows[key] }
  /// All rows, in no order.
  public var all: Dictionary<Row.Key, Row>.Values { rows.values }
  /// How many there are.
  public var count: Int { rows.count }
  /// How many there may be.
  public static var capacity: Int { Row.layout.capacity }

  /// Puts a row in the place of the one of the same key. What is the same already is not written.
  ///
  /// - Returns: false, and nothing is changed, where the table is full.
  public mutating func put(_ row: Row) -> Bool {
    if let old = rows[row.key] {
      if old == row { return true }
    } else if rows.count >= Row.layout.capacity {
      return false
    }
    let wasWritten = written(row.key) != nil
    rows[row.key] = row
    if wasWritten || row.isWritten(without: volatile) { changed.insert(row.key) }
    return true
  }

  /// Removes a row; does nothing where there is none.
  public mutating func remove(_ key: Row.Key) {
    guard let row = rows.removeValue(forKey: key) else { return }
    if row.isWritten(without: volatile) { changed.insert(key) }
  }

  /// Removes the rows of a client.
  mutating func remove(of client: ClientNumber) {
    for row in rows.values where row.owner == client { remove(row.key) }
  }

  /// Takes a row that the disk has; false where it may not be taken.
  mutating func load(_ row: Row) -> Bool {
    guard rows.count < Row.layout.capacity, rows[row.key] == nil else { return false }
    rows[row.key] = row
    return true
  }

  mutating func markWritten() { changed.removeAll(keepingCapacity: true) }
}
