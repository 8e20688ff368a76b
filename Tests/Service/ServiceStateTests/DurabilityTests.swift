import Glibc
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import ServiceState

@Suite("Clients with rows in memory only, and paths that are not regular files")
struct DurabilityTests {
  private func region(of client: ClientNumber) -> RegionRecord {
    let center = Coordinate(latitude_e9: 1, longitude_e9: 1)
    let region = Region(RegionIdentifier(.region, 1), center: center, radius: 100)
    return RegionRecord(client: client, name: "home", region: region, state: .unknown)
  }

  private func fill(_ store: StateStore, _ client: ClientNumber) {
    _ = store.rows.regions.put(region(of: client))
    _ = store.rows.services.put(ServicesRecord(client: client))
  }

  @Test("RES-2: rows of a client that is not durable are not written")
  func volatileRows() throws {
    let folder = Folder()
    let store = try folder.open()
    try store.flush(at: Folder.time)
    let before = store.statistics.transactions
    let client = try #require(store.addClient(uid: 1, name: "a", isDurable: false))
    for _ in 0..<3 {
      fill(store, client.id)
      store.rows.regions.remove(region(of: client.id).key)
    }
    fill(store, client.id)
    #expect(!store.hasChanges)
    try store.flush(at: Folder.time)
    #expect(store.statistics.transactions == before)
    store.setDurable(client.id, true)
    try store.flush(at: Folder.time)
    let next = try folder.snapshot().open()
    #expect(next.rows.clients.count == 1 && next.rows.regions.count == 1)
    #expect(next.rows.services.count == 1 && next.counter(.nextClient) == Int64(client.id) + 1)
    store.setDurable(client.id, false)
    try store.flush(at: Folder.time)
    let last = try folder.snapshot().open()
    #expect(last.rows.clients.count == 0 && last.rows.regions.count == 0)
    #expect(store.rows.regions.count == 1, "its process keeps them")
  }

  @Test("RES-2: a decision is always written and outlives the client's other rows")
  func decision() throws {
    let folder = Folder()
    let store = try folder.open()
    var client = try #require(store.addClient(uid: 1, name: "a", isDurable: false))
    fill(store, client.id)
    client.decision = .denied
    _ = store.rows.clients.put(client)
    try store.flush(at: Folder.time)
    let next = try folder.snapshot().open()
    #expect(next.rows.clients.all.map(\.decision) == [.denied] && next.rows.regions.count == 0)
    store.removeUndecided(client.id)
    #expect(store.rows.regions.count == 0 && store.rows.clients.count == 1)
    try store.flush(at: Folder.time)
    #expect(try folder.snapshot().open().rows.clients.count == 1)
    #expect(store.addClient(uid: 1, name: "a")?.decision == .denied)
    store.removeClient(client.id)
    try store.flush(at: Folder.time)
    #expect(try folder.snapshot().open().rows.clients.count == 0)
  }

  @Test("a number that was never on disk may be reused, one that was on disk may not")
  func numbers() throws {
    let store = try Folder().open()
    let first = try #require(store.addClient(uid: 1, name: "a"))
    store.removeClient(first.id)
    for number in 0..<100 {
      let client = try #require(store.addClient(uid: 1, name: "n\(number)", isDurable: false))
      #expect(client.id == first.id + 1)
      store.removeUndecided(client.id)
    }
    // The row of a durable client is written, even if others had its number before.
    let last = try #require(store.addClient(uid: 1, name: "b"))
    fill(store, last.id)
    #expect(store.rows.regions.changed.count == 1)
  }

  @Test("a symbolic link instead of the state is refused, and its target stays unchanged")
  func link() throws {
    for name in ["state.db", "state.db-wal"] {
      let folder = Folder()
      folder.write([1, 2, 3], to: "victim")
      _ = unsafe chmod(folder.file("victim"), 0o644)
      if name != "state.db" { try folder.open().close(at: Folder.time) }
      #expect(unsafe symlink(folder.file("victim"), folder.file(name)) == 0)
      #expect(throws: StateError.notAFile(path: folder.file(name))) { try folder.open() }
      var status = stat()
      #expect(unsafe stat(folder.file("victim"), &status) == 0)
      #expect(status.st_mode & 0o777 == 0o644 && folder.read("victim") == [1, 2, 3])
    }
  }

  @Test("a FIFO instead of the state does not block", arguments: ["", "-wal", ".new"])
  func fifo(_ end: String) throws {
    let folder = Folder()
    if !end.isEmpty { try folder.open().close(at: Folder.time) }
    #expect(unsafe mkfifo(folder.path + end, 0o600) == 0)
    if end == ".new" {
      #expect(throws: Never.self) { try folder.open() }
    } else {
      #expect(throws: StateError.notAFile(path: folder.path + end)) { try folder.open() }
    }
  }

  @Test("a state readable by others is restricted to its owner")
  func mode() throws {
    let folder = Folder()
    try folder.open().close(at: Folder.time)
    _ = unsafe chmod(folder.path, 0o644)
    _ = try folder.open()
    var status = stat()
    #expect(unsafe stat(folder.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }
}
