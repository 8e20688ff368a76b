/// One field of all fixes of a message, as a column of differences (`Docs/Reference/uplink-payload.md`, "Column").
///
/// The encoder writes the column with the largest step that reproduces all values, and of the differences of order 0, 1
/// and 2, with or without runs of zeros, those with the fewest bytes.
enum Column {
  /// Bits of the first byte.
  private enum Layout {
    static let order: UInt8 = 0b11
    static let runs: UInt8 = 0b100
    /// All values are unknown; step and differences are omitted.
    static let unknown: UInt8 = 0b1000
    /// Some values are unknown; the lengths of runs follow.
    static let mixed: UInt8 = 0b1_0000
  }

  // MARK: Encoding

  /// Appends a column; nil is an unknown value.
  static func append(_ values: [Int64?], to bytes: inout [UInt8]) {
    let known = values.compactMap { $0 }
    guard !known.isEmpty else {
      bytes.append(Layout.unknown)
      return
    }
    let (step, multiples) = scaled(known)
    var best: (layout: UInt8, bytes: [UInt8]) = (0, [])
    for order in 0...2 {
      let differences = differences(of: multiples, order: order)
      for runs in [0, Layout.runs] {
        let encoded = encoded(differences, hasRuns: runs != 0)
        if best.bytes.isEmpty || encoded.count < best.bytes.count {
          best = (UInt8(order) | runs, encoded)
        }
      }
    }
    let isMixed = known.count < values.count
    bytes.append(best.layout | (isMixed ? Layout.mixed : 0))
    bytes.append(step.code)
    if isMixed { appendRunLengths(values, to: &bytes) }
    bytes += best.bytes
  }

  /// The multiples of the largest step that reproduces all values.
  private static func scaled(_ values: [Int64]) -> (ColumnStep, [Int64]) {
    var result = (ColumnStep.one, values)
    var smallest = result.1.map(\.magnitude).max() ?? 0
    for step in ColumnStep.all {
      var multiples: [Int64] = []
      multiples.reserveCapacity(values.count)
      for value in values {
        guard let multiple = step.multiple(of: value) else { break }
        multiples.append(multiple)
      }
      guard multiples.count == values.count else { continue }
      let largest = multiples.map(\.magnitude).max() ?? 0
      if largest < smallest {
        smallest = largest
        result = (step, multiples)
      }
    }
    return result
  }

  /// The differences between the values and their predictions: zero, the last value, or a line through the last two.
  private static func differences(of values: [Int64], order: Int) -> [Int64] {
    var last: Int64 = 0
    var secondLast: Int64 = 0
    return values.indices.map { i in
      let predicted = prediction(order: min(order, i), last, secondLast)
      secondLast = last
      last = values[i]
      return values[i] &- predicted
    }
  }

  private static func prediction(order: Int, _ last: Int64, _ secondLast: Int64) -> Int64 {
    switch order {
    case 0: 0
    case 1: last
    case _: last &+ (last &- secondLast)
    }
  }

  /// Bytes of the differences, without or with runs of zeros.
  private static func encoded(_ differences: [Int64], hasRuns: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    var zeros: UInt64 = 0
    for difference in differences {
      if hasRuns, difference == 0 {
        zeros += 1
        continue
      }
      appendZeros(&zeros, to: &bytes)
      bytes.append(varint: zigzag(difference))
    }
    appendZeros(&zeros, to: &bytes)
    return bytes
  }

  private static func appendZeros(_ count: inout UInt64, to bytes: inout [UInt8]) {
    guard count > 0 else { return }
    bytes.append(0)
    bytes.append(varint: count - 1)
    count = 0
  }

  /// Appends the lengths of the runs of known and unknown values, in turn; the first may be zero.
  private static func appendRunLengths(_ values: [Int64?], to bytes: inout [UInt8]) {
    var isKnown = true
    var length: UInt64 = 0
    for value in values {
      if (value != nil) != isKnown {
        bytes.append(varint: length)
        isKnown.toggle()
        length = 0
      }
      length += 1
    }
    bytes.append(varint: length)
  }

  // MARK: Decoding

  /// Reads a column of `count` values.
  static func read(
    _ reader: inout ByteReader, count: Int
  ) throws(UplinkDecodingError) -> [Int64?] {
    let layout = try reader.byte()
    if layout == Layout.unknown { return [Int64?](repeating: nil, count: count) }
    let order = Int(layout & Layout.order)
    guard order <= 2, layout & ~(Layout.order | Layout.runs | Layout.mixed) == 0,
      let step = ColumnStep.step(try reader.byte())
    else { throw .invalid }
    let isKnown =
      layout & Layout.mixed == 0
      ? [Bool](repeating: true, count: count) : try readRunLengths(&reader, count: count)
    let knownCount = isKnown.count { $0 }
    let differences = try readDifferences(
      &reader, count: knownCount, hasRuns: layout & Layout.runs != 0)
    var last: Int64 = 0
    var secondLast: Int64 = 0
    var next = 0
    var values: [Int64?] = []
    values.reserveCapacity(count)
    for isKnown in isKnown {
      guard isKnown else {
        values.append(nil)
        continue
      }
      let multiple =
        differences[next] &+ prediction(order: min(order, next), last, secondLast)
      guard let value = step.value(of: multiple) else { throw .invalid }
      values.append(value)
      (secondLast, last) = (last, multiple)
      next += 1
    }
    return values
  }

  private static func readRunLengths(
    _ reader: inout ByteReader, count: Int
  ) throws(UplinkDecodingError) -> [Bool] {
    var result: [Bool] = []
    result.reserveCapacity(count)
    var isKnown = true
    while result.count < count {
      let length = try reader.varint()
      guard length <= UInt64(count - result.count), length > 0 || (isKnown && result.isEmpty)
      else { throw .invalid }
      for _ in 0..<Int(length) { result.append(isKnown) }
      isKnown.toggle()
    }
    return result
  }

  private static func readDifferences(
    _ reader: inout ByteReader, count: Int, hasRuns: Bool
  ) throws(UplinkDecodingError) -> [Int64] {
    var result: [Int64] = []
    result.reserveCapacity(count)
    while result.count < count {
      let difference = try reader.signed()
      guard hasRuns, difference == 0 else {
        result.append(difference)
        continue
      }
      let more = try reader.varint()
      guard more < UInt64(count - result.count) else { throw .invalid }
      for _ in 0...Int(more) { result.append(0) }
    }
    return result
  }
}
