import DeferralCache
import Glibc
import LocationTypes
import TestSupport
import Testing

@testable import LinuxHAL

@Suite("The ring's file") struct RingFileTests {
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

  @Test("a new file is for its owner alone, all zeros, and has its room on the disk")
  func new() throws {
    let file = try RingFile(path, size: size)
    #expect(file.isNew == true && file.size == size)
    let isBlank = unsafe file.storage.allSatisfy { $0 == 0 }
    #expect(isBlank)
    let found = status()
    #expect(found.st_mode & 0o777 == 0o600 && found.st_size == size)
    #expect(found.st_blocks * 512 >= size)
  }

  @Test("RNG-2, RNG-7: fixes survive the service; each start has a generation of its own")
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

  @Test("what was never synced survives the service too")
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

  @Test("a second service is refused, and gets the file when the first ends")
  func exclusive() throws {
    do {
      let file = try RingFile(path, size: size)
      #expect(throws: RingFileError.inUse(path: path)) { _ = try RingFile(path, size: size) }
      #expect(file.size == size)
    }
    let again = try RingFile(path, size: size)
    #expect(again.isNew == false || again.size == size)
  }

  @Test("a file of another size is refused and left as it is")
  func wrongSize() throws {
    for length in [1, size - 64, size + 64] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 + 1) }
      make(bytes)
      let expected = RingFileError.wrongSize(path: path, found: length, wanted: size)
      #expect(throws: expected) { _ = try RingFile(path, size: size) }
      #expect(status().st_size == length)
      #expect(expected.description.contains("capacity_fixes"))
    }
  }

  @Test("a file of zeros that is too short was left half made, and is completed")
  func halfMade() throws {
    for length in [0, 4_096, size - 1] {
      make([UInt8](repeating: 0, count: length))
      let file = try RingFile(path, size: size)
      #expect(file.isNew == true && status().st_size == size)
    }
  }

  @Test("a foreign file of the right size is refused by the ring, and nothing is written to it")
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

  @Test("a folder, a link, a pipe and a place that is not there are refused")
  func notAFile() throws {
    #expect(throws: RingFileError.notARegularFile(path: folder.path)) {
      _ = try RingFile(folder.path, size: size)
    }
    let nowhere = folder.file("none") + "/ring"
    #expect(throws: RingFileError.missingFolder(path: nowhere)) {
      _ = try RingFile(nowhere, size: size)
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
    "any range is synced, whatever pages it lies in, of 4 KiB as of 16 KiB",
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
      // msync(2) refuses a beginning that is no page's; a byte before the range's own page would be one too many.
      #expect(pages.lowerBound % page == 0 && pages.lowerBound <= range.lowerBound)
      #expect(range.lowerBound - pages.lowerBound < page && pages.upperBound == range.upperBound)
      #expect(pages.upperBound <= file.size)
    }
    // The mapping is as long as the file, and its last byte can be written.
    #expect(unsafe file.storage.count == size)
    unsafe file.storage[size - 1] = 7
    try file.sync(size - 1..<size)
    #expect(status().st_size == size)
  }

  @Test("RNG-2: a ring is kept and found with pages of 16 KiB as with those of 4 KiB")
  func largePages() throws {
    var images: [[UInt8]] = []
    for page in [4_096, 16_384] {
      let file = try RingFile(path, size: size, pageSize: page)
      var ring = try unsafe FixRing(recovering: file.storage, capacity: capacity)
      for number in 0..<150 as Range<Int64> {
        ring.append(fix(number))
        // Slots of each turn, and where the ring begins anew.
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
