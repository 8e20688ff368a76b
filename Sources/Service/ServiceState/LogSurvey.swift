/// Checks SQLite's write-ahead log for damage that SQLite itself passes over.
///
/// SQLite replays the log up to the first frame whose checksum is wrong and ignores the rest, which is
/// right after a torn write and loses durable transactions after a damaged sector. A torn write leaves
/// an incomplete frame, or one that was never written, at the end. This store truncates the log with
/// each checkpoint and at each start; versions before it wrote over the log from its begin, with new
/// salts, so frames with other salts may lie behind the newest one, and they continue each other. They
/// count for nothing. A complete frame with the salts of this log and a wrong checksum is damage, and so
/// is one that SQLite does not reach, or one that continues the log under salts that are not its own.
/// After a power cut in the middle of a commit the two can look the same; it then counts as
/// damage, for no acknowledged change may be lost without a report.
///
/// Format: <https://www.sqlite.org/fileformat2.html#walformat>. A frame's checksum continues from the one
/// that the frame before it carries, so the frames behind a bad one can be checked as well.
struct LogSurvey {
  static let headerSize = 32
  static let frameHeaderSize = 24

  /// The bytes of a page.
  let pageSize: Int
  private let isBigEndian: Bool
  private let salt: [UInt8]
  private var sum: LogChecksum
  /// How many frames were read.
  private(set) var frames = 0
  /// The first frame that SQLite does not take, from 0; nil if it takes all.
  private(set) var firstBad: Int?
  /// The first bad frame, or one behind it, belongs to this log.
  private(set) var isDamaged = false

  /// The bytes of a frame.
  var frameSize: Int { LogSurvey.frameHeaderSize + pageSize }

  /// Reads the header; nil if it is none.
  ///
  /// - Precondition: `header` has ``headerSize`` bytes.
  init?(header: [UInt8]) {
    precondition(header.count == LogSurvey.headerSize, "the header of a log has 32 bytes")
    switch LogSurvey.word(header, at: 0) {
    case 0x377F_0682: isBigEndian = false
    case 0x377F_0683: isBigEndian = true
    default: return nil
    }
    sum = LogChecksum()
    sum.add(header[0..<24], isBigEndian: isBigEndian)
    let size = LogSurvey.word(header, at: 8)
    guard sum == LogChecksum(header, at: 24), LogSurvey.word(header, at: 4) == 3_007_000,
      (512...65_536).contains(size), size.nonzeroBitCount == 1
    else { return nil }
    pageSize = Int(size)
    salt = Array(header[16..<24])
  }

  /// Reads the next frame.
  ///
  /// - Precondition: `frame` has ``frameSize`` bytes.
  mutating func add(frame: [UInt8]) {
    precondition(frame.count == frameSize, "a frame is a header and a page")
    sum.add(frame[0..<8], isBigEndian: isBigEndian)
    sum.add(frame[LogSurvey.frameHeaderSize...], isBigEndian: isBigEndian)
    let stored = LogChecksum(frame, at: 16)
    let hasSalt = frame[8..<16].elementsEqual(salt)
    let isSound = sum == stored
    if firstBad == nil, !(hasSalt && isSound) { firstBad = frames }
    // Frames of an earlier use of the log continue each other as well, but never the last one of this use.
    if firstBad != nil, hasSalt || (isSound && firstBad == frames) { isDamaged = true }
    sum = stored
    frames += 1
  }

  /// A word of 32 bits, the highest byte first, as all numbers of the log are.
  static func word(_ bytes: some RandomAccessCollection<UInt8>, at offset: Int) -> UInt32 {
    let first = bytes.index(bytes.startIndex, offsetBy: offset)
    return bytes[first...].prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// The cumulative checksum of a write-ahead log.
struct LogChecksum: Equatable {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init() {}

  /// Reads one as it is stored.
  init(_ bytes: [UInt8], at offset: Int) {
    first = LogSurvey.word(bytes, at: offset)
    second = LogSurvey.word(bytes, at: offset + 4)
  }

  /// Adds bytes, a multiple of eight of them.
  mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
    precondition(bytes.count % 8 == 0, "the checksum takes pairs of words")
    var place = bytes.startIndex
    while place < bytes.endIndex {
      first &+= LogChecksum.word(bytes, at: place, isBigEndian: isBigEndian) &+ second
      second &+= LogChecksum.word(bytes, at: place + 4, isBigEndian: isBigEndian) &+ first
      place += 8
    }
  }

  private static func word(
    _ bytes: ArraySlice<UInt8>, at place: Int, isBigEndian: Bool
  ) -> UInt32 {
    let word =
      UInt32(bytes[place]) << 24 | UInt32(bytes[place + 1]) << 16 | UInt32(bytes[place + 2]) << 8
      | UInt32(bytes[place + 3])
    return isBigEndian ? word : word.byteSwapped
  }
}
