import GNSSProtocols
import LocationTypes

/// The time of an open epoch whose position is known, as its first sentence wrote it.
///
/// Most receivers say each epoch's time and place three times over. A GGA or GLL of the same epoch that
/// holds the position for valid changes neither its time nor that it has a position.
struct EchoedTime {
  /// Where it stands in the recording, the comma behind it included.
  private let field: Range<Int>

  /// The time of the epoch that `message` has opened, if it is a whole sentence at `start` that tells
  /// time and place.
  init?(_ message: GNSSMessage, in bytes: Span<UInt8>, from start: Int) {
    switch message {
    case .rmc(let m):
      guard m.isValid, m.mode != .notValid, m.coordinate != nil, m.time_us != nil else {
        return nil
      }
    case .gga(let m):
      guard let quality = m.quality, quality != 0, m.coordinate != nil, m.time_us != nil else {
        return nil
      }
    case _: return nil
    }
    // Behind a `$`, an address of five and a comma; the sentence has more fields than this one.
    let begin = start + 7
    var end = begin
    while bytes[end] != UInt8(ascii: ",") { end += 1 }
    field = begin..<end + 1
  }

  /// Whether the sentence that starts at `start` is a GGA or GLL that tells nothing new.
  ///
  /// - Precondition: sixteen bytes follow, and `limit` is at most the number of bytes.
  func isEchoed(in bytes: Span<UInt8>, from start: Int, upTo limit: Int) -> Bool {
    guard bytes[start] == UInt8(ascii: "$"), bytes[start + 3] == UInt8(ascii: "G"),
      bytes[start + 6] == UInt8(ascii: ",")
    else { return false }
    switch (bytes[start + 4], bytes[start + 5]) {
    case (UInt8(ascii: "G"), UInt8(ascii: "A")):
      guard isField(in: bytes, at: start + 7, upTo: limit),
        let place = EchoedTime.behind(4, in: bytes, from: start + 7 + field.count, upTo: limit)
      else { return false }
      // One digit of quality, and not that there is no position.
      return (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[place])
        && bytes[place + 1] == UInt8(ascii: ",")
    case (UInt8(ascii: "L"), UInt8(ascii: "L")):
      guard let time = EchoedTime.behind(4, in: bytes, from: start + 7, upTo: limit),
        isField(in: bytes, at: time, upTo: limit), time + field.count + 2 < limit
      else { return false }
      let place = time + field.count
      guard bytes[place] == UInt8(ascii: "A") else { return false }
      return bytes[place + 1] == UInt8(ascii: "*")
        || (bytes[place + 1] == UInt8(ascii: ",") && bytes[place + 2] != UInt8(ascii: "N"))
    case _: return false
    }
  }

  /// Whether the same stands at `place`.
  private func isField(in bytes: Span<UInt8>, at place: Int, upTo limit: Int) -> Bool {
    guard place + field.count <= limit else { return false }
    for i in 0..<field.count where bytes[place + i] != bytes[field.lowerBound + i] { return false }
    return true
  }

  /// The place behind so many commas, with a byte behind it; nil where there are fewer before `limit`.
  private static func behind(
    _ count: Int, in bytes: Span<UInt8>, from start: Int, upTo limit: Int
  ) -> Int? {
    var rest = count
    var i = start
    while i + 2 < limit {
      if bytes[i] == UInt8(ascii: ",") {
        rest -= 1
        if rest == 0 { return i + 1 }
      }
      i += 1
    }
    return nil
  }
}
