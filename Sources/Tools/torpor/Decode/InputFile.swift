import Glibc

/// Reads a file, or standard input for the path `-`, in blocks of 64 KiB.
struct InputFile: ~Copyable {
  /// Size of a block, bytes.
  static let blockSize = 65_536
  /// Description of a recording, for messages.
  static let recordingDescription = "the output of a receiver, NMEA or UBX"

  /// Name of the input in messages.
  let name: String
  /// Description of the expected content, for messages.
  let expected: String
  /// Length, bytes; nil if it is not known in advance.
  let length: Int?
  /// Number of bytes read so far.
  private(set) var bytesRead = 0
  private let descriptor: Int32
  private let isOwned: Bool

  /// Opens `path`.
  ///
  /// - Parameter expected: Description of the expected content, for messages.
  /// - Throws: ``CommandError`` with code 66 if the file cannot be opened or is a directory.
  init(_ path: String, expected: String = InputFile.recordingDescription) throws(CommandError) {
    let isStandard = path == "-"
    let opened = isStandard ? STDIN_FILENO : try InputFile.open(path, expected: expected)
    name = isStandard ? "standard input" : path
    self.expected = expected
    descriptor = opened
    isOwned = !isStandard
    length = POSIX.length(ofDescriptor: opened)
    if isStandard { InputFile.announceTerminal() }
  }

  /// Says how to end standard input if it is a terminal.
  static func announceTerminal() {
    guard POSIX.isTerminal(STDIN_FILENO) else { return }
    POSIX.printError("torpor: reading standard input; end it with Ctrl-D")
  }

  deinit { if isOwned { close(descriptor) } }

  /// Replaces `block` with the next bytes; returns false at the end of the input.
  ///
  /// - Throws: ``CommandError`` with code 74 if read(2) fails, 65 if the whole input is empty.
  mutating func read(into block: inout [UInt8]) throws(CommandError) -> Bool {
    block = try read(atMost: InputFile.blockSize, isWhole: false)
    return !block.isEmpty
  }

  /// Reads at most `limit` bytes: those of one read(2), or with `isWhole` until `limit` or the end is reached.
  private mutating func read(atMost limit: Int, isWhole: Bool) throws(CommandError) -> [UInt8] {
    var failure: Int32 = 0
    let descriptor = self.descriptor
    let block = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      repeat {
        let readCount = unsafe Glibc.read(descriptor, buffer.baseAddress! + count, limit - count)
        if readCount < 0 && errno == EINTR { continue }
        if readCount < 0 { failure = errno }
        if readCount <= 0 { break }
        count += readCount
      } while count == 0 || (isWhole && count < limit)
    }
    if failure == EISDIR { throw InputFile.isDirectory(name) }
    if failure != 0 {
      throw CommandError(
        .io, "reading \(name) failed after \(bytesRead) bytes: \(POSIX.reason(failure))")
    }
    bytesRead += block.count
    if bytesRead == 0 {
      throw CommandError(
        .data, "\(name) is empty; expected \(expected)")
    }
    return block
  }

  /// Reads the remaining bytes.
  ///
  /// - Throws: As ``read(into:)``; code 65 if there are more than `limit` bytes.
  mutating func readAll(limit: Int = 1 << 30) throws(CommandError) -> [UInt8] {
    var all: [UInt8] = []
    var block: [UInt8] = []
    // A file of known length is read into one buffer; the loop then reads what was appended since.
    if let length, length > 0, length <= limit { all = try read(atMost: length, isWhole: true) }
    while try read(into: &block) {
      all += block
      if all.count > limit {
        throw CommandError(
          .data,
          "\(name) is larger than the limit of \(limit >> 20) MB; split it into several files")
      }
    }
    return all
  }

  /// Opens `path` for reading; `flags` are added to `O_RDONLY | O_CLOEXEC`.
  ///
  /// - Throws: ``CommandError`` with code 66 if that fails or `path` is a directory.
  static func open(
    _ path: String, expected: String, flags: Int32 = 0
  ) throws(CommandError) -> Int32 {
    if path.isEmpty { throw cannotOpen(path, ENOENT, expected) }
    let opened = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | flags)
    if opened < 0 { throw cannotOpen(path, errno, expected) }
    if POSIX.kind(ofDescriptor: opened) == .directory {
      close(opened)
      throw isDirectory(path)
    }
    return opened
  }

  private static func cannotOpen(
    _ path: String, _ code: Int32, _ expected: String
  ) -> CommandError {
    switch code {
    case ENOENT:
      let hint = path.isEmpty ? "the name is empty" : "there is no such file"
      return CommandError(
        .noInput,
        "cannot read '\(path)': \(hint); give the path of \(expected), or - to read a pipe")
    case EBUSY:
      return CommandError(
        .noInput,
        """
        cannot read '\(path)': another program has opened it exclusively, for example gpsd; \
        `fuser -v \(path)` shows which: stop that program first
        """)
    case ENXIO, ENODEV:
      return CommandError(
        .noInput,
        "cannot read '\(path)': the device is missing (\(POSIX.reason(code))); check its plug"
      )
    case EACCES:
      return CommandError(
        .noInput, "cannot read '\(path)': permission denied; `ls -l` shows which users can read it")
    default:
      return CommandError(.noInput, "cannot read '\(path)': \(POSIX.reason(code))")
    }
  }

  private static func isDirectory(_ name: String) -> CommandError {
    CommandError(
      .noInput, "cannot read '\(name)': it is a directory; give the path of a file in it")
  }
}
