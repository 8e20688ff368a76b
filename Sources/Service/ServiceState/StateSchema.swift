/// The format of the database: numbered steps, of which a file has taken the first `user_version`.
struct StateSchema: Sendable {
  /// "TORP": what kind of file this is.
  static let applicationID = 0x544F_5250

  /// SQL that makes of each version the next; the first makes the tables.
  let steps: [String]

  /// The version this program writes.
  var version: Int { steps.count }

  /// What this version of Torpor knows. A step that was released is never changed; a new one is added.
  static let current = StateSchema(steps: [first, handledEvents])

  static let first = """
    CREATE TABLE clients (
      id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, name TEXT NOT NULL,
      authorization INTEGER NOT NULL, is_reduced INTEGER NOT NULL, decision INTEGER,
      is_decided_reduced INTEGER NOT NULL, has_asked_always INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE cursors (
      client INTEGER PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
      acknowledged_generation INTEGER, acknowledged_sequence INTEGER, owes_all INTEGER NOT NULL,
      owed_generation INTEGER, owed_sequence INTEGER, passed_after_generation INTEGER,
      passed_after_sequence INTEGER, passed_through_generation INTEGER,
      passed_through_sequence INTEGER, may_have_lost INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE services (
      client INTEGER PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
      significant_change INTEGER NOT NULL, visits INTEGER NOT NULL,
      background_session INTEGER NOT NULL, last_event INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE regions (
      client INTEGER NOT NULL REFERENCES clients ON DELETE CASCADE, kind INTEGER NOT NULL,
      number INTEGER NOT NULL, name TEXT NOT NULL, latitude_e9 INTEGER NOT NULL,
      longitude_e9 INTEGER NOT NULL, radius_m REAL NOT NULL, notify_on_entry INTEGER NOT NULL,
      notify_on_exit INTEGER NOT NULL, state INTEGER NOT NULL, PRIMARY KEY (client, kind, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE events (
      client INTEGER NOT NULL REFERENCES clients ON DELETE CASCADE, number INTEGER NOT NULL,
      notice TEXT NOT NULL, PRIMARY KEY (client, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    """

  /// What was handled last of each region (REG-13).
  static let handledEvents = "ALTER TABLE regions ADD COLUMN handled TEXT;"

  /// Refuses what is not ours or too new; gives the version, 0 for a new file. Changes nothing.
  func check(_ database: Database) throws(StateError) -> Int {
    let id = try database.number("PRAGMA application_id")
    let version = try database.number("PRAGMA user_version")
    if id == 0, version == 0, try database.number("SELECT count(*) FROM sqlite_schema") == 0 {
      return 0
    }
    guard id == StateSchema.applicationID else { throw .foreign(applicationID: id) }
    guard version <= steps.count else { throw .newer(found: version, known: steps.count) }
    return version
  }

  /// Whether the tables are as they were made: their definitions lie in the file, and no check of
  /// SQLite's looks at the words of one that can be read.
  func holds(for database: Database) throws(StateError) -> Bool {
    let fresh = try Database(":memory:", .writing)
    try migrate(fresh, from: 0)
    return try StateSchema.text(of: database) == StateSchema.text(of: fresh)
  }

  private static func text(of database: Database) throws(StateError) -> StateValue {
    try database.first(
      "SELECT group_concat(type || name || sql, ';') FROM "
        + "(SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name)")
  }

  /// Takes the steps that a file lacks, all or none.
  func migrate(_ database: Database, from version: Int) throws(StateError) {
    guard version < steps.count else { return }
    try database.transaction { () throws(StateError) in
      for step in steps[version...] { try database.run(step) }
      try database.run(
        "PRAGMA user_version = \(steps.count); PRAGMA application_id = \(StateSchema.applicationID)"
      )
    }
  }
}

extension Database {
  /// Does `body` as one transaction: all of it or nothing.
  func transaction(_ body: () throws(StateError) -> Void) throws(StateError) {
    try run("BEGIN IMMEDIATE")
    do throws(StateError) {
      try body()
      try run("COMMIT")
    } catch {
      // Some failures have rolled it back already; then there is nothing to roll back.
      if isInTransaction { try? run("ROLLBACK") }
      throw error
    }
  }
}
