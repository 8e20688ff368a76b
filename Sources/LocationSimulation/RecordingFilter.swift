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
  }

  private enum Place {
    case lineStart
    case insideLine
    case header(HeaderLine)
  }

  /// Longest UBX payload that is taken for one: as in the decoder.
  private static let payloadLimit = 1_024
  private var place = Place.lineStart
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
      if case .header(var line) = place {
        let outcome = line.take(bytes[offset])
        switch outcome {
        case .open:
          place = .header(line)
          offset += 1
        case .ended(let date):
          place = .lineStart
          offset += 1
          if let date { return .date(date) }
        case .abandoned:
          place = .insideLine
        }
        continue
      }
      let start = offset
      while offset < bytes.count, !startsHeader(bytes[offset]) {
        follow(bytes[offset])
        offset += 1
      }
      let end = offset
      if offset < bytes.count {
        place = .header(HeaderLine())
        offset += 1
      }
      if end > start { return .bytes(start..<end) }
    }
    return nil
  }

  private func startsHeader(_ byte: UInt8) -> Bool {
    // Inside a frame no line ever starts: see follow(_:).
    guard byte == UInt8(ascii: "#"), case .lineStart = place else { return false }
    return true
  }

  private mutating func follow(_ byte: UInt8) {
    place = .insideLine
    if frameRest > 0 {
      frameRest -= 1
      return
    }
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
