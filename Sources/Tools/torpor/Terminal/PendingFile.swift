import Glibc

/// A temporary file in the folder of its target, which it replaces atomically with rename(2).
struct PendingFile {
  private let place: String
  private var temporary: String

  /// Chooses a temporary name in the folder of `path`. A symbolic link is resolved, so that it stays a link.
  init(for path: String) {
    let place = PendingFile.resolved(path)
    let cut = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { place.utf8.index(after: $0) }
    let start = cut ?? place.startIndex
    self.place = place
    temporary = "\(place[..<start]).\(place[start...]).torpor-\(getpid())"
  }

  /// Creates the temporary file with the permissions of the target; returns its descriptor, or -1 with `errno` set.
  mutating func open() -> Int32 {
    if place.isEmpty || place.hasSuffix("/") {
      errno = ENOENT
      return -1
    }
    // rename(2) would replace a file that the user may not write.
    if unsafe access(place, F_OK) == 0, unsafe access(place, W_OK) != 0 { return -1 }
    let descriptor = create()
    if descriptor >= 0 {
      Interrupts.guarding(temporary)
      var status = stat()
      if unsafe stat(place, &status) == 0 { fchmod(descriptor, status.st_mode & 0o7777) }
    }
    return descriptor
  }

  /// Tries further names if one exists: a process with the same ID can have left its file after a power failure.
  private mutating func create() -> Int32 {
    let name = temporary
    for attempt in 1...100 {
      let descriptor = unsafe Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if descriptor >= 0 || errno != EEXIST { return descriptor }
      temporary = "\(name)-\(attempt)"
    }
    errno = EEXIST
    return -1
  }

  /// Renames the file to its target, replacing it atomically; false with `errno` set on failure.
  func takePlace() -> Bool {
    guard unsafe rename(temporary, place) == 0 else { return false }
    Interrupts.release(temporary)
    return true
  }

  /// Removes the temporary file.
  func remove() {
    unsafe unlink(temporary)
    Interrupts.release(temporary)
  }

  /// `path` with its symbolic links resolved; unchanged if it does not exist.
  static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}

/// Removes temporary files when a signal ends the process.
enum Interrupts {
  /// Largest number of temporary files at a time; no command writes more.
  private static let capacity = 4
  /// Paths of the temporary files as C strings, or nil. Read by the signal handler.
  nonisolated(unsafe) private static let guarded = {
    let places = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: capacity)
    unsafe places.initialize(repeating: nil, count: capacity)
    return unsafe places
  }()

  /// Ignores SIGPIPE, so that write(2) reports a broken pipe as EPIPE.
  static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Allocates the memory that the signal handler reads, because a handler must not allocate.
  static func prepare() { _ = unsafe guarded }

  /// Registers `path` for removal when a signal ends the process.
  static func guarding(_ path: String) {
    guard let place = (0..<capacity).first(where: { unsafe guarded[$0] == nil }) else {
      preconditionFailure("no command writes more than \(capacity) files")
    }
    unsafe guarded[place] = strdup(path)
    for number in [SIGINT, SIGTERM, SIGHUP] { handle(number) { Interrupts.end($0) } }
  }

  /// Installs a signal handler; a signal that is ignored (nohup(1)) stays ignored.
  static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    let before = signal(number, handler)
    if isIgnored(before) { signal(number, SIG_IGN) }
  }

  /// Removes the registration of `path`.
  static func release(_ path: String) {
    for place in 0..<capacity {
      guard let held = unsafe guarded[place], unsafe strcmp(held, path) == 0 else { continue }
      unsafe guarded[place] = nil
      unsafe free(held)
    }
  }

  private static func isIgnored(_ handler: sighandler_t?) -> Bool {
    guard let handler else { return false }
    return unsafe unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
  }

  /// Removes the temporary files and ends the process with the signal. Async-signal-safe.
  static func end(_ number: Int32) {
    for place in 0..<capacity {
      if let path = unsafe guarded[place] { unsafe unlink(path) }
    }
    signal(number, SIG_DFL)
    raise(number)
  }
}
