import Glibc
import LinuxHAL
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TestSupport
import Testing

@testable import LocationService

@Suite("What users without permission can see, and their requests for permission")
struct DisclosureTests {
  // MARK: Disclosure

  @Test("AUT-9: a client without permission receives nothing about fixes, acquisition or motion")
  func leaks() throws {
    let bench = try Users.bench()
    let permitted = bench.client("mine", of: Users.friend)
    _ = bench.call(.startUpdating, permitted.control)
    let (control, watch, _) = bench.client("spy", of: 4_711)
    _ = bench.call(.addRegion(.home("home"), assuming: .unknown), control)
    _ = bench.call(.startUpdating, control)
    func replies() -> [WireReply?] {
      var all: [WireReply?] = []
      if case .status(var status)? = bench.call(.getStatus, control) {
        // UTC comes from fixes and is hidden.
        status.now = FixTime(acquired: .boot, utc: status.now.utc)
        all.append(.status(status))
      }
      for call in [WireCall.getEnergy, .getMetrics, .getPowerPlan, .getLocation, .listRegions] {
        all.append(bench.call(call, control))
      }
      let generation = bench.generation
      for sequence in [0, 1, 10, 1_000_000] as [UInt64] {
        let name = FixName(generation: generation, sequence: sequence)
        all.append(bench.call(.acknowledge(name), control))
      }
      all.append(bench.call(.requestRegionState(.region, name: "home"), control))
      return all
    }
    bench.sendNoFix()
    let searching = replies()
    #expect(searching[1] == .error(.notAuthorized))
    for _ in 0..<5 { bench.fix() }
    #expect(permitted.watch.fixes().count == 5)
    let fixed = replies()
    bench.sendNoFix()
    for (one, other) in zip(searching, fixed) { #expect(one == other) }
    for (one, other) in zip(searching, replies()) { #expect(one == other) }
    let sent = watch.notices().filter {
      switch $0 {
      case .failure(.denied), .region: false
      default: true
      }
    }
    #expect(sent.isEmpty, "\(sent)")
    guard case .status(let status)? = bench.call(.getStatus, permitted.control) else {
      Issue.record("no status")
      return
    }
    #expect(status.nextSequence == 5 && status.receiver?.lastByte != nil)
  }

  // MARK: Requests

  @Test(
    "AUT-8: a call that needs permission requests it implicitly, and the administrator sees it",
    arguments: [
      WireCall.openLive(.default), .openServiceSession(.whenInUse, requiresFullAccuracy: false),
      .openServiceSession(.always, requiresFullAccuracy: false), .openBackgroundSession,
      .addRegion(
        WireRegion(
          .condition, name: "home", center: Coordinate(latitude_e9: 1, longitude_e9: 1),
          radius: 100), assuming: .unknown),
    ])
  func implicit(_ call: WireCall) throws {
    let bench = try Users.bench()
    let (control, watch, _) = bench.client("tracker", of: 4_711)
    func requested() -> [Authorization?] {
      guard case .clients(let clients)? = bench.call(.listClients, bench.program()) else {
        return []
      }
      return clients.map(\.requestedAuthorization)
    }
    #expect(requested() == [nil])
    _ = bench.call(call, control)
    let expected: Authorization =
      call == .openServiceSession(.always, requiresFullAccuracy: false) ? .always : .whenInUse
    #expect(requested() == [expected])
    // The request stays until it is decided, whether its program runs or not.
    control.quit()
    watch.quit()
    bench.settle()
    #expect(requested() == [expected])
    let name = WireClientName(user: 4_711, name: "tracker")
    #expect(bench.call(.denyClient(name), bench.program()) == .done)
    #expect(requested() == [nil])
  }

  @Test("AUT-8, BKG-15: with explicit sessions only a session requests permission")
  func explicit() throws {
    let bench = try Users.bench()
    let control = bench.program(of: 4_711)
    _ = bench.call(.connect(name: "tracker", needsExplicitSessions: true), control)
    _ = bench.call(.openLive(.default), control)
    _ = bench.call(.openBackgroundSession, control)
    #expect(bench.firstClient?.requestedPermission == nil)
    _ = bench.call(.openServiceSession(.whenInUse, requiresFullAccuracy: false), control)
    #expect(bench.firstClient?.requestedPermission == .whenInUse)
  }
}
