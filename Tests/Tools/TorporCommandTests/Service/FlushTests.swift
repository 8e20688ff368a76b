import LocationPolicy
import LocationWire
import Testing

@testable import torpor

@Suite("Report of torpor flush")
struct FlushCommandTests {
  private func client(
    _ name: String, _ execution: ExecutionState?, _ authorization: Authorization = .always
  ) -> WireClient {
    WireClient(
      WireClientName(user: 4_294_967_000, name: name), authorization: authorization,
      isReduced: false, execution: execution)
  }

  private func use(_ name: String, _ execution: ExecutionState?, _ service: WireService) -> WireUse
  {
    var use = WireUse(WireClientName(user: 4_294_967_000, name: name), execution: execution)
    use.services = [service]
    return use
  }

  @Test("BKG-2: each client whose fixes stay stored is named, with the reason")
  func remarks() {
    let lines = FlushCommand.remarks(
      [
        client("listens", .foreground), client("asleep", .suspended), client("deaf", .foreground),
        client("gone", nil), client("visits", .suspended), client("denied", nil, .denied),
        client("never started", nil),
      ],
      [
        use("listens", .foreground, .updates), use("asleep", .suspended, .updates),
        use("deaf", .suspended, .updates), use("visits", .suspended, .visits),
        use("gone", nil, .backgroundSession), use("denied", nil, .visits),
      ])
    #expect(
      lines == [
        "4294967000/asleep is suspended: its fixes stay stored until it runs again",
        "4294967000/deaf has not called Watch: its fixes stay stored until it calls Watch",
        "4294967000/gone is not connected: its fixes and events stay stored until it connects",
      ])
  }

  @Test("at most 8 clients are named, and the others are counted", arguments: [8, 9, 300])
  func many(_ count: Int) {
    let names = (0..<count).map { "c\($0)" }
    let lines = FlushCommand.remarks(
      names.map { client($0, .suspended) }, names.map { use($0, .suspended, .updates) })
    #expect(lines.count == min(count, 9))
    #expect(lines.prefix(8).allSatisfy { $0.contains(" is suspended: ") })
    #expect(lines.last == "and \(count - 8) more" || count == 8)
  }

  @Test("a disconnected client is named only if it has a request that outlives its connection")
  func notConnected() {
    let lines = FlushCommand.remarks(
      (0..<300).map { client("c\($0)", nil) } + [client("region", nil)],
      [use("region", nil, .regions)])
    #expect(lines.map { $0.prefix { $0 != " " } } == ["4294967000/region"])
  }

  @Test("a flush that delivers everything prints nothing")
  func nothing() {
    #expect(
      FlushCommand.remarks([client("a", .foreground)], [use("a", .foreground, .updates)]).isEmpty)
  }
}
