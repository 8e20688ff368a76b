import Glibc
import LinuxHAL

// Temporary files that replace their target atomically, and their removal when a signal ends the process.

/// A temporary file in the folder of its target, which it replaces atomically with rename(2).
struct PendingFile {
  private let target: String
  private var temporary: String

  /// Chooses a temporary name in the folder of `path`. A symbolic link is resolved, so that it stays a link.
  init(for path: String) {
    let target = PendingFile.resolved(path)
    let slashEnd = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { target.utf8.index(after: $0) }
    let start = slashEnd ?? target.startIndex
    self.target = target
    temporary = "\(target[..<start]).\(target[start...]).torpor-\(getpid())"
  }

  /// Creates the temporary file with the permissions of the target; returns its descriptor, or -1 with `errno` set.
  mutating func open() -> Int32 {
    if target.isEmpty || target.hasSuffix("/") {
      errno = ENOENT
      return -1
    }
    // rename(2) would replace a file that the user may not write.
    if unsafe access(target, F_OK) == 0, unsafe access(target, W_OK) != 0 { return -1 }
    let descriptor = create()
    if descriptor >= 0 {
      SignalCleanup.register(temporary)
      var status = stat()
      if unsafe stat(target, &status) == 0 { fchmod(descriptor, status.st_mode & 0o7777) }
    }
    return descriptor
  }

  /// Creates the file. Tries further names if one exists: a process with the same ID may have left its file at a power
  /// failure.
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
  func replaceTarget() -> Bool {
    guard unsafe rename(temporary, target) == 0 else { return false }
    SignalCleanup.unregister(temporary)
    return true
  }

  /// Removes the temporary file.
  func remove() {
    unsafe unlink(temporary)
    SignalCleanup.unregister(temporary)
  }

  /// `path` with its symbolic links resolved; unchanged if it does not exist.
  static func resolved(_ path: String) -> String { SystemFiles.realPath(path) ?? path }
}

/// Removes temporary files when a signal ends the process.
enum SignalCleanup {
  /// Largest number of temporary files at a time; no command writes more.
  private static let capacity = 4
  /// Paths of the temporary files as C strings, or nil. Read by the signal handler.
  nonisolated(unsafe) private static let paths = {
    let slots = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: capacity)
    unsafe slots.initialize(repeating: nil, count: capacity)
    return unsafe slots
  }()

  /// Ignores SIGPIPE, so that write(2) reports a broken pipe as EPIPE.
  static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Allocates the memory that the signal handler reads, because a handler must not allocate.
  static func allocate() { _ = unsafe paths }

  /// Registers `path` for removal when a signal ends the process.
  static func register(_ path: String) {
    guard let slot = (0..<capacity).first(where: { unsafe paths[$0] == nil }) else {
      preconditionFailure("no command writes more than \(capacity) files")
    }
    unsafe paths[slot] = strdup(path)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      setHandler(number) { SignalCleanup.removeAllAndRaise($0) }
    }
  }

  /// Installs a signal handler; a signal that is ignored (nohup(1)) stays ignored.
  static func setHandler(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    let previous = signal(number, handler)
    if isIgnored(previous) { signal(number, SIG_IGN) }
  }

  /// Removes the registration of `path`.
  static func unregister(_ path: String) {
    for slot in 0..<capacity {
      guard let entry = unsafe paths[slot], unsafe strcmp(entry, path) == 0 else { continue }
      unsafe paths[slot] = nil
      unsafe free(entry)
    }
  }

  private static func isIgnored(_ handler: sighandler_t?) -> Bool {
    guard let handler else { return false }
    return unsafe unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
  }

  /// Removes the temporary files and ends the process with the signal. Async-signal-safe.
  static func removeAllAndRaise(_ number: Int32) {
    for slot in 0..<capacity {
      if let path = unsafe paths[slot] { unsafe unlink(path) }
    }
    signal(number, SIG_DFL)
    raise(number)
  }
}
