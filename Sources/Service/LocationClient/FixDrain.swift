import LocationTypes
import LocationWire

/// Bulk transfer of a client's undelivered fixes, on a separate connection.
///
/// Fixes stay undelivered until they are acknowledged.
public struct FixDrain: ~Copyable {
  /// Number of fixes.
  public let count: UInt64
  /// The gap before the first fix; nil if none was lost.
  public let gap: Gap?
  private var connection: LocationConnection
  private var reader: FixRecordReader

  /// Reads the undelivered fixes of the current user's client with that name, whether or not its program runs. They
  /// are still delivered to the program.
  public init(
    ofClient name: String, path: String = LocationConnection.defaultPath
  ) throws(ClientError) {
    let call = WireCall.readBacklog(name: name)
    do { try self.init(call, path: path) } catch { throw error.naming(client: name, in: call) }
  }

  init(_ call: WireCall, path: String) throws(ClientError) {
    var connection = try LocationConnection(path: path)
    guard case .drain(let count, let gap) = try connection.call(call) else {
      throw .malformed("another answer than a drain")
    }
    self.count = count
    self.gap = gap
    self.connection = connection
    reader = FixRecordReader(announced: count)
  }

  /// The next fix, oldest first; nil after the last.
  public mutating func next() throws(ClientError) -> StoredFix? {
    while true {
      if let fix = try FixDrain.read({ () throws(FixRecordError) in try reader.next() }) {
        return fix
      }
      let bytes = try connection.readRaw()
      guard !bytes.isEmpty else {
        try FixDrain.read { () throws(FixRecordError) in try reader.finish() }
        return nil
      }
      reader.add(bytes)
    }
  }

  private static func read<T>(
    _ body: () throws(FixRecordError) -> T
  ) throws(ClientError) -> T {
    do { return try body() } catch {
      switch error {
      case .header: throw .malformed("the header of its records")
      case .record(let number): throw .malformed("its record \(number)")
      case .truncated(let received, let count): throw .truncated(received: received, of: count)
      }
    }
  }
}
