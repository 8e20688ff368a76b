import GNSSProtocols
import GPXFiles
import LocationTypes
import SimulatedHAL

/// Reads a track file, GPX or table, for `torpor simulate`, `tune`, `optimum` and `receiver`. The content determines
/// the format.
enum TrackFile {
  /// Description of the accepted formats, for error messages.
  static let expected = "a track: GPX, or a table that begins with \(Track.csvHeader)"

  /// Reads the track at `path`.
  ///
  /// - Parameters:
  ///   - path: Path of the file, or `-` for standard input.
  ///   - longest: Largest duration; nil for no limit.
  ///   - command: The command that reads it, for suggestions.
  /// - Throws: ``CommandError`` with the position and a suggestion.
  static func read(
    _ path: String, longest: Interval?, for command: String = "simulate"
  ) throws -> Track {
    var input = try InputFile(path, expected: expected)
    var block: [UInt8] = []
    guard try input.read(into: &block) else { return try table(block, input.name, longest) }
    if let foreign = foreignError(block, input.name, command) { throw foreign }
    if GPXReader.isXML(block) {
      let file = try gpx(&input, from: block)
      return try track(file, input.name, longest)
    }
    return try table(block + input.readAll(), input.name, longest)
  }

  /// Reads the track at `path` for a run from its first point to its last.
  ///
  /// - Throws: ``CommandError``, also if it is shorter than 1 s or longer than 31 days.
  static func readWhole(_ path: String, for command: String) throws -> Track {
    let track = try read(path, longest: nil, for: command)
    let name = path == "-" ? "standard input" : path
    let longest = Interval.seconds(ArgumentValues.maximumHours * 3_600)
    guard track.duration <= longest else {
      throw CommandError(
        .data,
        """
        \(name) is too long: its points span \(HumanFormat.duration(track.duration)), more than \
        \(HumanFormat.duration(longest)); split it
        """)
    }
    guard track.duration >= shortest else { throw tooShort(track, name, "give a longer track") }
    return track
  }

  /// Shortest duration of a track.
  static let shortest = Interval.seconds(1)

  /// Error for a track shorter than ``shortest``.
  static func tooShort(_ track: Track, _ name: String, _ advice: String) -> CommandError {
    let reason =
      track.points.count == 1
      ? "it has only one point with a time of its own" : "its duration is less than 1 s"
    return CommandError(.data, "\(name) is too short: \(reason); \(advice)")
  }

  private static func table(
    _ bytes: [UInt8], _ name: String, _ longest: Interval?
  ) throws(CommandError) -> Track {
    do { return try Track(csv: bytes, maximumDuration: longest) } catch {
      switch error.problem {
      case .tooLong:
        throw CommandError(
          .data, "\(name) is too long for one run: \(error); split it or give --hours")
      case .badHeader:
        throw CommandError(.data, "\(name) is not a track: \(error); or use GPX")
      case .notUTF8:
        throw CommandError(.data, "\(name) is not a track: \(error); it should be \(expected)")
      case .empty, .fieldCount, .notANumber, .outOfRange, .timeDecreases:
        throw CommandError(.data, "\(name) is not a track: \(error)")
      }
    }
  }

  /// Error for a compressed file or a receiver's recording; nil for other files.
  ///
  /// - Parameters:
  ///   - bytes: First block of the file.
  ///   - name: Name of the file, for the message.
  ///   - command: The command that reads it, for suggestions.
  private static func foreignError(
    _ bytes: [UInt8], _ name: String, _ command: String
  ) -> CommandError? {
    if GPXReader.isXML(bytes) { return nil }
    let beginning = Array(bytes.prefix(ForeignFormat.prefixLength))
    if let format = ForeignFormat(beginning, FrameFormats()) {
      let reader = "torpor \(command) --track -"
      return CommandError(.data, format.message(about: name, pipeCommand: reader))
    }
    // A table is not searched for sentences.
    guard !beginning.starts(with: Track.csvHeader.utf8) else { return nil }
    var recording = RecordingDecoder(dateGiven: nil)
    recording.decode(bytes) { _ in }
    guard recording.hasMessages else { return nil }
    let file = name == "standard input" ? "-" : name.shellQuoted
    return CommandError(
      .data,
      "\(name) is a recording of a receiver's output, not a track; convert it with "
        + "`torpor decode --format gpx -o track.gpx \(file)`")
  }

  private static func gpx(
    _ input: inout InputFile, from first: [UInt8]
  ) throws(CommandError) -> GPXFile {
    func located(_ error: GPXError) -> CommandError {
      CommandError(.data, "\(position(input.name, error.position)): \(error)")
    }
    var reader: GPXReader
    do { reader = try GPXReader() } catch { throw located(error) }
    var block = first
    repeat {
      do { try reader.add(block) } catch { throw located(error) }
    } while try input.read(into: &block)
    do { return try reader.finish() } catch { throw located(error) }
  }

  /// Converts the points to a track. Points without a time are ignored; of several points with the same time, only the
  /// first is used, as in a table.
  ///
  /// - Throws: ``CommandError`` if no point has a time, the times decrease, or the track is longer than `longest`.
  static func track(
    _ file: GPXFile, _ name: String, _ longest: Interval?
  ) throws(CommandError) -> Track {
    guard let first = file.positions.first else { throw empty(file, name) }
    var points: [TrackPoint] = []
    var start: UTCTime?
    for (point, textPosition) in zip(file.points, file.positions) {
      guard let utc = point.utc else { continue }
      let begin = start ?? utc
      start = begin
      let offset = utc - begin
      if let previous = points.last?.offset, offset <= previous {
        if offset == previous { continue }
        throw CommandError(
          .data,
          """
          \(self.position(name, textPosition)): this point is earlier than the previous one; if \
          the file has several tracks, save each to its own file, or sort the points by time
          """)
      }
      points.append(
        TrackPoint(
          offset: offset, coordinate: point.coordinate, altitude_mm: point.altitude_mm,
          speed_mmps: point.speed_mmps))
    }
    guard let start, let last = points.last else {
      throw CommandError(
        .data,
        """
        \(position(name, first)): no point has a <time>, so the speed is unknown; export the recorded \
        activity with its times, or add artificial times, for example 5 s from point to point:
          gpsbabel -t -i gpx -f FILE -x track,faketime=f20260101080000+5 -o gpx -F timed.gpx
        """)
    }
    if let longest, last.offset > longest {
      throw CommandError(
        .data,
        """
        \(name) is too long for one run: its points span \(HumanFormat.duration(last.offset)), more \
        than \(HumanFormat.duration(longest)); split it or give --hours
        """)
    }
    return Track(start: start, points: points)
  }

  private static func empty(_ file: GPXFile, _ name: String) -> CommandError {
    var others: [String] = []
    if file.routes > 0 { others.append(HumanFormat.count(file.routes, of: "route")) }
    if file.waypoints > 0 { others.append(HumanFormat.count(file.waypoints, of: "waypoint")) }
    let found =
      others.isEmpty ? "and no other content" : "but " + others.joined(separator: " and ")
    let lack =
      switch file.tracks {
      case 0: "has no track"
      case 1: "has a track without points"
      default: "has tracks without points"
      }
    return CommandError(
      .data,
      """
      \(name) \(lack), \(found); a simulation needs a recorded track, <trkpt> with <time>\
      \(file.routes > 0 ? routeAdvice : "")
      """)
  }

  /// Suggestion for converting a planned route to a track.
  private static let routeAdvice = """
    ; to convert a route with artificial times, for example 5 s from point to point:
      gpsbabel -r -i gpx -f FILE -x transform,trk=rte,del -x track,faketime=f20260101080000+5 \
    -o gpx -F timed.gpx
    """

  private static func position(_ name: String, _ position: GPXTextPosition) -> String {
    "\(name):\(position.line):\(position.column)"
  }
}
