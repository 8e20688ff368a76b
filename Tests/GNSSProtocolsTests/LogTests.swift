import Foundation
import LocationTypes
import Testing

@testable import GNSSProtocols

@Suite("recorded drives", .enabled(if: recordings != nil, "no recordings beside the package"))
struct DriveTests {
  @Test(
    "x",
    arguments: [
      "boat_amsterdam_gps_20min", "car_nevada_garmin_2005-09-25_3h", "sailing_gulf_of_finland_1h",
    ])
  func x(name: String) throws {
    let file = try Recording("nmea/\(name).nmea")
    let d = decode(file.bytes)
    let e = epochs(file.bytes)
    print(
      name, d.counters, e.count, e.filter { $0.fix != nil }.count, e.filter { $0.utc != nil }.count)
    var last: Int64 = -1
    for x in e { let t = x.timeOfDay_us ?? -5; if t <= last { print("  back", last, t) }; last = t }
    print(e[0], e[1], e.last!)
    print(
      MemoryLayout<GNSSMessage>.size, MemoryLayout<Epoch>.size, MemoryLayout<EpochAssembler>.size,
      MemoryLayout<GNSSDecoder>.size, MemoryLayout<UBXCommand>.size, MemoryLayout<Fix>.size)
  }
}
