import ArgumentParser
import LocationClient
import LocationTypes
import LocationWire

/// Output formats of `torpor export`.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
  /// GPX 1.1: a track.
  case gpx
  /// GeoJSON (RFC 7946): a point feature for each fix.
  case geojson
  /// Comma-separated values with a header line.
  case csv
  /// NMEA 0183: the sentences RMC and GGA of each fix.
  case nmea
  /// JSON Lines: one object for each fix, units in the member names.
  case jsonl
}

/// `torpor export`.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a client's undelivered fixes to a file for other programs.",
    discussion: """
      Writes the fixes that the service stores for the client of that name: those measured while it \
      requested them and not yet acknowledged. Exporting acknowledges nothing: the service still \
      delivers them to the client's program.

        torpor export --client trail-log -o today.gpx
        torpor export --client trail-log --format geojson > today.geojson
      """)

  @OptionGroup var socket: SocketOption

  @Option(
    help: ArgumentHelp(
      "gpx (if not given), geojson, csv, nmea, or jsonl.", valueName: "format"))
  var format: ExportFormat?

  @Flag(help: "Equivalent to --format jsonl.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Name of the client whose fixes are exported; it belongs to the user of this command.",
      valueName: "name"),
    transform: ClientName.parseName)
  var client: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file instead of standard output; the file is created when it is complete.",
      valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(name: .shortAndLong, help: "Do not print the number of fixes to standard error.")
  var quiet = false

  mutating func validate() throws {
    if json, let format, format != .jsonl {
      throw ValidationError("--json means --format jsonl: give only one of the two options")
    }
  }

  func run() throws {
    do { try write() } catch let error as ClientError { throw CommandError(error) }
  }

  private func write() throws {
    var drain = try FixDrain(ofClient: client, path: socket.path)
    let path = output.flatMap { $0 == "-" ? nil : $0 }
    var result = try path.map { path throws(CommandError) in try Output(path: path) } ?? Output()
    var writer = FixWriter(json ? .jsonl : format ?? .gpx, name: client)
    var count = 0
    while let fix = try drain.next() {
      writer.write(fix)
      count += 1
      if count % 256 == 0 { try flush(&writer, to: &result) }
    }
    writer.finish()
    try flush(&writer, to: &result)
    try result.finish()
    if !quiet { reportCount(count, drain.gap) }
  }

  private func flush(_ writer: inout FixWriter, to result: inout Output) throws {
    try result.write(writer.bytes)
    writer.removeAll()
  }

  private func reportCount(_ count: Int, _ gap: Gap?) {
    if let gap {
      let number = HumanFormat.count(Int(clamping: gap.count))
      POSIX.printError("torpor: number of fixes lost before the first exported one: \(number)")
    }
    switch count {
    case 0:
      POSIX.printError("torpor: '\(client)' has no undelivered fixes")
    case 1: POSIX.printError("torpor: 1 fix")
    default: POSIX.printError("torpor: \(HumanFormat.count(count)) fixes")
    }
  }
}

extension ClientName {
  /// Client name with which `torpor monitor` and `torpor visits` register.
  static let own = "torpor"

  /// Parses a client's name without the user.
  static func parseName(_ text: String) throws -> String {
    guard NameValidation.isValidClient(text) else {
      throw ValidationError(
        "it should be 1 to \(WireLimits.clientName) bytes without control characters")
    }
    return text
  }
}
