import Glibc
import LocationTypes

/// Reads live input: a device, a pipe, or a file that grows.
///
/// It waits in poll(2), with a timer only if the caller sets a timeout, and the kernel reports changes of a file
/// (inotify), so the process does not run between inputs. With `follow`, a device may be disconnected and connected
/// again, and a file may be truncated or replaced:
///
///     device   open ── hang-up, EIO, ENXIO or ENODEV ──▶ closed (`.disconnected`)
///              closed ── it can be opened again ──▶ open (`.reconnected`)
///     file     at its end ── shorter than the offset ──▶ offset 0 (`.truncated`)
///              at its end ── other file at the path ──▶ offset 0 of that file (`.replaced`)
///
/// `LiveInput` tries to open a closed device again once immediately, if it had sent bytes since it was opened, and
/// after each change of its directory.
struct LiveInput: ~Copyable {
  /// Result of ``next(into:timeout:)``.
  enum Event: Equatable {
    /// Bytes were read into the block.
    case bytes
    /// The timeout passed without input.
    case timeout
    /// End of the input: end of file, or the last writer closed the pipe.
    case end
    /// The device was disconnected; the next call waits for it.
    case disconnected
    /// The device was opened again.
    case reconnected
    /// The file became shorter and is read again from its start.
    case truncated
    /// Another file has the path now and is read from its start.
    case replaced
    /// A stop signal, with its number.
    case stopped(Int32)
    /// The reader of the output pipe has closed it.
    case outputClosed
  }

  private enum Kind { case file, stream, device }
  private enum ReadResult { case bytes, wouldBlock, endOfFile, disconnected }
  private enum WaitResult { case timeout, input, fileChanged, outputClosed, stopped(Int32) }

  /// Name of the input in messages.
  let name: String
  /// Whether the input is a device that was opened by its path.
  var isDevice: Bool { kind == .device }
  /// Number of bytes read so far.
  private(set) var bytesRead = 0
  /// Descriptor of the output if that is a pipe, to detect that its reader has closed it; else -1.
  var outputPipe: Int32 = -1
  private let kind: Kind
  private let path: String?
  private let isFollowed: Bool
  private let baud: Int?
  /// -1 while the device is disconnected.
  private var descriptor: Int32
  private var watch: FileWatch?
  private var hasReadSinceOpen = false
  /// Whether the input is a terminal line that was opened by its path.
  private let isTerminal: Bool
  private var shouldReopen = false

  /// Whether `path` (or standard input, for `-`) is a device, pipe or socket and not a file.
  static func isLive(_ path: String) -> Bool {
    switch path == "-" ? POSIX.kind(ofDescriptor: STDIN_FILENO) : POSIX.kind(of: path) {
    case .device, .fifo, .other: true
    case .missing, .regular, .directory: false
    }
  }

  /// Opens `path`, or standard input for `-`, and configures a serial line.
  ///
  /// - Parameters:
  ///   - follow: Whether to wait for a file to grow and for a disconnected device.
  ///   - baud: Speed of the serial line to set; nil to leave it unchanged.
  /// - Throws: ``CommandError`` with code 66 if the input cannot be opened, 64 if `baud` is given for an input that is
  ///   no serial line, 74 if the line cannot be configured or the file cannot be watched.
  init(_ path: String, follow: Bool, baud: Int?) throws(CommandError) {
    let isStandard = path == "-"
    let kind = LiveInput.kind(path)
    // A missing device, for example an unplugged one, is reported by `open` below.
    if baud != nil, kind != .device, isStandard || POSIX.kind(of: path) != .missing {
      throw LiveLine.notSerialLine(path)
    }
    let descriptor =
      isStandard ? STDIN_FILENO : try LiveInput.open(path, kind == .device, follow: follow)
    if isStandard { InputFile.announceTerminal() }
    if kind == .device { try LiveLine.prepare(descriptor, path, baud: baud) }
    var watch: FileWatch?
    if follow, kind != .stream {
      watch = try FileWatch(path: isStandard ? nil : path)
      if kind == .file { try watch?.watch(descriptor) }
    }
    name = isStandard ? "standard input" : path
    self.path = isStandard ? nil : path
    self.kind = kind
    self.descriptor = descriptor
    isTerminal = kind == .device && isatty(descriptor) == 1
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

  /// Waits for the next event; read bytes replace the content of `block`.
  ///
  /// - Parameter timeout: Longest wait; nil for no limit.
  /// - Throws: ``CommandError`` with code 74 if read(2) or poll(2) fails.
  mutating func next(
    into block: inout [UInt8], timeout: Interval?
  ) throws(CommandError) -> Event {
    while true {
      if descriptor < 0 {
        if shouldReopen, reopen() { return .reconnected }
      } else if kind == .file {
        if try read(into: &block) == .bytes { return .bytes }
        guard isFollowed else { return .end }
        if let change = try detectFileChange(&block) { return change }
      }
      switch try wait(timeout) {
      case .timeout: return .timeout
      case .outputClosed: return .outputClosed
      case .stopped(let number): return .stopped(number)
      case .fileChanged:
        watch?.drain()
        shouldReopen = true
      case .input:
        if let event = try readAvailable(&block) { return event }
      }
    }
  }

  /// Reads the available bytes of a stream or device; nil if none are available after all.
  private mutating func readAvailable(_ block: inout [UInt8]) throws(CommandError) -> Event? {
    switch try read(into: &block) {
    case .bytes: .bytes
    case .wouldBlock: nil
    // After a hang-up, read(2) on a terminal line returns 0.
    case .endOfFile: isTerminal ? disconnect() : .end
    case .disconnected: disconnect()
    }
  }

  private mutating func disconnect() -> Event {
    close(descriptor)
    descriptor = -1
    // A device that sent no byte since it was opened is opened again only after its directory has changed.
    shouldReopen = hasReadSinceOpen
    return .disconnected
  }

  /// Tries to open the disconnected device again; false if that fails.
  private mutating func reopen() -> Bool {
    shouldReopen = false
    guard let path, POSIX.kind(of: path) == .device else { return false }
    guard let opened = try? LiveInput.open(path, true, follow: true) else { return false }
    do { try LiveLine.prepare(opened, path, baud: baud) } catch {
      close(opened)
      return false
    }
    descriptor = opened
    hasReadSinceOpen = false
    return true
  }

  /// Checks whether a file that was read to its end was truncated or replaced; nil if it was not.
  private mutating func detectFileChange(_ block: inout [UInt8]) throws(CommandError) -> Event? {
    if let length = POSIX.length(ofDescriptor: descriptor), length < lseek(descriptor, 0, SEEK_CUR)
    {
      _ = lseek(descriptor, 0, SEEK_SET)
      return .truncated
    }
    guard let path, POSIX.kind(of: path) == .regular, !POSIX.isSame(descriptor, path) else {
      return nil
    }
    // First read what was appended before the file was replaced.
    if try read(into: &block) == .bytes { return .bytes }
    guard let opened = try? InputFile.open(path, expected: InputFile.recordingDescription) else {
      return nil
    }
    close(descriptor)
    descriptor = opened
    try watch?.watch(opened)
    return .replaced
  }

  private func wait(_ limit: Interval?) throws(CommandError) -> WaitResult {
    let isFile = kind == .file
    var waiting = [
      pollfd(fd: unsafe StopSignals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: outputPipe, events: 0, revents: 0),
      // poll(2) reports a file as readable even at its end.
      pollfd(fd: isFile ? -1 : descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: watch?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let timeout = limit.map { Int32(clamping: ($0.microseconds + 999) / 1_000) } ?? -1
    let count = unsafe poll(&waiting, nfds_t(waiting.count), timeout)
    if count == 0 { return .timeout }
    if count < 0, errno != EINTR {
      throw CommandError(.io, "waiting for \(name) failed: \(POSIX.reason(errno))")
    }
    if let number = StopSignals.consume() { return .stopped(number) }
    if waiting[1].revents != 0 { return .outputClosed }
    return waiting[2].revents != 0 ? .input : .fileChanged
  }

  /// Reads once into `block`.
  private mutating func read(into block: inout [UInt8]) throws(CommandError) -> ReadResult {
    var failure: Int32 = 0
    let descriptor = self.descriptor
    block = unsafe [UInt8](unsafeUninitializedCapacity: InputFile.blockSize) { buffer, count in
      let readCount = unsafe Glibc.read(descriptor, buffer.baseAddress, InputFile.blockSize)
      if readCount < 0 { failure = errno }
      count = max(readCount, 0)
    }
    bytesRead += block.count
    if !block.isEmpty { hasReadSinceOpen = true }
    switch failure {
    case 0: return block.isEmpty ? .endOfFile : .bytes
    case EAGAIN, EINTR: return .wouldBlock
    case EIO, ENXIO, ENODEV: if kind == .device { return .disconnected }
    case _: break
    }
    throw CommandError(
      .io, "reading \(name) failed after \(bytesRead) bytes: \(POSIX.reason(failure))")
  }

  private static func open(
    _ path: String, _ isDevice: Bool, follow: Bool
  ) throws(CommandError) -> Int32 {
    var flags: Int32 = 0
    // Opening must not wait for a carrier, nor make the line the controlling terminal.
    if isDevice { flags = O_NOCTTY | O_NONBLOCK }
    // A FIFO that is also open for writing has no end of file when its writer closes it.
    if !isDevice, follow, POSIX.kind(of: path) == .fifo { flags = O_RDWR }
    return try InputFile.open(path, expected: InputFile.recordingDescription, flags: flags)
  }
}
