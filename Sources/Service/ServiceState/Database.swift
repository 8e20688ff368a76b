import CSQLite

// SQLite for ``StateStore``: a connection, its prepared statements and their column values.

/// A column value.
enum StateValue: Equatable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A value that no column of this schema holds: a blob, or text that is not UTF-8.
  case other
}

/// One SQLite connection, used by one thread.
@safe final class Database {
  private let handle: OpaquePointer

  /// Access mode of a connection.
  enum Access {
    /// Reading and writing; creates a missing file.
    case writing
    /// Read-only: creates no other file, not even a lock.
    case reading
  }

  init(_ path: String, _ access: Access) throws(StateError) {
    var opened: OpaquePointer?
    let flags =
      switch access {
      case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .reading: SQLITE_OPEN_READONLY
      }
    // "unix-none": without locks, because a read-only file system does not support them.
    let system: String? = access == .reading ? "unix-none" : nil
    let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, system)
    guard let opened = unsafe opened else { throw StateError(code: code, "out of memory") }
    unsafe handle = opened
    guard code == SQLITE_OK else { throw error() }
    _ = unsafe sqlite3_extended_result_codes(handle, 1)
    // Closing a connection would checkpoint the log, or delete a log that SQLite cannot read.
    if access == .reading { keepLog() }
    // Exclusive locking needs no shared memory, which may be unavailable or fail on a full disk.
    try run("PRAGMA locking_mode = EXCLUSIVE")
  }

  deinit { _ = unsafe sqlite3_close_v2(handle) }

  /// The error of the last call.
  fileprivate func error() -> StateError {
    let code = unsafe sqlite3_extended_errcode(handle)
    let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) }
    return StateError(code: code, message ?? "error \(code)")
  }

  /// Runs statements without using their rows.
  func run(_ sql: String) throws(StateError) {
    guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error() }
  }

  /// The first column of the first row; `.null` if none exists.
  func firstValue(_ sql: String) throws(StateError) -> StateValue {
    let statement = try prepare(sql)
    return try statement.step() ? statement.value(0) : .null
  }

  /// The first column of the first row as an integer; 0 if it is not one.
  func firstInteger(_ sql: String) throws(StateError) -> Int {
    guard case .integer(let number) = try firstValue(sql) else { return 0 }
    return Int(number)
  }

  func prepare(_ sql: String) throws(StateError) -> Statement {
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    // The statements match the tables, so a rejected statement means that the tables were changed.
    if code & 0xff == SQLITE_ERROR { throw .damaged("\(error())") }
    guard code == SQLITE_OK, let statement = unsafe statement else { throw error() }
    return unsafe Statement(statement, self)
  }

  /// Whether a transaction is active.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Whether the database is read-only.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  /// Whether the file was renamed or removed while open, so that writes would be lost.
  var hasMoved: Bool {
    var moved: Int32 = 0
    let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// A copy in memory: it can be migrated even if the file cannot be written. O(file).
  func copyInMemory() throws(StateError) -> Database {
    let copy = try Database(":memory:", .writing)
    guard let backup = unsafe sqlite3_backup_init(copy.handle, "main", handle, "main") else {
      throw copy.error()
    }
    _ = unsafe sqlite3_backup_step(backup, -1)
    guard unsafe sqlite3_backup_finish(backup) == SQLITE_OK else { throw copy.error() }
    return copy
  }

  /// Leaves the write-ahead log unchanged when the connection closes, to keep a damaged log next to its file.
  func keepLog() { unsafe csqlite_keep_log(handle) }

  /// Number of pages written since the last call.
  func consumePagesWritten() -> Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    _ = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 1)
    return Int(current)
  }
}

/// A prepared statement. Retains its connection.
@safe final class Statement {
  private let handle: OpaquePointer
  private let database: Database

  @unsafe fileprivate init(_ handle: OpaquePointer, _ database: Database) {
    unsafe self.handle = handle
    self.database = database
  }

  deinit { _ = unsafe sqlite3_finalize(handle) }

  /// Binds values to the parameters 1, 2, ….
  func bind(_ values: [StateValue]) throws(StateError) {
    for (index, value) in values.enumerated() {
      let parameter = Int32(index + 1)
      let code: Int32
      switch value {
      case .null, .other: code = unsafe sqlite3_bind_null(handle, parameter)
      case .integer(let number): code = unsafe sqlite3_bind_int64(handle, parameter, number)
      case .real(let number): code = unsafe sqlite3_bind_double(handle, parameter, number)
      case .text(let text):
        code = unsafe csqlite_bind_text(handle, parameter, text, Int32(text.utf8.count))
      }
      guard code == SQLITE_OK else { throw database.error() }
    }
  }

  /// Steps to the next row; false after the last.
  func step() throws(StateError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.error()
    }
  }

  /// Runs the statement once with these values and resets it.
  func run(_ values: [StateValue]) throws(StateError) {
    defer { reset() }
    try bind(values)
    while try step() {}
  }

  private func reset() { _ = unsafe sqlite3_reset(handle) }

  /// Value of a column of the current row, counted from 0.
  func value(_ column: Int) -> StateValue {
    let index = Int32(column)
    switch unsafe sqlite3_column_type(handle, index) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(handle, index))
    case SQLITE_TEXT:
      guard let bytes = unsafe sqlite3_column_text(handle, index) else { return .other }
      let count = Int(unsafe sqlite3_column_bytes(handle, index))
      let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
      return unsafe String(validating: buffer, as: UTF8.self).map { .text($0) } ?? .other
    default: return .other
    }
  }
}
