import ArgumentParser
import LocationTypes
import TextFormats

/// `torpor distance`: the length of the geodesic between two positions.
struct DistanceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "distance",
    abstract: "Compute the distance between two positions.",
    discussion: """
      The distance is the length of the geodesic on the ellipsoid WGS 84, the same that distance \
      filters and regions use.

        torpor distance 52.516275,13.377704 48.858370,2.294481
      """)

  @Flag(help: "Print one JSON object: distance_m.")
  var json = false

  @Argument(
    help: ArgumentHelp(
      "The first position: latitude and longitude in degrees, with a comma between them.",
      valueName: "from"),
    transform: DistanceCommand.position)
  var from: Coordinate

  @Argument(
    help: ArgumentHelp("The second position.", valueName: "to"),
    transform: DistanceCommand.position)
  var to: Coordinate

  /// Parses `52.516275,13.377704`.
  static func position(_ text: String) throws -> Coordinate {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard parts.count == 2, let latitude = parts[0], let longitude = parts[1],
      let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    else { throw ValidationError("it should be LATITUDE,LONGITUDE in degrees") }
    return coordinate
  }

  func run() throws {
    let distance_m = from.distance(to: to)
    var line = JSONOutput()
    line.line { $0.member("distance_m", Int64((distance_m * 1_000).rounded()), scale: 3) }
    var output = Output()
    try output.write(json ? line.bytes : Array("\(HumanFormat.distance(distance_m))\n".utf8))
    try output.finish()
  }
}
