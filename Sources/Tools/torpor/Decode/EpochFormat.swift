import ArgumentParser
import GNSSProtocols
import GPXFiles
import LocationTypes
import TextFormats

/// Output formats of `torpor decode`.
enum EpochFormat: String, ExpressibleByArgument, CaseIterable {
  /// gpsd's TPV objects, one a line (gpsd_json(5)).
  case tpv
  /// JSON objects with the unit in each name, one a line.
  case jsonl
  /// A table with a header line (RFC 4180).
  case csv
  /// GPX 1.1: a track with all fixes.
  case gpx
}

/// Encodes epochs in one of the formats.
struct EpochWriter: ~Copyable {
  /// Text to print; the caller prints it and removes it.
  var output = JSONOutput()
  private let format: EpochFormat
  private let name: String?
  private var track = GPXWriter()
  private var hasStarted = false

  /// Creates a writer.
  ///
  /// - Parameter name: Name of the track, for `gpx`.
  init(_ format: EpochFormat, name: String? = nil) {
    self.format = format
    self.name = name
  }

  /// Adds an epoch, the first one with the header of the format.
  mutating func write(_ epoch: Epoch) {
    begin()
    switch format {
    case .tpv: TPV.write(epoch, to: &output)
    case .jsonl: EpochJSON.write(epoch, to: &output)
    case .csv: EpochTable.write(epoch, to: &output.text)
    case .gpx: track.write(epoch, to: &output.text)
    }
  }

  /// Adds the end of the document; without any epoch, the document has a header and no records.
  mutating func finish() {
    begin()
    switch format {
    case .gpx: track.end(to: &output.text)
    case .tpv, .jsonl, .csv: break
    }
  }

  private mutating func begin() {
    guard !hasStarted else { return }
    hasStarted = true
    switch format {
    case .csv: EpochTable.writeHeader(to: &output.text)
    case .gpx: track.begin(creator: "torpor \(Torpor.version)", name: name, to: &output.text)
    case .tpv, .jsonl: break
    }
  }
}

extension GPXWriter {
  /// Adds a track point for `epoch`; an epoch without a fix only ends the segment.
  fileprivate mutating func write(_ epoch: Epoch, to text: inout TextBuffer) {
    guard let fix = epoch.fix else { return endSegment(to: &text) }
    var details = Details()
    details.fix = fix.mode == .threeDimensional ? .threeDimensional : .twoDimensional
    if fix.quality == .differential { details.fix = .dgps }
    details.geoidHeight_mm = epoch.geoidSeparation_mm
    details.satellites = fix.satellites.map(Int.init)
    details.hdop_e2 = epoch.hdop_e2.map(Int.init)
    details.vdop_e2 = epoch.vdop_e2.map(Int.init)
    details.pdop_e2 = epoch.pdop_e2.map(Int.init)
    details.course_e4 = fix.course_e4
    write(
      GPXPoint(
        coordinate: fix.coordinate, utc: epoch.utc, altitude_mm: fix.altitude_mm,
        speed_mmps: fix.speed_mmps),
      details, to: &text)
  }
}
