import LocationTypes

/// Builds a ``GPXFile`` from the XML events of a document: element start, text, element end.
///
/// Independent of the XML parser, which ``GPXReader`` calls. Elements of other namespaces and elements that a track
/// does not need are ignored together with their content.
struct GPXContent {
  /// Kind of an open element.
  private enum Element {
    case gpx, track, segment, point, extensions, pointExtension, other
    case altitude, time, speed
  }

  /// Longest text of a value, bytes; of a longer text, one byte more is stored and the rest is ignored.
  private static let maximumValueLength = 256
  private static let pointExtensions: Set<Substring> = [
    "http://www.garmin.com/xmlschemas/TrackPointExtension/v1",
    "http://www.garmin.com/xmlschemas/TrackPointExtension/v2",
  ]

  private(set) var file = GPXFile()
  private var openElements: [Element] = []
  private var point: GPXPoint?
  private var value: [UInt8] = []
  private var valuePosition = GPXTextPosition(line: 1, column: 1)

  /// Handles the start of an element.
  ///
  /// - Parameters:
  ///   - name: Namespace, line feed, local name; only the local name if the element has no namespace.
  ///   - attributes: Returns the value of the attribute with a given name.
  /// - Throws: ``GPXError`` for an invalid point, too many points, too deep nesting, or another root element.
  mutating func start(
    _ name: String, _ attributes: (String) -> String?, at position: GPXTextPosition
  ) throws(GPXError) {
    guard openElements.count < GPXReader.maximumNesting else {
      throw GPXError(position: position, problem: .nestedTooDeep)
    }
    let element = try element(name, at: position)
    switch element {
    case .point: try startPoint(attributes, at: position)
    case .altitude, .time, .speed:
      value.removeAll(keepingCapacity: true)
      valuePosition = position
    case .gpx, .track, .segment, .extensions, .pointExtension, .other: break
    }
    openElements.append(element)
  }

  /// Handles text inside the innermost open element; the text of an element can arrive in several pieces.
  mutating func text(_ bytes: UnsafeRawBufferPointer) throws(GPXError) {
    switch openElements.last {
    case .altitude, .time, .speed: break
    case nil, .gpx, .track, .segment, .point, .extensions, .pointExtension, .other: return
    }
    unsafe value.append(contentsOf: bytes.prefix(GPXContent.maximumValueLength + 1 - value.count))
  }

  /// Handles the end of the innermost open element.
  ///
  /// - Throws: ``GPXError`` if its value is invalid.
  mutating func end() throws(GPXError) {
    guard let element = openElements.popLast() else { return }
    switch element {
    case .point:
      if let point { file.points.append(point) }
      point = nil
    case .altitude:
      let altitude_mm = try thousandths("ele", -20_000, 1_000_000)
      point?.altitude_mm = altitude_mm
    case .speed:
      let speed_mmps = try thousandths("speed", 0, 16_777)
      point?.speed_mmps = speed_mmps
    case .time:
      let utc = try time()
      point?.utc = utc
    case .gpx, .track, .segment, .extensions, .pointExtension, .other: break
    }
  }

  private mutating func element(_ name: String, at position: GPXTextPosition) throws(GPXError)
    -> Element
  {
    let separator = name.utf8.lastIndex(of: 0x0A)
    let namespace = separator.map { name[..<$0] } ?? ""
    let local = separator.map { name[name.utf8.index(after: $0)...] } ?? name[...]
    let isGPX = namespace.isEmpty || namespace.hasPrefix("http://www.topografix.com/GPX/1/")
    guard let parent = openElements.last else {
      if isGPX, local == "gpx" { return .gpx }
      throw GPXError(position: position, problem: .notGPX(root: String(local.prefix(40))))
    }
    switch parent {
    case .gpx where isGPX: return topLevelElement(local)
    case .track where isGPX && local == "trkseg": return .segment
    case .segment where isGPX && local == "trkpt": return .point
    case .point where isGPX: return pointChild(local)
    case .extensions:
      if GPXContent.pointExtensions.contains(namespace) {
        return local == "TrackPointExtension" ? .pointExtension : .other
      }
      // Some programs write <speed> without an extension namespace.
      return isGPX && local == "speed" ? .speed : .other
    case .pointExtension:
      return GPXContent.pointExtensions.contains(namespace) && local == "speed" ? .speed : .other
    case .gpx, .track, .segment, .point, .other, .altitude, .time, .speed: return .other
    }
  }

  private mutating func topLevelElement(_ local: Substring) -> Element {
    if local == "trk" {
      file.tracks += 1
      return .track
    }
    if local == "wpt" { file.waypoints += 1 }
    if local == "rte" { file.routes += 1 }
    return .other
  }

  private func pointChild(_ local: Substring) -> Element {
    switch local {
    case "ele": .altitude
    case "time": .time
    case "speed": .speed
    case "extensions": .extensions
    case _: .other
    }
  }

  private mutating func startPoint(
    _ attributes: (String) -> String?, at position: GPXTextPosition
  ) throws(GPXError) {
    guard file.points.count < GPXReader.maximumPoints else {
      throw GPXError(position: position, problem: .tooManyPoints)
    }
    func degrees(_ name: String, _ limit: Double) throws(GPXError) -> Double {
      guard let text = attributes(name) else {
        throw GPXError(position: position, problem: .missing(attribute: name, element: "trkpt"))
      }
      return try GPXContent.number(text, name, -limit, limit, at: position)
    }
    let latitude = try degrees("lat", 90)
    let longitude = try degrees("lon", 180)
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      preconditionFailure("the ranges were checked")
    }
    point = GPXPoint(coordinate: coordinate)
    file.positions.append(position)
  }

  /// Whether the value contains only white space.
  private var isBlank: Bool { value.allSatisfy { $0 <= 0x20 } }

  private func time() throws(GPXError) -> UTCTime? {
    if isBlank { return nil }
    let text = String(decoding: value, as: UTF8.self)
    guard let time = GPXValueParser.time(text) else {
      throw GPXError(position: valuePosition, problem: .badTime(found: String(text.prefix(40))))
    }
    return time
  }

  /// The value × 1,000, rounded; nil if the element is empty.
  private func thousandths(
    _ name: String, _ low: Double, _ high: Double
  ) throws(GPXError) -> Int32? {
    if isBlank { return nil }
    let text = String(decoding: value, as: UTF8.self)
    let number = try GPXContent.number(text, name, low, high, at: valuePosition)
    return Int32((number * 1e3).rounded())
  }

  private static func number(
    _ text: String, _ name: String, _ low: Double, _ high: Double, at position: GPXTextPosition
  ) throws(GPXError) -> Double {
    guard let value = GPXValueParser.number(text) else {
      throw GPXError(
        position: position, problem: .notANumber(name: name, found: String(text.prefix(40))))
    }
    guard value >= low, value <= high else {
      throw GPXError(
        position: position,
        problem: .outOfRange(
          name: name, found: String(text.prefix(40)), allowed: "\(low) to \(high)"))
    }
    return value
  }
}
