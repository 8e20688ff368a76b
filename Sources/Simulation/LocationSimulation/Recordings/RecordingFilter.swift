import LocationTypes

/// Separates the receiver's data in a recording from the `#` lines before and between it.
///
/// A header line starts with `#` at the start of a line, never inside a UBX frame, and consists of text up to its
/// end. The result does not depend on how the stream is divided into blocks.
public struct RecordingFilter: Sendable {
  /// The next part of a block.
  public enum Piece: Equatable, Sendable {
    /// Data of the receiver, as a range of the block.
    case bytes(Range<Int>)
    /// The day of the recording from a `# Date:` line.
    case date(CalendarDate)
    /// A `# Date:` line with an invalid date.
    case unreadDate
  }

  private enum Place {
    case lineStart
    case insideLine
    case header
  }

  /// Longest accepted UBX payload, as in the decoder.
  private static let payloadLimit = 1_024
  private var place = Place.lineStart
  /// Number of bytes of a byte order mark found at the start of the recording, 0 to 3; −1 if the recording starts
  /// differently.
  private var markLength = 0
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Parser of the present header line.
  private var line = HeaderLine()
  /// Number of bytes of a UBX frame's header found so far, 0 to 6.
  private var frameHead = 0
  private var frameLength = 0
  /// Number of remaining bytes of that frame.
  private var frameRest = 0

  /// Creates a filter at the start of a recording.
  public init() {}

  /// Returns the next part of `bytes` from `offset` on, and advances `offset` past it; nil at the end of the block.
  ///
  /// O(consumed bytes).
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

  /// Reads a header line to its end or to the end of the block.
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

  /// Returns the start of the next header line from `start` on; the number of bytes if there is none.
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
        // Only these two bytes change a state that does not follow from the preceding byte.
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

  /// Skips a UTF-8 byte order mark, which some editors insert. A line starts after it.
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

  /// Returns the position of the first `#` or start of a UBX frame from `start` on; the number of bytes if there is
  /// none.
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

  /// Whether the 64 bytes from `i` on contain a `#` or a non-ASCII byte.
  @inline(__always) private static func mayHoldMark(_ bytes: Span<UInt8>, at i: Int) -> Bool {
    // The caller has checked the bounds, and all bit patterns are valid integers.
    let text = unsafe bytes.bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: i, as: SIMD8<UInt64>.self)
    // Subtracting one from a zero byte sets its highest bit, which was clear before.
    let marked = text ^ SIMD8(repeating: 0x2323_2323_2323_2323)
    let hit = ((marked &- SIMD8(repeating: 0x0101_0101_0101_0101)) & ~marked) | text
    let four = hit.lowHalf | hit.highHalf
    let two = four.lowHalf | four.highHalf
    return (two[0] | two[1]) & 0x8080_8080_8080_8080 != 0
  }

  /// Consumes a byte that does not start a header line.
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
      // A checksum of two bytes follows the payload.
      if length <= RecordingFilter.payloadLimit { frameRest = length + 2 }
    case _:
      frameHead = byte == 0xB5 ? 1 : 0
      if byte == UInt8(ascii: "\n") { place = .lineStart }
    }
  }
}
