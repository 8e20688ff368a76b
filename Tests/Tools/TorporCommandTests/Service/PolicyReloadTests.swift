import Foundation
import Glibc
import LocationClient
import LocationTypes
import LocationWire
import TestSupport
import Testing

@Suite("Policy reload in a running service", .tags(.process))
struct PolicyReloadTests {
  private static let region = WireRegion(
    .region, name: "home",
    center: Coordinate(latitude_e9: 52_371_972_000, longitude_e9: 4_909_677_000), radius: 150)

  /// Names of the regions that the program's client monitors.
  private func regions(_ program: inout ClientSession) throws -> [String] {
    guard case .regions(let found) = try program.call(.listRegions) else { return [] }
    return found.map(\.region.name)
  }

  private func client(_ daemon: Daemon) throws -> WireClient? {
    var connection = try LocationConnection(path: daemon.socket)
    guard case .clients(let clients) = try connection.call(.listClients) else { return nil }
    return clients.first { $0.name.name == "tool" }
  }

  @Test("RES-2: an invalid policy changes nothing, and removing a rule keeps stored requests")
  func reload() throws {
    let daemon = try #require(Daemon())
    let withoutRule = "administrators = [\(geteuid())]\n"
    var program = try ClientSession(name: "tool", path: daemon.socket)
    _ = try program.call(.addRegion(PolicyReloadTests.region, assuming: .unknown))
    #expect(try client(daemon)?.authorization == .always)
    #expect(
      daemon.reload(policy: "default = always # no text\n").contains(
        "the policy is unchanged"))
    #expect(try client(daemon)?.authorization == .always)
    let log = daemon.reload(policy: withoutRule)
    let tool = "'tool' of user \(geteuid())"
    #expect(log.contains("\(tool): the policy no longer permits them"), "\(log)")
    #expect(try client(daemon)?.authorization == .notDetermined)
    #expect(try regions(&program) == ["home"])
    // Kill the service and start it with the rule again.
    daemon.restart(policy: withoutRule + "[[rule]]\nuser = \(geteuid())\naccess = \"always\"\n")
    program = try ClientSession(name: "tool", path: daemon.socket)
    #expect(try regions(&program) == ["home"])
    // A service that starts without the rule drops the region.
    daemon.restart(policy: withoutRule)
    program = try ClientSession(name: "tool", path: daemon.socket)
    #expect(try regions(&program).isEmpty)
    #expect(daemon.log.contains("\(tool): their requests are dropped"))
  }
}
