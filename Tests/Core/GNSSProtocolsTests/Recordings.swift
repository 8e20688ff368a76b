import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// The folder of recordings, which are not part of the package; nil if it is missing.
let recordings = RecordedData.folder.map { URL(filePath: $0) }

/// A recording without its comment lines, and the date in its header.
struct Recording {
  var bytes: [UInt8]
  var date: CalendarDate?

  init(_ name: String, removing unwanted: UInt8? = nil) throws {
    let folder = try #require(recordings)
    let data = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    bytes = []
    bytes.reserveCapacity(data.count)
    var start = 0
    while start < data.count {
      let end = data[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? data.count
      let line = data[start..<end]
      if line.first == UInt8(ascii: "#") {
        date = date ?? Recording.date(line)
      } else {
        bytes += line
      }
      start = end
    }
    if let unwanted { bytes.removeAll { $0 == unwanted } }
  }

  private static func date(_ line: ArraySlice<UInt8>) -> CalendarDate? {
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix("# Date:") else { return nil }
    let parts = text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)
      .split(separator: "-").map { Int($0.prefix { $0.isNumber }) ?? 0 }
    return parts.count >= 3 ? CalendarDate(year: parts[0], month: parts[1], day: parts[2]) : nil
  }
}

/// All epochs of a stream that arrives in chunks of `size` bytes (0: whole).
func epochs(
  _ bytes: [UInt8], _ options: EpochOptions = EpochOptions(), chunk size: Int = 0
) -> [Epoch] {
  var assembler = EpochAssembler(options)
  var epochs: [Epoch] = []
  for message in decode(bytes, chunk: size).messages {
    if let epoch = assembler.add(message, at: .boot) { epochs.append(epoch) }
    while let epoch = assembler.next() { epochs.append(epoch) }
  }
  while assembler.isOpen {
    if let epoch = assembler.close() { epochs.append(epoch) }
  }
  return epochs
}
