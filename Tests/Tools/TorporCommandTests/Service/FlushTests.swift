import LocationPolicy
import LocationWire
import Testing

@testable import torpor

@Suite("What torpor flush reports")
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
      ],
      [
        use("listens", .foreground, .updates), use("asleep", .suspended, .updates),
        use("deaf", .suspended, .updates), use("visits", .suspended, .visits),
      ])
    #expect(
      lines == [
        "4294967000/asleep is suspended: its fixes stay stored until it runs again",
        "4294967000/deaf does not listen (Watch): its fixes stay stored until it listens",
        "4294967000/gone is not connected: fixes that wait for it stay stored until it connects",
      ])
  }

  @Test("a flush that delivers everything prints nothing")
  func nothing() {
    #expect(
      FlushCommand.remarks([client("a", .foreground)], [use("a", .foreground, .updates)]).isEmpty)
  }
}
