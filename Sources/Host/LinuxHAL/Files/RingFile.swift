import CLinux
import Glibc

/// Why the ring's file cannot be used. The description says how to fix it. Nothing was written to the file.
public enum RingFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Another process holds the lock of the file.
  case inUse(path: String)
  /// The path is not a regular file but a folder, a device or a link.
  case notARegularFile(path: String)
  /// The file's size differs from that of the ring in the profile.
  case wrongSize(path: String, found: Int, required: Int)
  /// The disk has too little free space.
  case noSpace(path: String, required: Int)
  /// The file's folder does not exist.
  case missingFolder(path: String)
  /// The parent path is not a folder.
  case parentNotAFolder(path: String)
  /// This user may not read and write the file.
  case notPermitted(path: String)
  /// The file system is mounted read-only.
  case readOnly(path: String)
  /// The kernel refused for another reason.
  case refused(path: String, code: Int32)

  init(_ code: Int32, path: String, size: Int) {
    self =
      switch code {
      case EWOULDBLOCK: .inUse(path: path)
      case ELOOP, EISDIR, ENXIO: .notARegularFile(path: path)
      case ENOSPC, EDQUOT, EFBIG: .noSpace(path: path, required: size)
      case ENOENT: .missingFolder(path: path)
      case ENOTDIR: .parentNotAFolder(path: path)
      case EACCES, EPERM: .notPermitted(path: path)
      case EROFS: .readOnly(path: path)
      default: .refused(path: path, code: code)
      }
  }

  /// What is wrong and how to fix it, in one line.
  public var description: String {
    switch self {
    case .inUse(let path):
      "'\(path)' is in use by another service: stop that service, or give this one its own file"
    case .notARegularFile(let path):
      "'\(path)' is not a regular file: choose the path of a file that can be created"
    case .wrongSize(let path, let found, let expected):
      "'\(path)' has \(found) bytes, but the profile's ring needs \(expected): set capacity_fixes "
        + "back to its former value, or move the file away to start with a new ring"
    case .noSpace(let path, let expected):
      "the disk has no space for the \(expected) bytes of '\(path)': free some space, or lower "
        + "capacity_fixes"
    case .missingFolder(let path):
      "the folder of '\(path)' does not exist: create it, or choose another path"
    case .parentNotAFolder(let path):
      "'\(path)' cannot be created: its parent is a file, not a folder; choose another folder (--state), "
        + "or move the file away"
    case .notPermitted(let path):
      "this user may not read and write '\(path)': change the owner of the file or of its folder"
    case .readOnly(let path):
      "the file system of '\(path)' is mounted read-only, which the kernel does when a card fails (see dmesg): "
        + "mount it for writing, or choose another folder (--state)"
    case .refused(let path, let code):
      "'\(path)' cannot be used: \(SystemError.reason(code))"
    }
  }
}

/// The storage of a ring in a memory-mapped file of fixed size, locked by this process.
///
/// A write costs no system call and survives the end of the process. ``sync(_:)`` makes data survive a power cut. Disk
/// space is allocated on opening, so that no later write can fail. `FixRing` defines and validates the content
/// (`Docs/Reference/ring-format.md`); a new file is all zeros, which is an empty ring.
///
/// Order at start, by RNG-2: open, recover, sync what the ring reports as unsynced, mark it as synced; only then
/// append.
@safe public struct RingFile: ~Copyable {
  /// Path of the file.
  public let path: String
  /// Size in bytes.
  public let size: Int
  /// Whether the file was created, or was never written.
  public let isNew: Bool
  private let descriptor: Int32
  private let pageSize: Int
  private let memory: UnsafeMutableRawPointer

  /// Opens the file, or creates it with access for its owner only.
  ///
  /// A file that is too short and all zeros results from a power cut during creation: it is extended. A new file and
  /// its directory entry are durable when this returns.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - size: `FixRing.storageSize(capacity:)`.
  ///   - pageSize: Size of a kernel page in bytes, a power of two: 4,096, or 16,384 on a Raspberry Pi 5.
  public init(
    _ path: String, size: Int, pageSize: Int = Int(getpagesize())
  ) throws(RingFileError) {
    precondition(size > 0, "the ring's size must be above 0")
    precondition(
      pageSize > 0 && pageSize & (pageSize - 1) == 0,
      "the page size must be a power of two")
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let opened = unsafe open(path, flags, 0o600)
    guard opened >= 0 else { throw RingFileError(errno, path: path, size: size) }
    let mapping: (isNew: Bool, memory: UnsafeMutableRawPointer)
    do {
      let isNew = try RingFile.prepare(opened, path, size)
      unsafe mapping = (isNew, try RingFile.map(opened, path, size))
    } catch {
      // Closing the descriptor also releases the lock.
      close(opened)
      throw error
    }
    isNew = unsafe mapping.isNew
    unsafe memory = mapping.memory
    descriptor = opened
    self.path = path
    self.size = size
    self.pageSize = pageSize
  }

  deinit {
    _ = unsafe munmap(memory, size)
    close(descriptor)
  }

  /// The bytes, page-aligned. Valid for the lifetime of this value.
  @unsafe public var storage: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: memory, count: size)
  }

  /// Makes bytes durable; returns when the disk has stored them.
  ///
  /// Writes whole pages around the range. Do not mark anything as synced if this throws: after `EIO` the kernel may
  /// have dropped these pages, and only another write to them stores them.
  ///
  /// - Parameter range: Offsets within ``size``.
  public func sync(_ range: Range<Int>) throws(RingFileError) {
    precondition(range.lowerBound >= 0 && range.upperBound <= size, "outside the file")
    guard !range.isEmpty else { return }
    let pages = RingFile.pages(around: range, of: pageSize)
    let result = unsafe msync(memory + pages.lowerBound, pages.count, MS_SYNC)
    if result != 0 { throw RingFileError(errno, path: path, size: size) }
  }

  /// The range to pass to `msync`, which requires a page-aligned start; the kernel rounds the end up to a whole page.
  static func pages(around range: Range<Int>, of pageSize: Int) -> Range<Int> {
    range.lowerBound / pageSize * pageSize..<range.upperBound
  }

  // MARK: Opening

  /// Locks the file and sets its size; returns whether it was new.
  private static func prepare(
    _ descriptor: Int32, _ path: String, _ size: Int
  ) throws(RingFileError) -> Bool {
    func failure(_ code: Int32) -> RingFileError { RingFileError(code, path: path, size: size) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(path: path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw failure(errno) }
    // Check again: the previous holder of the lock may have set the size.
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure(errno) }
    let found = Int(status.st_size)
    let isNew = found < size && isBlank(descriptor, found)
    guard isNew || found == size else {
      throw .wrongSize(path: path, found: found, required: size)
    }
    let result = clinux_allocate(descriptor, Int64(size))
    guard result == 0 else { throw failure(-result) }
    guard isNew else { return false }
    guard fsync(descriptor) == 0 else { throw failure(errno) }
    let synced = FolderSync.sync(folderOf: path)
    guard synced == 0 else { throw failure(synced) }
    return true
  }

  /// Whether the first `length` bytes are zeros, which is never true for a ring that was opened.
  private static func isBlank(_ descriptor: Int32, _ length: Int) -> Bool {
    var piece = InlineArray<4_096, UInt8>(repeating: 0)
    var offset = 0
    while offset < length {
      var span = piece.mutableSpan
      let count = unsafe span.withUnsafeMutableBytes { bytes in
        unsafe pread(descriptor, bytes.baseAddress, min(bytes.count, length - offset), offset)
      }
      guard count > 0 else { return false }
      for index in 0..<count where piece[index] != 0 { return false }
      offset += count
    }
    return true
  }

  private static func map(
    _ descriptor: Int32, _ path: String, _ size: Int
  ) throws(RingFileError) -> UnsafeMutableRawPointer {
    let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      throw RingFileError(errno, path: path, size: size)
    }
    return unsafe memory
  }
}
