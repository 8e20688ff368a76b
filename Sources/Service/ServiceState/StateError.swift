import CSQLite

/// Why durable state could not be read or written.
public enum StateError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No room is left; what was to be written is kept in memory, and the next flush tries again.
  case diskFull
  /// The file or its file system takes no writing; as ``diskFull``.
  case readOnly
  /// Another process has the file open: a second service.
  case busy
  /// The file was written by a newer version; it was not touched.
  case newer(found: Int, known: Int)
  /// The file is a database, but of another program; it was not touched.
  case foreign(applicationID: Int)
  /// The file is damaged.
  case damaged(String)
  /// Something of that name is there that is no plain file; it was not touched.
  case notAFile(path: String)
  /// Anything else, with SQLite's extended result code or, negative, the system's `errno`.
  case failed(code: Int32, String)

  /// What is wrong and what to do, one sentence each.
  public var description: String {
    switch self {
    case .diskFull: "no room is left on the disk; free some, nothing is lost until a restart"
    case .readOnly: "the file system takes no writing; mount it for writing, or mend its rights"
    case .busy: "another process has the state open; stop the other service first"
    case .newer(let found, let known):
      "the state has format \(found), and this version knows up to \(known); "
        + "install the newer version again, or move the file away to begin anew"
    case .foreign(let id):
      "the file belongs to another program (application id \(id)); name another file"
    case .damaged(let what): "the file is damaged: \(what)"
    case .notAFile(let path):
      "'\(path)' is a link, a folder or a device; it should be a file. Move it away, and look who may write in its folder"
    case .failed(_, let what): what
    }
  }

  /// Whether the store goes on in memory and tries again, and does not give up.
  var isPassing: Bool {
    switch self {
    case .diskFull, .readOnly, .failed: true
    case .busy, .newer, .foreign, .damaged, .notAFile: false
    }
  }

  /// What a result code of SQLite means.
  init(code: Int32, _ message: String) {
    switch code & 0xff {
    case SQLITE_FULL: self = .diskFull
    case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
    case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
    case SQLITE_CANTOPEN:
      self = .failed(
        code: code,
        "it cannot be opened: it should be a file that this user may read and write, in a folder of "
          + "this user's")
    // Our rows fit our tables, and what a disk cannot give is lost.
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_MISMATCH: self = .damaged(message)
    case SQLITE_IOERR where [1, 2, 33].contains(code >> 8):
      self = .damaged(message)  // a read that failed or was short, a corrupt file system
    default: self = .failed(code: code, message)
    }
  }
}
