/// Checks SQLite's write-ahead log for damage that SQLite itself ignores.
///
/// SQLite replays the log up to the first frame with a wrong checksum and ignores all further frames. That is correct
/// after a torn write, and loses durable transactions after a damaged sector. This type distinguishes the two cases:
///
/// - A torn write leaves an incomplete frame, or a frame that was never written, at the end of the log.
/// - A complete frame with the salts of this log and a wrong checksum is damage. So is a frame of this log after such a
///   frame, and a frame that continues the checksums of the log under other salts.
///
/// This store truncates the log with each checkpoint and at each start. Earlier versions overwrote it from its
/// beginning with new salts, so frames with older salts may follow the newest frame and continue each other's
/// checksums; they are ignored. After a power cut in the middle of a commit, a torn frame can look like a damaged one.
/// It is then treated as damage, so that no acknowledged change is lost without a report.
///
/// Format: <https://www.sqlite.org/fileformat2.html#walformat>. Checksums are cumulative: each continues from the
/// checksum stored in the preceding frame, so frames after a bad one are checked as well. O(1) memory apart from one
/// frame.
struct WriteAheadLogCheck {
  static let headerSize = 32
  static let frameHeaderSize = 24

  /// Page size in bytes.
  let pageSize: Int
  private let isBigEndian: Bool
  private let salt: [UInt8]
  private var checksum: WriteAheadLogChecksum
  /// Number of frames read.
  private(set) var frameCount = 0
  /// Index of the first frame that SQLite ignores, counted from 0; nil if SQLite replays all.
  private(set) var firstBadFrame: Int?
  /// Whether the first bad frame or a later one belongs to this log.
  private(set) var isDamaged = false

  /// Frame size in bytes.
  var frameSize: Int { WriteAheadLogCheck.frameHeaderSize + pageSize }

  /// Reads the header; nil if it is not a valid header.
  ///
  /// - Precondition: `header` has ``headerSize`` bytes.
  init?(header: [UInt8]) {
    precondition(
      header.count == WriteAheadLogCheck.headerSize,
      "a write-ahead log header has 32 bytes")
    switch WriteAheadLogCheck.word(header, at: 0) {
    case 0x377F_0682: isBigEndian = false
    case 0x377F_0683: isBigEndian = true
    default: return nil
    }
    checksum = WriteAheadLogChecksum()
    checksum.add(header[0..<24], isBigEndian: isBigEndian)
    let size = WriteAheadLogCheck.word(header, at: 8)
    guard checksum == WriteAheadLogChecksum(header, at: 24),
      WriteAheadLogCheck.word(header, at: 4) == 3_007_000,
      (512...65_536).contains(size), size.nonzeroBitCount == 1
    else { return nil }
    pageSize = Int(size)
    salt = Array(header[16..<24])
  }

  /// Reads the next frame.
  ///
  /// - Precondition: `frame` has ``frameSize`` bytes.
  mutating func add(frame: [UInt8]) {
    precondition(frame.count == frameSize, "a frame is a header and one page")
    checksum.add(frame[0..<8], isBigEndian: isBigEndian)
    checksum.add(frame[WriteAheadLogCheck.frameHeaderSize...], isBigEndian: isBigEndian)
    let stored = WriteAheadLogChecksum(frame, at: 16)
    let hasSalt = frame[8..<16].elementsEqual(salt)
    let isChecksumValid = checksum == stored
    if firstBadFrame == nil, !(hasSalt && isChecksumValid) { firstBadFrame = frameCount }
    // Frames of an earlier use of the log continue each other, too, but never the last frame of this use.
    if firstBadFrame != nil, hasSalt || (isChecksumValid && firstBadFrame == frameCount) {
      isDamaged = true
    }
    checksum = stored
    frameCount += 1
  }

  /// Reads a big-endian 32-bit word, the byte order of all numbers in the log's headers.
  static func word(_ bytes: some RandomAccessCollection<UInt8>, at offset: Int) -> UInt32 {
    let first = bytes.index(bytes.startIndex, offsetBy: offset)
    return bytes[first...].prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// The cumulative checksum of a write-ahead log.
struct WriteAheadLogChecksum: Equatable {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init() {}

  /// Reads a stored checksum.
  init(_ bytes: [UInt8], at offset: Int) {
    first = WriteAheadLogCheck.word(bytes, at: offset)
    second = WriteAheadLogCheck.word(bytes, at: offset + 4)
  }

  /// Adds bytes. Their number is a multiple of eight.
  mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
    precondition(bytes.count % 8 == 0, "the checksum covers pairs of 32-bit words")
    for offset in stride(from: 0, to: bytes.count, by: 8) {
      let even = WriteAheadLogCheck.word(bytes, at: offset)
      let odd = WriteAheadLogCheck.word(bytes, at: offset + 4)
      first &+= (isBigEndian ? even : even.byteSwapped) &+ second
      second &+= (isBigEndian ? odd : odd.byteSwapped) &+ first
    }
  }
}
