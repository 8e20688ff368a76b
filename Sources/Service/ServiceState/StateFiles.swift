import Glibc
import LocationTypes

/// Creation, checking and replacement of the files that hold the state.
///
/// A damaged file is replaced in steps. A power cut may follow any of them, and the next start continues there:
///
///   1. Write the complete replacement to `state.db.new`; its header fields are set last, in the same transaction.
///   2. Move the write-ahead log aside, to `state.db.damaged-TIME-wal`.
///   3. Move the file aside, to `state.db.damaged-TIME`.
///   4. Rename `state.db.new` to `state.db` and sync the folder.
///
/// A start that finds an incomplete `state.db.new` deletes it and repairs again; with a complete one it continues with
/// step 2. No step overwrites a file that may hold the only copy of a row.
struct StateFiles {
  let path: String

  /// `O_PATH`, which the C library's Swift module lacks. The value is the same on x86, Arm and RISC-V.
  private static let pathOnly: Int32 = 0o10_000_000

  private var logPath: String { path + "-wal" }
  private var newPath: String { path + ".new" }

  var exists: Bool { fileExists(path) }

  /// Creates the file, readable by its owner only. Returns true if it did not exist.
  ///
  /// - Throws: ``StateError/notAFile(path:)`` if the file or its log is not a regular file: a link would redirect
  ///   writes to another file, and opening a FIFO would block.
  func createIfMissing() throws(StateError) -> Bool {
    try checkKind(of: logPath)
    guard try checkKind(of: path) else {
      try create(path)
      return true
    }
    try restrictToOwner()
    return false
  }

  private func create(_ name: String) throws(StateError) {
    let descriptor = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("create") }
    _ = Glibc.close(descriptor)
  }

  /// Whether a file of that name exists. Throws if it is not a regular file.
  @discardableResult
  private func checkKind(of name: String) throws(StateError) -> Bool {
    var status = stat()
    guard unsafe lstat(name, &status) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: name) }
    return true
  }

  /// Removes all permissions of group and others from the file, without following a link.
  private func restrictToOwner() throws(StateError) {
    // O_PATH: closing an ordinary descriptor of the file would release SQLite's POSIX lock.
    let descriptor = unsafe open(path, StateFiles.pathOnly | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open") }
    defer { _ = Glibc.close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure("open") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    guard status.st_mode & 0o077 != 0 else { return }
    // Address the opened file through /proc, so that no path is resolved again.
    if unsafe chmod("/proc/self/fd/\(descriptor)", 0o600) != 0, errno != EROFS {
      throw failure("open")
    }
  }

  /// Writes a complete file with these rows next to the old one.
  func rebuild(_ schema: StateSchema, _ rows: inout StateRows) throws(StateError) {
    removeNewFile()
    try create(newPath)
    let database = try Database(newPath, .writing)
    try database.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    _ = rows.removeOrphans()
    try database.transaction { () throws(StateError) in
      for step in schema.steps { try database.run(step) }
      var writer = RowWriter(database: database, writesAll: true)
      try rows.visit(&writer)
      // Set last: a file with these values is complete.
      try schema.mark(database)
    }
  }

  /// Moves the old file aside and renames the new one in its place. Returns the new path of the old file; nil without
  /// one.
  func replaceDamaged(at time: UTCTime) throws(StateError) -> String? {
    var oldPath: String?
    if exists {
      let name = unusedPath(forDamaged: path, at: time)
      // The log first: a database without its log looks valid, but lacks the newest changes. The `.new` file
      // shows the next start that the replacement is in progress.
      if fileExists(logPath) { try move(logPath, to: name + "-wal") }
      try move(path, to: name)
      oldPath = name
    }
    try move(newPath, to: path)
    try syncFolder()
    return oldPath
  }

  /// Continues an interrupted replacement. Returns true if there was one.
  func finishRepair(_ schema: StateSchema, at time: UTCTime) throws(StateError) -> Bool {
    guard fileExists(newPath) else { return false }
    guard (try? checkKind(of: newPath)) == true, isComplete(schema) else {
      removeNewFile()
      return false
    }
    _ = try replaceDamaged(at: time)
    return true
  }

  private func isComplete(_ schema: StateSchema) -> Bool {
    guard !fileExists(newPath + "-journal") else { return false }
    do throws(StateError) {
      return try schema.check(try Database(newPath, .reading)) == schema.version
    } catch {
      return false
    }
  }

  /// The damage of the write-ahead log; nil if it has none. Changes nothing. O(log size).
  ///
  /// Nil also for a log that cannot be opened, or that is not longer than its header and so contains no change.
  func logDamage() -> String? {
    let descriptor = unsafe open(logPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = Glibc.close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > WriteAheadLogCheck.headerSize
    else { return nil }
    guard let header = read(WriteAheadLogCheck.headerSize, of: descriptor, at: 0),
      var check = WriteAheadLogCheck(header: header)
    else { return "the header of its write-ahead log cannot be read" }
    let end = Int(status.st_size) - check.frameSize
    var offset = WriteAheadLogCheck.headerSize
    while offset <= end {
      guard let frame = read(check.frameSize, of: descriptor, at: offset) else {
        return "frame \(check.frameCount) of its write-ahead log cannot be read"
      }
      check.add(frame: frame)
      offset += check.frameSize
    }
    guard check.isDamaged, let index = check.firstBadFrame else { return nil }
    return "frame \(index) of \(check.frameCount) of its write-ahead log has a wrong checksum"
  }

  private func read(_ count: Int, of descriptor: Int32, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let length = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, count, off_t(offset))
    }
    return length == count ? bytes : nil
  }

  private func removeNewFile() {
    _ = unsafe unlink(newPath)
    _ = unsafe unlink(newPath + "-journal")
  }

  private func move(_ from: String, to: String) throws(StateError) {
    guard unsafe rename(from, to) == 0 else { throw failure("move") }
  }

  private func syncFolder() throws(StateError) {
    let end = path.lastIndex(of: "/")
    let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open the folder of") }
    defer { _ = Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("sync the folder of") }
  }

  private func failure(_ doing: String) -> StateError {
    let code = errno
    switch code {
    case ENOSPC, EDQUOT: return .diskFull
    case EROFS, EACCES, EPERM: return .readOnly
    default:
      let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
      return .failed(code: -code, "cannot \(doing) \(path): \(reason)")
    }
  }
}

/// Path to which a damaged file is moved: `PATH.damaged-20261122T001432Z`, with a number appended if that exists.
public func unusedPath(forDamaged path: String, at time: UTCTime) -> String {
  let name = path + ".damaged-" + time.fileNameText
  guard fileExists(name) else { return name }
  for number in 2..<1_000 where !fileExists("\(name)-\(number)") { return "\(name)-\(number)" }
  return name + "-1000"
}

private func fileExists(_ path: String) -> Bool {
  var status = stat()
  return unsafe lstat(path, &status) == 0
}

extension UTCTime {
  /// UTC to the second, for file names: `20261122T001432Z`.
  fileprivate var fileNameText: String {
    func digits(_ number: Int, _ width: Int = 2) -> String {
      let text = "\(number)"
      return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
    let date = date
    let second = Int(microsecondsOfDay / 1_000_000)
    return digits(date.year, 4) + digits(date.month) + digits(date.day) + "T"
      + digits(second / 3_600) + digits(second / 60 % 60) + digits(second % 60) + "Z"
  }
}
