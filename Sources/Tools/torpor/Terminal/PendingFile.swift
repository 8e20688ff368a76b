import Glibc

/// A file in the making, beside the place it will take.
struct PendingFile {
  private let place: String
  private var temporary: String

  /// Chooses a name beside `path`; a link is followed, so that it stays a link.
  init(for path: String) {
    let place = PendingFile.resolved(path)
    let cut = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { place.utf8.index(after: $0) }
    let start = cut ?? place.startIndex
    self.place = place
    temporary = "\(place[..<start]).\(place[start...]).torpor-\(getpid())"
  }

  /// Creates it; gives its descriptor, or -1 with `errno` set.
  mutating func open() -> Int32 {
    if place.isEmpty || place.hasSuffix("/") {
      errno = ENOENT
      return -1
    }
    // Replacing a file one may not write would go round its permissions.
    if unsafe access(place, F_OK) == 0, unsafe access(place, W_OK) != 0 { return -1 }
    let descriptor = create()
    if descriptor >= 0 {
      Interrupts.guarding(temporary)
      var status = stat()
      if unsafe stat(place, &status) == 0 { fchmod(descriptor, status.st_mode & 0o7777) }
    }
    return descriptor
  }

  /// A process of the same number may have left its file when the power failed: then the next name.
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

  /// Puts it in its place, replacing what is there, in one step; false with `errno` set if it fails.
  func takePlace() -> Bool {
    guard unsafe rename(temporary, place) == 0 else { return false }
    Interrupts.release(temporary)
    return true
  }

  /// Takes it away.
  func remove() {
    unsafe unlink(temporary)
    Interrupts.release(temporary)
  }

  /// `path` with its links followed, where it is there.
  static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}

/// Sees to it that an interrupt leaves no file half-written.
enum Interrupts {
  /// How many files can be guarded at once: no command writes more.
  private static let capacity = 4
  /// Read by the signal handler: C strings of our own, or nil.
  nonisolated(unsafe) private static let guarded = {
    let places = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: capacity)
    unsafe places.initialize(repeating: nil, count: capacity)
    return unsafe places
  }()

  /// Has a broken pipe told by `write` and not by a signal.
  static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Makes the memory that the signal handler reads: it must not be made inside of it.
  static func prepare() { _ = unsafe guarded }

  /// Removes `path` if a signal ends the process from now on.
  static func guarding(_ path: String) {
    guard let place = (0..<capacity).first(where: { unsafe guarded[$0] == nil }) else {
      preconditionFailure("no command writes more than \(capacity) files")
    }
    unsafe guarded[place] = strdup(path)
    for number in [SIGINT, SIGTERM, SIGHUP] { handle(number) { Interrupts.end($0) } }
  }

  /// Has `handler` called at a signal; one that is ignored (nohup) stays ignored.
  static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    let before = signal(number, handler)
    if isIgnored(before) { signal(number, SIG_IGN) }
  }

  /// From now on a signal leaves `path` alone.
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

  /// Removes what is half-written and ends the process; only calls that a signal handler may make.
  static func end(_ number: Int32) {
    for place in 0..<capacity {
      if let path = unsafe guarded[place] { unsafe unlink(path) }
    }
    signal(number, SIG_DFL)
    raise(number)
  }
}
