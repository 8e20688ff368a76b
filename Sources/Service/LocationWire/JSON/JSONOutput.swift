/// An output buffer that appends JSON and is reused.
///
/// Writes numbers directly from scaled integers and keys directly from static strings, into memory that it manages
/// itself: appending the sixty parts of a fix to an array would cost a sixth more instructions. A member without a
/// value is omitted; the output contains no `null`.
@safe public struct JSONOutput: ~Copyable {
  /// Initial capacity in bytes; the capacity doubles when it is exhausted.
  private static let initialCapacity = 512
  /// Default of ``retainedCapacity``, bytes.
  public static let defaultRetainedCapacity = 16_384

  private var memory: UnsafeMutableRawBufferPointer
  /// Number of bytes written and not yet removed: UTF-8 with a NUL byte after each frame.
  public private(set) var count = 0
  private var isFirst = true
  /// Capacity in bytes that is retained when the buffer becomes empty; a larger buffer is freed, so that one long reply
  /// does not occupy memory as long as the client stays connected.
  public var retainedCapacity = JSONOutput.defaultRetainedCapacity

  /// Creates an empty buffer without allocating memory.
  public init() { unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0) }

  deinit { unsafe memory.deallocate() }

  /// Allocated bytes.
  var capacity: Int { unsafe memory.count }

  /// Whether all written bytes were removed.
  public var isEmpty: Bool { count == 0 }

  /// Copy of the bytes written and not yet removed.
  public var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }

  /// Calls `body` with the bytes written and not yet removed; the pointer is valid during the call only.
  @unsafe public borrowing func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    unsafe body(UnsafeRawBufferPointer(rebasing: memory[0..<count]))
  }

  /// Removes the first `number` bytes after they were sent.
  ///
  /// - Precondition: 0 ≤ `number` ≤ ``count``.
  /// - Complexity: O(remaining bytes).
  public mutating func removeFirst(_ number: Int) {
    precondition(number >= 0 && number <= count, "the number exceeds the written bytes")
    guard number < count else { return removeAll() }
    count -= number
    // The ranges overlap; `copyMemory` permits that, like `memmove`.
    unsafe memory.baseAddress!.copyMemory(from: memory.baseAddress! + number, byteCount: count)
  }

  /// Removes all bytes; retains the capacity up to ``retainedCapacity``.
  public mutating func removeAll() {
    count = 0
    guard capacity > retainedCapacity else { return }
    unsafe memory.deallocate()
    unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  /// Discards all bytes after the first `number`.
  mutating func truncate(to number: Int) {
    precondition(number >= 0 && number <= count, "the number exceeds the written bytes")
    count = number
  }

  /// Appends one frame: an object and a NUL byte.
  mutating func frame(_ body: (inout JSONOutput) -> Void) {
    isFirst = true
    nested("{", "}", body)
    byte("\0")
  }

  /// Appends bytes that are not JSON: records of an upgraded connection.
  mutating func append(_ bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return }
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe reserve(bytes.count).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      count += bytes.count
    }
  }

  /// Ensures capacity for `number` more bytes, at least 1, and returns the address for them. The caller increases
  /// `count`.
  @unsafe private mutating func reserve(_ number: Int) -> UnsafeMutableRawPointer {
    if unsafe memory.count - count < number { grow(by: number) }
    return unsafe memory.baseAddress! + count
  }

  @inline(never) private mutating func grow(by number: Int) {
    precondition(number <= Int.max / 4 && capacity <= Int.max / 4, "the capacity would overflow")
    let size = max(JSONOutput.initialCapacity, 2 * capacity, count + number)
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

  /// Appends a number member with the fewest digits that convert back to the same value; nothing if the value is not
  /// finite.
  mutating func member(_ name: StaticString, _ value: Double) {
    guard value.isFinite else { return }
    key(name)
    decimal(value)
  }

  /// Appends a member with the value `value` / 10^`scale`, without trailing zeros.
  mutating func member(_ name: StaticString, _ value: Int64, scale: Int) {
    key(name)
    add(value, scale: scale)
  }

  /// Appends a member with the value `value` / 10^`scale`, without trailing zeros; nothing if `value` is nil.
  mutating func member(_ name: StaticString, _ value: Int32?, scale: Int) {
    if let value { member(name, Int64(value), scale: scale) }
  }

  mutating func object(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
    key(name)
    nested("{", "}", body)
  }

  /// Appends a list member; `body` calls ``element(_:)``, ``element(word:)`` or ``element(text:)`` for each element.
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
    unsafe reserve(1).storeBytes(of: value, as: UInt8.self)
    count += 1
  }

  /// Appends static text, which must not need escapes.
  private mutating func add(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    // The address of a static string is stable.
    unsafe reserve(length).copyMemory(from: text.utf8Start, byteCount: length)
    count += length
  }

  /// Appends `value` / 10^`scale` without trailing zeros; generates the digits from last to first.
  private mutating func add(_ value: Int64, scale: Int = 0) {
    precondition((0...18).contains(scale), "the scale exceeds the digits of Int64")
    // 24 bytes hold nineteen digits, a point and a sign. The move to the front copies 24 bytes from any offset, so
    // reserve twice as many.
    let size = 24
    let buffer = unsafe reserve(2 * size)
    var offset = size
    func put(_ byte: UInt8) {
      offset -= 1
      unsafe buffer.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }
    var remaining = value.magnitude
    var decimals = remaining == 0 ? 0 : scale
    while decimals > 0, remaining.isMultiple(of: 10) {
      remaining /= 10
      decimals -= 1
    }
    let hasPoint = decimals > 0
    while decimals > 0 {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remaining % 10))
      remaining /= 10
      decimals -= 1
    }
    if hasPoint { put(UInt8(ascii: ".")) }
    repeat {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remaining % 10))
      remaining /= 10
    } while remaining > 0
    if value < 0 { put(UInt8(ascii: "-")) }
    for word in 0..<size / 8 {
      let chunk = unsafe buffer.loadUnaligned(fromByteOffset: offset + 8 * word, as: UInt64.self)
      unsafe buffer.storeBytes(of: chunk, toByteOffset: 8 * word, as: UInt64.self)
    }
    count += size - offset
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
