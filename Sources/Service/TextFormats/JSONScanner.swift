/// Parses a JSON text in one pass into the nodes of a ``JSONDocument``.
struct JSONScanner {
  private let bytes: [UInt8]
  private let limits: JSONLimits
  private var offset = 0
  private(set) var nodes: [JSONDocument.Node] = []

  init(_ bytes: [UInt8], _ limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  mutating func scan() throws(JSONProblem) {
    guard bytes.count < Int(Int32.max) else { throw .tooMany }
    try value(depth: 0)
    skipSpace()
    guard offset == bytes.count else { throw .syntax }
  }

  private var byte: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  private mutating func skipSpace() {
    while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  /// Appends a node; `end(_:)` sets its end and next node.
  private mutating func begin(_ kind: JSONDocument.Kind) throws(JSONProblem) -> Int {
    guard nodes.count < limits.nodes else { throw .tooMany }
    let start = Int32(offset)
    nodes.append(.init(kind: kind, start: start, end: start, next: 0))
    return nodes.count - 1
  }

  private mutating func end(_ node: Int) {
    nodes[node].end = Int32(offset)
    nodes[node].next = Int32(nodes.count)
  }

  private mutating func value(depth: Int) throws(JSONProblem) {
    skipSpace()
    switch byte {
    case UInt8(ascii: "{"): try object(depth: depth)
    case UInt8(ascii: "["): try list(depth: depth)
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true", .trueLiteral)
    case UInt8(ascii: "f"): try word("false", .falseLiteral)
    case UInt8(ascii: "n"): try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    default: throw .syntax
    }
  }

  private mutating func word(
    _ word: StaticString, _ kind: JSONDocument.Kind
  ) throws(JSONProblem) {
    let node = try begin(kind)
    for expected in word.description.utf8 {
      guard byte == expected else { throw .syntax }
      offset += 1
    }
    end(node)
  }
}

// MARK: - Objects and lists

extension JSONScanner {
  private mutating func object(depth: Int) throws(JSONProblem) {
    guard depth < limits.depth else { throw .tooDeep }
    let node = try begin(.object)
    offset += 1
    skipSpace()
    var count = 0
    while byte != UInt8(ascii: "}") {
      if count > 0 { try comma() }
      count += 1
      guard count <= limits.members else { throw .tooMany }
      guard byte == UInt8(ascii: "\"") else { throw .syntax }
      let name = nodes.count
      try string()
      guard nodes[name].end - nodes[name].start <= limits.nameLength else { throw .tooMany }
      guard !isRepeated(name, in: node) else { throw .duplicateName }
      skipSpace()
      guard byte == UInt8(ascii: ":") else { throw .syntax }
      offset += 1
      try value(depth: depth + 1)
      skipSpace()
    }
    offset += 1
    end(node)
  }

  private mutating func list(depth: Int) throws(JSONProblem) {
    guard depth < limits.depth else { throw .tooDeep }
    let node = try begin(.list)
    offset += 1
    skipSpace()
    var isFirst = true
    while byte != UInt8(ascii: "]") {
      if !isFirst { try comma() }
      isFirst = false
      try value(depth: depth + 1)
      skipSpace()
    }
    offset += 1
    end(node)
  }

  /// Consumes a comma that is not followed by the end of the object or list.
  private mutating func comma() throws(JSONProblem) {
    guard byte == UInt8(ascii: ",") else { throw .syntax }
    offset += 1
    skipSpace()
    guard byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]") else { throw .syntax }
  }

  /// Whether an earlier member of `object` has the same name as the node `name`.
  private func isRepeated(_ name: Int, in object: Int) -> Bool {
    let new = text(of: name)
    var other = object + 1
    while other < name {
      if text(of: other).elementsEqual(new) { return true }
      other = Int(nodes[other + 1].next)
    }
    return false
  }

  /// Bytes of a string without escapes.
  private func text(of node: Int) -> ArraySlice<UInt8> {
    let raw = bytes[Int(nodes[node].start)..<Int(nodes[node].end)]
    return nodes[node].hasEscapesOrIsInteger ? JSONScanner.unescaped(raw)[...] : raw
  }
}

// MARK: - Strings

extension JSONScanner {
  /// Parses a string; its node contains the text between the quotation marks.
  private mutating func string() throws(JSONProblem) {
    offset += 1
    let node = try begin(.string)
    while byte != UInt8(ascii: "\"") {
      guard offset < bytes.count else { throw .syntax }
      switch byte {
      case 0..<0x20: throw .syntax
      case UInt8(ascii: "\\"):
        nodes[node].hasEscapesOrIsInteger = true
        try escape()
      case 0x20..<0x80: offset += 1
      default: try multibyte()
      }
    }
    end(node)
    offset += 1
  }

  private mutating func escape() throws(JSONProblem) {
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      offset += 1
    case UInt8(ascii: "u"):
      let unit = try codeUnit()
      switch unit {
      case 0xD800..<0xDC00:
        guard byte == UInt8(ascii: "\\") else { throw .encoding }
        offset += 1
        guard byte == UInt8(ascii: "u") else { throw .encoding }
        guard (0xDC00..<0xE000).contains(try codeUnit()) else { throw .encoding }
      case 0xDC00..<0xE000: throw .encoding
      default: break
      }
    default: throw .syntax
    }
  }

  /// Parses the four hexadecimal digits after `u`.
  private mutating func codeUnit() throws(JSONProblem) -> UInt32 {
    offset += 1
    guard offset + 4 <= bytes.count, let unit = JSONScanner.unit(bytes[offset..<offset + 4]) else {
      throw .syntax
    }
    offset += 4
    return unit
  }

  /// Consumes a character of two to four bytes: shortest form, no surrogate, at most U+10FFFF (RFC 3629).
  private mutating func multibyte() throws(JSONProblem) {
    let lead = byte
    let (count, second): (Int, ClosedRange<UInt8>)
    switch lead {
    case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: throw .encoding
    }
    guard offset + count <= bytes.count, second.contains(bytes[offset + 1]) else { throw .encoding }
    for other in bytes[offset + 2..<max(offset + count, offset + 2)] where other & 0xC0 != 0x80 {
      throw .encoding
    }
    offset += count
  }

  private static func unit(_ digits: ArraySlice<UInt8>) -> UInt32? {
    var unit: UInt32 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(digit - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt32(digit - 0x57)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(digit - 0x37)
      default: return nil
      }
    }
    return unit
  }

  /// UTF-8 bytes of a validated string after decoding its escapes.
  static func unescaped(_ raw: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var index = raw.startIndex
    while index < raw.endIndex {
      guard raw[index] == UInt8(ascii: "\\") else {
        result.append(raw[index])
        index += 1
        continue
      }
      let kind = raw[index + 1]
      index += 2
      switch kind {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        var scalar = unit(raw[index..<index + 4]) ?? 0
        index += 4
        if (0xD800..<0xDC00).contains(scalar) {
          let low = unit(raw[index + 2..<index + 6]) ?? 0
          scalar = 0x1_0000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
          index += 6
        }
        if let scalar = Unicode.Scalar(scalar) { result.append(contentsOf: String(scalar).utf8) }
      default: result.append(kind)
      }
    }
    return result
  }
}

// MARK: - Numbers

extension JSONScanner {
  private mutating func number() throws(JSONProblem) {
    let node = try begin(.number)
    nodes[node].hasEscapesOrIsInteger = true
    if byte == UInt8(ascii: "-") { offset += 1 }
    if byte == UInt8(ascii: "0") { offset += 1 } else { try digits() }
    if byte == UInt8(ascii: ".") {
      nodes[node].hasEscapesOrIsInteger = false
      offset += 1
      try digits()
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      nodes[node].hasEscapesOrIsInteger = false
      offset += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
      try digits()
    }
    end(node)
    guard nodes[node].end - nodes[node].start <= limits.numberLength else { throw .longNumber }
  }

  /// Consumes one or more digits.
  private mutating func digits() throws(JSONProblem) {
    let first = offset
    while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
    guard offset > first else { throw .syntax }
  }
}
