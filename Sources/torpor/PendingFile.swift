import Glibc

/// A file in the making, beside the place it will take.
struct PendingFile {
  private let place: String
  private let temporary: String

  /// Chooses a name beside `path`; a link is followed, so that it stays a link.
  init(for path: String) {
    let place = PendingFile.resolved(path)
    let cut = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { place.utf8.index(after: $0) }
    let start = cut ?? place.startIndex
    self.place = place
    temporary = "\(place[..<start]).\(place[start...]).torpor-\(getpid())"
  }

  /// Creates it; gives its descriptor, or -1 with `errno` set.
  func open() -> Int32 {
    if place.isEmpty || place.hasSuffix("/") {
      errno = ENOENT
      return -1
    }
    // Replacing a file one may not write would go round its permissions.
    if unsafe access(place, F_OK) == 0, unsafe access(place, W_OK) != 0 { return -1 }
    let descriptor = unsafe Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    if descriptor >= 0 {
      Interrupts.guarding(temporary)
      var status = stat()
      if unsafe stat(place, &status) == 0 { fchmod(descriptor, status.st_mode & 0o7777) }
    }
    return descriptor
  }

  /// Puts it in its place, replacing what is there, in one step; false with `errno` set if it fails.
  func takePlace() -> Bool {
    guard unsafe rename(temporary, place) == 0 else { return false }
    Interrupts.nothingToGuard()
    return true
  }

  /// Takes it away.
  func remove() {
    unsafe unlink(temporary)
    Interrupts.nothingToGuard()
  }

  private static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}

/// Sees to it that an interrupt leaves no file half-written.
///
/// One file at a time is guarded: no command writes more.
enum Interrupts {
  /// Read by the signal handler: a C string of our own, or nil.
  nonisolated(unsafe) private static var guarded: UnsafeMutablePointer<CChar>?

  /// Has a broken pipe told by `write` and not by a signal.
  static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Removes `path` if a signal ends the process from now on.
  static func guarding(_ path: String) {
    let copy = unsafe strdup(path)
    let old = unsafe guarded
    unsafe guarded = copy
    unsafe free(old)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number, { Interrupts.end($0) })
      // One that is ignored (nohup) stays ignored.
      if isIgnored(before) { signal(number, SIG_IGN) }
    }
  }

  /// From now on a signal has nothing to remove.
  static func nothingToGuard() {
    let old = unsafe guarded
    unsafe guarded = nil
    unsafe free(old)
  }

  private static func isIgnored(_ handler: sighandler_t?) -> Bool {
    guard let handler else { return false }
    return unsafe unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
  }

  /// Only calls that a signal handler may make.
  private static func end(_ number: Int32) {
    if let path = unsafe guarded { unsafe unlink(path) }
    signal(number, SIG_DFL)
    raise(number)
  }
}
