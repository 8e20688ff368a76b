import CSQLite

/// Error of reading or writing the durable state.
public enum StateError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No free space on the disk. The pending changes stay in memory, and the next flush retries.
  case diskFull
  /// The file or its file system is read-only. Handled like ``diskFull``.
  case readOnly
  /// Another process has the file open: a second service.
  case busy
  /// The file was written by a newer version. It is left unchanged.
  case newer(found: Int, supported: Int)
  /// The file is a database of another program. It is left unchanged.
  case foreign(applicationID: Int)
  /// The file is damaged.
  case damaged(String)
  /// A file of the state is not a regular file. It is left unchanged.
  case notAFile(path: String)
  /// Any other error, with SQLite's extended result code or, if negative, the system's `errno`.
  case failed(code: Int32, String)

  /// The cause and how to fix it, one sentence each.
  public var description: String {
    switch self {
    case .diskFull:
      "the disk is full; free some space. Until then the state is kept in memory and is lost when the service restarts"
    case .readOnly:
      "the file or its file system is read-only; mount the file system for writing, or correct the file's permissions"
    case .busy: "another process has the state open; stop the other service first"
    case .newer(let found, let known):
      "the state has format \(found), and this version supports formats up to \(known); "
        + "install the newer version again, or move the file away to start with an empty state"
    case .foreign(let id):
      "the file belongs to another program (application ID \(id)); choose another file"
    case .damaged(let damage): "the file is damaged: \(damage)"
    case .notAFile(let path):
      "'\(path)' is a link, a folder or a device, not a regular file; move it away, and check who may write in "
        + "its folder"
    case .failed(_, let message): message
    }
  }

  /// Whether the store continues in memory after this error and retries with the next flush.
  var isTransient: Bool {
    switch self {
    case .diskFull, .readOnly, .failed: true
    case .busy, .newer, .foreign, .damaged, .notAFile: false
    }
  }

  /// Maps a result code of SQLite.
  init(code: Int32, _ message: String) {
    switch code & 0xff {
    case SQLITE_FULL: self = .diskFull
    case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
    case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
    case SQLITE_CANTOPEN:
      self = .failed(
        code: code,
        "the file cannot be opened; check that it is a regular file that this user may read and write, in a "
          + "folder that belongs to this user")
    // Rows and tables always match, so a constraint violation means damage; so does a disk read error.
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_MISMATCH: self = .damaged(message)
    case SQLITE_IOERR where [1, 2, 33].contains(code >> 8):
      self = .damaged(message)  // failed read, short read, corrupt file system
    default: self = .failed(code: code, message)
    }
  }
}
