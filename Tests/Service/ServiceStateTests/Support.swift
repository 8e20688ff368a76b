import Foundation
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import ServiceState

/// A folder for one test, removed afterwards.
final class Folder {
  static let time = UTCTime(microseconds: 1_763_770_472_000_000)  // 2025-11-22T00:14:32Z
  private let folder = TestFolder()

  var path: String { folder.file("state.db") }

  /// The names of its files, sorted.
  var names: [String] { folder.names }

  func open(_ schema: StateSchema = .current, pageLimit: Int? = nil) throws -> StateStore {
    try StateStore(path: path, at: Folder.time, schema: schema, pageLimit: pageLimit)
  }

  /// The path of one of its files.
  func file(_ name: String) -> String { folder.file(name) }

  func read(_ name: String = "state.db") -> [UInt8] { folder.read(name) }

  func write(_ bytes: [UInt8], to name: String = "state.db") { folder.write(bytes, to: name) }

  /// A copy of the files as a power cut or SIGKILL would leave them now.
  func snapshot() -> Folder {
    let copy = Folder()
    for name in names { folder.copy(name, to: copy.folder) }
    return copy
  }

  /// Changes the file without the store.
  func edit(_ sql: String) throws {
    let database = try Database(path, .writing)
    try database.run(sql)
  }
}

/// A process to be killed.
struct Probe {
  let process = Process()
  private let output = Pipe()

  init(_ command: String, _ path: String) throws {
    process.executableURL = URL(filePath: Probe.path)
    process.arguments = [command, path]
    process.standardOutput = output
    try process.run()
  }

  /// All output lines until the process ends.
  func lines() -> [Substring] {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n")
  }

  /// Waits for the first output.
  func waitForOutput() { _ = output.fileHandleForReading.availableData }

  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

  static let path = builtProgram("StateProbe")
}

extension StateStore {
  /// A client with a row in each table.
  func fill(_ name: String, uid: UInt32 = 1_000, sequence: UInt64 = 7) throws -> ClientNumber {
    var client = try #require(addClient(uid: uid, name: name))
    client.authorization = .always
    client.decision = .whenInUse
    client.isReducedByDecision = true
    client.hasRequestedAlways = true
    rows.clients.save(client)
    let name = FixName(generation: 3, sequence: sequence)
    let bookmark = ClientBookmark(
      acknowledged: name, undeliveredThrough: FixName(generation: 3, sequence: sequence + 2),
      excludedAfter: name, excludedThrough: FixName(generation: 3, sequence: sequence + 1),
      significantFrom: FixName(generation: 2, sequence: 0),
      visitsFrom: FixName(generation: 3, sequence: sequence + 3))
    rows.cursors.save(CursorRecord(client: client.id, bookmark: bookmark, mayHaveLostFixes: true))
    var services = ServicesRecord(client: client.id)
    services.significantChange = true
    services.visits = true
    services.backgroundSession = true
    rows.services.save(services)
    let center = Coordinate(latitude_e9: -33_856_784_000, longitude_e9: 151_215_297_000)
    let region = Region(
      RegionIdentifier(.condition, 9), center: center, radius: 123.25, notifyOnExit: false)
    rows.regions.save(
      RegionRecord(
        client: client.id, name: "zu Hause ⌂", region: region, state: .satisfied,
        handled: "{\"region\":\"⌂\"}"))
    rows.events.save(
      EventRecord(.init(client: client.id, number: 4), notice: "{\"visit\":\"⌂\"}"))
    return client.id
  }

  func flush() throws { try flush(at: Folder.time) }
}

extension StateTable {
  /// Puts a row into a table with free capacity.
  mutating func save(_ row: Row) {
    let isPut = put(row)
    #expect(isPut)
  }
}
