import LocationTypes

/// Reason why a CSV file is not a valid track.
public struct TrackError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of problem.
  public enum Problem: Equatable, Sendable {
    /// The file is empty, or has a header but no points.
    case empty
    /// The first line does not start with ``Track/csvHeader``.
    case badHeader(found: String)
    /// A line has fewer or more fields than the header.
    case fieldCount(found: Int, expected: Int)
    /// A field is not a finite decimal number.
    case notANumber(field: String, found: String)
    /// A number is outside the range of its field.
    case outOfRange(field: String, found: String, allowed: String)
    /// A point is earlier than the point before it.
    case timeDecreases(found: String)
    /// The track is longer than allowed; `step` is the largest step between two points.
    case tooLong(span: Interval, step: Interval, maximum: Interval)
    /// A line is not valid UTF-8.
    case notUTF8
  }

  /// Line of the file, from 1.
  public var line: Int
  /// The kind of problem.
  public var problem: Problem

  /// Message with the line and what was expected.
  public var description: String {
    switch problem {
    case .empty:
      "line \(line): the track has no points; add a line for each point after the header “\(Track.csvHeader)”, "
        + "with its time, latitude and longitude"
    case .badHeader(let found):
      "line \(line): the header must begin with “\(Track.csvHeader)”, not “\(found)”"
    case .fieldCount(let found, let expected):
      "line \(line): this line has \(found) fields, but the header has \(expected)"
    case .notANumber(let field, let found):
      "line \(line): \(field) must be a finite number, not “\(found)”"
    case .outOfRange(let field, let found, let allowed):
      "line \(line): \(field) \(found) is out of range; the allowed range is \(allowed)"
    case .timeDecreases(let found):
      "line \(line): unix_time \(found) is earlier than the time of the point before it"
    case .tooLong(let span, let step, let longest):
      "line \(line): the largest step between two points, \(TrackError.hours(step)) hours, ends here; "
        + "the points span \(TrackError.hours(span)) hours, more than the limit of \(TrackError.hours(longest)) hours"
    case .notUTF8:
      "line \(line): this line is not valid UTF-8 text"
    }
  }

  /// Returns a duration in hours, rounded to a tenth.
  private static func hours(_ length: Interval) -> Double {
    (length.seconds / 360).rounded() / 10
  }
}

extension Track {
  /// Header of a track in CSV.
  public static let csvHeader = "unix_time,lat,lon,alt,speed"

  /// Reads a track from CSV: the header, then one line per point. `alt` and `speed` may be empty.
  ///
  /// Units: seconds UTC (fractions allowed), degrees WGS 84, metres above mean sea level, m/s. Further columns are
  /// ignored. Lines end in LF or CR LF. Empty lines are ignored, as are lines without a time, lines without both
  /// latitude and longitude, and lines with the same time as the point before. O(bytes).
  ///
  /// - Parameter maximumDuration: Longest allowed duration; nil for no limit.
  /// - Throws: ``TrackError`` with the line and what was expected.
  public init(csv bytes: [UInt8], maximumDuration: Interval? = nil) throws(TrackError) {
    var reader = TrackCSVReader(bytes: bytes)
    self = try reader.readTrack(maximumDuration: maximumDuration)
  }

  /// Reads a track from CSV text; see ``init(csv:maximumDuration:)``.
  ///
  /// - Throws: ``TrackError`` with the line and what was expected.
  public init(csv text: String) throws(TrackError) {
    try self.init(csv: Array(text.utf8))
  }
}

/// Parses the lines of a CSV track.
private struct TrackCSVReader {
  let bytes: [UInt8]
  var position = 0
  var line = 0
  var points: [TrackPoint] = []
  var start: UTCTime?
  var columns = 5
  /// The largest step between two points, and the line at which it ends.
  var largestStep = (line: 1, step: Interval.zero)

  init(bytes: [UInt8]) {
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    self.bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
  }

  mutating func readTrack(maximumDuration: Interval?) throws(TrackError) -> Track {
    guard let header = try nextLine() else { throw failure(.empty) }
    guard header == Track.csvHeader || header.hasPrefix(Track.csvHeader + ",") else {
      throw failure(.badHeader(found: String(header.prefix(80))))
    }
    columns = TrackCSVReader.fields(header).count
    while let text = try nextLine() { try addPoint(text) }
    guard let start, let last = points.last else { throw failure(.empty) }
    if let maximumDuration, last.offset > maximumDuration {
      throw TrackError(
        line: largestStep.line,
        problem: .tooLong(span: last.offset, step: largestStep.step, maximum: maximumDuration))
    }
    return Track(start: start, points: points)
  }

  private static func fields(_ text: String) -> [Substring] {
    text.split(separator: ",", omittingEmptySubsequences: false)
  }

  private func failure(_ problem: TrackError.Problem) -> TrackError {
    TrackError(line: max(line, 1), problem: problem)
  }

  /// Returns the next non-empty line without its line end; nil at the end of the file.
  private mutating func nextLine() throws(TrackError) -> String? {
    while position < bytes.count {
      line += 1
      var end = position
      while end < bytes.count, bytes[end] != 0x0A { end += 1 }
      var content = bytes[position..<end]
      position = end + 1
      if content.last == 0x0D { content = content.dropLast() }
      if content.isEmpty { continue }
      guard let text = String(validating: content, as: UTF8.self) else { throw failure(.notUTF8) }
      return text
    }
    return nil
  }

  private mutating func addPoint(_ text: String) throws(TrackError) {
    let fields = TrackCSVReader.fields(text)
    guard fields.count == columns else {
      throw failure(.fieldCount(found: fields.count, expected: columns))
    }
    // An epoch without a fix or without a known date has no point on the track.
    if fields[0].isEmpty || (fields[1].isEmpty && fields[2].isEmpty) { return }
    let seconds = try number(fields[0], "unix_time", -62_135_596_800, 253_402_300_799)
    let latitude = try number(fields[1], "lat", -90, 90)
    let longitude = try number(fields[2], "lon", -180, 180)
    let altitude = try optionalNumber(fields[3], "alt", -20_000, 1_000_000)
    let speed = try optionalNumber(fields[4], "speed", 0, 16_777)
    let time = UTCTime(microseconds: Int64((seconds * 1e6).rounded()))
    let first = start ?? time
    start = first
    let offset = time - first
    let previous = points.last?.offset
    if let previous, offset < previous {
      throw failure(.timeDecreases(found: String(fields[0])))
    }
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw failure(
        .outOfRange(field: "lat", found: String(fields[1]), allowed: "a coordinate on the globe"))
    }
    if let previous {
      if offset == previous { return }
      if offset - previous > largestStep.step { largestStep = (line, offset - previous) }
    }
    points.append(
      TrackPoint(
        offset: offset, coordinate: coordinate,
        altitude_mm: altitude.map { Int32(($0 * 1e3).rounded()) },
        speed_mmps: speed.map { Int32(($0 * 1e3).rounded()) }))
  }

  private func optionalNumber(
    _ text: Substring, _ field: String, _ low: Double, _ high: Double
  ) throws(TrackError) -> Double? {
    text.isEmpty ? nil : try number(text, field, low, high)
  }

  private func number(
    _ text: Substring, _ field: String, _ low: Double, _ high: Double
  ) throws(TrackError) -> Double {
    // `Double` also accepts "0x1p3" and "nan"; a track contains decimal numbers only.
    let isDecimal = text.utf8.allSatisfy {
      ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 | 0x20 == 0x65
    }
    guard isDecimal, let value = Double(text), value.isFinite else {
      throw failure(.notANumber(field: field, found: String(text.prefix(40))))
    }
    guard value >= low, value <= high else {
      throw failure(
        .outOfRange(
          field: field, found: String(text.prefix(40)), allowed: "\(low) to \(high)"))
    }
    return value
  }
}
