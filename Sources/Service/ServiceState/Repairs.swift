/// What opening the state found and mended; for the log, and for who must be told.
public struct Repairs: Equatable, Sendable {
  /// Rows of a table.
  public struct Rows: Equatable, Sendable {
    /// The table.
    public var table: String
    /// How many.
    public var count: Int
  }

  /// There was no file: all begins anew.
  public var isNew = false
  /// The version that the file had, where it was migrated.
  public var migratedFrom: Int?
  /// What was wrong with the file that was moved aside.
  public var damage: String?
  /// Its log was damaged: what was written last may be lost, of any client.
  public var isLogDamaged = false
  /// Where it lies now.
  public var movedTo: String?
  /// Tables of it that could not be read to their end.
  public var lost: [String] = []
  /// A repair that was interrupted was brought to its end.
  public var isContinued = false
  /// Rows with values that cannot be, or of clients that are not there: dropped.
  public var dropped: [Rows] = []

  /// Nothing was mended; a new or a migrated file needs no mending.
  public var isEmpty: Bool {
    damage == nil && movedTo == nil && lost.isEmpty && !isContinued && dropped.isEmpty
  }

  /// Clients or their places in the ring may be lost or out of date: each client that may be affected gets
  /// a gap whose extent is not known (RNG-4).
  public var mayHaveLostClients: Bool {
    let tables = [ClientRecord.layout.table, CursorRecord.layout.table]
    return isLogDamaged
      || tables.contains { table in
        lost.contains(table) || dropped.contains { $0.table == table }
      }
  }

  /// One line for each thing that was done.
  public var lines: [String] {
    var lines: [String] = []
    if isNew { lines.append("state: begun anew, there was none") }
    if let version = migratedFrom { lines.append("state: migrated from format \(version)") }
    if let damage { lines.append("state: the file was damaged: \(damage)") }
    if let movedTo {
      lines.append("state: begun anew from what could be read; the damaged file is '\(movedTo)'")
    }
    if isLogDamaged {
      lines.append(
        "state: what was written last may be lost; clients may get fixes again that they acknowledged, and "
          + "are sent a gap")
    }
    if isContinued { lines.append("state: an interrupted repair was finished") }
    if !lost.isEmpty {
      lines.append("state: not all could be read of \(lost.joined(separator: ", "))")
    }
    for rows in dropped {
      lines.append("state: \(rows.count) rows of \(rows.table) were not valid and are dropped")
    }
    return lines
  }

  mutating func note(dropped rows: [(table: String, count: Int)]) {
    dropped += rows.map { Rows(table: $0.table, count: $0.count) }
  }
}
