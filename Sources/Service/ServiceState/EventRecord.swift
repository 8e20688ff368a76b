/// A visit or region event that the client has not acknowledged (VIS-8, REG-13), as the notice that is sent.
public struct EventRecord: StateRow {
  /// Maximum length of a notice in bytes.
  public static let longestNotice = 1_024

  /// Key of an event.
  public struct Key: Hashable, Sendable {
    /// The client.
    public var client: ClientNumber
    /// The event's number, counted per client in the order of the events.
    public var number: UInt32

    /// Creates a key.
    public init(client: ClientNumber, number: UInt32) {
      self.client = client
      self.number = number
    }
  }

  /// Client and number.
  public var key: Key
  /// The frame that is sent, without its terminating NUL.
  public var notice: String

  /// Creates a record.
  ///
  /// - Precondition: `notice` has 1 to ``longestNotice`` bytes and no control characters.
  public init(_ key: Key, notice: String) {
    precondition(EventRecord.isValidNotice(notice), "a notice has 1 to 1,024 bytes")
    self.key = key
    self.notice = notice
  }

  static func isValidNotice(_ text: String) -> Bool {
    StoredColumns.isValidText(text, upTo: longestNotice)
  }

  /// The client that the row belongs to.
  public var owner: ClientNumber? { key.client }

  /// Table and columns.
  public static let layout = StateLayout(
    table: "events", columns: ["client", "number", "notice"], keys: 2,
    capacity: ClientRecord.layout.capacity * 64)

  /// The key as columns.
  public static func columns(of key: Key) -> StoredColumns {
    StoredColumns([.number(key.client), .number(key.number)])
  }

  /// The row as columns.
  public var stored: StoredColumns {
    StoredColumns(EventRecord.columns(of: key).values + [.text(notice)])
  }

  /// Reads a row from disk; nil if any value is invalid.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.integer(0, ClientNumber.self),
      let number = columns.integer(1, UInt32.self), number > 0, number < .max,
      let notice = columns.text(2, upTo: EventRecord.longestNotice)
    else { return nil }
    self.init(Key(client: client, number: number), notice: notice)
  }
}
