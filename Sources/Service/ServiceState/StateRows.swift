/// All durable rows, in memory: what the service reads, and where it writes.
public struct StateRows: Sendable {
  /// Clients.
  public var clients = StateTable<ClientRecord>()
  /// Their places in the ring.
  public var cursors = StateTable<CursorRecord>()
  /// What they had asked for.
  public var services = StateTable<ServicesRecord>()
  /// Their regions and conditions.
  public var regions = StateTable<RegionRecord>()
  /// Visits and region events that they have not acknowledged.
  public var events = StateTable<EventRecord>()
  /// Counters of the service.
  public var counters = StateTable<CounterRecord>()

  init() {}

  /// Takes each table to a visitor, clients first.
  mutating func visit(_ visitor: inout some TableVisitor) throws(StateError) {
    try visitor.visit(&clients)
    try visitor.visit(&cursors)
    try visitor.visit(&services)
    try visitor.visit(&regions)
    try visitor.visit(&events)
    try visitor.visit(&counters)
  }

  /// Keeps all rows of a client in memory alone, or on the disk again.
  mutating func setVolatile(_ client: ClientNumber, _ isVolatile: Bool) {
    clients.setVolatile(client, isVolatile)
    cursors.setVolatile(client, isVolatile)
    services.setVolatile(client, isVolatile)
    regions.setVolatile(client, isVolatile)
    events.setVolatile(client, isVolatile)
  }

  /// Whether the disk does not know something yet.
  var hasChanges: Bool {
    !clients.changed.isEmpty || !cursors.changed.isEmpty || !services.changed.isEmpty
      || !regions.changed.isEmpty || !events.changed.isEmpty || !counters.changed.isEmpty
  }

  /// Removes clients of the same user and name but the first, which only an edited file can have.
  mutating func removeTwins() -> [(table: String, count: Int)] {
    var seen: [UInt32: Set<String>] = [:]
    var count = 0
    for client in clients.all.sorted(by: { $0.id < $1.id })
    where !seen[client.uid, default: []].insert(client.name).inserted {
      clients.remove(client.id)
      count += 1
    }
    return count > 0 ? [(ClientRecord.layout.table, count)] : []
  }

  /// Removes rows whose client is gone; tells how many of each table.
  mutating func removeOrphans() -> [(table: String, count: Int)] {
    var orphans = OrphanRemoval(clients: Set(clients.all.map(\.id)))
    do throws(StateError) { try visit(&orphans) } catch { preconditionFailure("nothing is read") }
    return orphans.removed
  }
}

/// Something that is done to each table in turn.
protocol TableVisitor {
  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError)
}

private struct OrphanRemoval: TableVisitor {
  let clients: Set<ClientNumber>
  var removed: [(table: String, count: Int)] = []

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    let orphans = table.all.filter { $0.owner.map { !clients.contains($0) } ?? false }
    for row in orphans { table.remove(row.key) }
    if !orphans.isEmpty { removed.append((Row.layout.table, orphans.count)) }
  }
}

/// Reads all that may be taken; what may not is counted, and removed at the next flush.
struct RowReader: TableVisitor {
  let database: Database
  /// Goes on after damage, with the next table.
  var isSalvage = false
  var dropped: [(table: String, count: Int)] = []
  /// Tables that could not be read to their end.
  var lost: [String] = []

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    var bad = 0
    do throws(StateError) {
      let statement = try database.prepare(Row.layout.selection)
      let count = Row.layout.columns.count
      while try statement.step() {
        let columns = StoredColumns((0..<count).map(statement.value))
        if let row = Row(columns), table.load(row) { continue }
        bad += 1
      }
    } catch {
      guard isSalvage else { throw error }
      lost.append(Row.layout.table)
    }
    if bad > 0 { dropped.append((Row.layout.table, bad)) }
  }
}

/// Removes what is not to be there any more: before anything is put.
struct RowRemover: TableVisitor {
  let database: Database
  /// The disk may hold anything.
  let removesAll: Bool

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    if removesAll { return try database.run("DELETE FROM \(Row.layout.table)") }
    let gone = table.changed.filter { table.written($0) == nil }
    guard !gone.isEmpty else { return }
    let statement = try database.prepare(Row.layout.deletion)
    for key in gone { try statement.run(Row.columns(of: key).values) }
  }
}

/// Writes what was put.
struct RowWriter: TableVisitor {
  let database: Database
  let writesAll: Bool

  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    let rows = writesAll ? table.allWritten : table.changed.compactMap(table.written)
    guard !rows.isEmpty else { return }
    let statement = try database.prepare(Row.layout.insertion)
    for row in rows { try statement.run(row.stored.values) }
  }
}

/// All of it is on disk.
struct WrittenMark: TableVisitor {
  mutating func visit<Row: StateRow>(_ table: inout StateTable<Row>) throws(StateError) {
    table.markWritten()
  }
}
