import ArgumentParser
import GNSSProtocols

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
  var text = Text()
  private let format: EpochFormat
  private var json = JSONWriter()
  private var track = GPXTrack()
  private var hasBegun = false

  /// Creates a writer.
  init(_ format: EpochFormat) { self.format = format }

  /// Adds an epoch; what stands before the first one is written with it.
  mutating func write(_ epoch: Epoch) {
    switch format {
    case .tpv:
      TPV.write(epoch, to: &json)
      moveLines()
    case .jsonl:
      EpochJSON.write(epoch, to: &json)
      moveLines()
    case .csv:
      if !hasBegun { EpochTable.writeHeader(to: &text) }
      EpochTable.write(epoch, to: &text)
    case .gpx:
      if !hasBegun { track.begin(&text) }
      track.write(epoch, to: &text)
    }
    hasBegun = true
  }

  /// Adds what stands after the last one; nothing where there was none.
  mutating func finish() {
    if hasBegun, format == .gpx { track.end(&text) }
  }

  private mutating func moveLines() {
    text.add(json.text)
    json.removeAll()
  }
}
