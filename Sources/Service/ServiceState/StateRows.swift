/// All durable rows in memory, where the service reads and changes them. ``StateStore`` reads them from the file and
/// writes them with the visitors below.
public struct StateRows: Sendable {
  /// Clients: identity and permission.
  public var clients = StateTable<ClientRecord>()
  /// Ring positions of clients.
  public var cursors = StateTable<CursorRecord>()
  /// Services of clients that outlive their processes.
  public var services = StateTable<ServicesRecord>()
  /// Regions and conditions of clients.
  public var regions = StateTable<RegionRecord>()
  /// Unacknowledged visits and region events of clients.
  public var events = StateTable<EventRecord>()
  /// Counters of the service.
  public var counters = StateTable<CounterRecord>()

  /// Passes each table to a visitor, clients first.
  mutating func visit(_ visitor: inout some TableVisitor) throws(StateError) {
    try visitor.visit(&clients)
    try visitor.visit(&cursors)
    try visitor.visit(&services)
    try visitor.visit(&regions)
    try visitor.visit(&events)
    try visitor.visit(&counters)
  }

  /// Sets whether all rows of a client are kept in memory only.
  mutating func setVolatile(_ client: ClientNumber, _ isVolatile: Bool) {
    clients.setVolatile(client, isVolatile)
    cursors.setVolatile(client, isVolatile)
    services.setVolatile(client, isVolatile)
    regions.setVolatile(client, isVolatile)
    events.setVolatile(client, isVolatile)
  }

  /// Whether any row has changed since the last flush.
  var hasChanges: Bool {
    !clients.changed.isEmpty || !cursors.changed.isEmpty || !services.changed.isEmpty
      || !regions.changed.isEmpty || !events.changed.isEmpty || !counters.changed.isEmpty
  }

  /// Removes all but the first of clients with the same user and name, which only an edited file can contain.
  mutating func removeDuplicateClients() -> [Repairs.Rows] {
    var names: [UInt32: Set<String>] = [:]
    var count = 0
    for client in clients.all.sorted(by: { $0.id < $1.id })
    where !names[client.uid, default: []].insert(client.name).inserted {
      clients.remove(client.id)
      count += 1
    }
    return count > 0 ? [Repairs.Rows(table: ClientRecord.layout.table, count: count)] : []
  }

  /// Removes rows of missing clients. Returns the number for each table.
  mutating func removeOrphans() -> [Repairs.Rows] {
    var orphans = OrphanRemover(clients: Set(clients.all.map(\.id)))
    do throws(StateError) { try visit(&orphans) } catch {
      preconditionFailure("no database is read")
    }
    return orphans.removed
  }
}

/// An operation on each table in turn.
protocol TableVisitor {
  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError)
}

private struct OrphanRemover: TableVisitor {
  let clients: Set<ClientNumber>
  var removed: [Repairs.Rows] = []

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    let orphans = table.all.filter { $0.owner.map { !clients.contains($0) } ?? false }
    for row in orphans { table.remove(row.key) }
    if !orphans.isEmpty { removed.append(.init(table: Row.layout.table, count: orphans.count)) }
  }
}

/// Loads all valid rows. Invalid ones are counted, and removed with the next flush.
struct RowReader: TableVisitor {
  let database: Database
  /// Whether to continue with the next table after damage.
  private(set) var isSalvage = false
  private(set) var dropped: [Repairs.Rows] = []
  /// Tables that could not be read completely.
  private(set) var unreadableTables: [String] = []

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    var invalidCount = 0
    do throws(StateError) {
      let statement = try database.prepare(Row.layout.selection)
      let count = Row.layout.columns.count
      while try statement.step() {
        let columns = StoredColumns((0..<count).map(statement.value))
        if let row = Row(columns), table.load(row) { continue }
        invalidCount += 1
      }
    } catch {
      guard isSalvage else { throw error }
      unreadableTables.append(Row.layout.table)
    }
    if invalidCount > 0 { dropped.append(.init(table: Row.layout.table, count: invalidCount)) }
  }
}

/// Deletes removed rows, before any row is written.
struct RowRemover: TableVisitor {
  let database: Database
  /// Whether to delete all rows, because the content of the file is not known.
  let removesAll: Bool

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    if removesAll { return try database.run("DELETE FROM \(Row.layout.table)") }
    let removed = table.changed.filter { table.durableRow($0) == nil }
    guard !removed.isEmpty else { return }
    let statement = try database.prepare(Row.layout.deletion)
    for key in removed { try statement.run(Row.columns(of: key).values) }
  }
}

/// Writes changed rows, or all.
struct RowWriter: TableVisitor {
  let database: Database
  let writesAll: Bool

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    let rows = writesAll ? table.durableRows : table.changed.compactMap(table.durableRow)
    guard !rows.isEmpty else { return }
    let statement = try database.prepare(Row.layout.insertion)
    for row in rows { try statement.run(row.stored.values) }
  }
}

/// Marks all rows as written.
struct WrittenMarker: TableVisitor {
  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    table.markWritten()
  }
}
