import ArgumentParser
import LocationClient
import LocationTypes
import LocationWire

/// How `torpor export` writes fixes.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
  /// GPX 1.1: a track.
  case gpx
  /// RFC 7946: a point for each fix.
  case geojson
  /// A table with a header line.
  case csv
  /// RMC and GGA of each fix.
  case nmea
  /// One object a line, units in the names.
  case jsonl
}

/// `torpor export`.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the fixes that the service keeps for a client as a file for other programs.",
    discussion: """
      What is written is what the client of that name is owed: fixes that were made while it asked \
      for them and that it has not acknowledged. They stay owed, and its program notices nothing.

        torpor export --client trail-log -o today.gpx
        torpor export --client trail-log --format geojson > today.geojson
      """)

  @OptionGroup var socket: SocketOption

  @Option(
    help: ArgumentHelp(
      "gpx (if not given), geojson, csv, nmea, or jsonl.", valueName: "format"))
  var format: ExportFormat?

  @Flag(help: "The same as --format jsonl.")
  var json = false

  @Option(
    help: ArgumentHelp("The client whose fixes they are, of the user who asks.", valueName: "name"),
    transform: ClientName.name)
  var client: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file instead of standard output; it appears when it is complete.",
      valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(name: .shortAndLong, help: "Do not tell on standard error how many there were.")
  var quiet = false

  mutating func validate() throws {
    if json, let format, format != .jsonl {
      throw ValidationError("--json is --format jsonl: give one of them")
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
      if count % 256 == 0 { try move(&writer, to: &result) }
    }
    writer.finish()
    try move(&writer, to: &result)
    try result.finish()
    if !quiet { tell(count, drain.gap) }
  }

  private func move(_ writer: inout FixWriter, to result: inout Output) throws {
    try result.write(writer.text.bytes)
    writer.text.removeAll()
  }

  private func tell(_ count: Int, _ gap: Gap?) {
    if let gap {
      let number = HumanFormat.count(Int(clamping: gap.count))
      POSIX.tell("torpor: \(number) before the first were lost")
    }
    switch count {
    case 0:
      POSIX.tell("torpor: '\(client)' is owed no fix")
    case 1: POSIX.tell("torpor: 1 fix")
    default: POSIX.tell("torpor: \(HumanFormat.count(count)) fixes")
    }
  }
}

extension ClientName {
  /// The name under which this command connects.
  static let own = "torpor"

  /// Reads a client's name alone.
  static func name(_ text: String) throws -> String {
    guard WireName.isValidClient(text) else {
      throw ValidationError(
        "it should be 1 to \(WireLimits.clientName) bytes without control characters")
    }
    return text
  }
}
