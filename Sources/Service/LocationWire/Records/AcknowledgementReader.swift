import LocationTypes

/// Reads the call that comes with every fix, a oneway `Acknowledge`, without a copy and without the heap.
///
/// Takes it in any order of its members and with any white space. What is written in another way,
/// with escapes or members of its own, or is no acknowledgement, it leaves to ``JSONDocument``: it says
/// nil, and never that something is wrong.
@safe struct AcknowledgementReader {
  /// Longer frames have something else in them.
  private static let lengthLimit = 256

  private let bytes: UnsafeBufferPointer<UInt8>
  private let count: Int
  private var place = 0

  /// The fix that the frame acknowledges, if it is such a call.
  static func read(_ frame: [UInt8]) -> FixName? {
    guard frame.count <= lengthLimit else { return nil }
    // The reader ends before the closure does.
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
    guard take("{") else { return nil }
    repeat {
      if !isMethod, takeKey("\"method\"") {
        guard take("\"org.torpor.Location.Acknowledge\"") else { return nil }
        isMethod = true
      } else if !isOneway, takeKey("\"oneway\"") {
        guard take("true") else { return nil }
        isOneway = true
      } else if name == nil, takeKey("\"parameters\"") {
        name = fixName()
        guard name != nil else { return nil }
      } else {
        return nil
      }
    } while take(",")
    guard take("}"), place == count, isMethod, isOneway else { return nil }
    return name
  }

  private mutating func fixName() -> FixName? {
    var generation: UInt64?
    var sequence: UInt64?
    guard take("{") else { return nil }
    repeat {
      if generation == nil, takeKey("\"generation\"") {
        generation = number()
        guard generation != nil else { return nil }
      } else if sequence == nil, takeKey("\"sequence\"") {
        sequence = number()
        guard sequence != nil else { return nil }
      } else {
        return nil
      }
    } while take(",")
    guard take("}"), let generation = generation.flatMap({ UInt32(exactly: $0) }), let sequence,
      sequence < FixName.sequenceLimit
    else { return nil }
    return FixName(generation: generation, sequence: sequence)
  }

  private mutating func takeKey(_ key: StaticString) -> Bool { take(key) && take(":") }

  /// Passes over `text` and the white space behind it; false if something else is there.
  private mutating func take(_ text: StaticString) -> Bool {
    skipSpace()
    let length = text.utf8CodeUnitCount
    guard length <= count - place else { return false }
    for i in 0..<length where unsafe bytes[place + i] != text.utf8Start[i] { return false }
    place += length
    skipSpace()
    return true
  }

  private mutating func skipSpace() {
    while place < count {
      switch unsafe bytes[place] {
      case 0x20, 0x0A, 0x0D, 0x09: place += 1
      default: return
      }
    }
  }

  /// Up to 18 digits, the first of which is no zero where others follow.
  private mutating func number() -> UInt64? {
    let first = place
    var value: UInt64 = 0
    while place < count, place - first < 18 {
      let digit = unsafe bytes[place] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value * 10 + UInt64(digit)
      place += 1
    }
    guard place > first, unsafe bytes[first] != UInt8(ascii: "0") || place == first + 1
    else { return nil }
    skipSpace()
    return value
  }
}

extension FixName {
  /// Sequence numbers have 40 bits: 2⁴⁰.
  static let sequenceLimit: UInt64 = 1 << 40
}
