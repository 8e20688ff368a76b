import LocationTypes
import LocationWire

/// All fixes that a client is owed, in bulk, on a connection of their own.
///
/// They stay owed until they are acknowledged.
public struct FixDrain: ~Copyable {
  /// How many there are.
  public let count: UInt64
  /// What was lost before the first of them; nil where nothing was.
  public let gap: Gap?
  private var connection: LocationConnection
  private var reader: FixRecordReader

  /// A look at what the client of that name is owed, of the user who runs this, whether its program
  /// runs or not: it is told all of it none the less.
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

  /// The next fix, oldest first; nil when all have come.
  public mutating func next() throws(ClientError) -> StoredFix? {
    while true {
      if let fix = try FixDrain.read({ () throws(FixRecordError) in try reader.next() }) {
        return fix
      }
      let bytes = try connection.raw()
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
    do { return try body() } catch { throw words(error) }
  }

  private static func words(_ error: FixRecordError) -> ClientError {
    switch error {
    case .header: .malformed("the header of its records")
    case .record(let number): .malformed("its record \(number)")
    case .ended(let got, let count):
      .cutShort(got: got, of: count)
    }
  }
}
