import GNSSProtocols
import LocationTypes
import TextFormats

/// Formats the service's fixes for `torpor export`; unknown values are omitted.
struct FixWriter: ~Copyable {
  private let format: ExportFormat
  /// Writer of GPX and JSON Lines, shared with `torpor decode`; its output is also that of the other formats.
  private var epochs: EpochWriter
  private var hasStarted = false
  private var last: UInt64?

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - format: Output format.
  ///   - name: Name of the track in GPX.
  init(_ format: ExportFormat, name: String) {
    self.format = format
    epochs = EpochWriter(format == .gpx ? .gpx : .jsonl, name: name)
  }

  /// Pending output. The caller prints it and then calls ``removeAll()``.
  var bytes: [UInt8] { epochs.output.bytes }

  /// Removes the pending output.
  mutating func removeAll() { epochs.output.removeAll() }

  /// Adds a fix; the first call also adds the start of the document.
  mutating func write(_ stored: StoredFix) {
    writeStartIfNeeded()
    let follows = last.map { $0 + 1 == stored.name.sequence } ?? true
    last = stored.name.sequence
    switch format {
    case .gpx:
      // An empty epoch ends the segment where fixes are missing.
      if !follows { epochs.write(Epoch()) }
      epochs.write(Epoch(stored.fix))
    case .jsonl: epochs.write(Epoch(stored.fix))
    case .geojson:
      epochs.output.listLine { FixWriter.write(feature: stored, to: &$0) }
    case .csv: EpochTable.write(stored, to: &epochs.output.text)
    case .nmea: write(sentences: stored.fix)
    }
  }

  /// Adds the end of the document; without a fix, a complete document without points.
  mutating func finish() {
    writeStartIfNeeded()
    switch format {
    case .gpx, .jsonl: epochs.finish()
    case .geojson: epochs.output.endListLines()
    case .csv, .nmea: break
    }
  }

  private mutating func writeStartIfNeeded() {
    guard !hasStarted else { return }
    hasStarted = true
    switch format {
    case .gpx, .jsonl, .nmea: break
    case .geojson:
      epochs.output.beginListLines("features") { $0.member("type", word: "FeatureCollection") }
    case .csv: EpochTable.writeStoredHeader(to: &epochs.output.text)
    }
  }

  /// Adds a feature.
  private static func write(feature stored: StoredFix, to json: inout JSONOutput) {
    let fix = stored.fix
    json.addPointFeatureMembers(at: fix.coordinate, height_mm: fix.ellipsoidalAltitude_mm)
    json.object("properties") { json in
      json.member("generation", Int64(stored.name.generation))
      json.member("sequence", Int64(clamping: stored.name.sequence))
      if let utc = fix.utc { json.string("time") { $0.add(iso8601: utc) } }
      if fix.isDateUncertain { json.member("date_uncertain", true) }
      json.member("mode", EpochNames.mode(Epoch(fix).mode))
      EpochJSON.write(fix, withCoordinate: false, to: &json)
    }
  }

  private mutating func write(sentences fix: Fix) {
    var frame = FrameBuffer()
    frame.append(RMC(fix), format: FixWriter.sentenceFormat)
    frame.append(GGA(fix), format: FixWriter.sentenceFormat)
    for i in 0..<frame.count { epochs.output.text.add(byte: frame.span[i]) }
  }

  /// The finest resolution within 82 characters a sentence: 2 mm.
  private static let sentenceFormat = NMEAFormat(
    minuteDecimals: 6, timeDecimals: 3, courseDecimals: 2, metreDecimals: 2)
}

extension Epoch {
  /// The epoch of a stored fix.
  init(_ fix: Fix) {
    self.init()
    self.fix = fix
    utc = fix.utc
    mode = fix.mode == .threeDimensional ? .threeDimensional : .twoDimensional
    isDateUncertain = fix.isDateUncertain
    if let ellipsoidal = fix.ellipsoidalAltitude_mm, let altitude = fix.altitude_mm {
      geoidSeparation_mm = Int32(clamping: Int64(ellipsoidal) - Int64(altitude))
    }
  }
}
