import LocationTypes

/// Why a file is no track.
public struct TrackError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// No header, or a header and no point.
    case empty
    /// The first line is not ``Track/csvHeader``.
    case badHeader(found: String)
    /// A line without exactly five fields.
    case fieldCount(found: Int)
    /// A field that must be a finite number is none.
    case notANumber(field: String, found: String)
    /// A number beyond what the field may be.
    case outOfRange(field: String, found: String, allowed: String)
    /// A point not later than the one before it.
    case timeNotIncreasing(found: String)
    /// Bytes that are not UTF-8.
    case notText
  }

  /// Line of the file, from 1.
  public var line: Int
  /// What is wrong.
  public var problem: Problem

  /// Creates an error.
  public init(line: Int, problem: Problem) {
    self.line = line
    self.problem = problem
  }

  /// A message that says what was expected.
  public var description: String {
    switch problem {
    case .empty:
      "line \(line): no points; after the header “\(Track.csvHeader)” comes a line for each point"
    case .badHeader(let found):
      "line \(line): the header must be “\(Track.csvHeader)”, not “\(found)”"
    case .fieldCount(let found):
      "line \(line): five fields belong on a line (\(Track.csvHeader)), not \(found)"
    case .notANumber(let field, let found):
      "line \(line): \(field) must be a finite number, not “\(found)”"
    case .outOfRange(let field, let found, let allowed):
      "line \(line): \(field) \(found) is out of range; allowed is \(allowed)"
    case .timeNotIncreasing(let found):
      "line \(line): unix_time \(found) is not later than that of the point before it"
    case .notText:
      "line \(line): not text in UTF-8"
    }
  }
}

extension Track {
  /// The header a track in CSV begins with.
  public static let csvHeader = "unix_time,lat,lon,alt,speed"

  /// Reads a track from CSV: the header, then a point a line; `alt` and `speed` may be empty.
  ///
  /// Seconds UTC (may have a fraction), degrees WGS 84, metres above mean sea level, m/s. Lines end
  /// in LF or CR LF; empty lines are skipped. O(bytes).
  ///
  /// - Throws: ``TrackError`` with the line and what was expected.
  public init(csv bytes: [UInt8]) throws(TrackError) {
    var reader = TrackCSVReader(bytes: bytes)
    self = try reader.track()
  }

  /// Reads a track from CSV text; see ``init(csv:)-([UInt8])``.
  ///
  /// - Throws: ``TrackError`` with the line and what was expected.
  public init(csv text: String) throws(TrackError) {
    try self.init(csv: Array(text.utf8))
  }
}

/// Goes through the lines of a CSV track.
private struct TrackCSVReader {
  let bytes: [UInt8]
  var position = 0
  var line = 0
  var points: [TrackPoint] = []
  var start: UTCTime?

  init(bytes: [UInt8]) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    self.bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(3)) : bytes
  }

  mutating func track() throws(TrackError) -> Track {
    guard let header = try nextLine() else { throw failure(.empty) }
    guard header == Track.csvHeader else {
      throw failure(.badHeader(found: String(header.prefix(80))))
    }
    while let text = try nextLine() { try point(text) }
    guard let start else { throw failure(.empty) }
    return Track(start: start, points: points)
  }

  private func failure(_ problem: TrackError.Problem) -> TrackError {
    TrackError(line: max(line, 1), problem: problem)
  }

  /// The next line that is not empty, without its end; nil at the end of the file.
  private mutating func nextLine() throws(TrackError) -> String? {
    while position < bytes.count {
      line += 1
      var end = position
      while end < bytes.count, bytes[end] != 0x0A { end += 1 }
      var content = bytes[position..<end]
      position = end + 1
      if content.last == 0x0D { content = content.dropLast() }
      if content.isEmpty { continue }
      guard let text = String(validating: content, as: UTF8.self) else { throw failure(.notText) }
      return text
    }
    return nil
  }

  private mutating func point(_ text: String) throws(TrackError) {
    let fields = text.split(separator: ",", omittingEmptySubsequences: false)
    guard fields.count == 5 else { throw failure(.fieldCount(found: fields.count)) }
    let seconds = try number(fields[0], "unix_time", -62_135_596_800, 253_402_300_799)
    let latitude = try number(fields[1], "lat", -90, 90)
    let longitude = try number(fields[2], "lon", -180, 180)
    let altitude = try optional(fields[3], "alt", -20_000, 1_000_000)
    let speed = try optional(fields[4], "speed", 0, 16_777)
    let time = UTCTime(microseconds: Int64((seconds * 1e6).rounded()))
    let first = start ?? time
    start = first
    let offset = time - first
    if let before = points.last, offset <= before.offset {
      throw failure(.timeNotIncreasing(found: String(fields[0])))
    }
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw failure(
        .outOfRange(field: "lat", found: String(fields[1]), allowed: "a place on the globe"))
    }
    points.append(
      TrackPoint(
        offset: offset, coordinate: coordinate,
        altitude_mm: altitude.map { Int32(($0 * 1e3).rounded()) },
        speed_mmps: speed.map { Int32(($0 * 1e3).rounded()) }))
  }

  private func optional(
    _ text: Substring, _ field: String, _ low: Double, _ high: Double
  ) throws(TrackError) -> Double? {
    text.isEmpty ? nil : try number(text, field, low, high)
  }

  private func number(
    _ text: Substring, _ field: String, _ low: Double, _ high: Double
  ) throws(TrackError) -> Double {
    // Double takes "0x1p3" and "nan" too; a recording holds decimal numbers.
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
