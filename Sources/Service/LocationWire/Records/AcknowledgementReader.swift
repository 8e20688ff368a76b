import LocationTypes
import TextFormats

/// Fast path for the most frequent call, a oneway `Acknowledge`: parses it without copying and without heap allocation.
///
/// Accepts any order of members and any white space. Returns nil, and never an error, for all other frames, including
/// acknowledgements with escapes or additional members; ``JSONDocument`` parses those.
@safe struct AcknowledgementReader {
  /// Maximum length of a frame; longer frames are not plain acknowledgements.
  private static let lengthLimit = 256

  private let bytes: UnsafeBufferPointer<UInt8>
  private let count: Int
  private var offset = 0

  /// Name of the fix that the frame acknowledges; nil if the frame is anything else.
  static func read(_ frame: [UInt8]) -> FixName? {
    guard frame.count <= lengthLimit else { return nil }
    // The reader does not outlive the closure.
    return unsafe frame.withUnsafeBufferPointer { bytes in
      var reader = unsafe AcknowledgementReader(bytes)
      return reader.call()
    }
  }

  @unsafe private init(_ bytes: UnsafeBufferPointer<UInt8>) {
    unsafe self.bytes = bytes
    count = bytes.count
  }

  private mutating func call() -> FixName? {
    var isMethod = false
    var isOneway = false
    var name: FixName?
    guard consume("{") else { return nil }
    repeat {
      if !isMethod, consumeKey("\"method\"") {
        guard consume("\"org.torpor.Location.Acknowledge\"") else { return nil }
        isMethod = true
      } else if !isOneway, consumeKey("\"oneway\"") {
        guard consume("true") else { return nil }
        isOneway = true
      } else if name == nil, consumeKey("\"parameters\"") {
        name = fixName()
        guard name != nil else { return nil }
      } else {
        return nil
      }
    } while consume(",")
    guard consume("}"), offset == count, isMethod, isOneway else { return nil }
    return name
  }

  private mutating func fixName() -> FixName? {
    var generation: UInt64?
    var sequence: UInt64?
    guard consume("{") else { return nil }
    repeat {
      if generation == nil, consumeKey("\"generation\"") {
        generation = number()
        guard generation != nil else { return nil }
      } else if sequence == nil, consumeKey("\"sequence\"") {
        sequence = number()
        guard sequence != nil else { return nil }
      } else {
        return nil
      }
    } while consume(",")
    guard consume("}"), let generation = generation.flatMap({ UInt32(exactly: $0) }), let sequence,
      sequence < FixName.sequenceLimit
    else { return nil }
    return FixName(generation: generation, sequence: sequence)
  }

  private mutating func consumeKey(_ key: StaticString) -> Bool { consume(key) && consume(":") }

  /// Consumes `text` and the white space around it; false if the input differs.
  private mutating func consume(_ text: StaticString) -> Bool {
    skipSpace()
    let length = text.utf8CodeUnitCount
    guard length <= count - offset else { return false }
    for i in 0..<length where unsafe bytes[offset + i] != text.utf8Start[i] { return false }
    offset += length
    skipSpace()
    return true
  }

  private mutating func skipSpace() {
    while offset < count {
      switch unsafe bytes[offset] {
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return
      }
    }
  }

  /// Consumes an integer of up to 18 digits without leading zeros; nil if the input differs.
  private mutating func number() -> UInt64? {
    let first = offset
    var value: UInt64 = 0
    while offset < count, offset - first < 18 {
      let digit = unsafe bytes[offset] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value * 10 + UInt64(digit)
      offset += 1
    }
    guard offset > first, unsafe bytes[first] != UInt8(ascii: "0") || offset == first + 1
    else { return nil }
    skipSpace()
    return value
  }
}
