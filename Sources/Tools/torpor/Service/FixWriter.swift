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
    let isFirst = !hasStarted
    writeStartIfNeeded()
    let follows = last.map { $0 + 1 == stored.name.sequence } ?? true
    last = stored.name.sequence
    switch format {
    case .gpx:
      // An empty epoch ends the segment where fixes are missing.
      if !follows { epochs.write(Epoch()) }
      writeEpoch(stored.fix)
    case .jsonl: writeEpoch(stored.fix)
    case .geojson:
      if !isFirst { epochs.output.text.add(",\n") }
      FixWriter.write(feature: stored, to: &epochs.output)
    case .csv: FixTable.write(stored, to: &epochs.output.text)
    case .nmea: write(sentences: stored.fix)
    }
  }

  /// Adds the end of the document; without a fix, a complete document without points.
  mutating func finish() {
    writeStartIfNeeded()
    switch format {
    case .gpx, .jsonl: epochs.finish()
    case .geojson: epochs.output.text.add("\n]}\n")
    case .csv, .nmea: break
    }
  }

  private mutating func writeStartIfNeeded() {
    guard !hasStarted else { return }
    hasStarted = true
    switch format {
    case .gpx, .jsonl, .nmea: break
    case .geojson:
      epochs.output.text.add("{\"type\":\"FeatureCollection\",\"features\":[\n")
    case .csv: FixTable.writeHeader(to: &epochs.output.text)
    }
  }

  private mutating func writeEpoch(_ fix: Fix) {
    var epoch = Epoch()
    epoch.fix = fix
    epoch.utc = fix.utc
    epoch.mode = fix.mode == .threeDimensional ? .threeDimensional : .twoDimensional
    epoch.isDateUncertain = fix.isDateUncertain
    if let ellipsoidal = fix.ellipsoidalAltitude_mm, let altitude = fix.altitude_mm {
      epoch.geoidSeparation_mm = Int32(clamping: Int64(ellipsoidal) - Int64(altitude))
    }
    epochs.write(epoch)
  }

  /// Adds a feature. In RFC 7946, longitude precedes latitude, and the third number is the height above the ellipsoid.
  private static func write(feature stored: StoredFix, to json: inout JSONOutput) {
    let fix = stored.fix
    json.object { json in
      json.member("type", word: "Feature")
      json.object("geometry") { json in
        json.member("type", word: "Point")
        json.list("coordinates") { json in
          json.element(fix.coordinate.longitude_e9, scale: 9)
          json.element(fix.coordinate.latitude_e9, scale: 9)
          if let altitude = fix.ellipsoidalAltitude_mm { json.element(Int64(altitude), scale: 3) }
        }
      }
      json.object("properties") { json in
        json.member("generation", Int64(stored.name.generation))
        json.member("sequence", Int64(clamping: stored.name.sequence))
        if let utc = fix.utc { json.string("time") { $0.add(iso8601: utc) } }
        if fix.isDateUncertain { json.member("date_uncertain", true) }
        json.member("mode", FixTable.mode(fix))
        EpochJSON.write(fix, withCoordinate: false, to: &json)
      }
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

/// Comma-separated values (RFC 4180): a header line, then one line for each fix.
///
/// The first five columns are those of a track table, so that `torpor simulate --track` accepts the file.
enum FixTable {
  private static let columns = [
    "unix_time", "lat", "lon", "alt", "speed", "time", "mode", "quality", "ellipsoidal_alt",
    "course", "horizontal_accuracy", "vertical_accuracy", "speed_accuracy", "course_accuracy",
    "satellites_used", "generation", "sequence", "boot_time",
  ]

  /// Adds the header line.
  static func writeHeader(to text: inout TextBuffer) {
    text.add(columns.joined(separator: ","))
    text.add("\r\n")
  }

  /// Adds the line of a fix.
  static func write(_ stored: StoredFix, to text: inout TextBuffer) {
    let fix = stored.fix
    EpochTable.field(fix.utc?.microseconds, 6, &text)
    EpochTable.field(fix.coordinate.latitude_e9, 9, &text)
    EpochTable.field(fix.coordinate.longitude_e9, 9, &text)
    EpochTable.field(fix.altitude_mm, 3, &text)
    EpochTable.field(fix.speed_mmps, 3, &text)
    if let utc = fix.utc { text.add(iso8601: utc) }
    text.add(",\(mode(fix)),\(EpochNames.quality(fix.quality) ?? ""),")
    EpochTable.field(fix.ellipsoidalAltitude_mm, 3, &text)
    EpochTable.field(fix.course_e4, 4, &text)
    EpochTable.field(fix.horizontalAccuracy_mm, 3, &text)
    EpochTable.field(fix.verticalAccuracy_mm, 3, &text)
    EpochTable.field(fix.speedAccuracy_mmps, 3, &text)
    EpochTable.field(fix.courseAccuracy_e2, 2, &text)
    EpochTable.field(fix.satellites, 0, &text)
    EpochTable.field(stored.name.generation, 0, &text)
    EpochTable.field(stored.name.sequence, 0, &text)
    text.add(trimmed: fix.acquired.microseconds, scale: 6)
    text.add("\r\n")
  }

  /// `2d` or `3d`.
  static func mode(_ fix: Fix) -> String {
    EpochNames.mode(fix.mode == .threeDimensional ? .threeDimensional : .twoDimensional)
  }
}
