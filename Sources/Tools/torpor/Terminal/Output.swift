import Glibc
import TextFormats

/// Buffered output to standard output or to a file that is replaced atomically.
///
/// A file is written under a temporary name in the same folder and renamed by ``finish()``. After an error or a signal
/// before that, the temporary file is removed and an existing file remains unchanged.
struct Output: ~Copyable {
  private let name: String
  private let descriptor: Int32
  private let pending: PendingFile?
  private var buffer: [UInt8] = []
  private var isFinished = false

  /// Standard output.
  init() {
    name = "standard output"
    descriptor = STDOUT_FILENO
    pending = nil
  }

  /// Opens the file at `path`; a device or pipe is written directly.
  ///
  /// - Throws: ``CommandError`` with code 73 if it cannot be created.
  init(path: String) throws(CommandError) {
    let opened = try Output.open(path)
    name = path
    descriptor = opened.descriptor
    pending = opened.pending
  }

  /// Writes `bytes` to standard output, as the whole output of a command.
  ///
  /// - Throws: As ``finish()``.
  static func print(_ bytes: [UInt8]) throws {
    var output = Output()
    try output.write(bytes)
    try output.finish()
  }

  /// Writes `text` to standard output, as the whole output of a command.
  static func print(_ text: String) throws { try print(Array(text.utf8)) }

  deinit {
    guard descriptor != STDOUT_FILENO else { return }
    close(descriptor)
    if !isFinished { pending?.remove() }
  }

  /// Whether the output is standard output and a terminal.
  var isTerminal: Bool { descriptor == STDOUT_FILENO && POSIX.isTerminal(descriptor) }

  /// Standard output if it is a pipe or socket, to detect that its reader closes it; else -1.
  var outputPipe: Int32 {
    let kind = POSIX.kind(ofDescriptor: descriptor)
    return descriptor == STDOUT_FILENO && (kind == .fifo || kind == .other) ? descriptor : -1
  }

  /// Adds `bytes` to the buffer, and writes the buffer when it has 64 KiB.
  ///
  /// - Throws: ``BrokenPipe`` if the reader has closed the pipe, ``CommandError`` with code 74 for other write errors.
  mutating func write(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= 65_536 { try flush() }
  }

  /// Writes the buffered bytes.
  ///
  /// - Throws: As ``write(_:)``.
  mutating func flush() throws {
    guard !buffer.isEmpty else { return }
    let failure = TextFile.write(buffer, to: descriptor)
    buffer.removeAll(keepingCapacity: true)
    guard failure != 0 else { return }
    if failure == EPIPE { throw BrokenPipe() }
    throw CommandError(.io, "writing \(name) failed: \(POSIX.reason(failure))")
  }

  /// Writes the buffered bytes, synchronises the file to storage and renames it to its final name.
  ///
  /// - Throws: As ``write(_:)``, or ``CommandError`` if synchronising or renaming fails.
  mutating func finish() throws {
    try flush()
    if let pending {
      guard fsync(descriptor) == 0 || errno == EINVAL else {
        throw CommandError(.io, "writing \(name) failed: \(POSIX.reason(errno))")
      }
      guard pending.replaceTarget() else { throw Output.cannotCreate(name, errno) }
    }
    isFinished = true
  }

  private static func open(
    _ path: String
  ) throws(CommandError) -> (descriptor: Int32, pending: PendingFile?) {
    let descriptor: Int32
    var pending: PendingFile?
    switch path.isEmpty ? .missing : POSIX.kind(of: path) {
    case .directory:
      throw CommandError(
        .cannotCreate, "cannot write '\(path)': it is a directory; give the name of a file")
    case .device, .fifo, .other:
      descriptor = unsafe Glibc.open(path, O_WRONLY | O_CLOEXEC)
    case .missing, .regular:
      var file = PendingFile(for: path)
      descriptor = file.open()
      pending = file
    }
    if descriptor < 0 { throw cannotCreate(path, errno) }
    return (descriptor, pending)
  }

  /// Whether the folder of `path` exists.
  private static func folderExists(_ path: String) -> Bool {
    guard !path.hasSuffix("/") else { return false }
    return POSIX.kind(of: POSIX.parent(of: path)) == .directory
  }

  private static func cannotCreate(_ path: String, _ code: Int32) -> CommandError {
    let reason =
      switch code {
      case ENOENT where path.isEmpty:
        "the name is empty; give the name of a file, or - for standard output"
      case ENOENT where folderExists(path): "no file can be created there; choose another path"
      case ENOENT: "the directory does not exist; create it with `mkdir -p` first"
      case EACCES, EPERM: "permission denied; choose a directory where you may write"
      case EROFS: "the file system is read-only; choose another path"
      default: POSIX.reason(code)
      }
    return CommandError(.cannotCreate, "cannot write '\(path)': \(reason)")
  }
}
