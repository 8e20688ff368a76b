import Foundation
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import ServiceState

@Suite("Durable state: damage, full disk, SIGKILL", .tags(.process))
struct DamageTests {
  /// A closed file with four clients.
  static func filled() throws -> Folder {
    let folder = Folder()
    let store = try folder.open()
    for name in ["a", "b", "c", "d"] { _ = try store.fill(name) }
    try store.close(at: Folder.time)
    return folder
  }

  static let aside = "state.db.damaged-20251122T001432Z"

  @Test("RNG-3: a writer killed at any time loses no number that it reported")
  func killed() throws {
    var random = SplitMix64(seed: 1)
    let rounds = ProcessInfo.processInfo.environment["TORPOR_KILLS"].flatMap(Int.init) ?? 12
    let folder = Folder()
    var last: UInt64 = 0
    for _ in 0..<rounds {
      let probe = try Probe("write", folder.path)
      usleep(UInt32.random(in: 5_000...60_000, using: &random))
      probe.kill()
      last = max(last, probe.lines().last.flatMap { UInt64($0) } ?? 0)
      let store = try folder.open()
      let sequences = Set(store.rows.cursors.all.map { $0.bookmark.acknowledged?.sequence ?? 0 })
      #expect(sequences.count <= 1 && store.repairs.isEmpty)
      let found = sequences.first ?? 0
      // The last number may have been written but not reported.
      #expect(found == last || found == last + 1)
      last = found
    }
    #expect(last > 0)
  }

  @Test("a truncated log opens with an earlier flushed state, without repairs")
  func tornLog() throws {
    let folder = Folder()
    let store = try folder.open()
    let id = try store.fill("map", sequence: 1)
    try store.flush()
    for sequence in 2..<20 as Range<UInt64> {
      _ = try store.fill("map", sequence: sequence)
      try store.flush()
    }
    let log = folder.read("state.db-wal")
    for cut in [0, 1, 31, 32, 1_000, 4_151, 4_152, 20_000, log.count / 2, log.count - 1] {
      let copy = folder.snapshot()
      copy.write(Array(log.prefix(cut)), to: "state.db-wal")
      let again = try copy.open()
      let sequence = again.rows.cursors[id]?.bookmark.acknowledged?.sequence
      #expect(again.repairs.isEmpty && (sequence ?? 1) <= 19, "\(cut)")
      if cut == log.count - 1 { #expect(sequence == 18) }
    }
  }

  @Test("RNG-3, BKG-20: a damaged file is moved aside; its readable rows are kept")
  func damagedPage() throws {
    let folder = try DamageTests.filled()
    let store = try folder.open()
    let copy = folder.snapshot()
    let root = try Database(copy.path, .reading)
      .firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'regions'")
    try store.close(at: Folder.time)
    var bytes = folder.read()
    let page = (root - 1) * 4_096
    bytes.replaceSubrange(page..<page + 4_096, with: [UInt8](repeating: 0xa5, count: 4_096))
    folder.write(bytes)
    let again = try folder.open()
    #expect(again.repairs.unreadableTables == ["regions"] && again.repairs.damage != nil)
    #expect(again.repairs.movedTo == folder.file(DamageTests.aside))
    #expect(!again.repairs.mayHaveLostClients && again.repairs.lines.count == 3)
    #expect(again.rows.clients.count == 4 && again.rows.cursors.count == 4)
    #expect(again.rows.events.count == 4 && again.rows.regions.count == 0)
    #expect(folder.read(DamageTests.aside) == bytes)
    #expect(again.rows.cursors[1]?.bookmark.acknowledged?.sequence == 7)
    try again.flush()
    try again.close(at: Folder.time)
  }

  @Test("a destroyed header is reported; the state is created again and the old file is kept")
  func damagedHeader() throws {
    let folder = try DamageTests.filled()
    var bytes = folder.read()
    bytes.replaceSubrange(0..<100, with: [UInt8](repeating: 0, count: 100))
    folder.write(bytes)
    var store: StateStore? = try folder.open()
    #expect(store?.repairs.mayHaveLostClients == true && store?.repairs.movedTo != nil)
    #expect(store?.rows.clients.count == 0)
    _ = try store?.fill("new")
    try store?.flush()
    store = nil
    #expect(folder.names.contains(DamageTests.aside))
    let again = try folder.open()
    #expect(again.repairs == Repairs() && again.rows.clients.count == 1)
  }

  @Test("a changed table definition is damage, even if every page can be read")
  func changedDefinition() throws {
    let folder = try DamageTests.filled()
    var bytes = folder.read()
    let range = try #require(bytes.firstRange(of: Array("REFERENCES clients".utf8)))
    bytes[range.upperBound - 1] = UInt8(ascii: "x")
    folder.write(bytes)
    let store = try folder.open()
    #expect(store.repairs.damage == "its table definitions do not match its format version")
    #expect(store.rows.clients.count == 4 && store.rows.regions.count == 4)
    _ = try store.fill("after")
    try store.flush()
  }

  @Test("a file with any bytes changed or cut opens with valid rows and can be written")
  func anyDamage() throws {
    let folder = try DamageTests.filled()
    let bytes = folder.read()
    var random = SplitMix64(seed: 5)
    for round in 0..<120 {
      let copy = Folder()
      var damaged = bytes
      if round % 4 == 0 {
        damaged = Array(damaged.prefix(Int(random.next() % UInt64(bytes.count))))
      } else {
        for _ in 0..<1 << (random.next() % 8) {
          damaged[Int(random.next() % UInt64(bytes.count))] = UInt8(
            truncatingIfNeeded: random.next())
        }
      }
      copy.write(damaged)
      do {
        let store = try copy.open()
        for row in store.rows.cursors.all { #expect(store.rows.clients[row.client] != nil) }
        let id = try store.fill("after")
        try store.flush()
        try store.close(at: Folder.time)
        #expect(try copy.open().rows.clients[id]?.name == "after")
      } catch StateError.newer, StateError.foreign {
        // A file is refused only if its identifying bytes changed.
        #expect(damaged[60..<72] != bytes[60..<72])
      }
    }
  }

  @Test("a replacement that was interrupted at any step is completed")
  func interrupted() throws {
    for step in 0..<3 {
      let folder = try DamageTests.filled()
      let store = try folder.open()
      var rows = store.rows
      try StateFiles(path: folder.path).rebuild(.current, &rows)
      try store.close(at: Folder.time)
      var bytes = folder.read()
      bytes.replaceSubrange(0..<100, with: [UInt8](repeating: 1, count: 100))
      folder.write(bytes)
      folder.write(Array("log".utf8), to: "state.db-wal")
      let manager = FileManager.default
      let aside = folder.path + ".damaged-then"
      if step > 0 { try manager.moveItem(atPath: folder.path + "-wal", toPath: aside + "-wal") }
      if step > 1 { try manager.moveItem(atPath: folder.path, toPath: aside) }
      let again = try folder.open()
      #expect(again.repairs.hasResumedRepair && again.rows.clients.count == 4, "\(step)")
      #expect(!folder.names.contains("state.db.new"))
    }
  }

  @Test("an incomplete rebuilt file is removed")
  func unfinished() throws {
    let folder = try DamageTests.filled()
    folder.write([UInt8](repeating: 7, count: 5_000), to: "state.db.new")
    let again = try folder.open()
    #expect(again.repairs.isEmpty && again.rows.clients.count == 4)
    #expect(!folder.names.contains("state.db.new"))
  }

  @Test("an invalid row, as after an edit, is dropped and reported")
  func edited() throws {
    let folder = try DamageTests.filled()
    try folder.edit(
      """
      UPDATE clients SET authorization = 9 WHERE id = 1;
      UPDATE cursors SET acknowledged_sequence = -1 WHERE client = 2;
      UPDATE regions SET latitude_e9 = 90000000001 WHERE client = 3;
      UPDATE regions SET radius_m = 9e999 WHERE client = 4;
      UPDATE events SET notice = '' WHERE client = 4;
      UPDATE services SET visits = 7 WHERE client = 2;
      INSERT INTO counters VALUES ('ring_generation', -4);
      """)
    let store = try folder.open()
    // The rows of a dropped client are dropped, too.
    #expect(store.rows.clients.all.map(\.id).sorted() == [2, 3, 4])
    // A lost cursor is replaced by one whose client is sent a gap (RNG-9).
    #expect(store.rows.cursors.all.map(\.client).sorted() == [2, 3, 4])
    #expect(
      store.rows.cursors[2] == CursorRecord(client: 2, bookmark: .init(), mayHaveLostFixes: true))
    #expect(store.rows.services.all.map(\.client).sorted() == [3, 4])
    #expect(store.rows.regions.all.map(\.client) == [2])
    #expect(store.rows.events.count == 2)
    #expect(store.counter(.ringGeneration) == 0 && !store.repairs.isEmpty)
    #expect(store.repairs.dropped.reduce(0) { $0 + $1.count } == 7 + 4)
    try store.flush()
    try store.close(at: Folder.time)
    #expect(try folder.open().repairs == Repairs())
  }

  @Test("counters of other versions are dropped if they use up the capacity")
  func foreignCounters() throws {
    let folder = try DamageTests.filled()
    try folder.edit(
      """
      DELETE FROM counters;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 256)
      INSERT INTO counters SELECT 'foreign ' || i, i FROM n;
      """)
    let store = try folder.open()
    store.setCounter(.boot, 7)
    store.setCounter(.ringGeneration, 3)
    try store.close(at: Folder.time)
    let next = try folder.open()
    #expect(next.counter(.boot) == 7 && next.counter(.ringGeneration) == 3)
  }

  @Test("of two rows with the same client name the second is dropped")
  func doubled() throws {
    let folder = try DamageTests.filled()
    try folder.edit("UPDATE clients SET name = 'a' WHERE id = 3")
    let store = try folder.open()
    #expect(store.rows.clients.all.map(\.id).sorted() == [1, 2, 4])
    #expect(store.rows.cursors[3] == nil)
  }

  @Test("on a full disk changes stay in memory, are reported, and are written later")
  func full() throws {
    let folder = try DamageTests.filled()
    let store = try folder.open()
    store.limitPages(to: 1)
    for number in 0..<200 { _ = try store.fill("more-\(number)") }
    #expect(throws: StateError.diskFull) { try store.flush() }
    #expect(store.lastError == .diskFull && store.hasChanges && store.rows.clients.count == 204)
    #expect(try folder.snapshot().open().rows.clients.count == 4)
    store.limitPages(to: 100_000)
    try store.flush()
    #expect(store.lastError == nil && !store.hasChanges && store.statistics.failures == 1)
    #expect(try folder.snapshot().open().rows.clients.count == 204)
  }

  @Test("with a file size limit the reported numbers are on disk, and the next write fails")
  func limited() throws {
    let folder = Folder()
    let lines = try Probe("limited", folder.path).lines()
    #expect(lines.last?.hasPrefix("error") == true)
    let last = lines.dropLast().last.flatMap { UInt64($0) } ?? 0
    let store = try folder.open()
    #expect(store.rows.cursors.all.allSatisfy { $0.bookmark.acknowledged?.sequence == last })
  }

  @Test("a file that was removed while open is created again, with all rows")
  func removed() throws {
    let folder = Folder()
    let store = try folder.open()
    _ = try store.fill("map")
    try store.flush()
    for name in folder.names {
      try FileManager.default.removeItem(atPath: folder.file(name))
    }
    _ = try store.fill("other")
    try store.flush()
    try store.close(at: Folder.time)
    #expect(try folder.open().rows.clients.count == 2)
  }

  @Test("a state of the first format keeps its circles, without handled events")
  func firstFormat() throws {
    let folder = Folder()
    try folder.edit("PRAGMA journal_mode = WAL;" + StateSchema.initialTables)
    try folder.edit(
      """
      PRAGMA user_version = 1;
      PRAGMA application_id = \(StateSchema.applicationID);
      INSERT INTO clients VALUES (2, 1000, 'map', 3, 0, NULL, 0, 0);
      INSERT INTO regions VALUES (2, 1, 0, 'home', 1, 2, 150.0, 1, 1, 1);
      """)
    let store = try folder.open()
    let row = try #require(store.rows.regions.all.first)
    #expect(row.name == "home" && row.handled == nil && store.repairs.migratedFrom == 1)
    store.rows.regions.save(
      RegionRecord(
        client: 2, name: row.name, region: row.region, state: row.state, handled: "{}"))
    try store.flush()
    #expect(try folder.snapshot().open().rows.regions.all.first?.handled == "{}")
  }

  @Test("PWR-14: in a state of the second format, services run and have no first fix")
  func secondFormat() throws {
    let folder = Folder()
    let old = StateSchema(steps: [StateSchema.initialTables, StateSchema.addHandledEvents])
    try old.migrate(Database(folder.path, .writing), from: 0)
    try folder.edit(
      """
      INSERT INTO clients VALUES (2, 1000, 'map', 3, 0, NULL, 0, 0);
      INSERT INTO cursors VALUES (2, 4, 17, 0, 4, 17, NULL, NULL, NULL, NULL, 0);
      INSERT INTO services VALUES (2, 1, 1, 0, 7);
      """)
    let store = try folder.open()
    #expect(store.repairs.migratedFrom == 2 && store.rows.services[2]?.visits == true)
    let name = FixName(generation: 4, sequence: 17)
    var bookmark = try #require(store.rows.cursors[2]?.bookmark)
    #expect(bookmark == ClientBookmark(acknowledged: name, undeliveredThrough: name))
    bookmark.significantFrom = FixName(generation: 5, sequence: 0)
    bookmark.visitsFrom = name
    store.rows.cursors.save(CursorRecord(client: 2, bookmark: bookmark))
    try store.flush()
    #expect(try folder.snapshot().open().rows.cursors[2]?.bookmark == bookmark)
  }

  @Test("an older format is migrated completely or not at all; a newer one is refused unchanged")
  func versions() throws {
    let folder = Folder()
    let old = StateSchema(steps: [
      StateSchema.initialTables.replacingOccurrences(of: ", decision INTEGER", with: ""),
      StateSchema.addHandledEvents, StateSchema.addServiceStarts,
    ])
    let step = "ALTER TABLE clients ADD COLUMN decision INTEGER"
    let database = try Database(folder.path, .writing)
    try old.migrate(database, from: 0)
    try database.run("INSERT INTO clients VALUES (5, 0, 'old', 3, 0, 0, 1)")
    try database.run("INSERT INTO cursors (client, owes_all, may_have_lost) VALUES (5, 1, 0)")
    let broken = StateSchema(steps: old.steps + [step, "ALTER TABLE nothing ADD COLUMN x TEXT"])
    let untouched = folder.snapshot()
    #expect(throws: StateError.self) { try untouched.open(broken) }
    let now = StateSchema(steps: old.steps + [step])
    let store = try untouched.open(now)
    #expect(store.repairs.migratedFrom == 3 && store.rows.clients[5]?.name == "old")
    #expect(store.rows.cursors[5]?.bookmark.isOpenEnded == true)
    try store.close(at: Folder.time)
    let before = untouched.read()
    #expect(throws: StateError.newer(found: 4, supported: 3)) { try untouched.open(old) }
    #expect(untouched.read() == before && untouched.names == ["state.db"])
  }

  @Test("a state of an earlier format on a full disk keeps its rows, and is migrated later")
  func migrationOnFullDisk() throws {
    let folder = try DamageTests.filled()
    let new = StateSchema(steps: StateSchema.current.steps + ["CREATE TABLE more (x TEXT)"])
    let store = try folder.open(new, pageLimit: 1)
    #expect(store.lastError == .diskFull && store.rows.clients.count == 4)
    #expect(throws: StateError.diskFull) { try store.flush() }
    store.limitPages(to: 100_000)
    try store.flush()
    try store.close(at: Folder.time)
    let reopened = try folder.open(new)
    #expect(reopened.rows.clients.count == 4 && reopened.repairs.lines.isEmpty)
    #expect(reopened.rows.regions.count == 4)
  }

  @Test("another program's database is refused unchanged")
  func foreign() throws {
    let folder = Folder()
    try folder.edit("CREATE TABLE theirs (x); PRAGMA application_id = 7")
    let before = folder.read()
    #expect(throws: StateError.foreign(applicationID: 7)) { try folder.open() }
    #expect(folder.read() == before && folder.names == ["state.db"])
  }
}
