import ArgumentParser
import GNSSProtocols
import GPXFiles
import LocationTypes

/// How `torpor decode` writes epochs.
enum EpochFormat: String, ExpressibleByArgument, CaseIterable {
  /// gpsd's TPV object, one a line.
  case tpv
  /// Names that say what they are and in which unit, one object a line.
  case jsonl
  /// A table with a header line.
  case csv
  /// GPX 1.1: a track of all fixes.
  case gpx
}

/// Turns epochs into the text of one format.
struct EpochWriter {
  /// What is to be printed; whoever prints it empties it.
  var text = TextBuffer()
  private let format: EpochFormat
  private let name: String?
  private var json = JSONWriter()
  private var track = GPXWriter()
  private var hasBegun = false

  /// Creates a writer.
  ///
  /// - Parameter name: What a track is called, where the format has names.
  init(_ format: EpochFormat, name: String? = nil) {
    self.format = format
    self.name = name
  }

  /// Adds an epoch; what stands before the first one is written with it.
  mutating func write(_ epoch: Epoch) {
    begin()
    switch format {
    case .tpv:
      TPV.write(epoch, to: &json)
      moveLines()
    case .jsonl:
      EpochJSON.write(epoch, to: &json)
      moveLines()
    case .csv:
      EpochTable.write(epoch, to: &text)
    case .gpx:
      track.write(epoch)
      moveTrack()
    }
  }

  /// Adds what stands after the last one; without any, a document that says there is none.
  mutating func finish() {
    begin()
    switch format {
    case .gpx:
      track.end()
      moveTrack()
    case .tpv, .jsonl, .csv: break
    }
  }

  private mutating func begin() {
    guard !hasBegun else { return }
    hasBegun = true
    switch format {
    case .csv: EpochTable.writeHeader(to: &text)
    case .gpx:
      track.begin(creator: "torpor \(Torpor.version)", name: name)
      moveTrack()
    case .tpv, .jsonl: break
    }
  }

  private mutating func moveLines() {
    text.add(json.text)
    json.removeAll()
  }

  private mutating func moveTrack() {
    text.add(bytes: track.bytes)
    track.removeAll()
  }
}

extension GPXWriter {
  /// Adds the point of `epoch`; an epoch without a fix only ends the segment.
  fileprivate mutating func write(_ epoch: Epoch) {
    guard let fix = epoch.fix else {
      interrupt()
      return
    }
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
      details)
  }
}
