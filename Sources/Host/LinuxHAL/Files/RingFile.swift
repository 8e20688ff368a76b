import CLinux
import Glibc

/// Why the ring's file could not be used, and what to do about it. Nothing was written to it.
public enum RingFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Another process has it.
  case inUse(path: String)
  /// It is no file: a folder, a device, a link.
  case notAFile(path: String)
  /// It has another size than the ring that the profile asks for.
  case wrongSize(path: String, found: Int, wanted: Int)
  /// The disk has no room for all of it.
  case noSpace(path: String, wanted: Int)
  /// The folder is not there.
  case missingFolder(path: String)
  /// What should be its folder is none.
  case notInAFolder(path: String)
  /// This user may not read and write it.
  case notPermitted(path: String)
  /// Its file system is mounted so that nothing can be written.
  case readOnly(path: String)
  /// The kernel refused for another reason.
  case refused(path: String, code: Int32)

  init(_ code: Int32, path: String, size: Int) {
    self =
      switch code {
      case EWOULDBLOCK: .inUse(path: path)
      case ELOOP, EISDIR, ENXIO: .notAFile(path: path)
      case ENOSPC, EDQUOT, EFBIG: .noSpace(path: path, wanted: size)
      case ENOENT: .missingFolder(path: path)
      case ENOTDIR: .notInAFolder(path: path)
      case EACCES, EPERM: .notPermitted(path: path)
      case EROFS: .readOnly(path: path)
      default: .refused(path: path, code: code)
      }
  }

  /// What is wrong and what helps, in one line.
  public var description: String {
    switch self {
    case .inUse(let path):
      "'\(path)' is in use by another service: end that one, or give this one a ring of its own"
    case .notAFile(let path):
      "'\(path)' is no plain file: name one that may be created"
    case .wrongSize(let path, let found, let wanted):
      "'\(path)' has \(found) bytes, and the profile's ring takes \(wanted): set capacity_fixes "
        + "back to what it was, or move the file away to begin a new ring"
    case .noSpace(let path, let wanted):
      "the disk has no room for the \(wanted) bytes of '\(path)': make room, or lower capacity_fixes"
    case .missingFolder(let path):
      "there is no folder for '\(path)': create it, or name another"
    case .notInAFolder(let path):
      "there can be no '\(path)': what it should be in is a file, and no folder; name a folder (--state), "
        + "or move the file away"
    case .notPermitted(let path):
      "'\(path)' may not be read and written by this user: change its owner, or its folder's"
    case .readOnly(let path):
      "the file system of '\(path)' is mounted read-only, as a kernel does with a card that fails (dmesg says why): "
        + "mount it for writing, or name another place (--state)"
    case .refused(let path, let code):
      "'\(path)' cannot be used: \(SystemError.reason(code))"
    }
  }
}

/// The memory of a ring, in a file of fixed size that no other process uses.
///
/// It is mapped: writing costs no system call, and what was written survives the process. What must
/// survive a power cut is synced. The disk space is taken when it is opened, so that no write can
/// fail later. What the bytes mean, and whether they are a ring at all, is `FixRing`'s business
/// (`Docs/Reference/ring-format.md`); a new file is all zeros, which is an empty ring.
///
/// The order at the start, by RNG-2: open, recover, sync what the ring says is unsynced, mark it as
/// synced; only then append.
@safe public struct RingFile: ~Copyable {
  /// Moves a file that is no ring to a name beside it, `ring.damaged-STAMP`.
  ///
  /// - Returns: Its new name; nil where it cannot be moved.
  public static func moveAside(_ path: String, stamp: String) -> String? {
    let name = "\(path).damaged-\(stamp)"
    let names = [name] + (2..<1_000).map { "\(name)-\($0)" }
    guard let place = names.first(where: { unsafe access($0, F_OK) != 0 }),
      unsafe rename(path, place) == 0
    else { return nil }
    return place
  }

  /// The file.
  public let path: String
  /// The size in bytes.
  public let size: Int
  /// Whether there was no file, or one that nothing had been written to.
  public let isNew: Bool
  private let descriptor: Int32
  private let pageSize: Int
  private let memory: UnsafeMutableRawPointer

  /// Opens the file, or creates it for its owner alone.
  ///
  /// A file that is too short and all zeros was left by a power cut while it was made: it is
  /// completed. A new one is durable with its name before this returns.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - size: `FixRing.storageSize(capacity:)`.
  ///   - pageSize: Bytes of a page of the kernel, a power of two: 4,096, or 16,384 on a Raspberry Pi 5.
  public init(
    _ path: String, size: Int, pageSize: Int = Int(getpagesize())
  ) throws(RingFileError) {
    precondition(size > 0, "a ring has a size")
    precondition(pageSize > 0 && pageSize & (pageSize - 1) == 0, "a page has a size")
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let opened = unsafe path.withCString { unsafe open($0, flags, 0o600) }
    guard opened >= 0 else { throw RingFileError(errno, path: path, size: size) }
    let made: (isNew: Bool, memory: UnsafeMutableRawPointer)
    do {
      let isNew = try RingFile.prepare(opened, path, size)
      unsafe made = (isNew, try RingFile.map(opened, path, size))
    } catch {
      // With the descriptor goes the lock.
      close(opened)
      throw error
    }
    isNew = unsafe made.isNew
    unsafe memory = made.memory
    descriptor = opened
    self.path = path
    self.size = size
    self.pageSize = pageSize
  }

  deinit {
    _ = unsafe munmap(memory, size)
    close(descriptor)
  }

  /// The bytes, at a multiple of the page size. Valid as long as this value lives.
  @unsafe public var storage: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: memory, count: size)
  }

  /// Makes bytes durable; returns when the disk has them.
  ///
  /// Whole pages are written: of the pages around. Do not mark anything as synced when it throws:
  /// after `EIO` the kernel may have given up on these pages, and only a later write to them brings
  /// them to the disk.
  ///
  /// - Parameter range: Offsets within ``size``.
  public func sync(_ range: Range<Int>) throws(RingFileError) {
    precondition(range.lowerBound >= 0 && range.upperBound <= size, "outside the file")
    guard !range.isEmpty else { return }
    let pages = RingFile.pages(around: range, of: pageSize)
    let result = unsafe msync(memory + pages.lowerBound, pages.count, MS_SYNC)
    if result != 0 { throw RingFileError(errno, path: path, size: size) }
  }

  /// What is synced for a range of bytes: from the beginning of its first page on, which is all that `msync` demands.
  /// The kernel rounds the end up to a whole page.
  static func pages(around range: Range<Int>, of pageSize: Int) -> Range<Int> {
    range.lowerBound / pageSize * pageSize..<range.upperBound
  }

  // MARK: Opening

  /// Locks the file and gives it its size; says whether it was new.
  private static func prepare(
    _ descriptor: Int32, _ path: String, _ size: Int
  ) throws(RingFileError) -> Bool {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw RingFileError(errno, path: path, size: size)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw RingFileError(errno, path: path, size: size)
    }
    // Again: whoever had it before the lock may have given it its size.
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw RingFileError(errno, path: path, size: size)
    }
    let found = Int(status.st_size)
    let isNew = found < size && isBlank(descriptor, found)
    guard isNew || found == size else {
      throw .wrongSize(path: path, found: found, wanted: size)
    }
    let result = clinux_allocate(descriptor, Int64(size))
    guard result == 0 else { throw RingFileError(-result, path: path, size: size) }
    guard isNew else { return false }
    guard fsync(descriptor) == 0 else { throw RingFileError(errno, path: path, size: size) }
    try syncFolder(of: path, size)
    return true
  }

  /// Whether the first `length` bytes are zeros, which a ring that was ever opened does not have.
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

  /// A file's name is durable when its folder is.
  private static func syncFolder(of path: String, _ size: Int) throws(RingFileError) {
    let folder =
      switch path.lastIndex(of: "/") {
      case nil: "."
      case path.startIndex: "/"
      case let slash?: String(path[..<slash])
      }
    let opened = unsafe folder.withCString { unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened >= 0 else { throw RingFileError(errno, path: path, size: size) }
    defer { close(opened) }
    guard fsync(opened) == 0 else { throw RingFileError(errno, path: path, size: size) }
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
