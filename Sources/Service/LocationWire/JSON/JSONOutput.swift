/// Writes JSON to the end of memory that is used again and again.
///
/// Numbers are written straight from scaled integers, and keys straight from the program's own text, into
/// memory of its own: at the end of an array, a fix's sixty pieces cost a sixth of its instructions more.
/// A member without a value is left out; there is no `null`.
@safe public struct JSONOutput: ~Copyable {
  /// The first room; it doubles when it is full.
  private static let smallest = 512
  /// The largest capacity that is kept, where its owner sets no other.
  public static let standardKept = 16_384

  private var memory: UnsafeMutableRawBufferPointer
  /// How many bytes were written and not yet taken: UTF-8 with a NUL byte behind each frame.
  public private(set) var count = 0
  private var isFirst = true
  /// Bytes; more room than this is given back once all is taken: a long reply's is not kept for a client that may
  /// stay for months.
  public var kept = JSONOutput.standardKept

  /// Nothing is written yet, and no memory taken.
  public init() { unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0) }

  deinit { unsafe memory.deallocate() }

  /// How many bytes there is room for now.
  var capacity: Int { unsafe memory.count }

  /// Whether all that was written has been taken.
  public var isEmpty: Bool { count == 0 }

  /// A copy of what was written and not yet taken.
  public var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }

  /// Shows what was written and not yet taken, where it lies; it is there as long as `body` runs.
  @unsafe public borrowing func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    unsafe body(UnsafeRawBufferPointer(rebasing: memory[0..<count]))
  }

  /// Takes the first `number` bytes out, because they were sent.
  ///
  /// - Precondition: there are as many.
  /// - Complexity: O(what stays).
  public mutating func removeFirst(_ number: Int) {
    precondition(number >= 0 && number <= count, "no more was written")
    guard number < count else { return removeAll() }
    count -= number
    // The bytes overlap, and `memmove` is what this calls.
    unsafe memory.baseAddress!.copyMemory(from: memory.baseAddress! + number, byteCount: count)
  }

  /// Takes everything out and keeps the room, up to ``kept``.
  public mutating func removeAll() {
    count = 0
    guard capacity > kept else { return }
    unsafe memory.deallocate()
    unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  /// Takes back what was written after there were `number` bytes.
  mutating func truncate(to number: Int) {
    precondition(number >= 0 && number <= count, "no more was written")
    count = number
  }

  /// Writes one frame: an object and the NUL byte behind it.
  mutating func frame(_ body: (inout JSONOutput) -> Void) {
    isFirst = true
    nested("{", "}", body)
    byte("\0")
  }

  /// Writes bytes that are no JSON: records of an upgraded connection.
  mutating func append(_ bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return }
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe room(for: bytes.count).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      count += bytes.count
    }
  }

  /// Where the next `number` bytes go, which are some; who writes them counts them.
  @unsafe private mutating func room(for number: Int) -> UnsafeMutableRawPointer {
    if unsafe memory.count - count < number { grow(by: number) }
    return unsafe memory.baseAddress! + count
  }

  @inline(never) private mutating func grow(by number: Int) {
    precondition(number <= Int.max / 4 && capacity <= Int.max / 4, "more than any memory")
    let size = max(JSONOutput.smallest, 2 * capacity, count + number)
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    if let old = unsafe memory.baseAddress {
      unsafe larger.baseAddress!.copyMemory(from: old, byteCount: count)
      unsafe memory.deallocate()
    }
    unsafe memory = larger
  }
}

// MARK: - Members

extension JSONOutput {
  mutating func member(_ name: StaticString, _ value: String) {
    key(name)
    quoted(value)
  }

  mutating func member(_ name: StaticString, word: StaticString) {
    key(name)
    byte("\"")
    add(word)
    byte("\"")
  }

  mutating func member(_ name: StaticString, _ value: Int64) {
    key(name)
    add(value)
  }

  mutating func member(_ name: StaticString, _ value: Bool) {
    key(name)
    add(value ? "true" as StaticString : "false")
  }

  /// Adds a member with the fewest digits that read back as the same number; what is not finite is
  /// left out.
  mutating func member(_ name: StaticString, _ value: Double) {
    guard value.isFinite else { return }
    key(name)
    decimal(value)
  }

  /// Adds a member: `value` / 10^`scale`, with as many decimals as it has.
  mutating func member(_ name: StaticString, _ value: Int64, scale: Int) {
    key(name)
    add(value, scale: scale)
  }

  /// Adds a member if there is a value: `value` / 10^`scale`, with as many decimals as it has.
  mutating func member(_ name: StaticString, _ value: Int32?, scale: Int) {
    if let value { member(name, Int64(value), scale: scale) }
  }

  mutating func object(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
    key(name)
    nested("{", "}", body)
  }

  /// Adds a member that is a list; `body` calls ``element(_:)``, ``element(word:)`` or
  /// ``element(text:)`` for each of its elements.
  mutating func list(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
    key(name)
    nested("[", "]", body)
  }

  mutating func element(_ body: (inout JSONOutput) -> Void) {
    separate()
    nested("{", "}", body)
  }

  mutating func element(word: StaticString) {
    separate()
    byte("\"")
    add(word)
    byte("\"")
  }

  mutating func element(text: String) {
    separate()
    quoted(text)
  }

  private mutating func nested(
    _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONOutput) -> Void
  ) {
    byte(open)
    isFirst = true
    body(&self)
    isFirst = false
    byte(close)
  }

  private mutating func key(_ name: StaticString) {
    separate()
    byte("\"")
    add(name)
    byte("\"")
    byte(":")
  }

  private mutating func separate() {
    if !isFirst { byte(",") }
    isFirst = false
  }
}

// MARK: - Values

extension JSONOutput {
  private mutating func byte(_ scalar: Unicode.Scalar) {
    let value = UInt8(truncatingIfNeeded: scalar.value)
    unsafe room(for: 1).storeBytes(of: value, as: UInt8.self)
    count += 1
  }

  /// Adds text of the source code, which needs no escapes.
  private mutating func add(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    // Text of the source code lies still.
    unsafe room(for: length).copyMemory(from: text.utf8Start, byteCount: length)
    count += length
  }

  /// Adds `value` / 10^`scale` without zeros at its end, the last digit first.
  private mutating func add(_ value: Int64, scale: Int = 0) {
    precondition((0...18).contains(scale), "past what Int64 holds")
    // Nineteen digits, a point and a sign; behind them as much again, for what is moved to the front.
    let size = 24
    let room = unsafe room(for: 2 * size)
    var place = size
    func put(_ byte: UInt8) {
      place -= 1
      unsafe room.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
    }
    var rest = value.magnitude
    var decimals = rest == 0 ? 0 : scale
    while decimals > 0, rest.isMultiple(of: 10) {
      rest /= 10
      decimals -= 1
    }
    let hasPoint = decimals > 0
    while decimals > 0 {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
      decimals -= 1
    }
    if hasPoint { put(UInt8(ascii: ".")) }
    repeat {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    if value < 0 { put(UInt8(ascii: "-")) }
    for word in 0..<size / 8 {
      let moved = unsafe room.loadUnaligned(fromByteOffset: place + 8 * word, as: UInt64.self)
      unsafe room.storeBytes(of: moved, toByteOffset: 8 * word, as: UInt64.self)
    }
    count += size - place
  }

  private mutating func decimal(_ value: Double) {
    var text: [UInt8] = []
    JSONText.append(value, to: &text)
    unsafe append(text.span.bytes)
  }

  private mutating func quoted(_ value: String) {
    var text: [UInt8] = []
    JSONText.append(quoted: value, to: &text)
    unsafe append(text.span.bytes)
  }
}
