/// A visit or region event that its client has not acknowledged (VIS-8, REG-13), as it is told.
public struct EventRecord: StateRow {
  /// Bytes of a notice.
  public static let longestNotice = 1_024

  /// What tells one from the other.
  public struct Key: Hashable, Sendable {
    /// Whose.
    public var client: ClientNumber
    /// Counted for each client, in the order in which they happened.
    public var number: UInt32

    /// Creates a key.
    public init(client: ClientNumber, number: UInt32) {
      self.client = client
      self.number = number
    }
  }

  /// Whose, which number.
  public var key: Key
  /// The frame that tells it, without its NUL.
  public var notice: String

  /// Creates a record.
  ///
  /// - Precondition: `notice` has 1 to ``longestNotice`` bytes and no control characters.
  public init(_ key: Key, notice: String) {
    precondition(EventRecord.isNotice(notice), "a notice is short")
    self.key = key
    self.notice = notice
  }

  static func isNotice(_ text: String) -> Bool {
    StoredColumns.isText(text, upTo: longestNotice)
  }

  /// The client that it goes with.
  public var owner: ClientNumber? { key.client }

  /// How it lies in the database.
  public static let layout = StateLayout(
    table: "events", columns: ["client", "number", "notice"], keys: 2,
    capacity: ClientRecord.layout.capacity * 64)

  /// The columns of a key.
  public static func columns(of key: Key) -> StoredColumns {
    StoredColumns([.number(key.client), .number(key.number)])
  }

  /// What is written of it.
  public var stored: StoredColumns {
    StoredColumns(EventRecord.columns(of: key).values + [.text(notice)])
  }

  /// Checks a row from disk; nil if any value of it cannot be.
  public init?(_ columns: StoredColumns) {
    guard let client = columns.whole(0, ClientNumber.self),
      let number = columns.whole(1, UInt32.self), number > 0, number < .max,
      let notice = columns.text(2, upTo: EventRecord.longestNotice)
    else { return nil }
    self.init(Key(client: client, number: number), notice: notice)
  }
}
