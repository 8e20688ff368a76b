/// The format of the service's SQLite database as a list of migrations; checks a ``Database`` and applies the missing
/// ones. `user_version` of a file is the number of migrations applied to it. Columns with the suffix `_e9` are in 1e-9
/// degree.
///
/// ``StateStore`` opens and writes the file; this type reads no clock and opens no file.
struct StateSchema: Sendable {
  /// "TORP" in ASCII: SQLite's `application_id` of the file.
  static let applicationID = 0x544F_5250

  /// SQL that migrates from each version to the next. The first creates the tables.
  let steps: [String]

  /// The version that this program writes.
  var version: Int { steps.count }

  /// The formats that this program supports. Never change a released step; add a new one.
  static let current = StateSchema(steps: [initialTables, addHandledEvents, addServiceStarts])

  static let initialTables = """
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

  /// Last handled event of each region (REG-13).
  static let addHandledEvents = "ALTER TABLE regions ADD COLUMN handled TEXT;"

  /// First fixes of significant change and visits (PWR-14).
  static let addServiceStarts = """
    ALTER TABLE cursors ADD COLUMN significant_generation INTEGER;
    ALTER TABLE cursors ADD COLUMN significant_sequence INTEGER;
    ALTER TABLE cursors ADD COLUMN visits_generation INTEGER;
    ALTER TABLE cursors ADD COLUMN visits_sequence INTEGER;
    """

  /// Checks that the file belongs to this service and is not too new, without changing it.
  ///
  /// - Returns: The version of the file, 0 for a new file.
  func check(_ database: Database) throws(StateError) -> Int {
    let id = try database.firstInteger("PRAGMA application_id")
    let version = try database.firstInteger("PRAGMA user_version")
    if id == 0, version == 0, try database.firstInteger("SELECT count(*) FROM sqlite_schema") == 0 {
      return 0
    }
    guard id == StateSchema.applicationID else { throw .foreign(applicationID: id) }
    guard version <= steps.count else { throw .newer(found: version, supported: steps.count) }
    return version
  }

  /// Whether the table definitions in the file are those of this version. SQLite's integrity check accepts any
  /// definition that it can parse.
  func matchesDefinitions(of database: Database) throws(StateError) -> Bool {
    let fresh = try Database(":memory:", .writing)
    try migrate(fresh, from: 0)
    return try StateSchema.definitions(of: database) == StateSchema.definitions(of: fresh)
  }

  private static func definitions(of database: Database) throws(StateError) -> StateValue {
    try database.firstValue(
      "SELECT group_concat(type || name || sql, ';') FROM "
        + "(SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name)")
  }

  /// Applies the missing migrations in one transaction.
  func migrate(_ database: Database, from version: Int) throws(StateError) {
    guard version < steps.count else { return }
    try database.transaction { () throws(StateError) in
      for step in steps[version...] { try database.run(step) }
      try mark(database)
    }
  }

  /// Marks the file as one of this service and version.
  func mark(_ database: Database) throws(StateError) {
    try database.run(
      "PRAGMA user_version = \(version); PRAGMA application_id = \(StateSchema.applicationID)")
  }
}

extension Database {
  /// Runs `body` as one transaction.
  func transaction(_ body: () throws(StateError) -> Void) throws(StateError) {
    try run("BEGIN IMMEDIATE")
    do throws(StateError) {
      try body()
      try run("COMMIT")
    } catch {
      // SQLite rolls back by itself after some errors.
      if isInTransaction { try? run("ROLLBACK") }
      throw error
    }
  }
}
