import Glibc

/// Bytes to read, from a file or, named `-`, from standard input, in blocks of 64 KB.
struct InputFile: ~Copyable {
  /// How many bytes are read at once.
  static let blockSize = 65_536
  /// What a recording is.
  static let recording = "what a receiver sent, NMEA or UBX"

  /// What to call it in messages.
  let name: String
  /// What should be in it, for the message when there is nothing.
  let wanted: String
  /// How many bytes it has, where that is known beforehand.
  let length: Int?
  /// How many bytes were read so far.
  private(set) var bytesRead = 0
  private let descriptor: Int32
  private let isOwned: Bool

  /// Opens `path`.
  ///
  /// - Parameter wanted: What should be in it.
  init(_ path: String, wanted: String = InputFile.recording) throws(CommandError) {
    let isStandard = path == "-"
    let opened = isStandard ? STDIN_FILENO : try InputFile.open(path, wanted: wanted)
    self.init(
      name: isStandard ? "standard input" : path, descriptor: opened, owned: !isStandard,
      wanted: wanted)
    if isStandard, POSIX.isTerminal(STDIN_FILENO) {
      POSIX.tell("torpor: reading standard input; end it with Ctrl-D")
    }
  }

  private init(name: String, descriptor: Int32, owned: Bool, wanted: String) {
    self.wanted = wanted
    self.name = name
    self.descriptor = descriptor
    isOwned = owned
    length = POSIX.length(ofDescriptor: descriptor)
  }

  deinit { if isOwned { close(descriptor) } }

  /// Reads the next bytes into `block`, replacing what it held; gives false at the end.
  ///
  /// - Throws: ``CommandError`` with code 74 when the system cannot read, 65 when the whole input
  ///   turns out to be empty.
  mutating func read(into block: inout [UInt8]) throws(CommandError) -> Bool {
    block = try read(atMost: InputFile.blockSize, isWhole: false)
    return !block.isEmpty
  }

  /// Reads at most `limit` bytes: what is there now, or all until there are so many.
  private mutating func read(atMost limit: Int, isWhole: Bool) throws(CommandError) -> [UInt8] {
    var failure: Int32 = 0
    let descriptor = self.descriptor
    let block = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      repeat {
        let got = unsafe Glibc.read(descriptor, buffer.baseAddress! + count, limit - count)
        if got < 0 && errno == EINTR { continue }
        if got < 0 { failure = errno }
        if got <= 0 { break }
        count += got
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
        .data, "\(name) is empty: it should be \(wanted)")
    }
    return block
  }

  /// Reads all that is left.
  ///
  /// - Throws: as ``read(into:)``; code 65 when there is more than `limit` bytes.
  mutating func readAll(limit: Int = 1 << 30) throws(CommandError) -> [UInt8] {
    var all: [UInt8] = []
    var block: [UInt8] = []
    // Into its place at once; and then what it has grown by.
    if let length, length > 0, length <= limit { all = try read(atMost: length, isWhole: true) }
    while try read(into: &block) {
      all += block
      if all.count > limit {
        throw CommandError(
          .data, "\(name) is larger than \(limit >> 20) MB, more than is run at once; cut it up")
      }
    }
    return all
  }

  /// Opens `path`, which is no directory; `flags` are added to those for reading.
  static func open(
    _ path: String, wanted: String, flags: Int32 = 0
  ) throws(CommandError) -> Int32 {
    if path.isEmpty { throw cannotOpen(path, ENOENT, wanted) }
    let opened = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | flags)
    if opened < 0 { throw cannotOpen(path, errno, wanted) }
    if POSIX.kind(ofDescriptor: opened) == .directory {
      close(opened)
      throw isDirectory(path)
    }
    return opened
  }

  private static func cannotOpen(
    _ path: String, _ code: Int32, _ wanted: String
  ) -> CommandError {
    switch code {
    case ENOENT:
      let hint = path.isEmpty ? "the name is empty" : "there is no such file"
      return CommandError(
        .noInput,
        "cannot read '\(path)': \(hint); give the path of \(wanted), or - to read a pipe")
    case EBUSY:
      return CommandError(
        .noInput,
        """
        cannot read '\(path)': another program has it for itself, gpsd perhaps; \
        `fuser -v \(path)` tells which: stop that one first
        """)
    case ENXIO, ENODEV:
      return CommandError(
        .noInput,
        "cannot read '\(path)': there is no device behind it (\(POSIX.reason(code))); is it plugged in?"
      )
    case EACCES:
      return CommandError(
        .noInput, "cannot read '\(path)': permission denied; see who may with `ls -l`")
    default:
      return CommandError(.noInput, "cannot read '\(path)': \(POSIX.reason(code))")
    }
  }

  private static func isDirectory(_ name: String) -> CommandError {
    CommandError(
      .noInput, "cannot read '\(name)': it is a directory; give one of the files in it")
  }
}
