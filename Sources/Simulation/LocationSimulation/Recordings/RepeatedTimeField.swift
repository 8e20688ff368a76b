import GNSSProtocols
import LocationTypes

/// The time field in the first sentence of an open epoch with a position, to recognise later sentences with the same
/// time.
///
/// Most receivers send the time and position of each epoch three times. A GGA or GLL of the same epoch with a valid
/// position changes neither the epoch's time nor the fact that it has a position, so its fields need not be decoded.
struct RepeatedTimeField {
  /// Range of the field in the recording, including the comma after it.
  private let field: Range<Int>

  /// Creates the field from `message`, which opened the epoch and starts at `start`; nil if it is not an RMC or GGA
  /// with a valid time and position.
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
    // After `$`, a five-character address and a comma. The sentence has more fields than this one.
    let begin = start + 7
    var end = begin
    while bytes[end] != UInt8(ascii: ",") { end += 1 }
    field = begin..<end + 1
  }

  /// Whether the sentence that starts at `start` is a GGA or GLL with this time and a valid position.
  ///
  /// - Precondition: At least sixteen bytes follow.
  func isRepeated(in bytes: Span<UInt8>, from start: Int) -> Bool {
    guard bytes[start] == UInt8(ascii: "$"), bytes[start + 3] == UInt8(ascii: "G"),
      bytes[start + 6] == UInt8(ascii: ",")
    else { return false }
    switch (bytes[start + 4], bytes[start + 5]) {
    case (UInt8(ascii: "G"), UInt8(ascii: "A")):
      guard matchesField(in: bytes, at: start + 7),
        let quality = NMEAFraming.index(afterCommas: 4, in: bytes, from: start + 7 + field.count)
      else { return false }
      // The quality is one digit and not 0, which means no position.
      return (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[quality])
        && bytes[quality + 1] == UInt8(ascii: ",")
    case (UInt8(ascii: "L"), UInt8(ascii: "L")):
      guard let time = NMEAFraming.index(afterCommas: 4, in: bytes, from: start + 7),
        matchesField(in: bytes, at: time), time + field.count + 2 < bytes.count
      else { return false }
      let status = time + field.count
      guard bytes[status] == UInt8(ascii: "A") else { return false }
      return bytes[status + 1] == UInt8(ascii: "*")
        || (bytes[status + 1] == UInt8(ascii: ",") && bytes[status + 2] != UInt8(ascii: "N"))
    case _: return false
    }
  }

  /// Whether the field's bytes occur at `index`.
  private func matchesField(in bytes: Span<UInt8>, at index: Int) -> Bool {
    guard index + field.count <= bytes.count else { return false }
    // Compares the first and the last bytes as words, which may overlap.
    if field.count >= 8, field.count <= 16 { return matchesEnds(in: bytes, at: index, UInt64.self) }
    if field.count >= 4, field.count < 8 { return matchesEnds(in: bytes, at: index, UInt32.self) }
    for i in 0..<field.count where bytes[index + i] != bytes[field.lowerBound + i] { return false }
    return true
  }

  /// Whether the first and the last bytes of the field, one word each, occur at `offset`.
  @inline(__always)
  private func matchesEnds<Word: FixedWidthInteger & BitwiseCopyable>(
    in bytes: Span<UInt8>, at offset: Int, _: Word.Type
  ) -> Bool {
    let last = field.count - MemoryLayout<Word>.size
    let own = field.lowerBound
    precondition(last >= 0 && offset >= 0 && own >= 0, "a word is no longer than the field")
    precondition(max(offset, own) <= bytes.count - field.count, "both lie in the span")
    // All bit patterns are valid integers, and both positions were checked against the bounds.
    let raw = unsafe bytes.bytes
    func word(_ i: Int) -> Word {
      unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: Word.self)
    }
    return word(offset) == word(own) && word(offset + last) == word(own + last)
  }
}
