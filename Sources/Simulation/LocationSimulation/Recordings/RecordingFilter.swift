import LocationTypes

/// Tells what a receiver said from the `#` lines that recordings carry before and between it.
///
/// A header line starts with `#` where a line starts, never inside a UBX frame, and is text to its
/// end. A stream cut into other pieces gives the same bytes and the same dates.
public struct RecordingFilter: Sendable {
  /// What comes next in a block.
  public enum Piece: Equatable, Sendable {
    /// The receiver's bytes, as a range of the block.
    case bytes(Range<Int>)
    /// What a `# Date:` line says: the day of the recording.
    case date(CalendarDate)
    /// A `# Date:` line whose day cannot be read.
    case unreadDate
  }

  private enum Place {
    case lineStart
    case insideLine
    case header
  }

  /// Longest UBX payload that is taken for one: as in the decoder.
  private static let payloadLimit = 1_024
  private var place = Place.lineStart
  /// Bytes of a byte order mark met at the start of the recording, 0 to 3; −1 where something else is.
  private var markLength = 0
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// The header line that is being read.
  private var line = HeaderLine()
  /// Bytes of a UBX frame's beginning met so far, 0 to 6.
  private var frameHead = 0
  private var frameLength = 0
  /// Bytes of that frame still to come.
  private var frameRest = 0

  /// Begins at the start of a recording.
  public init() {}

  /// The next piece of `bytes` from `offset` on, which moves past it; nil when all is used up.
  ///
  /// O(bytes taken).
  ///
  /// - Precondition: `offset` is 0 to `bytes.count`.
  public mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) -> Piece? {
    while offset < bytes.count {
      if place == .header {
        if let piece = readHeader(bytes, &offset) { return piece }
        continue
      }
      let start = offset
      let end = skip(bytes, from: start)
      offset = end
      if end < bytes.count {
        place = .header
        line = HeaderLine()
        offset += 1
      }
      if end > start { return .bytes(start..<end) }
    }
    return nil
  }

  /// Reads a header line to its end, or as far as there are bytes.
  private mutating func readHeader(_ bytes: Span<UInt8>, _ offset: inout Int) -> Piece? {
    while offset < bytes.count {
      switch line.take(bytes[offset]) {
      case .open:
        offset += 1
      case .ended(let date):
        place = .lineStart
        offset += 1
        return date.map { .date($0) }
      case .endedUnread:
        place = .lineStart
        offset += 1
        return .unreadDate
      case .abandoned:
        place = .insideLine
        return nil
      }
    }
    return nil
  }

  /// Where the next header begins from `start` on; the count of bytes where none does.
  private mutating func skip(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = skipByteOrderMark(bytes, from: start)
    while i < bytes.count {
      if frameRest > 0 {
        let count = min(frameRest, bytes.count - i)
        frameRest -= count
        i += count
        place = .insideLine
      } else if frameHead > 0 {
        follow(bytes[i])
        i += 1
      } else {
        // Only these two bytes change anything that the byte before the next one does not tell.
        let end = RecordingFilter.firstMark(bytes, from: i)
        if end > i { place = bytes[end - 1] == UInt8(ascii: "\n") ? .lineStart : .insideLine }
        guard end < bytes.count else { return end }
        if bytes[end] == UInt8(ascii: "#"), place == .lineStart { return end }
        follow(bytes[end])
        i = end + 1
      }
    }
    return i
  }

  /// Where the byte order mark ends with which some editors begin a text: a line starts behind it too.
  private mutating func skipByteOrderMark(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = start
    while i < bytes.count, markLength >= 0, markLength < 3 {
      guard bytes[i] == RecordingFilter.byteOrderMark[markLength] else {
        markLength = -1
        return i
      }
      markLength += 1
      i += 1
      place = markLength == 3 ? .lineStart : .insideLine
    }
    return i
  }

  /// The first `#` or start of a UBX frame from `start` on; the count of bytes where there is none.
  private static func firstMark(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = start
    while i < bytes.count {
      let isWhole = bytes.count &- i >= 64
      if isWhole, !mayHoldMark(bytes, at: i) {
        i &+= 64
        continue
      }
      let end = isWhole ? i &+ 64 : bytes.count
      while i < end {
        if bytes[i] == UInt8(ascii: "#") || bytes[i] == 0xB5 { return i }
        i &+= 1
      }
    }
    return i
  }

  /// Whether a `#` is among the 64 bytes from `i` on, or any byte that is not ASCII.
  @inline(__always) private static func mayHoldMark(_ bytes: Span<UInt8>, at i: Int) -> Bool {
    // The caller has seen that they are there, and any bits are integers.
    let text = unsafe bytes.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: i, as: SIMD8<UInt64>.self)
    // Where a byte is zero, taking one off it sets its highest bit and it had none.
    let marked = text ^ SIMD8(repeating: 0x2323_2323_2323_2323)
    let hit = ((marked &- SIMD8(repeating: 0x0101_0101_0101_0101)) & ~marked) | text
    let four = hit.lowHalf | hit.highHalf
    let two = four.lowHalf | four.highHalf
    return (two[0] | two[1]) & 0x8080_8080_8080_8080 != 0
  }

  /// Takes a byte that is at no line's start, or no `#`.
  private mutating func follow(_ byte: UInt8) {
    place = .insideLine
    switch frameHead {
    case 1 where byte == 0x62: frameHead = 2
    case 2, 3: frameHead += 1
    case 4:
      frameLength = Int(byte)
      frameHead = 5
    case 5:
      let length = frameLength | Int(byte) << 8
      frameHead = 0
      // Two bytes of checksum follow the payload.
      if length <= RecordingFilter.payloadLimit { frameRest = length + 2 }
    case _:
      frameHead = byte == 0xB5 ? 1 : 0
      if byte == UInt8(ascii: "\n") { place = .lineStart }
    }
  }
}
