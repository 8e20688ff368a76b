import CFirmware
import LocationTypes

/// A pair of positions with a published distance.
private struct PublishedDistance {
  var name: StaticString
  var from: (latitude_e9: Int64, longitude_e9: Int64)
  var to: (latitude_e9: Int64, longitude_e9: Int64)
  /// Distance, metres.
  var length: Double

  var computed: Double {
    Coordinate(latitude_e9: from.latitude_e9, longitude_e9: from.longitude_e9).distance(
      to: Coordinate(latitude_e9: to.latitude_e9, longitude_e9: to.longitude_e9))
  }
}

/// Checks three published distances to one millimetre each (LOC-6).
func checkGeodesy(_ report: inout Report) {
  let before = firmware_instructions()
  // C. Karney's documentation of GeographicLib: Wellington to Salamanca, New York to London.
  check(
    PublishedDistance(
      name: "wellington-salamanca", from: (-41_320_000_000, 174_810_000_000),
      to: (40_960_000_000, -5_500_000_000), length: 19_959_679.267), &report)
  check(
    PublishedDistance(
      name: "new-york-london", from: (40_600_000_000, -73_800_000_000),
      to: (51_600_000_000, -500_000_000), length: 5_551_759.400), &report)
  // The quarter meridian of WGS 84.
  check(
    PublishedDistance(
      name: "equator-pole", from: (0, 0), to: (90_000_000_000, 0), length: 10_001_965.729),
    &report)
  report.cost("three-geodesics", firmware_instructions() - before)
  let start = Coordinate(latitude_e9: 48_118_000_000, longitude_e9: 11_520_000_000)
  let end = start.destination(bearing: 30, distance: 777)
  report.length("local-distance", start.localDistance(to: end))
}

private func check(_ published: PublishedDistance, _ report: inout Report) {
  let length = published.computed
  report.length(published.name, length)
  report.check(abs(length - published.length) < 0.001, published.name)
}
