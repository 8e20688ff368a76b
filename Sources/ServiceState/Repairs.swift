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

  /// A place in the ring may be lost: fixes that were acknowledged may come again, or a client that is
  /// not known any more is owed nothing of before.
  public var mayHaveLostClients: Bool { lost.contains("clients") || lost.contains("cursors") }

  /// One line for each thing that was done.
  public var lines: [String] {
    var lines: [String] = []
    if isNew { lines.append("state: begun anew, there was none") }
    if let version = migratedFrom { lines.append("state: migrated from format \(version)") }
    if let damage { lines.append("state: the file was damaged: \(damage)") }
    if let movedTo {
      lines.append("state: begun anew from what could be read; the damaged file is '\(movedTo)'")
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
