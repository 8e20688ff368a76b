import Foundation
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import ServiceState

@Suite("Durable state: stored rows are restored", .tags(.process))
struct StoreTests {
  @Test("BKG-20, AUT-2: every row survives writing and reading")
  func roundTrip() throws {
    let folder = Folder()
    var store: StateStore? = try folder.open()
    #expect(store?.repairs.isNew == true && store?.repairs.isEmpty == true)
    let id = try #require(store).fill("map")
    store?.setCounter(.ringGeneration, 17)
    try store?.flush()
    let before = try #require(store).rows
    store = nil
    let again = try folder.open()
    #expect(again.repairs == Repairs())
    #expect(again.rows.clients[id] == before.clients[id])
    #expect(again.rows.cursors[id] == before.cursors[id])
    #expect(again.rows.services[id] == before.services[id])
    #expect(Array(again.rows.regions.all) == Array(before.regions.all))
    #expect(Array(again.rows.events.all) == Array(before.events.all))
    #expect(again.counter(.ringGeneration) == 17)
    #expect(
      again.client(uid: 1_000, name: "map")?.id == id && again.client(uid: 1, name: "map") == nil)
  }

  @Test("flushed changes are on disk without closing; unflushed changes are not")
  func flushed() throws {
    let folder = Folder()
    let store = try folder.open()
    let id = try store.fill("map")
    try store.flush()
    store.rows.cursors.save(
      CursorRecord(client: id, bookmark: ClientBookmark(acknowledged: nil, isOpenEnded: true)))
    #expect(store.hasChanges)
    let killed = try folder.snapshot().open()
    #expect(killed.rows.cursors[id]?.bookmark.acknowledged?.sequence == 7)
    try store.flush()
    #expect(!store.hasChanges)
    let later = try folder.snapshot().open()
    #expect(later.rows.cursors[id]?.bookmark.isOpenEnded == true)
  }

  @Test("changes of one key are written once, and a flush without changes writes nothing")
  func coalesced() throws {
    let folder = Folder()
    let store = try folder.open()
    let id = try store.fill("map")
    try store.flush()
    let before = store.statistics
    for sequence in 0..<1_000 as Range<UInt64> {
      let name = FixName(generation: 4, sequence: sequence)
      _ = store.rows.cursors.put(
        CursorRecord(client: id, bookmark: ClientBookmark(acknowledged: name)))
    }
    try store.flush()
    try store.flush()
    let same = try #require(store.rows.cursors[id])
    store.rows.cursors.save(same)
    #expect(!store.hasChanges)
    try store.flush()
    #expect(store.statistics.transactions == before.transactions + 1)
    #expect(store.statistics.pages == before.pages + 1)
  }

  @Test("removing a client removes all of its rows, and its number is not reused")
  func removal() throws {
    let folder = Folder()
    var store: StateStore? = try folder.open()
    let first = try #require(store).fill("first")
    let second = try #require(store).fill("second")
    try store?.flush()
    store?.removeClient(second)
    try store?.flush()
    store = nil
    let again = try folder.open()
    #expect(again.repairs.isEmpty)
    #expect(again.rows.clients.all.map(\.id) == [first] && again.rows.cursors.count == 1)
    #expect(again.rows.services.count == 1 && again.rows.regions.count == 1)
    #expect(again.rows.events.count == 1)
    #expect(again.addClient(uid: 1_000, name: "second")?.id == second + 1)
  }

  @Test("changing a client's own row keeps its other rows")
  func clientChange() throws {
    let folder = Folder()
    var store: StateStore? = try folder.open()
    let id = try #require(store).fill("map")
    try store?.flush()
    var record = try #require(store?.rows.clients[id])
    record.authorization = .denied
    store?.rows.clients.save(record)
    try store?.flush()
    store = nil
    let again = try folder.open()
    #expect(again.rows.clients[id]?.authorization == .denied && again.rows.cursors.count == 1)
    #expect(again.rows.regions.count == 1 && again.repairs.isEmpty)
  }

  @Test("only the owner may read the file and its log")
  func mode() throws {
    let folder = Folder()
    let store = try folder.open()
    _ = try store.fill("map")
    try store.flush()
    #expect(folder.names == ["state.db", "state.db-wal"])
    for name in folder.names {
      let path = folder.file(name)
      let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(found as? Int == 0o600, "\(name)")
    }
  }

  @Test("each commit is synced: WAL, FULL, foreign keys, and the application id")
  func settings() throws {
    let folder = Folder()
    var store: StateStore? = try folder.open()
    try #require(store).close(at: Folder.time)
    store = nil
    let bytes = folder.read()
    #expect(bytes[68..<72].elementsEqual("TORP".utf8) && bytes[18] == 2 && bytes[63] == 3)
  }

  @Test("a second open is refused, in this process and in another one")
  func busy() throws {
    let folder = Folder()
    let store = try folder.open()
    _ = try store.fill("map")
    try store.flush()
    #expect(throws: StateError.busy) { try folder.open() }
    #expect(
      try Probe("read", folder.path).lines().first?.hasPrefix("error another process") == true)
    let other = Folder()
    let holder = try Probe("hold", other.path)
    holder.waitForOutput()
    #expect(throws: StateError.busy) { try other.open() }
    holder.kill()
    _ = holder.lines()
    #expect(try other.open().rows.clients.count == 4)
  }

  @Test("an empty file is initialized and reported as new")
  func empty() throws {
    let folder = Folder()
    folder.write([])
    #expect(try folder.open().repairs.isNew)
  }

  @Test("a path that is not a regular file is refused with a description")
  func noFile() throws {
    let folder = Folder()
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: false)
    do {
      _ = try folder.open()
      Issue.record("a folder was opened")
    } catch {
      #expect("\(error)".contains("not a regular file"))
    }
  }

  @Test("a missing folder is refused")
  func noFolder() {
    #expect(throws: StateError.self) {
      try StateStore(path: "/nowhere/at/all/state.db", at: Folder.time)
    }
  }
}
