import DeferralCache
import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("Ring file") struct RingFileTests {
  private let folder = TestFolder()
  private let capacity = 200
  private var path: String { folder.file("ring") }
  private var size: Int { FixRing.storageSize(capacity: capacity) }

  private func fix(_ number: Int64) -> Fix {
    Fix(
      acquired: Instant(microseconds: number),
      coordinate: Coordinate(latitude_e9: number, longitude_e9: -number))
  }

  private func sync(_ ring: inout FixRing, _ file: borrowing RingFile) throws {
    let bytes = ring.unsynced
    for range in [bytes.header, bytes.slots, bytes.wrapped] { try range.map { try file.sync($0) } }
    ring.markSynced(bytes)
  }

  private func status() -> stat {
    var status = stat()
    _ = unsafe stat(path, &status)
    return status
  }

  private func make(_ bytes: [UInt8]) {
    let opened = unsafe open(path, O_CREAT | O_RDWR | O_TRUNC, 0o600)
    _ = unsafe write(opened, bytes, bytes.count)
    close(opened)
  }

  @Test("a new file has mode 0600, contains zeros and is allocated on the disk")
  func new() throws {
    let file = try RingFile(path, size: size)
    #expect(file.isNew == true && file.size == size)
    let isBlank = unsafe file.storage.allSatisfy { $0 == 0 }
    #expect(isBlank)
    let found = status()
    #expect(found.st_mode & 0o777 == 0o600 && found.st_size == size)
    #expect(found.st_blocks * 512 >= size)
  }

  @Test("RNG-2, RNG-7: fixes survive a restart; each start has its own generation")
  func reopen() throws {
    for start in 1...3 as ClosedRange<Int64> {
      let file = try RingFile(path, size: size)
      #expect(file.isNew == (start == 1))
      var ring = try unsafe FixRing(recovering: file.storage, capacity: capacity)
      #expect(ring.generation == UInt32(start) && ring.head == UInt64(start - 1) * 150)
      try sync(&ring, file)
      for number in 0..<150 as Range<Int64> { ring.append(fix(number)) }
      try sync(&ring, file)
      #expect(ring.unsynced.isEmpty)
      #expect(ring.stored(at: ring.head - 1)?.fix == fix(149))
    }
  }

  @Test("unsynced fixes survive the end of the process")
  func unsynced() throws {
    do {
      let file = try RingFile(path, size: size)
      var ring = try unsafe FixRing(recovering: file.storage, capacity: capacity)
      ring.append(fix(7))
    }
    let file = try RingFile(path, size: size)
    let ring = try unsafe FixRing(recovering: file.storage, capacity: capacity)
    #expect(ring.stored(at: 0)?.fix == fix(7))
  }

  @Test("a second process is refused, and can open the file after the first has ended")
  func exclusive() throws {
    do {
      let file = try RingFile(path, size: size)
      #expect(throws: RingFileError.inUse(path: path)) { _ = try RingFile(path, size: size) }
      #expect(file.size == size)
    }
    let again = try RingFile(path, size: size)
    #expect(again.isNew == false || again.size == size)
  }

  @Test("a file of another size is refused and not changed")
  func wrongSize() throws {
    for length in [1, size - 64, size + 64] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 + 1) }
      make(bytes)
      let expected = RingFileError.wrongSize(path: path, found: length, required: size)
      #expect(throws: expected) { _ = try RingFile(path, size: size) }
      #expect(status().st_size == length)
      #expect(expected.description.contains("capacity_fixes"))
    }
  }

  @Test("a short file of zeros is an interrupted creation and is completed")
  func interruptedCreation() throws {
    for length in [0, 4_096, size - 1] {
      make([UInt8](repeating: 0, count: length))
      let file = try RingFile(path, size: size)
      #expect(file.isNew == true && status().st_size == size)
    }
  }

  @Test("the ring refuses a foreign file of the right size and does not write to it")
  func foreign() throws {
    let bytes = [UInt8](repeating: 0x55, count: size)
    make(bytes)
    let file = try RingFile(path, size: size)
    #expect(throws: RingError.notARing) {
      _ = try unsafe FixRing(recovering: file.storage, capacity: capacity)
    }
    let isUntouched = unsafe file.storage.elementsEqual(bytes)
    #expect(isUntouched)
  }

  @Test("a folder, a link, a pipe and a missing folder are refused")
  func notAFile() throws {
    #expect(throws: RingFileError.notARegularFile(path: folder.path)) {
      _ = try RingFile(folder.path, size: size)
    }
    let missing = folder.file("none") + "/ring"
    #expect(throws: RingFileError.missingFolder(path: missing)) {
      _ = try RingFile(missing, size: size)
    }
    folder.write([], to: "file")
    let inside = folder.file("file") + "/ring"
    #expect(throws: RingFileError.parentNotAFolder(path: inside)) {
      _ = try RingFile(inside, size: size)
    }
    #expect(unsafe symlink("elsewhere", path) == 0)
    #expect(throws: RingFileError.notARegularFile(path: path)) {
      _ = try RingFile(path, size: size)
    }
    #expect(unsafe unlink(path) == 0 && mkfifo(path, 0o600) == 0)
    #expect(throws: RingFileError.notARegularFile(path: path)) {
      _ = try RingFile(path, size: size)
    }
  }

  @Test(
    "any range can be synced, with pages of 4 KiB and of 16 KiB",
    arguments: [4_096, 16_384])
  func syncRanges(_ pageSize: Int) throws {
    let page = pageSize
    let capacity = 1_000
    let size = FixRing.storageSize(capacity: capacity)
    #expect(size % page != 0 && size > 3 * page, "its last page is not full")
    let file = try RingFile(path, size: size, pageSize: page)
    let ranges = [
      0..<0, 0..<1, 0..<512, 512..<1_024, page - 1..<page, page - 1..<page + 1, page..<page + 64,
      page + 904..<page + 968, 2 * page - 64..<2 * page + 64, 0..<size, size - 1..<size,
    ]
    for range in ranges {
      try file.sync(range)
      let pages = RingFile.pages(around: range, of: page)
      // msync(2) requires a page-aligned start; the range must start in its first page.
      #expect(pages.lowerBound % page == 0 && pages.lowerBound <= range.lowerBound)
      #expect(range.lowerBound - pages.lowerBound < page && pages.upperBound == range.upperBound)
      #expect(pages.upperBound <= file.size)
    }
    // The mapping covers the whole file, including its last byte.
    #expect(unsafe file.storage.count == size)
    unsafe file.storage[size - 1] = 7
    try file.sync(size - 1..<size)
    #expect(status().st_size == size)
  }

  @Test("RNG-2: pages of 16 KiB and of 4 KiB give the same ring file")
  func largePages() throws {
    var images: [[UInt8]] = []
    for page in [4_096, 16_384] {
      let file = try RingFile(path, size: size, pageSize: page)
      var ring = try unsafe FixRing(recovering: file.storage, capacity: capacity)
      for number in 0..<150 as Range<Int64> {
        ring.append(fix(number))
        // Ranges in each pass of the ring, and across its wrap.
        if number % 7 == 0 { try sync(&ring, file) }
      }
      try sync(&ring, file)
      #expect(ring.unsynced.isEmpty && ring.stored(at: ring.head - 1)?.fix == fix(149))
      images.append(unsafe Array(file.storage))
      #expect(unsafe unlink(path) == 0)
    }
    #expect(images[0] == images[1])
  }
}
