/// The faults that ``StateStore`` found and repaired when it opened its file, as log lines and as values.
public struct Repairs: Equatable, Sendable {
  /// Dropped rows of one table.
  public struct Rows: Equatable, Sendable {
    /// Name of the table.
    public var table: String
    /// Number of rows.
    public var count: Int
  }

  /// Whether the file did not exist and was created.
  public var isNew = false
  /// The file's format before it was migrated; nil if it was not.
  public var migratedFrom: Int?
  /// The damage that was found in the file; nil without damage.
  public var damage: String?
  /// Whether the write-ahead log was damaged: the newest changes of any client may be lost.
  public var isLogDamaged = false
  /// Path that the damaged file was moved to.
  public var movedTo: String?
  /// Tables that could not be read completely.
  public var unreadableTables: [String] = []
  /// Whether an interrupted repair was completed.
  public var hasResumedRepair = false
  /// Dropped rows: rows with invalid values, and rows of missing clients.
  public var dropped: [Rows] = []

  /// Whether nothing was repaired. Creating or migrating a file is no repair.
  public var isEmpty: Bool {
    damage == nil && movedTo == nil && unreadableTables.isEmpty && !hasResumedRepair
      && dropped.isEmpty
  }

  /// Whether clients or their ring positions may be missing or out of date. Each client that may be affected receives a
  /// gap of unknown extent (RNG-4).
  public var mayHaveLostClients: Bool {
    let tables = [ClientRecord.layout.table, CursorRecord.layout.table]
    return isLogDamaged
      || tables.contains { table in
        unreadableTables.contains(table) || dropped.contains { $0.table == table }
      }
  }

  /// One log line for each repair, and for the creation or migration of the file.
  public var lines: [String] {
    var lines: [String] = []
    if isNew { lines.append("state: none found, created") }
    if let version = migratedFrom { lines.append("state: migrated from format \(version)") }
    if let damage { lines.append("state: the file was damaged: \(damage)") }
    if let movedTo {
      lines.append("state: rebuilt from the readable rows; the damaged file is now '\(movedTo)'")
    }
    if isLogDamaged {
      lines.append(
        "state: the newest changes may be lost; clients may receive fixes again that they acknowledged, and "
          + "receive a gap")
    }
    if hasResumedRepair { lines.append("state: an interrupted repair was completed") }
    if !unreadableTables.isEmpty {
      lines.append(
        "state: these tables could not be read completely: "
          + "\(unreadableTables.joined(separator: ", "))")
    }
    for rows in dropped {
      lines.append(
        "state: dropped \(rows.count) invalid "
          + "\(rows.count == 1 ? "row" : "rows") of table '\(rows.table)'")
    }
    return lines
  }
}
