import LocationTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files that the state consists of, and how a damaged one is exchanged.
///
/// A new file is first made whole beside the old one. From then on each step can be the last one
/// before a power cut: the next start goes on where this one ended.
struct StateFiles {
  let path: String

  /// O_PATH, which the C library's Swift module lacks: the same number on x86, Arm and RISC-V.
  private static let pathOnly: Int32 = 0o10_000_000

  private var log: String { path + "-wal" }
  private var fresh: String { path + ".new" }

  var exists: Bool { isThere(path) }

  /// Makes the file, readable by its owner alone; true if it was not there.
  ///
  /// - Throws: ``StateError/notAFile(path:)`` where the file or its log is anything else: a link would have another
  ///   file changed, and a FIFO would be waited for.
  func make() throws(StateError) -> Bool {
    try checkKind(of: log)
    guard try checkKind(of: path) else {
      return try makeNew()
    }
    try makePrivate()
    return false
  }

  private func makeNew() throws(StateError) -> Bool {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("make") }
    _ = Glibc.close(descriptor)
    return true
  }

  /// Whether there is something of that name; throws where that is no plain file.
  @discardableResult
  private func checkKind(of name: String) throws(StateError) -> Bool {
    var status = stat()
    guard unsafe lstat(name, &status) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: name) }
    return true
  }

  /// Has the file readable by its owner alone, and no other file that a link leads to.
  private func makePrivate() throws(StateError) {
    // To close a descriptor of another kind would give up SQLite's lock on the file.
    let descriptor = unsafe open(path, StateFiles.pathOnly | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open") }
    defer { _ = Glibc.close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure("open") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    guard status.st_mode & 0o077 != 0 else { return }
    // The kernel's own name of what was opened: nothing is looked up again.
    if unsafe chmod("/proc/self/fd/\(descriptor)", 0o600) != 0, errno != EROFS {
      throw failure("open")
    }
  }

  /// Makes a whole new file with these rows beside the old one.
  func rebuild(_ schema: StateSchema, _ rows: inout StateRows) throws(StateError) {
    discardFresh()
    let descriptor = unsafe open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("make") }
    _ = Glibc.close(descriptor)
    let database = try Database(fresh, .writing)
    try database.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    _ = rows.removeOrphans()
    try database.transaction { () throws(StateError) in
      for step in schema.steps { try database.run(step) }
      var writer = RowWriter(database: database, writesAll: true)
      try rows.visit(&writer)
      // Last: who finds them knows that all the rest is there.
      try database.run(
        "PRAGMA user_version = \(schema.version); "
          + "PRAGMA application_id = \(StateSchema.applicationID)")
    }
  }

  /// Puts the new file in the old one's place, which is moved aside; tells where to.
  func exchange(at time: UTCTime) throws(StateError) -> String? {
    var aside: String?
    if exists {
      let name = freeName(at: time)
      // The log first: without its log a database looks sound, and is not the newest. With the new
      // file there, the next start knows that this is under way.
      if isThere(log) { try move(log, to: name + "-wal") }
      try move(path, to: name)
      aside = name
    }
    try move(fresh, to: path)
    try syncFolder()
    return aside
  }

  /// Goes on with an exchange that was interrupted; true if there was one.
  func finishRepair(_ schema: StateSchema, at time: UTCTime) throws(StateError) -> Bool {
    guard isThere(fresh) else { return false }
    guard (try? checkKind(of: fresh)) == true, isWhole(schema) else {
      discardFresh()
      return false
    }
    _ = try exchange(at: time)
    return true
  }

  private func isWhole(_ schema: StateSchema) -> Bool {
    guard !isThere(fresh + "-journal") else { return false }
    do throws(StateError) {
      return try schema.check(try Database(fresh, .reading)) == schema.version
    } catch {
      return false
    }
  }

  /// What is wrong with the log of a file, nil if nothing is; changes nothing. O(log).
  ///
  /// A log that cannot be opened or is shorter than its header holds nothing that was acknowledged.
  func logDamage() -> String? {
    let descriptor = unsafe open(log, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = Glibc.close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > LogSurvey.headerSize
    else { return nil }
    guard let header = read(LogSurvey.headerSize, of: descriptor, at: 0),
      var survey = LogSurvey(header: header)
    else { return "the header of its log cannot be read" }
    let end = Int(status.st_size) - survey.frameSize
    var place = LogSurvey.headerSize
    while place <= end {
      guard let frame = read(survey.frameSize, of: descriptor, at: place) else {
        return "frame \(survey.frames) of its log cannot be read"
      }
      survey.add(frame: frame)
      place += survey.frameSize
    }
    guard survey.isDamaged, let bad = survey.firstBad else { return nil }
    return "frame \(bad) of \(survey.frames) of its log has a wrong checksum"
  }

  private func read(_ count: Int, of descriptor: Int32, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, count, off_t(offset))
    }
    return got == count ? bytes : nil
  }

  private func discardFresh() {
    _ = unsafe unlink(fresh)
    _ = unsafe unlink(fresh + "-journal")
  }

  /// `state.db.damaged-20261122T001432Z`, with a number where there is one already.
  private func freeName(at time: UTCTime) -> String {
    let name = path + ".damaged-" + time.stamp
    guard isThere(name) else { return name }
    for number in 2..<1_000 where !isThere("\(name)-\(number)") { return "\(name)-\(number)" }
    return name + "-1000"
  }

  private func isThere(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
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

extension UTCTime {
  /// `20261122T001432Z`: UTC to the second, for the name of a file.
  public var stamp: String {
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
