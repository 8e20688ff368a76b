import Glibc
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import ServiceState

@Suite("Clients whose rows are kept in memory alone, and files that are none")
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

  @Test("RES-2: rows of a client that is not durable are not written, whatever is put")
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
    #expect(store.rows.regions.count == 1, "its process goes on with them")
  }

  @Test("RES-2: a decision is written in any case, and outlives the client's other rows")
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

  @Test("a number that was never on the disk may be used again, one that was is not")
  func numbers() throws {
    let store = try Folder().open()
    let first = try #require(store.addClient(uid: 1, name: "a"))
    store.removeClient(first.id)
    for number in 0..<100 {
      let client = try #require(store.addClient(uid: 1, name: "n\(number)", isDurable: false))
      #expect(client.id == first.id + 1)
      store.removeUndecided(client.id)
    }
    // What is durable under a number that others had before is.
    let last = try #require(store.addClient(uid: 1, name: "b"))
    fill(store, last.id)
    #expect(store.rows.regions.changed.count == 1)
  }

  @Test("a link in the place of the state is refused, and what it leads to stays as it is")
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

  @Test("a FIFO in the place of the state is not waited for", arguments: ["", "-wal", ".new"])
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

  @Test("a state that others could read is made its owner's alone")
  func mode() throws {
    let folder = Folder()
    try folder.open().close(at: Folder.time)
    _ = unsafe chmod(folder.path, 0o644)
    _ = try folder.open()
    var status = stat()
    #expect(unsafe stat(folder.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }
}
