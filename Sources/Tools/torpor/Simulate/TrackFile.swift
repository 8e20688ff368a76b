import GNSSProtocols
import GPXFiles
import LocationTypes
import SimulatedHAL

/// Reads a track in whichever form it is in: GPX, or a table. What is in the file decides.
enum TrackFile {
  /// What to say where there is no such file, or nothing in it.
  static let wanted = "a track: GPX, or a table that begins with \(Track.csvHeader)"

  /// Reads the track at `path`.
  ///
  /// - Parameters:
  ///   - longest: How long it may be, if there is a limit.
  ///   - command: The command that reads it, for what helps.
  /// - Throws: ``CommandError`` that says where it is wrong and what to do.
  static func read(
    _ path: String, longest: Interval?, for command: String = "simulate"
  ) throws -> Track {
    var input = try InputFile(path, wanted: wanted)
    var block: [UInt8] = []
    guard try input.read(into: &block) else { return try table(block, input.name, longest) }
    if let foreign = foreignError(block, input.name, command) { throw foreign }
    if GPXReader.isXML(block) {
      let file = try gpx(&input, from: block)
      return try track(file, input.name, longest)
    }
    return try table(block + input.readAll(), input.name, longest)
  }

  /// Reads the track at `path`, which is gone along from its first point to its last.
  ///
  /// - Throws: ``CommandError``, also where it is shorter than a second or longer than 31 days.
  static func readWhole(_ path: String, for command: String) throws -> Track {
    let track = try read(path, longest: nil, for: command)
    let name = path == "-" ? "standard input" : path
    let longest = Interval.seconds(ArgumentValues.mostHours * 3_600)
    guard track.duration <= longest else {
      throw CommandError(
        .data,
        """
        \(name) is too long: its points span \(HumanFormat.duration(track.duration)), more than \
        \(HumanFormat.duration(longest)); cut it up
        """)
    }
    guard track.duration >= shortest else { throw tooShort(name, "give a longer track") }
    return track
  }

  /// What is shorter is no way at all.
  static let shortest = Interval.seconds(1)

  /// What to say of a track that is shorter.
  static func tooShort(_ name: String, _ advice: String) -> CommandError {
    CommandError(.data, "\(name) is too short: there is no whole second in it; \(advice)")
  }

  private static func table(
    _ bytes: [UInt8], _ name: String, _ longest: Interval?
  ) throws(CommandError) -> Track {
    do { return try Track(csv: bytes, longest: longest) } catch {
      switch error.problem {
      case .tooLong:
        throw CommandError(
          .data, "\(name) is too long for one run: \(error); cut it or give --hours")
      case .badHeader:
        throw CommandError(.data, "\(name) is no track: \(error); or it is GPX")
      case .notText:
        throw CommandError(.data, "\(name) is no track: \(error); it should be \(wanted)")
      case .empty, .fieldCount, .notANumber, .outOfRange, .timeGoesBack:
        throw CommandError(.data, "\(name) is no track: \(error)")
      }
    }
  }

  /// What to say of a file that is compressed, or that a receiver sent; nil where it is neither.
  ///
  /// - Parameter bytes: Its first block.
  private static func foreignError(
    _ bytes: [UInt8], _ name: String, _ command: String
  ) -> CommandError? {
    if GPXReader.isXML(bytes) { return nil }
    let beginning = Array(bytes.prefix(ForeignFormat.beginning))
    if let format = ForeignFormat(beginning, FrameFormats()) {
      let reader = "torpor \(command) --track -"
      return CommandError(.data, format.message(about: name, reader: reader))
    }
    // A table is no sentence, so that its points are not searched for one.
    guard !beginning.starts(with: Track.csvHeader.utf8) else { return nil }
    var recording = RecordingDecoder(dateGiven: nil)
    recording.decode(bytes) { _ in }
    guard recording.hasMessages else { return nil }
    let file = name == "standard input" ? "-" : ForeignFormat.quoted(name)
    return CommandError(
      .data,
      "\(name) is a recording of what a receiver sent, and no track: "
        + "`torpor decode --format gpx -o track.gpx \(file)` makes one of it")
  }

  private static func gpx(
    _ input: inout InputFile, from first: [UInt8]
  ) throws(CommandError) -> GPXFile {
    func told(_ error: GPXError) -> CommandError {
      CommandError(.data, "\(place(input.name, error.place)): \(error)")
    }
    var reader: GPXReader
    do { reader = try GPXReader() } catch { throw told(error) }
    var block = first
    repeat {
      do { try reader.add(block) } catch { throw told(error) }
    } while try input.read(into: &block)
    do { return try reader.finish() } catch { throw told(error) }
  }

  /// The points as a track: those without a time are passed over, and so is all but the first of
  /// several at one time, as in a table.
  static func track(
    _ file: GPXFile, _ name: String, _ longest: Interval?
  ) throws(CommandError) -> Track {
    guard let first = file.places.first else { throw empty(file, name) }
    var points: [TrackPoint] = []
    var start: UTCTime?
    for (point, place) in zip(file.points, file.places) {
      guard let utc = point.utc else { continue }
      let begin = start ?? utc
      start = begin
      let offset = utc - begin
      if let before = points.last?.offset, offset <= before {
        if offset == before { continue }
        throw CommandError(
          .data,
          """
          \(self.place(name, place)): this point is earlier than the one before it; several ways \
          in one file are simulated one by one: save each by itself, or in order of time
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
        \(place(name, first)): no point has a <time>, so nobody knows how fast it went; export it as \
        the activity that was recorded, times and all, or make times up, here 5 s from point to point:
          gpsbabel -t -i gpx -f FILE -x track,faketime=f20260101080000+5 -o gpx -F timed.gpx
        """)
    }
    if let longest, last.offset > longest {
      throw CommandError(
        .data,
        """
        \(name) is too long for one run: its points span \(HumanFormat.duration(last.offset)), more \
        than \(HumanFormat.duration(longest)); cut it or give --hours
        """)
    }
    return Track(start: start, points: points)
  }

  private static func empty(_ file: GPXFile, _ name: String) -> CommandError {
    var has: [String] = []
    if file.routes > 0 { has.append(HumanFormat.count(file.routes, of: "route")) }
    if file.waypoints > 0 { has.append(HumanFormat.count(file.waypoints, of: "waypoint")) }
    let found = has.isEmpty ? "and nothing else" : "but " + has.joined(separator: " and ")
    return CommandError(
      .data,
      """
      \(name) has no track, \(found): what is simulated is a recorded way, <trkpt> with <time>\
      \(file.routes > 0 ? routeAdvice : "")
      """)
  }

  /// What makes a recorded way of a planned one.
  private static let routeAdvice = """
    ; to make times up on a route, here 5 s from point to point:
      gpsbabel -r -i gpx -f FILE -x transform,trk=rte,del -x track,faketime=f20260101080000+5 \
    -o gpx -F timed.gpx
    """

  private static func place(_ name: String, _ place: GPXPlace) -> String {
    "\(name):\(place.line):\(place.column)"
  }
}
