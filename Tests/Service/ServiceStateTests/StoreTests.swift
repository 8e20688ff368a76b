import Foundation
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import ServiceState

@Suite("Durable state: what is written comes back", .tags(.process))
struct StoreTests {
  @Test("BKG-20, AUT-2: every row comes back as it went in")
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

  @Test("what was flushed is on the disk though nothing was closed; what was not, is not")
  func flushed() throws {
    let folder = Folder()
    let store = try folder.open()
    let id = try store.fill("map")
    try store.flush()
    store.rows.cursors.keep(
      CursorRecord(client: id, bookmark: ClientBookmark(acknowledged: nil, isOpenEnded: true)))
    #expect(store.hasChanges)
    let killed = try folder.snapshot().open()
    #expect(killed.rows.cursors[id]?.bookmark.acknowledged?.sequence == 7)
    try store.flush()
    #expect(!store.hasChanges)
    let later = try folder.snapshot().open()
    #expect(later.rows.cursors[id]?.bookmark.isOpenEnded == true)
  }

  @Test("changes of one key are one write, and a turn without any is none")
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
    store.rows.cursors.keep(same)
    #expect(!store.hasChanges)
    try store.flush()
    #expect(store.statistics.transactions == before.transactions + 1)
    #expect(store.statistics.pages == before.pages + 1)
  }

  @Test("a client that is removed takes all that is its along, and its number is not used again")
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

  @Test("a change of a client's own row leaves what is its")
  func clientChange() throws {
    let folder = Folder()
    var store: StateStore? = try folder.open()
    let id = try #require(store).fill("map")
    try store?.flush()
    var record = try #require(store?.rows.clients[id])
    record.authorization = .denied
    store?.rows.clients.keep(record)
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

  @Test("each commit is synced: WAL, FULL, foreign keys, ours by its application id")
  func settings() throws {
    let folder = Folder()
    var store: StateStore? = try folder.open()
    try #require(store).close(at: Folder.time)
    store = nil
    let bytes = folder.read()
    #expect(bytes[68..<72].elementsEqual("TORP".utf8) && bytes[18] == 2 && bytes[63] == 2)
  }

  @Test("a second opener is refused, in this process and in another one")
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
    holder.waitForWord()
    #expect(throws: StateError.busy) { try other.open() }
    holder.kill()
    _ = holder.lines()
    #expect(try other.open().rows.clients.count == 4)
  }

  @Test("an empty file is begun anew, and that is said")
  func empty() throws {
    let folder = Folder()
    folder.write([])
    #expect(try folder.open().repairs.isNew)
  }

  @Test("what is no file says what it should be")
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

  @Test("no folder, no state: said at once")
  func noFolder() {
    #expect(throws: StateError.self) {
      try StateStore(path: "/nowhere/at/all/state.db", at: Folder.time)
    }
  }
}
