/// An output buffer of UTF-8 text that is reused. Numbers are formatted from scaled integers, without floating point, so
/// that no conversion changes a digit.
///
/// Manages its memory itself: appending the sixty parts of a fix to an array would cost a sixth more instructions.
@safe public struct TextBuffer: ~Copyable {
  /// Initial capacity in bytes; the capacity doubles when it is exhausted.
  private static let initialCapacity = 512
  /// Default of ``retainedCapacity``, bytes.
  public static let defaultRetainedCapacity = 16_384

  private var memory: UnsafeMutableRawBufferPointer
  /// Number of bytes written and not yet removed.
  public private(set) var count = 0
  /// Capacity in bytes that is retained when the buffer becomes empty; a larger buffer is freed, so that one long text
  /// does not occupy memory as long as its owner exists.
  public var retainedCapacity = TextBuffer.defaultRetainedCapacity

  /// Creates an empty buffer without allocating memory.
  public init() { unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0) }

  deinit { unsafe memory.deallocate() }

  /// Allocated bytes.
  public var capacity: Int { unsafe memory.count }

  /// Whether all written bytes were removed.
  public var isEmpty: Bool { count == 0 }

  /// Copy of the bytes written and not yet removed.
  public var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }

  /// The text as a string.
  public var string: String {
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

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
  ///
  /// - Precondition: 0 ≤ `number` ≤ ``count``.
  public mutating func truncate(to number: Int) {
    precondition(number >= 0 && number <= count, "the number exceeds the written bytes")
    count = number
  }

  /// Ensures capacity for `number` more bytes, at least 1, and returns the address for them. The caller increases
  /// `count`.
  @unsafe private mutating func reserve(_ number: Int) -> UnsafeMutableRawPointer {
    if unsafe memory.count - count < number { grow(by: number) }
    return unsafe memory.baseAddress! + count
  }

  @inline(never) private mutating func grow(by number: Int) {
    precondition(number <= Int.max / 4 && capacity <= Int.max / 4, "the capacity would overflow")
    let size = max(TextBuffer.initialCapacity, 2 * capacity, count + number)
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    if let old = unsafe memory.baseAddress {
      unsafe larger.baseAddress!.copyMemory(from: old, byteCount: count)
      unsafe memory.deallocate()
    }
    unsafe memory = larger
  }
}

// MARK: - Text

extension TextBuffer {
  /// Appends one byte.
  public mutating func add(byte: UInt8) {
    unsafe reserve(1).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  /// Appends static text.
  public mutating func add(word: StaticString) {
    let length = word.utf8CodeUnitCount
    guard length > 0 else { return }
    // The address of a static string is stable.
    unsafe reserve(length).copyMemory(from: word.utf8Start, byteCount: length)
    count += length
  }

  /// Appends `text`.
  public mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { unsafe append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends the text of `other`.
  public mutating func add(_ other: borrowing TextBuffer) {
    unsafe other.withUnsafeBytes { unsafe append($0) }
  }

  /// Appends `bytes`.
  public mutating func add(bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    unsafe reserve(bytes.count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }
}

// MARK: - Numbers

extension TextBuffer {
  /// Appends an integer, padded with leading zeros to `width` digits (20 at most).
  public mutating func add(_ value: Int64, width: Int = 1) {
    add(digits: value.magnitude, decimals: 0, width: min(width, 20), isNegative: value < 0)
  }

  /// Appends `value` / 10^`scale` with exactly `places` decimals, halves rounded away from zero.
  ///
  /// A negative value that rounds to 0 is printed without a sign.
  ///
  /// - Precondition: 0 ≤ `scale` ≤ 18 and 0 ≤ `places` ≤ 18.
  public mutating func add(_ value: Int64, scale: Int, places: Int) {
    precondition((0...18).contains(scale) && (0...18).contains(places), "at most 18 decimals")
    let decimals = min(scale, places)
    var divisor: UInt64 = 1
    for _ in decimals..<scale { divisor *= 10 }
    let roundsUp = value.magnitude % divisor >= divisor - divisor / 2 && divisor > 1
    let rounded = value.magnitude / divisor + (roundsUp ? 1 : 0)
    add(digits: rounded, decimals: decimals, width: 1, isNegative: value < 0 && rounded > 0)
    guard places > decimals else { return }
    if decimals == 0 { add(byte: UInt8(ascii: ".")) }
    for _ in decimals..<places { add(byte: UInt8(ascii: "0")) }
  }

  /// Appends `value` / 10^`scale` without trailing zeros.
  ///
  /// - Precondition: 0 ≤ `scale` ≤ 18.
  public mutating func add(trimmed value: Int64, scale: Int) {
    precondition((0...18).contains(scale), "the scale exceeds the digits of Int64")
    var remaining = value.magnitude
    var decimals = remaining == 0 ? 0 : scale
    while decimals > 0, remaining.isMultiple(of: 10) {
      remaining /= 10
      decimals -= 1
    }
    add(digits: remaining, decimals: decimals, width: 1, isNegative: value < 0)
  }

  /// Appends the digits of `value` with a point before the last `decimals`, and at least `width` digits before it;
  /// generates them from last to first.
  @inline(__always) private mutating func add(
    digits value: UInt64, decimals: Int, width: Int, isNegative: Bool
  ) {
    // 24 bytes hold twenty digits, a point and a sign. The move to the front copies 24 bytes from any offset, so
    // reserve twice as many.
    let size = 24
    let buffer = unsafe reserve(2 * size)
    var offset = size
    func put(_ byte: UInt8) {
      offset -= 1
      unsafe buffer.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }
    var remaining = value
    for _ in 0..<decimals {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remaining % 10))
      remaining /= 10
    }
    if decimals > 0 { put(UInt8(ascii: ".")) }
    let end = offset
    repeat {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remaining % 10))
      remaining /= 10
    } while remaining > 0
    while end - offset < width { put(UInt8(ascii: "0")) }
    if isNegative { put(UInt8(ascii: "-")) }
    for word in 0..<size / 8 {
      let chunk = unsafe buffer.loadUnaligned(fromByteOffset: offset + 8 * word, as: UInt64.self)
      unsafe buffer.storeBytes(of: chunk, toByteOffset: 8 * word, as: UInt64.self)
    }
    count += size - offset
  }
}
