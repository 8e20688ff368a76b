import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing
import TextFormats

@testable import LocationClient

@Suite("A client program's connection to the service", .tags(.realTime))
struct ConnectionTests {
  private let session = WireSession(
    session: 7, authorization: .always, isReduced: false, isDeferralAvailable: true)

  private func error(_ body: () throws(ClientError) -> Void) -> ClientError? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test("connecting without a service fails with the cause and a suggestion")
  func absent() {
    let missing = "/tmp/torpor-no-such-socket"
    #expect(
      error { () throws(ClientError) in _ = try LocationConnection(path: missing) }
        == .noSocket(path: missing))
    #expect(
      error { () throws(ClientError) in _ = try LocationConnection(path: "/etc/passwd") }
        == .notASocket(path: "/etc/passwd"))
    // A starting service may remove the old socket between the refusal and the check of the path.
    #expect(LocationConnection.connectError(missing, ECONNREFUSED) == .noSocket(path: missing))
    let long = "/tmp/" + String(repeating: "x", count: 200)
    for path in ["", long] {
      guard
        case .system? = error({ () throws(ClientError) in _ = try LocationConnection(path: path) })
      else {
        Issue.record("an invalid path is refused")
        continue
      }
    }
    let service = FakeService { _ in ([], false) }
    service.stop()
    var result: ClientError?
    // The thread closes the listener a moment later.
    for _ in 0..<1_000 where result != .noService(path: service.path) {
      result = error { () throws(ClientError) in _ = try LocationConnection(path: service.path) }
      usleep(1_000)
    }
    #expect(result == .noService(path: service.path))
    for failure in [
      ClientError.noSocket(path: "x"), .disconnected, .timedOut, .refused(.permissionDenied),
    ] {
      #expect(!failure.description.isEmpty && !failure.description.contains("\n"))
    }
  }

  @Test("a call returns its reply, a refusal or a decoding error")
  func calls() throws {
    let service = FakeService { call in
      switch call {
      case .startVisits: (FakeService.frame(.done), false)
      case .flush: (FakeService.frame(.error(.permissionDenied)), false)
      case .getStatus: (Array("{\"parameters\":{\"status\":{}}}\0".utf8), false)
      case .getEnergy: (Array("nonsense\0".utf8), false)
      default: ([], true)
      }
    }
    defer { service.stop() }
    var connection = try LocationConnection(path: service.path)
    #expect(try connection.call(.startVisits) == .done)
    var errors: [ClientError?] = []
    for call in [WireCall.flush, .getStatus, .getEnergy, .listClients] {
      do {
        _ = try connection.call(call)
        errors.append(nil)
      } catch { errors.append(error) }
    }
    #expect(errors[0] == .refused(.permissionDenied))
    #expect(errors[1] == .malformed("the parameter 'status.version'"))
    #expect(errors[2] == .malformed("no Varlink message"))
    #expect(errors[3] == .disconnected, "the service disconnected during the call")
  }

  @Test("a call without a reply times out")
  func timeout() throws {
    let service = FakeService { _ in ([], false) }
    defer { service.stop() }
    var connection = try LocationConnection(path: service.path)
    var thrown: ClientError?
    do { _ = try connection.call(.getStatus, within: .milliseconds(5)) } catch { thrown = error }
    #expect(thrown == .timedOut)
  }

  @Test("a session calls on one connection and receives its notices in order on another")
  func notices() throws {
    let session = session
    let service = FakeService { call in
      switch call {
      case .connect: (FakeService.frame(.connected(session)), false)
      case .watch:
        (
          [WireNotice.paused, .resumed].flatMap { FakeService.frame(.notice($0), continues: true) },
          true
        )
      default: (FakeService.frame(.done), false)
      }
    }
    defer { service.stop() }
    var program = try ClientSession(name: "test", path: service.path)
    #expect(program.descriptor == -1 && program.session == session)
    #expect(try program.nextNotice(within: .zero) == nil, "no connection watches yet")
    try program.subscribe()
    #expect(program.descriptor >= 0)
    #expect(try program.nextNotice(within: .seconds(5)) == .paused)
    #expect(try program.nextNotice(within: .seconds(5)) == .resumed)
    var thrown: ClientError?
    do { _ = try program.nextNotice(within: .seconds(5)) } catch { thrown = error }
    #expect(thrown == .disconnected, "the service disconnected in the middle of the stream")
    #expect(service.calls == [.connect(name: "test"), .watch(session: 7)])
  }

  /// A service that announces `count` fixes and omits the last `bytes` bytes of the records.
  private func drained(_ count: UInt64, dropping bytes: Int) -> FakeService {
    let session = session
    return FakeService { call in
      if case .connect = call { return (FakeService.frame(.connected(session)), false) }
      var output = JSONOutput()
      FixRecordHeader(count: count).append(to: &output)
      for i in 0..<count {
        let fix = Fix(
          acquired: .boot + .seconds(Int64(i)),
          coordinate: Coordinate(latitude_e9: Int64(i), longitude_e9: 0))
        FixRecord.append(
          StoredFix(name: FixName(generation: 1, sequence: i), fix: fix), to: &output)
      }
      return (
        FakeService.frame(.drain(count: count, nil)) + output.bytes.dropLast(bytes), true
      )
    }
  }

  @Test("a drain returns every fix, then ends", arguments: [0, 1, 1_000] as [UInt64])
  func drain(_ count: UInt64) throws {
    let service = drained(count, dropping: 0)
    defer { service.stop() }
    let program = try ClientSession(name: "test", path: service.path)
    var drain = try program.drain()
    #expect(drain.count == count && drain.gap == nil)
    var sequences: [UInt64] = []
    while let fix = try drain.next() { sequences.append(fix.name.sequence) }
    #expect(sequences == Array(0..<count))
  }

  @Test("a refusal to a client without permission names the client and the command that allows it")
  func notAllowed() {
    let named = ClientError.refused(.notAuthorized).naming(client: "my app", in: .getLocation)
    #expect(named == .locationNotPermitted(client: "my app"))
    #expect(named.description.contains("'my app' of this user may not use location"))
    #expect(named.description.contains("`sudo torpor clients allow '"))
    #expect(named.description.contains("/my app'`"))
    let other = ClientError.refused(.notAvailable(what: "x"))
    #expect(other.naming(client: "a", in: .getLocation) == other)
    #expect(ClientError.refused(.notAuthorized).description.contains("/NAME`"))
  }

  @Test(
    "AUT-7: a refusal names the rule too, because a command does not override a rule",
    arguments: [ClientError.locationNotPermitted(client: "a"), .refused(.notAuthorized)])
  func ruleDecides(_ error: ClientError) {
    #expect(
      error.description.hasSuffix(
        ", or, if a rule in clients.toml decides about it, by changing that rule"))
  }

  @Test("BKG-18: a refusal of background updates is not reported as a refusal of location")
  func noBackground() throws {
    let session = session
    let service = FakeService { call in
      if case .connect = call { return (FakeService.frame(.connected(session)), false) }
      return (FakeService.frame(.error(.notAuthorized)), false)
    }
    defer { service.stop() }
    var program = try ClientSession(name: "test", path: service.path)
    var settings = WireSettings()
    settings.allowsBackground = true
    var thrown: ClientError?
    do { _ = try program.call(.configure(settings)) } catch { thrown = error }
    #expect(thrown == .backgroundNotPermitted(client: "test"))
    let text = thrown?.description ?? ""
    #expect(text.contains("'test' of this user may not use location in the background"))
    #expect(text.contains("`background = true` in its rule in clients.toml"))
  }

  @Test("an interrupted drain fails with the number of fixes received")
  func truncatedDrain() throws {
    let service = drained(3, dropping: 81)
    defer { service.stop() }
    let program = try ClientSession(name: "test", path: service.path)
    var drain = try program.drain()
    var thrown: ClientError?
    do { while try drain.next() != nil {} } catch { thrown = error }
    #expect(thrown == .truncated(received: 1, of: 3))
  }
}
