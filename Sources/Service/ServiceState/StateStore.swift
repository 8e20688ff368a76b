import LocationPolicy
import LocationTypes

/// What has been written so far, for those who ask what it costs.
public struct StateFigures: Equatable, Sendable {
  /// Transactions, each one `fsync`.
  public var transactions = 0
  /// Pages that went into the log with them; the database takes each again at most once.
  public var pages = 0
  /// Flushes that failed.
  public var failures = 0
}

/// The service's durable state: one SQLite file and all of its rows in memory.
///
/// Reading is from memory. What is put or removed is gathered, one write for each key, until
/// ``flush(at:)`` writes it in one transaction that is on the disk when it returns: before a promise
/// is answered (an acknowledgement, RNG-3), and at the end of a turn. Used by one thread; one process
/// has the file (`Docs/Reference/state.md`).
public final class StateStore {
  /// The file.
  public let path: String
  /// All rows.
  public var rows = StateRows()
  /// What opening found, and what had to be mended since.
  public private(set) var repairs = Repairs()
  /// What has been written.
  public private(set) var figures = StateFigures()
  /// Why the disk does not know all; nil while it does, or while nothing was flushed in vain.
  public private(set) var trouble: StateError?

  let schema: StateSchema
  private var database: Database?
  /// Pages that were written into the log since it was empty.
  private var logPages = 0
  /// A transaction failed, and its frames may be in the log.
  private var isLogUnclean = false
  /// Pages in the log with which it is emptied.
  private static let longestLog = 64
  /// The disk may hold other rows than those it was told.
  private var rewritesAll = false

  /// Opens the file, or makes it; mends what can be mended and tells it in ``repairs``.
  ///
  /// Where the file system is full or takes no writing, the store works in memory with what it could
  /// read, ``trouble`` tells it, and each flush tries again.
  ///
  /// - Parameters:
  ///   - path: The file; its folder is there, and nobody else may write in it.
  ///   - time: Now, for the name of a file that is moved aside.
  /// - Throws: ``StateError`` where nothing may be touched: another process has it, it is newer, it is
  ///   not ours, or it cannot be read.
  public convenience init(path: String, at time: UTCTime) throws(StateError) {
    try self.init(path: path, at: time, schema: .current)
  }

  init(path: String, at time: UTCTime, schema: StateSchema) throws(StateError) {
    self.path = path
    self.schema = schema
    do throws(StateError) {
      database = try connect(at: time, isReading: true)
    } catch {
      guard error == .readOnly || error == .diskFull else { throw error }
      rows = StateRows()
      if StateFiles(path: path).exists { try readOnly() } else { repairs.isNew = true }
      trouble = error
      rewritesAll = true
    }
    repairs.note(dropped: rows.removeOrphans())
    markLosses()
  }

  /// Whether something was put or removed that the disk does not know.
  public var hasChanges: Bool { rewritesAll || rows.hasChanges }

  /// Writes what has changed, in one transaction; on the disk when it returns. Nothing to write is
  /// nothing done.
  ///
  /// - Throws: ``StateError``; then all is kept in memory, and the next flush tries again.
  public func flush(at time: UTCTime) throws(StateError) {
    guard hasChanges else { return }
    do throws(StateError) {
      try write(at: time)
      trouble = nil
    } catch {
      figures.failures += 1
      trouble = error
      throw error
    }
  }

  /// Writes what has changed and ends; what is put later stays in memory.
  public func close(at time: UTCTime) throws(StateError) {
    defer { database = nil }
    try flush(at: time)
    try emptyLog(of: database)
  }

  private func write(at time: UTCTime) throws(StateError) {
    if let database {
      do throws(StateError) {
        if database.hasMoved { throw .damaged("it was moved away or removed while it was open") }
        return try write(to: database)
      } catch .damaged(let what) {
        repairs.damage = what
        self.database = nil  // its lock goes with it
      }
    }
    rewritesAll = true
    let opened = try connect(at: time, isReading: false)
    try write(to: opened)
    database = opened
  }

  private func write(to database: Database) throws(StateError) {
    _ = rows.removeOrphans()
    if isLogUnclean { try? emptyLog(of: database) }
    isLogUnclean = true
    do throws(StateError) {
      try commit(to: database)
    } catch .diskFull {
      // The log may be what fills it: its pages go into the database, and it begins anew.
      try emptyLog(of: database)
      try commit(to: database)
    }
    isLogUnclean = false
    rewritesAll = false
    var mark = WrittenMark()
    try rows.visit(&mark)
    let pages = database.takePagesWritten()
    figures.transactions += 1
    figures.pages += pages
    logPages += pages
    // What cannot be moved now is moved with a later flush; it is on the disk either way.
    if logPages >= StateStore.longestLog { try? emptyLog(of: database) }
  }

  /// Moves what is in the log into the file and truncates the log, so that nothing lies behind the frames of
  /// its next use: see `LogSurvey`.
  private func emptyLog(of database: Database?) throws(StateError) {
    try database?.run("PRAGMA wal_checkpoint(TRUNCATE)")
    _ = database?.takePagesWritten()
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

  /// A disk that is full at so many pages, for tests.
  func limitPages(to count: Int) { try? database?.run("PRAGMA max_page_count = \(count)") }

  // MARK: Opening

  /// A connection to a sound file of this version. What is in memory, if nothing is read, is newer.
  private func connect(at time: UTCTime, isReading: Bool) throws(StateError) -> Database {
    let files = StateFiles(path: path)
    if try files.finishRepair(schema, at: time) { repairs.isContinued = true }
    if try files.make(), isReading { repairs.isNew = true }
    let logDamage = isReading ? files.logDamage() : nil
    do throws(StateError) {
      let database = try open(logDamage)
      if isReading { try read(database) }
      return database
    } catch .damaged(let what) {
      repairs.damage = what
      if logDamage != nil { repairs.isLogDamaged = true }
      if isReading { salvage() }
      repairs.note(dropped: rows.removeOrphans())
      markLosses()
      try files.rebuild(schema, &rows)
      repairs.movedTo = try files.exchange(at: time)
      return try open(nil)
    }
  }

  /// Has it in the rows themselves that a client may have lost fixes: it is on the disk in one transaction with
  /// the repair, and holds until the client has received the gap.
  private func markLosses() {
    guard repairs.mayHaveLostClients else { return }
    setCounter(.clientsLostUntil, .max)
    for client in rows.clients.all {
      var cursor = rows.cursors[client.id]
      if cursor != nil, !repairs.isLogDamaged { continue }
      cursor = cursor ?? CursorRecord(client: client.id, bookmark: ClientBookmark())
      cursor?.mayHaveLost = true
      if let cursor { _ = rows.cursors.put(cursor) }
    }
  }

  /// - Parameter logDamage: What is wrong with the log, which is then left as it is.
  private func open(_ logDamage: String?) throws(StateError) -> Database {
    let database = try Database(path, .writing)
    guard !database.isReadOnly else { throw .readOnly }
    if logDamage != nil { database.keepLog() }
    let version = try schema.check(database)
    // The file is locked by now: what the log held is what another process left, not what one writes.
    if let logDamage { throw .damaged(logDamage) }
    try database.run(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
      """)
    try checkIntegrity(of: database)
    try schema.migrate(database, from: version)
    let isWhole = try schema.holds(for: database)
    guard isWhole else {
      throw .damaged("its tables are not as they were made")
    }
    if version > 0, version < schema.version { repairs.migratedFrom = version }
    // An empty file is none: what a power cut may leave of one.
    if version == 0 { repairs.isNew = true }
    // What the tables take is taken now, and not when the disk is full of a log. A torn end goes with it.
    isLogUnclean = true
    try? emptyLog(of: database)
    _ = database.takePagesWritten()
    return database
  }

  private func checkIntegrity(of database: Database) throws(StateError) {
    guard case .text(let verdict) = try database.first("PRAGMA integrity_check(1)") else {
      throw .damaged("it cannot be checked")
    }
    guard verdict == "ok" else { throw .damaged(verdict) }
  }

  private func read(_ database: Database) throws(StateError) {
    rows = StateRows()
    var reader = RowReader(database: database)
    try rows.visit(&reader)
    // What was dropped is still on the disk.
    if !reader.dropped.isEmpty { rewritesAll = true }
    repairs.note(dropped: reader.dropped)
    repairs.note(dropped: rows.removeTwins())
  }

  /// Reads what a file says that cannot be written.
  private func readOnly() throws(StateError) {
    let database: Database
    do throws(StateError) {
      if let damage = StateFiles(path: path).logDamage() {
        repairs.isLogDamaged = true
        throw .damaged(damage)
      }
      database = try Database(path, .reading)
      guard try schema.check(database) == schema.version else { return }
      try checkIntegrity(of: database)
      try read(database)
    } catch .damaged(let what) {
      repairs.damage = what
      salvage()
    }
  }

  /// Takes from a damaged file what can still be read of it.
  private func salvage() {
    rows = StateRows()
    do throws(StateError) {
      var reader = RowReader(database: try Database(path, .reading), isSalvage: true)
      try rows.visit(&reader)
      repairs.lost = reader.lost
      repairs.note(dropped: reader.dropped)
      repairs.note(dropped: rows.removeTwins())
    } catch {
      repairs.lost = ["clients", "cursors"]
    }
  }
}
