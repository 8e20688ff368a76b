import LocationTypes

/// An error in a stream of records.
public enum FixRecordError: Error, Equatable, Sendable {
  /// The header is invalid, of another version, or disagrees with the reply.
  case header
  /// A record is invalid; its index, from 0.
  case record(UInt64)
  /// The stream ended within a record or before the announced number of records.
  case truncated(after: UInt64, of: UInt64)
}

/// Decodes the stream of an upgraded connection (Docs/Reference/socket.md): a header and the records after it.
///
/// Accepts chunks of any length and buffers at most one record and one chunk.
public struct FixRecordReader: Sendable {
  private var bytes: [UInt8] = []
  private var offset = 0
  private var hasHeader = false
  /// Number of records according to the reply and the header.
  public private(set) var announced: UInt64
  /// Number of records decoded so far.
  public private(set) var count: UInt64 = 0

  /// Creates a reader.
  ///
  /// - Parameter announced: Number of records in the reply to the call.
  public init(announced: UInt64) { self.announced = announced }

  /// Appends received bytes.
  public mutating func add(_ more: some Sequence<UInt8>) {
    bytes.removeFirst(offset)
    offset = 0
    bytes.append(contentsOf: more)
  }

  /// Decodes the next fix; nil if more bytes are needed or all records were read.
  public mutating func next() throws(FixRecordError) -> StoredFix? {
    if !hasHeader {
      guard bytes.count - offset >= FixRecordHeader.size else { return nil }
      guard let header = FixRecordHeader(bytes.span.extracting(offset..<bytes.count)),
        header.count == announced
      else { throw .header }
      hasHeader = true
      offset += FixRecordHeader.size
    }
    guard count < announced, bytes.count - offset >= FixRecord.size else { return nil }
    guard let fix = FixRecord.decode(bytes.span.extracting(offset..<offset + FixRecord.size)) else {
      throw .record(count)
    }
    offset += FixRecord.size
    count += 1
    return fix
  }

  /// Checks at the end of the stream that all announced records were received.
  ///
  /// - Throws: ``FixRecordError/truncated(after:of:)``.
  public func finish() throws(FixRecordError) {
    guard hasHeader, count == announced else { throw .truncated(after: count, of: announced) }
  }
}
