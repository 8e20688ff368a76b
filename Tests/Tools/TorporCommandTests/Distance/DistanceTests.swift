import TestSupport
import Testing

@testable import torpor

@Suite("torpor distance", .tags(.process))
struct DistanceTests {
  @Test("the distance is that of the geodesic, as text and JSON")
  func distance() {
    let positions = ["52.516275,13.377704", "48.858370,2.294481"]
    #expect(Command.run(["distance"] + positions).output.hasSuffix(" km\n"))
    let json = Command.run(["distance", "--json", "0,0", "0,1"])
    #expect(json.status == 0 && json.output == "{\"distance_m\":111319.491}\n")
  }

  @Test("an invalid position is a usage error", arguments: ["", "1", "91,0", "a,b", "1,2,3"])
  func invalid(_ position: String) {
    let run = Command.run(["distance", position, "0,0"])
    #expect(run.status == 64 && run.errors.contains("LATITUDE,LONGITUDE"))
  }
}
