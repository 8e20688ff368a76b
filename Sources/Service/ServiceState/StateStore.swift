import LocationPolicy
import LocationTypes

/// Counters of what the store has written, for tests and measurements of its cost.
public struct StateStatistics: Equatable, Sendable {
  /// Committed transactions, each with one `fsync`.
  public var transactions = 0
  /// Pages written to the write-ahead log by them. A checkpoint copies each to the database file at most once.
  public var pages = 0
  /// Failed flushes.
  public var failures = 0
}

/// The service's durable state: one SQLite file, with all of its rows in memory.
///
/// The service must keep clients, ring positions, regions and unacknowledged events over a crash or power cut (BKG-20),
/// must write little (each `fsync` costs energy and flash wear), and must continue when the disk is full. So rows are
/// read once, at the start, and changed in memory; ``flush(at:)`` writes all changed rows in one transaction, each row
/// once, and the transaction is on the disk when it returns. The service flushes before it answers a call whose effect
/// is durable (for example an acknowledgement, RNG-3), after an event for an absent client, when updates start or stop,
/// and with each sync of the ring. Format and costs: `Docs/Reference/state.md`.
///
/// States, with ``hasChanges`` and the private connection:
///
///     init: file valid, created or repaired          put, remove
///   ───────────────────────────────────────▶ CLEAN ──────────────▶ CHANGED ─┐ flush fails: full, read-only, failed:
///                                            ▲   ▲                 │  │  ▲   │ rows stay in memory, `lastError` is set
///                                            │   └─────────────────┘  │  └───┘
///                                            │     flush succeeds     │ flush finds the file damaged, moved or removed
///     init: disk full or read-only           │                        ▼
///   ─────────────────────────────────────────┼──────────────────▶ DETACHED ─┐ flush fails
///                                            └───────────────────── │   ▲   │
///           flush: file opened, created or repaired, all rows written  └───┘
///
/// - CLEAN: The database holds exactly the durable ones of ``rows``.
/// - CHANGED: Rows were put or removed since the last flush. An initializer that dropped invalid rows starts here.
/// - DETACHED: There is no connection, and the next flush writes all rows (``hasChanges`` is true). The flush that
///   detects the damage already retries once with a new connection. An initializer that cannot write the file
///   starts here, with the rows that it could read.
///
/// At any error other than a full or read-only disk, the initializer throws and changes nothing (another process has
/// the file open, its format is newer, it belongs to another program, it is no regular file). A damaged file is
/// replaced, not refused: see `StateFiles` for the steps and ``Repairs`` for the result.
///
/// Invariants:
/// - After a successful flush the disk holds all rows of durable clients, and only the decision of a command about
///   the others (RES-2).
/// - A failed flush loses nothing while the process lives.
/// - If rows of clients or cursors may be lost, the remaining rows record it (``CursorRecord/mayHaveLostFixes``,
///   ``StateCounter/clientsLostUntil``), in one transaction with the repair, until the clients received the gap
///   (RNG-9).
/// - The write-ahead log is truncated at each start, after a failed transaction, and after 64 pages, so its frames are
///   checkable: see `WriteAheadLogCheck`.
///
/// One thread uses the store, and one process has the file: SQLite holds an exclusive lock while it is open. Only
/// the module `LocationService` changes rows. Bounds: each table has a capacity
/// (``StateTable/capacity``, 1,024 clients), and ``StateTable/put(_:)`` refuses a row beyond it.
public final class StateStore {
  /// Path of the database file.
  public let path: String
  /// All rows.
  public var rows = StateRows()
  /// Faults found and repaired when the file was opened, and since.
  public private(set) var repairs = Repairs()
  /// Counters of what has been written.
  public private(set) var statistics = StateStatistics()
  /// Error of the last flush, or of opening; nil while the file is up to date or nothing had to be written.
  public private(set) var lastError: StateError?

  let schema: StateSchema
  private var database: Database?
  /// Pages written to the write-ahead log since it was last empty.
  private var logPages = 0
  /// Whether a transaction failed, so its frames may be in the write-ahead log.
  private var isLogUnclean = false
  /// Number of pages in the write-ahead log at which it is checkpointed and truncated.
  private static let logPagesLimit = 64
  /// Whether the file may contain rows other than ``rows``, so that the next flush writes all of them.
  private var rewritesAll = false
  /// Largest number of pages of the file in tests.
  private var pageLimit: Int?

  /// Opens or creates the file. Repairs what can be repaired and lists it in ``repairs``.
  ///
  /// If the file system is full or read-only, the store works in memory with the rows that it could read, sets
  /// ``lastError``, and each flush retries.
  ///
  /// - Parameters:
  ///   - path: The file. Its folder exists, and no other user may write in it.
  ///   - time: Current time, for the name of a file that is moved aside.
  /// - Throws: ``StateError`` if the file must not be changed: another process has it open, its format is newer, it
  ///   belongs to another program, or it cannot be read.
  public convenience init(path: String, at time: UTCTime) throws(StateError) {
    try self.init(path: path, at: time, schema: .current)
  }

  /// - Parameter pageLimit: Largest number of pages of the file, to simulate a full disk in tests.
  init(
    path: String, at time: UTCTime, schema: StateSchema, pageLimit: Int? = nil
  ) throws(StateError) {
    self.path = path
    self.schema = schema
    self.pageLimit = pageLimit
    do throws(StateError) {
      database = try connect(at: time, isReading: true)
    } catch {
      guard error == .readOnly || error == .diskFull else { throw error }
      rows = StateRows()
      if StateFiles(path: path).exists { try openReadOnly() } else { repairs.isNew = true }
      lastError = error
      rewritesAll = true
    }
    repairs.dropped += rows.removeOrphans()
    markLosses()
  }

  /// Whether rows were put or removed that are not on the disk yet.
  public var hasChanges: Bool { rewritesAll || rows.hasChanges }

  /// Writes all changes in one transaction, which is on the disk on return. Does nothing if nothing has changed.
  ///
  /// - Throws: ``StateError``. All changes then stay in memory, and the next flush retries.
  public func flush(at time: UTCTime) throws(StateError) {
    guard hasChanges else { return }
    do throws(StateError) {
      try write(at: time)
      lastError = nil
    } catch {
      statistics.failures += 1
      lastError = error
      throw error
    }
  }

  /// Flushes, truncates the write-ahead log and closes the file. Later changes stay in memory.
  public func close(at time: UTCTime) throws(StateError) {
    defer { database = nil }
    try flush(at: time)
    try truncateLog(of: database)
  }

  private func write(at time: UTCTime) throws(StateError) {
    if let database {
      do throws(StateError) {
        if database.hasMoved { throw .damaged("it was moved or removed while it was open") }
        return try write(to: database)
      } catch .damaged(let damage) {
        repairs.damage = damage
        self.database = nil  // closing it releases the lock
      }
    }
    rewritesAll = true
    let opened = try connect(at: time, isReading: false)
    try write(to: opened)
    database = opened
  }

  private func write(to database: Database) throws(StateError) {
    _ = rows.removeOrphans()
    if isLogUnclean { try? truncateLog(of: database) }
    isLogUnclean = true
    do throws(StateError) {
      try commit(to: database)
    } catch .diskFull {
      // The write-ahead log itself may fill the disk: checkpoint it, truncate it, and try once more.
      try truncateLog(of: database)
      try commit(to: database)
    }
    isLogUnclean = false
    rewritesAll = false
    var mark = WrittenMarker()
    try rows.visit(&mark)
    let pages = database.consumePagesWritten()
    statistics.transactions += 1
    statistics.pages += pages
    logPages += pages
    // A failed checkpoint is retried with a later flush; the transaction is durable in either case.
    if logPages >= StateStore.logPagesLimit { try? truncateLog(of: database) }
  }

  /// Checkpoints the write-ahead log and truncates it, so that no old frames follow the frames of its next use: see
  /// `WriteAheadLogCheck`.
  private func truncateLog(of database: Database?) throws(StateError) {
    try database?.run("PRAGMA wal_checkpoint(TRUNCATE)")
    _ = database?.consumePagesWritten()
    logPages = 0
    isLogUnclean = false
  }

  private func commit(to database: Database) throws(StateError) {
    let all = rewritesAll
    try database.transaction { () throws(StateError) in
      var remover = RowRemover(database: database, removesAll: all)
      try rows.visit(&remover)
      var writer = RowWriter(database: database, writesAll: all)
      try rows.visit(&writer)
    }
  }

  /// Limits the database to `count` pages, to simulate a full disk in tests.
  func limitPages(to count: Int) {
    pageLimit = count
    if let database { applyPageLimit(to: database) }
  }

  private func applyPageLimit(to database: Database) {
    if let pageLimit { try? database.run("PRAGMA max_page_count = \(pageLimit)") }
  }

  // MARK: Opening

  /// Opens a valid file of this version. Without `isReading`, ``rows`` is newer than the file and is kept.
  private func connect(at time: UTCTime, isReading: Bool) throws(StateError) -> Database {
    let files = StateFiles(path: path)
    if try files.finishRepair(schema, at: time) { repairs.hasResumedRepair = true }
    if try files.createIfMissing(), isReading { repairs.isNew = true }
    let logDamage = isReading ? files.logDamage() : nil
    do throws(StateError) {
      let database = try open(logDamage)
      if isReading { try read(database) }
      return database
    } catch .damaged(let damage) {
      repairs.damage = damage
      if logDamage != nil { repairs.isLogDamaged = true }
      if isReading { salvage() }
      repairs.dropped += rows.removeOrphans()
      markLosses()
      try files.rebuild(schema, &rows)
      repairs.movedTo = try files.replaceDamaged(at: time)
      return try open(nil)
    }
  }

  /// Marks in the rows that clients may have lost fixes. The mark is written in one transaction with the repair, and
  /// stays until the client has received the gap.
  private func markLosses() {
    guard repairs.mayHaveLostClients else { return }
    setCounter(.clientsLostUntil, .max)
    for client in rows.clients.all {
      var cursor = rows.cursors[client.id]
      if cursor != nil, !repairs.isLogDamaged { continue }
      cursor = cursor ?? CursorRecord(client: client.id, bookmark: ClientBookmark())
      cursor?.mayHaveLostFixes = true
      if let cursor { _ = rows.cursors.put(cursor) }
    }
  }

  /// - Parameter logDamage: The damage of the write-ahead log, which is then left unchanged.
  private func open(_ logDamage: String?) throws(StateError) -> Database {
    let database = try Database(path, .writing)
    guard !database.isReadOnly else { throw .readOnly }
    if logDamage != nil { database.keepLog() }
    let version = try schema.check(database)
    // The file is locked by now, so the damage was left by an earlier process and is not a write in progress.
    if let logDamage { throw .damaged(logDamage) }
    try database.run(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
      """)
    try checkIntegrity(of: database)
    applyPageLimit(to: database)
    try schema.migrate(database, from: version)
    guard try schema.matchesDefinitions(of: database) else {
      throw .damaged("its table definitions do not match its format version")
    }
    if version > 0, version < schema.version { repairs.migratedFrom = version }
    // A power cut during creation may leave an empty file: treat it as new.
    if version == 0 { repairs.isNew = true }
    // Checkpoint the log: this reserves the pages of the tables before the disk is full, and drops a torn end.
    isLogUnclean = true
    try? truncateLog(of: database)
    _ = database.consumePagesWritten()
    return database
  }

  private func checkIntegrity(of database: Database) throws(StateError) {
    guard case .text(let result) = try database.firstValue("PRAGMA integrity_check(1)") else {
      throw .damaged("its integrity cannot be checked")
    }
    guard result == "ok" else { throw .damaged(result) }
  }

  private func read(_ database: Database) throws(StateError) {
    rows = StateRows()
    var reader = RowReader(database: database)
    try rows.visit(&reader)
    // The dropped rows are still in the file.
    if !reader.dropped.isEmpty { rewritesAll = true }
    repairs.dropped += reader.dropped
    repairs.dropped += rows.removeDuplicateClients()
  }

  /// Reads the rows of a file that cannot be written; one of an earlier format is migrated in memory. Otherwise the next
  /// successful flush would delete its rows.
  private func openReadOnly() throws(StateError) {
    let database: Database
    do throws(StateError) {
      if let damage = StateFiles(path: path).logDamage() {
        repairs.isLogDamaged = true
        throw .damaged(damage)
      }
      database = try Database(path, .reading)
      let version = try schema.check(database)
      guard version > 0 else { return }
      try checkIntegrity(of: database)
      guard version < schema.version else { return try read(database) }
      let copy = try database.copyInMemory()
      try schema.migrate(copy, from: version)
      try read(copy)
    } catch .damaged(let damage) {
      repairs.damage = damage
      salvage()
    }
  }

  /// Reads all rows that are still readable from a damaged file.
  private func salvage() {
    rows = StateRows()
    do throws(StateError) {
      var reader = RowReader(database: try Database(path, .reading), isSalvage: true)
      try rows.visit(&reader)
      repairs.unreadableTables = reader.unreadableTables
      repairs.dropped += reader.dropped
      repairs.dropped += rows.removeDuplicateClients()
    } catch {
      repairs.unreadableTables = ["clients", "cursors"]
    }
  }
}
