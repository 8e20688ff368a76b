import GNSSProtocols
import LocationTypes

/// Separates the receiver's data in a recording from the `#` lines before and between it.
///
/// A header line starts with `#` at the start of a line, never inside a UBX frame, and consists of text up to its end.
/// The result does not depend on how the stream is divided into blocks.
public struct RecordingFilter: Sendable {
  /// The next part of a block.
  public enum Piece: Equatable, Sendable {
    /// Data of the receiver, as a range of the block.
    case bytes(Range<Int>)
    /// The day of the recording from a `# Date:` line.
    case date(CalendarDate)
    /// A `# Date:` line with an invalid date.
    case invalidDate
  }

  private enum LinePosition {
    case lineStart
    case insideLine
    case header
  }

  private var linePosition = LinePosition.lineStart
  /// Number of bytes of a byte order mark found at the start of the recording, 0 to 3; −1 if the recording starts
  /// differently.
  private var byteOrderMarkLength = 0
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Parser of the present header line.
  private var line = HeaderLine()
  /// Number of bytes of a UBX frame's header found so far, 0 to 6.
  private var frameHeaderLength = 0
  private var frameLength = 0
  /// Number of remaining bytes of that frame.
  private var frameBytesLeft = 0

  /// Creates a filter at the start of a recording.
  public init() {}

  /// Returns the next part of `bytes` from `offset` on, and advances `offset` past it; nil at the end of the block.
  ///
  /// O(consumed bytes).
  ///
  /// - Precondition: `offset` is 0 to `bytes.count`.
  public mutating func next(_ bytes: Span<UInt8>, _ offset: inout Int) -> Piece? {
    while offset < bytes.count {
      if linePosition == .header {
        if let piece = readHeader(bytes, &offset) { return piece }
        continue
      }
      let start = offset
      let end = skip(bytes, from: start)
      offset = end
      if end < bytes.count {
        linePosition = .header
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
      switch line.consume(bytes[offset]) {
      case .incomplete:
        offset += 1
      case .ended(let date):
        linePosition = .lineStart
        offset += 1
        return date.map { .date($0) }
      case .endedWithInvalidDate:
        linePosition = .lineStart
        offset += 1
        return .invalidDate
      case .notHeader:
        linePosition = .insideLine
        return nil
      }
    }
    return nil
  }

  /// Returns the start of the next header line from `start` on; the number of bytes if none exists.
  private mutating func skip(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = skipByteOrderMark(bytes, from: start)
    while i < bytes.count {
      if frameBytesLeft > 0 {
        let count = min(frameBytesLeft, bytes.count - i)
        frameBytesLeft -= count
        i += count
        linePosition = .insideLine
      } else if frameHeaderLength > 0 {
        consume(bytes[i])
        i += 1
      } else {
        // Up to the next `#` or start of a UBX frame, the position in the line depends on the preceding byte only.
        let end = RecordingFilter.firstMarker(bytes, from: i)
        if end > i {
          linePosition = bytes[end - 1] == UInt8(ascii: "\n") ? .lineStart : .insideLine
        }
        guard end < bytes.count else { return end }
        if bytes[end] == UInt8(ascii: "#"), linePosition == .lineStart { return end }
        consume(bytes[end])
        i = end + 1
      }
    }
    return i
  }

  /// Skips a UTF-8 byte order mark, which some editors insert. A line starts after it.
  private mutating func skipByteOrderMark(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = start
    while i < bytes.count, byteOrderMarkLength >= 0, byteOrderMarkLength < 3 {
      guard bytes[i] == RecordingFilter.byteOrderMark[byteOrderMarkLength] else {
        byteOrderMarkLength = -1
        return i
      }
      byteOrderMarkLength += 1
      i += 1
      linePosition = byteOrderMarkLength == 3 ? .lineStart : .insideLine
    }
    return i
  }

  /// Returns the position of the first `#` or start of a UBX frame from `start` on; the number of bytes if there is
  /// none.
  private static func firstMarker(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = start
    while i < bytes.count {
      let isWhole = bytes.count &- i >= 64
      if isWhole, !mayContainMarker(bytes, at: i) {
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
  @inline(__always) private static func mayContainMarker(_ bytes: Span<UInt8>, at i: Int) -> Bool {
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
  private mutating func consume(_ byte: UInt8) {
    linePosition = .insideLine
    switch frameHeaderLength {
    case 1 where byte == 0x62: frameHeaderLength = 2
    case 2, 3: frameHeaderLength += 1
    case 4:
      frameLength = Int(byte)
      frameHeaderLength = 5
    case 5:
      let length = frameLength | Int(byte) << 8
      frameHeaderLength = 0
      // A checksum of two bytes follows the payload.
      if length <= GNSSDecoder.longestPayload { frameBytesLeft = length + 2 }
    case _:
      frameHeaderLength = byte == 0xB5 ? 1 : 0
      if byte == UInt8(ascii: "\n") { linePosition = .lineStart }
    }
  }
}
