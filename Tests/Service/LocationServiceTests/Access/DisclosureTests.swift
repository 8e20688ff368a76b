import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("What users without permission see, and how they ask for it")
struct DisclosureTests {
  // MARK: What is not told

  @Test("AUT-9: who may not use location learns nothing of fixes, searching or moving")
  func leaks() throws {
    let bench = try Users.bench()
    let mine = bench.client("mine", of: Users.friend)
    _ = bench.ask(.startUpdating, mine.control)
    let (control, watch, _) = bench.client("spy", of: 4_711)
    _ = bench.ask(.addRegion(.home("home"), assuming: .unknown), control)
    _ = bench.ask(.startUpdating, control)
    func seen() -> [WireReply?] {
      var all: [WireReply?] = []
      if case .status(var status)? = bench.ask(.getStatus, control) {
        // UTC comes from fixes, and is not shown.
        status.now = FixTime(acquired: .boot, utc: status.now.utc)
        all.append(.status(status))
      }
      for call in [WireCall.getEnergy, .getPowerPlan, .getLocation, .listRegions] {
        all.append(bench.ask(call, control))
      }
      let generation = bench.generation
      for sequence in [0, 1, 10, 1_000_000] as [UInt64] {
        let name = FixName(generation: generation, sequence: sequence)
        all.append(bench.ask(.acknowledge(name), control))
      }
      all.append(bench.ask(.requestRegionState(.region, name: "home"), control))
      return all
    }
    bench.talk()
    let searching = seen()
    #expect(searching[1] == .error(.notAuthorized))
    for _ in 0..<5 { bench.fix() }
    #expect(mine.watch.fixes().count == 5)
    let fixed = seen()
    bench.talk()
    for (one, other) in zip(searching, fixed) { #expect(one == other) }
    for (one, other) in zip(searching, seen()) { #expect(one == other) }
    let told = watch.notices().filter {
      switch $0 {
      case .failure(.denied), .region: false
      default: true
      }
    }
    #expect(told.isEmpty, "\(told)")
    guard case .status(let status)? = bench.ask(.getStatus, mine.control) else {
      Issue.record("no status")
      return
    }
    #expect(status.nextSequence == 5 && status.receiver?.lastByte != nil)
  }

  // MARK: Requests

  @Test(
    "AUT-8: what needs permission asks for it by itself, and the administrator sees it",
    arguments: [
      WireCall.openLive(.default), .openServiceSession(.whenInUse, wantsFullAccuracy: false),
      .openServiceSession(.always, wantsFullAccuracy: false), .openBackgroundSession,
      .addRegion(
        WireRegion(
          .condition, name: "home", center: Coordinate(latitude_e9: 1, longitude_e9: 1),
          radius: 100), assuming: .unknown),
    ])
  func implicit(_ call: WireCall) throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("tracker", of: 4_711)
    func asks() -> [Authorization?] {
      guard case .clients(let clients)? = bench.ask(.listClients, bench.program()) else {
        return []
      }
      return clients.map(\.requestedAuthorization)
    }
    #expect(asks() == [nil])
    _ = bench.ask(call, control)
    let wanted: Authorization =
      call == .openServiceSession(.always, wantsFullAccuracy: false) ? .always : .whenInUse
    #expect(asks() == [wanted])
    // Until it is decided, whether its program runs or not.
    control.quit()
    watch.quit()
    bench.settle()
    #expect(asks() == [wanted])
    let name = WireClientName(user: 4_711, name: "tracker")
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    #expect(asks() == [nil])
  }

  @Test("AUT-8, BKG-15: with explicit sessions only a session asks")
  func explicit() throws {
    let bench = try Users.bench()
    let control = bench.program(of: 4_711)
    _ = bench.ask(.connect(name: "tracker", needsExplicitSessions: true), control)
    _ = bench.ask(.openLive(.default), control)
    _ = bench.ask(.openBackgroundSession, control)
    #expect(bench.firstClient?.requestedPermission == nil)
    _ = bench.ask(.openServiceSession(.whenInUse, wantsFullAccuracy: false), control)
    #expect(bench.firstClient?.requestedPermission == .whenInUse)
  }
}
