import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import ServiceState

@Suite("Durable state: a damaged write-ahead log, and rows that are not valid")
struct LogDamageTests {
  /// A killed store whose client has acknowledged 2, …, `last`, each in its own transaction.
  static func killed(last: UInt64 = 19) throws -> (folder: Folder, client: ClientNumber) {
    let folder = Folder()
    let store = try folder.open()
    let id = try store.fill("map", sequence: 1)
    for sequence in 2...last {
      save(sequence, of: id, in: store)
      try store.flush()
    }
    return (folder.snapshot(), id)
  }

  static func save(_ sequence: UInt64, of client: ClientNumber, in store: StateStore) {
    let name = FixName(generation: 3, sequence: sequence)
    store.rows.cursors.save(
      CursorRecord(client: client, bookmark: ClientBookmark(acknowledged: name, isOpenEnded: true)))
  }

  @Test("RNG-9: a bit flipped anywhere in the log loses nothing or is reported to every client")
  func flippedBit() throws {
    let (folder, id) = try LogDamageTests.killed()
    let log = folder.read("state.db-wal")
    let frame = WriteAheadLogCheck.frameHeaderSize + 4_096
    #expect((log.count - WriteAheadLogCheck.headerSize) % frame == 0)
    let count = (log.count - WriteAheadLogCheck.headerSize) / frame
    #expect(count >= 18)
    var random = SplitMix64(seed: 18)
    var offsets = Array(0..<WriteAheadLogCheck.headerSize)
    for index in 0..<count {
      let begin = WriteAheadLogCheck.headerSize + index * frame
      offsets += (0..<WriteAheadLogCheck.frameHeaderSize).map { begin + $0 }
      offsets += (0..<4).map { _ in begin + 24 + Int(random.next() % 4_096) }
    }
    for offset in offsets {
      var damaged = log
      damaged[offset] ^= 1 << UInt8(random.next() % 8)
      let copy = folder.snapshot()
      copy.write(damaged, to: "state.db-wal")
      let store = try copy.open()
      #expect(store.repairs.isLogDamaged && store.repairs.mayHaveLostClients, "byte \(offset)")
      #expect(store.rows.cursors.all.allSatisfy { $0.mayHaveLostFixes }, "byte \(offset)")
      #expect(store.counter(.clientsLostUntil) == .max, "byte \(offset)")
      // The damaged file is kept unchanged.
      let isKept = copy.read(DamageTests.aside + "-wal") == damaged
      #expect(isKept, "byte \(offset)")
      guard offset % 64 == 0 else { continue }
      try store.flush()
      let next = try copy.snapshot().open()
      #expect(next.repairs.isEmpty && next.counter(.clientsLostUntil) == .max)
      #expect(
        next.rows.cursors.all.allSatisfy { $0.mayHaveLostFixes },
        "the flag stays until the gap is sent")
    }
    let undamaged = try folder.open()
    #expect(undamaged.repairs.isEmpty)
    #expect(undamaged.rows.cursors[id]?.bookmark.acknowledged?.sequence == 19)
    #expect(undamaged.rows.cursors[id]?.mayHaveLostFixes == false)
  }

  @Test("RNG-9: a kill right after the repair keeps the report, which the repaired file contains")
  func killedAfterRepair() throws {
    let (folder, id) = try LogDamageTests.killed()
    var log = folder.read("state.db-wal")
    log[WriteAheadLogCheck.headerSize + 4_120 * 9 + 700] ^= 4
    folder.write(log, to: "state.db-wal")
    _ = try folder.open()
    let next = try folder.snapshot().open()
    #expect(next.repairs == Repairs() && next.rows.cursors[id]?.mayHaveLostFixes == true)
    #expect(next.counter(.clientsLostUntil) == .max)
  }

  @Test("frames of an earlier use of the log are not damage", arguments: [1, 2, 9])
  func earlierUse(behind count: Int) throws {
    let frame = WriteAheadLogCheck.frameHeaderSize + 4_096
    let (folder, id) = try LogDamageTests.killed(last: 9)
    let earlier = try LogDamageTests.killed().folder.read("state.db-wal")
    let log = folder.read("state.db-wal")
    #expect(earlier.count >= log.count + count * frame)
    let both = log + earlier[log.count..<log.count + count * frame]
    folder.write(both, to: "state.db-wal")
    let store = try folder.snapshot().open()
    #expect(store.repairs.isEmpty && store.rows.cursors[id]?.bookmark.acknowledged?.sequence == 9)
    #expect(store.rows.cursors[id]?.mayHaveLostFixes == false)
    // A damaged newest frame before them is still detected.
    var damaged = both
    damaged[log.count - 1] ^= 1
    folder.write(damaged, to: "state.db-wal")
    #expect(try folder.open().repairs.isLogDamaged)
  }

  @Test("a transaction cut off by a kill is not damage, even if another one was written since")
  func cutTransaction() throws {
    let folder = Folder()
    let store = try folder.open()
    _ = try store.fill("map", sequence: 1)
    try store.flush()  // one transaction of several pages
    let log = folder.read("state.db-wal")
    let frame = WriteAheadLogCheck.frameHeaderSize + 4_096
    #expect(log.count > WriteAheadLogCheck.headerSize + 3 * frame)
    let cut = folder.snapshot()
    cut.write(Array(log.dropLast(frame)), to: "state.db-wal")
    var second: StateStore? = try cut.open()
    #expect(second?.repairs.isEmpty == true && second?.rows.clients.count == 0)
    second?.setCounter(.boot, 5)
    try second?.flush()
    let killed = cut.snapshot()
    second = nil
    let third = try killed.open()
    #expect(third.repairs.isEmpty && third.counter(.boot) == 5)
  }

  @Test("the log is truncated after 64 pages, and every acknowledgement is kept")
  func shortLog() throws {
    let folder = Folder()
    let store = try folder.open()
    let id = try store.fill("map", sequence: 1)
    try store.flush()
    var longest = 0
    var shortest = Int.max
    for sequence in 2..<200 as Range<UInt64> {
      LogDamageTests.save(sequence, of: id, in: store)
      try store.flush()
      let size = folder.read("state.db-wal").count
      longest = max(longest, size)
      shortest = min(shortest, size)
    }
    #expect(longest <= WriteAheadLogCheck.headerSize + 64 * 4_120 && shortest == 0)
    let killed = try folder.snapshot().open()
    #expect(killed.repairs.isEmpty)
    #expect(killed.rows.cursors[id]?.bookmark.acknowledged?.sequence == 199)
  }

  @Test(
    "RNG-9: only the client of a dropped client or cursor row is reported as lost",
    arguments: [false, true])
  func droppedRow(isClient: Bool) throws {
    let folder = Folder()
    var store: StateStore? = try folder.open()
    let first = try #require(store).fill("first")
    let second = try #require(store).fill("second")
    for id in [first, second] { LogDamageTests.save(7, of: id, in: try #require(store)) }
    try store?.close(at: Folder.time)
    store = nil
    try folder.edit(
      isClient
        ? "UPDATE clients SET authorization = 9 WHERE id = \(first)"
        : "UPDATE cursors SET acknowledged_sequence = -1 WHERE client = \(first)")
    let found = try folder.open()
    #expect(found.repairs.mayHaveLostClients && found.counter(.clientsLostUntil) == .max)
    #expect(found.rows.cursors[first]?.mayHaveLostFixes == (isClient ? nil : true))
    #expect(found.rows.cursors[second]?.mayHaveLostFixes == false)
  }

  @Test("a dropped event or region keeps the client's cursor")
  func droppedEvent() throws {
    let folder = try DamageTests.filled()
    try folder.edit("UPDATE events SET notice = '' WHERE client = 4")
    let store = try folder.open()
    #expect(!store.repairs.mayHaveLostClients && store.counter(.clientsLostUntil) == 0)
    #expect(store.repairs.dropped.count == 1)
  }
}
