import LocationTypes

/// Why a stream of records cannot be read.
public enum FixRecordError: Error, Equatable, Sendable {
  /// It begins with a header of another version, or one that says what cannot be.
  case header
  /// A record holds what cannot be: its number, from 0.
  case record(UInt64)
  /// It ended within a record, or before as many came as were announced.
  case ended(after: UInt64, of: UInt64)
}

/// Reads what an upgraded connection carries (Docs/Reference/socket.md): a header, and records behind it.
///
/// Takes chunks of any length and holds at most one record and one chunk.
public struct FixRecordReader: Sendable {
  private var bytes: [UInt8] = []
  private var place = 0
  private var hasHeader = false
  /// How many records are to come, by the call's reply and the header.
  public private(set) var announced: UInt64
  /// How many came.
  public private(set) var count: UInt64 = 0

  /// Creates a reader.
  ///
  /// - Parameter announced: How many records the call's reply has told of.
  public init(announced: UInt64) { self.announced = announced }

  /// Takes what has come.
  public mutating func add(_ more: some Sequence<UInt8>) {
    bytes.removeFirst(place)
    place = 0
    bytes.append(contentsOf: more)
  }

  /// The next fix; nil until more bytes have come.
  public mutating func next() throws(FixRecordError) -> StoredFix? {
    if !hasHeader {
      guard bytes.count - place >= FixRecordHeader.size else { return nil }
      guard let header = FixRecordHeader(bytes.span.extracting(place..<bytes.count)),
        header.count == announced
      else { throw .header }
      hasHeader = true
      place += FixRecordHeader.size
    }
    guard count < announced, bytes.count - place >= FixRecord.size else { return nil }
    guard let fix = FixRecord.decode(bytes.span.extracting(place..<place + FixRecord.size)) else {
      throw .record(count)
    }
    place += FixRecord.size
    count += 1
    return fix
  }

  /// The stream has ended: whether all came that was announced.
  public func finish() throws(FixRecordError) {
    guard hasHeader, count == announced else { throw .ended(after: count, of: announced) }
  }
}
