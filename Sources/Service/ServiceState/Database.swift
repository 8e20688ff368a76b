import CSQLite

/// A value of a column.
enum StateValue: Equatable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// What no column of ours holds: a blob, or text that is no UTF-8.
  case other
}

/// One connection to SQLite, used by one thread.
@safe final class Database {
  private let handle: OpaquePointer

  /// How a file is opened.
  enum Access {
    /// For reading and writing, made if it is not there.
    case writing
    /// Only to be read; nothing beside it is made, not even a lock.
    case reading
  }

  init(_ path: String, _ access: Access) throws(StateError) {
    var opened: OpaquePointer?
    let flags =
      switch access {
      case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .reading: SQLITE_OPEN_READONLY
      }
    // Without locks, for a file system that takes no writing takes none of these either.
    let system: String? = access == .reading ? "unix-none" : nil
    let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, system)
    guard let opened = unsafe opened else { throw StateError(code: code, "out of memory") }
    unsafe handle = opened
    guard code == SQLITE_OK else { throw error() }
    _ = unsafe sqlite3_extended_result_codes(handle, 1)
    // Closing would move a log into the file, or delete one of which SQLite can read nothing.
    if access == .reading { keepLog() }
    // No shared memory: what is to be mapped may not be there, or a full disk takes it away.
    try run("PRAGMA locking_mode = EXCLUSIVE")
  }

  deinit { _ = unsafe sqlite3_close_v2(handle) }

  /// What the last call's failure means.
  fileprivate func error() -> StateError {
    let code = unsafe sqlite3_extended_errcode(handle)
    let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) }
    return StateError(code: code, message ?? "error \(code)")
  }

  /// Runs statements that give no rows, or whose rows do not matter.
  func run(_ sql: String) throws(StateError) {
    guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error() }
  }

  /// The first column of the first row; `.null` if there is none.
  func first(_ sql: String) throws(StateError) -> StateValue {
    let statement = try prepare(sql)
    return try statement.step() ? statement.value(0) : .null
  }

  /// The same where it is a whole number; 0 where it is not.
  func number(_ sql: String) throws(StateError) -> Int {
    guard case .integer(let number) = try first(sql) else { return 0 }
    return Int(number)
  }

  func prepare(_ sql: String) throws(StateError) -> Statement {
    var made: OpaquePointer?
    let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &made, nil)
    // Our statements fit our tables: where one does not, the tables are not what they were.
    if code & 0xff == SQLITE_ERROR { throw .damaged("\(error())") }
    guard code == SQLITE_OK, let made = unsafe made else { throw error() }
    return unsafe Statement(made, self)
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Whether it can only be read.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  /// Whether the file is not under its name any more: what is written would be gone with it.
  var hasMoved: Bool {
    var moved: Int32 = 0
    let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// Leaves the log as it is when the connection is closed: it is damaged, and kept beside its file.
  func keepLog() { unsafe csqlite_keep_log(handle) }

  /// How many pages were written since the last call.
  func takePagesWritten() -> Int {
    var now: Int32 = 0
    var most: Int32 = 0
    _ = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &now, &most, 1)
    return Int(now)
  }
}

/// A prepared statement; keeps its connection alive.
@safe final class Statement {
  private let handle: OpaquePointer
  private let database: Database

  @unsafe fileprivate init(_ handle: OpaquePointer, _ database: Database) {
    unsafe self.handle = handle
    self.database = database
  }

  deinit { _ = unsafe sqlite3_finalize(handle) }

  /// Puts values in the places 1, 2, ….
  func bind(_ values: [StateValue]) throws(StateError) {
    for (index, value) in values.enumerated() {
      let place = Int32(index + 1)
      let code: Int32
      switch value {
      case .null, .other: code = unsafe sqlite3_bind_null(handle, place)
      case .integer(let number): code = unsafe sqlite3_bind_int64(handle, place, number)
      case .real(let number): code = unsafe sqlite3_bind_double(handle, place, number)
      case .text(let text):
        code = unsafe csqlite_bind_text(handle, place, text, Int32(text.utf8.count))
      }
      guard code == SQLITE_OK else { throw database.error() }
    }
  }

  /// Goes to the next row; false when there is none.
  func step() throws(StateError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.error()
    }
  }

  /// Runs it once with these values, and makes it ready for the next time.
  func run(_ values: [StateValue]) throws(StateError) {
    defer { reset() }
    try bind(values)
    while try step() {}
  }

  private func reset() { _ = unsafe sqlite3_reset(handle) }

  /// How many columns a row has.
  var columns: Int { Int(unsafe sqlite3_column_count(handle)) }

  /// A column of the row, from 0.
  func value(_ column: Int) -> StateValue {
    let place = Int32(column)
    switch unsafe sqlite3_column_type(handle, place) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(handle, place))
    case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(handle, place))
    case SQLITE_TEXT:
      guard let bytes = unsafe sqlite3_column_text(handle, place) else { return .other }
      let count = Int(unsafe sqlite3_column_bytes(handle, place))
      let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
      return unsafe String(validating: buffer, as: UTF8.self).map { .text($0) } ?? .other
    default: return .other
    }
  }
}
