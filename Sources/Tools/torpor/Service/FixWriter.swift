import GNSSProtocols
import LocationTypes

/// Turns the service's fixes into the text of one format; what is not known is left out.
struct FixWriter {
  /// What is to be printed; whoever prints it empties it.
  var text = TextBuffer()
  private let format: ExportFormat
  /// Formats that epochs have as well.
  private var epochs: EpochWriter
  private var json = JSONWriter()
  private var hasBegun = false
  private var last: UInt64?

  /// Creates a writer.
  ///
  /// - Parameter name: What a track is called.
  init(_ format: ExportFormat, name: String) {
    self.format = format
    epochs = EpochWriter(format == .gpx ? .gpx : .jsonl, name: name)
  }

  /// Adds a fix; what stands before the first one is written with it.
  mutating func write(_ stored: StoredFix) {
    let isFirst = !hasBegun
    begin()
    let follows = last.map { $0 + 1 == stored.name.sequence } ?? true
    last = stored.name.sequence
    switch format {
    case .gpx:
      // Where fixes are missing a segment ends.
      if !follows { epochs.write(Epoch()) }
      writeEpoch(stored.fix)
    case .jsonl: writeEpoch(stored.fix)
    case .geojson:
      if !isFirst { text.add(",\n") }
      write(feature: stored)
    case .csv: FixTable.write(stored, to: &text)
    case .nmea: write(sentences: stored.fix)
    }
  }

  /// Adds what stands after the last one; without any, a document that says there is none.
  mutating func finish() {
    begin()
    switch format {
    case .gpx, .jsonl:
      epochs.finish()
      moveEpochs()
    case .geojson: text.add("\n]}\n")
    case .csv, .nmea: break
    }
  }

  private mutating func begin() {
    guard !hasBegun else { return }
    hasBegun = true
    switch format {
    case .gpx, .jsonl, .nmea: break
    case .geojson: text.add("{\"type\":\"FeatureCollection\",\"features\":[\n")
    case .csv: FixTable.writeHeader(to: &text)
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
    moveEpochs()
  }

  private mutating func moveEpochs() {
    text.add(epochs.text)
    epochs.text.removeAll()
  }

  /// RFC 7946: longitude before latitude, and the third number is above the ellipsoid.
  private mutating func write(feature stored: StoredFix) {
    let fix = stored.fix
    text.add("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
    text.add(trimmed: fix.coordinate.longitude_e9, scale: 9)
    text.add(",")
    text.add(trimmed: fix.coordinate.latitude_e9, scale: 9)
    if let altitude = fix.ellipsoidalAltitude_mm {
      text.add(",")
      text.add(trimmed: Int64(altitude), scale: 3)
    }
    text.add("]},\"properties\":")
    json.begin()
    json.member("generation", Int64(stored.name.generation))
    json.member("sequence", Int64(clamping: stored.name.sequence))
    if let utc = fix.utc { json.string("time") { $0.add(iso8601: utc) } }
    if fix.isDateUncertain { json.member("date_uncertain", true) }
    json.member("mode", FixTable.mode(fix))
    EpochJSON.write(fix, withPlace: false, to: &json)
    json.end()
    // An object of lines ends its line; this one goes on.
    var line = json.text.bytes
    json.removeAll()
    line.removeLast()
    text.add(bytes: line)
    text.add("}")
  }

  private mutating func write(sentences fix: Fix) {
    var frame = FrameBuffer()
    frame.append(RMC(fix), format: FixWriter.sentences)
    frame.append(GGA(fix), format: FixWriter.sentences)
    for i in 0..<frame.count { text.add(byte: frame.span[i]) }
  }

  /// As fine as sentences of at most 82 characters allow: 2 mm.
  private static let sentences = NMEAFormat(
    minuteDecimals: 6, timeDecimals: 3, courseDecimals: 2, metreDecimals: 2)
}

/// Fixes as a table: a header line, then one line each, values apart by commas (RFC 4180).
///
/// The first five columns are those of a track, so that the table can be simulated as it is.
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
    text.add(",\(mode(fix)),\(EpochWords.quality(fix.quality) ?? ""),")
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
    EpochWords.mode(fix.mode == .threeDimensional ? .threeDimensional : .twoDimensional)
  }
}
