import Glibc
import LocationTypes

/// Bytes that come as they are made: from a device, a pipe, or a file that grows.
///
/// It waits in poll(2), without a timer unless one is asked for, and is told of changes to a file by
/// the kernel: while nothing comes nothing runs.
struct LiveInput: ~Copyable {
  /// What has come.
  enum Event: Equatable {
    /// Bytes, in the block.
    case bytes
    /// Nothing, for as long as was asked.
    case pause
    /// Whoever wrote has ended.
    case end
    /// The device went away; followed, it is waited for.
    case gone
    /// The device is there again.
    case back
    /// The file became shorter, and is read from its start again.
    case truncated
    /// Another file took the name, and is read from its start.
    case replaced
    /// An interrupt.
    case stopped(Int32)
    /// Nobody reads what is written any more.
    case readerGone
  }

  private enum Kind { case file, stream, device }
  private enum Got { case bytes, nothing, end, lost }
  private enum Ready { case nothing, input, watch, reader, stopped(Int32) }

  /// What to call it in messages.
  let name: String
  /// Whether it is a device that came by its name.
  var isDevice: Bool { kind == .device }
  /// How many bytes were read so far.
  private(set) var bytesRead = 0
  /// Where results go, if that is a pipe whose reader may go.
  var reader: Int32 = -1
  private let kind: Kind
  private let path: String?
  private let isFollowed: Bool
  private let baud: Int?
  /// -1 while the device is away.
  private var descriptor: Int32
  private var watch: FileWatch?
  private var hasReadSinceOpen = false
  /// Whether it is a terminal line that came by its name.
  private let isLine: Bool
  private var mayBeBack = false

  /// Whether what is at `path` comes as it is made.
  static func isLive(_ path: String) -> Bool {
    switch path == "-" ? POSIX.kind(ofDescriptor: STDIN_FILENO) : POSIX.kind(of: path) {
    case .device, .fifo, .other: true
    case .missing, .regular, .directory: false
    }
  }

  /// Opens `path`, or for `-` standard input, and puts a serial line in order.
  init(_ path: String, follow: Bool, baud: Int?) throws(CommandError) {
    let isStandard = path == "-"
    let kind = LiveInput.kind(path)
    // One that is not there, unplugged perhaps, is told below.
    if baud != nil, kind != .device, isStandard || POSIX.kind(of: path) != .missing {
      throw SerialLine.isNone(path)
    }
    let descriptor =
      isStandard ? STDIN_FILENO : try LiveInput.open(path, kind == .device, follow: follow)
    if isStandard, POSIX.isTerminal(STDIN_FILENO) {
      POSIX.tell("torpor: reading standard input; end it with Ctrl-D")
    }
    if kind == .device { try SerialLine.prepare(descriptor, path, baud: baud) }
    var watch: FileWatch?
    if follow, kind != .stream {
      watch = try FileWatch(path: isStandard ? nil : path)
      if kind == .file { try watch?.follow(descriptor) }
    }
    self.init(isStandard ? nil : path, kind, descriptor, watch, follow: follow, baud: baud)
  }

  private init(
    _ path: String?, _ kind: Kind, _ descriptor: Int32, _ watch: FileWatch?, follow: Bool,
    baud: Int?
  ) {
    name = path ?? "standard input"
    self.path = path
    self.kind = kind
    self.descriptor = descriptor
    isLine = kind == .device && isatty(descriptor) == 1
    self.watch = watch
    isFollowed = follow
    self.baud = baud
  }

  deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

  private static func kind(_ path: String) -> Kind {
    let isStandard = path == "-"
    return switch isStandard ? POSIX.kind(ofDescriptor: STDIN_FILENO) : POSIX.kind(of: path) {
    case .regular: .file
    case .device: isStandard ? .stream : .device
    case .fifo, .other, .missing, .directory: .stream
    }
  }

  /// Waits for what comes next; bytes replace what `block` held.
  ///
  /// - Parameter pause: How long to wait at most; nil to wait as long as it takes.
  /// - Throws: ``CommandError`` with code 74 when the system cannot read.
  mutating func next(
    into block: inout [UInt8], pause: Interval?
  ) throws(CommandError) -> Event {
    while true {
      if descriptor < 0 {
        if mayBeBack, reopen() { return .back }
      } else if kind == .file {
        if try read(into: &block) == .bytes { return .bytes }
        guard isFollowed else { return .end }
        if let change = try change(&block) { return change }
      }
      switch try wait(pause) {
      case .nothing: return .pause
      case .reader: return .readerGone
      case .stopped(let number): return .stopped(number)
      case .watch:
        watch?.drain()
        mayBeBack = true
      case .input:
        if let event = try take(&block) { return event }
      }
    }
  }

  /// Reads what a stream or a device has; nil where it has nothing after all.
  private mutating func take(_ block: inout [UInt8]) throws(CommandError) -> Event? {
    switch try read(into: &block) {
    case .bytes: .bytes
    case .nothing: nil
    // A terminal line that is hung up ends like a file, and is no terminal any more.
    case .end: isLine ? gone() : .end
    case .lost: gone()
    }
  }

  private mutating func gone() -> Event {
    close(descriptor)
    descriptor = -1
    // One that gives nothing at all is not tried again before something happens to its name.
    mayBeBack = hasReadSinceOpen
    return .gone
  }

  /// Opens a device that went away; whether it is there.
  private mutating func reopen() -> Bool {
    mayBeBack = false
    guard let path, POSIX.kind(of: path) == .device else { return false }
    guard let opened = try? LiveInput.open(path, true, follow: true) else { return false }
    do { try SerialLine.prepare(opened, path, baud: baud) } catch {
      close(opened)
      return false
    }
    descriptor = opened
    hasReadSinceOpen = false
    return true
  }

  /// What has become of a file that was read to its end; nil where it is as it was.
  private mutating func change(_ block: inout [UInt8]) throws(CommandError) -> Event? {
    if let length = POSIX.length(ofDescriptor: descriptor), length < lseek(descriptor, 0, SEEK_CUR)
    {
      _ = lseek(descriptor, 0, SEEK_SET)
      return .truncated
    }
    guard let path, POSIX.kind(of: path) == .regular, !POSIX.isSame(descriptor, path) else {
      return nil
    }
    // What was written before the name changed hands comes first.
    if try read(into: &block) == .bytes { return .bytes }
    guard let opened = try? InputFile.open(path, wanted: InputFile.recording) else { return nil }
    close(descriptor)
    descriptor = opened
    try watch?.follow(opened)
    return .replaced
  }

  private func wait(_ pause: Interval?) throws(CommandError) -> Ready {
    let isFile = kind == .file
    var waiting = [
      pollfd(fd: unsafe StopSignals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: reader, events: 0, revents: 0),
      // A file is always readable, at its end too.
      pollfd(fd: isFile ? -1 : descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: watch?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let timeout = pause.map { Int32(clamping: ($0.microseconds + 999) / 1_000) } ?? -1
    let count = unsafe poll(&waiting, nfds_t(waiting.count), timeout)
    if count == 0 { return .nothing }
    if count < 0, errno != EINTR {
      throw CommandError(.io, "waiting for \(name) failed: \(POSIX.reason(errno))")
    }
    if let number = StopSignals.taken() { return .stopped(number) }
    if waiting[1].revents != 0 { return .reader }
    return waiting[2].revents != 0 ? .input : .watch
  }

  /// Reads into `block`.
  private mutating func read(into block: inout [UInt8]) throws(CommandError) -> Got {
    var failure: Int32 = 0
    let descriptor = self.descriptor
    block = unsafe [UInt8](unsafeUninitializedCapacity: InputFile.blockSize) { buffer, count in
      let got = unsafe Glibc.read(descriptor, buffer.baseAddress, InputFile.blockSize)
      if got < 0 { failure = errno }
      count = max(got, 0)
    }
    bytesRead += block.count
    if !block.isEmpty { hasReadSinceOpen = true }
    switch failure {
    case 0: return block.isEmpty ? .end : .bytes
    case EAGAIN, EINTR: return .nothing
    case EIO, ENXIO, ENODEV: if kind == .device { return .lost }
    case _: break
    }
    throw CommandError(
      .io, "reading \(name) failed after \(bytesRead) bytes: \(POSIX.reason(failure))")
  }

  private static func open(
    _ path: String, _ isDevice: Bool, follow: Bool
  ) throws(CommandError) -> Int32 {
    var flags: Int32 = 0
    // Opening must not wait for a carrier, nor make the line ours.
    if isDevice { flags = O_NOCTTY | O_NONBLOCK }
    // Open for writing too, a FIFO does not end when who wrote has ended.
    if !isDevice, follow, POSIX.kind(of: path) == .fifo { flags = O_RDWR }
    return try InputFile.open(path, wanted: InputFile.recording, flags: flags)
  }
}
