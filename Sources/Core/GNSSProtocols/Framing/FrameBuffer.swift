/// A fixed buffer in which encoders write frames: bytes on their way to a byte line.
///
/// Holds 1,024 bytes; an encoder that would pass the end traps, for every frame is bounded.
@frozen public struct FrameBuffer: Sendable {
  /// The most bytes the buffer holds.
  public static let capacity = 1_024

  @usableFromInline var storage: InlineArray<1_024, UInt8>
  /// How many bytes it holds, 0 to ``capacity``.
  public private(set) var count: Int

  /// Creates an empty buffer.
  public init() {
    storage = InlineArray(repeating: 0)
    count = 0
  }

  /// Adds a byte at the end.
  ///
  /// - Precondition: the buffer has room.
  public mutating func append(_ byte: UInt8) {
    precondition(count < FrameBuffer.capacity, "a frame buffer holds 1,024 bytes")
    storage[count] = byte
    count += 1
  }

  /// The byte at `index`, which is below ``count``.
  public subscript(index: Int) -> UInt8 {
    get {
      precondition(index < count, "past the end of the buffer")
      return storage[index]
    }
    set {
      precondition(index < count, "past the end of the buffer")
      storage[index] = newValue
    }
  }

  /// Takes all bytes out, in O(1).
  public mutating func removeAll() { count = 0 }

  /// Whether there is nothing to send.
  public var isEmpty: Bool { count == 0 }

  /// How many bytes still fit.
  public var available: Int { FrameBuffer.capacity - count }

  /// The bytes it holds.
  public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { storage.span.extracting(0..<count) }
  }

  /// Adds the bytes of `bytes` at the end.
  ///
  /// - Precondition: the buffer has room for them.
  public mutating func append(_ bytes: Span<UInt8>) {
    precondition(bytes.count <= available, "a frame buffer holds 1,024 bytes")
    let place = count
    var target = storage.mutableSpan
    // The length is checked above; the source is the caller's and never this buffer.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        guard let from = bytes.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + place).update(from: from, count: bytes.count)
      }
    }
    count += bytes.count
  }

  /// Adds an integer in little-endian order, as UBX has it.
  mutating func append(littleEndian value: some FixedWidthInteger & BitwiseCopyable) {
    put(value, at: appendZeroes(MemoryLayout.size(ofValue: value)))
  }

  /// Adds `count` bytes of zero and tells where they begin.
  ///
  /// - Precondition: the buffer has room for them.
  mutating func appendZeroes(_ count: Int) -> Int {
    let start = self.count
    precondition(count >= 0 && count <= available, "a frame buffer holds 1,024 bytes")
    var target = storage.mutableSpan
    // They lie in the buffer: see above.
    unsafe target.withUnsafeMutableBufferPointer { target in
      guard let to = target.baseAddress else { return }
      unsafe (to + start).update(repeating: 0, count: count)
    }
    self.count += count
    return start
  }

  /// Writes an integer in little-endian order over the bytes at `i`.
  ///
  /// - Precondition: the buffer holds so many.
  @inline(__always)
  mutating func put<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at i: Int) {
    precondition(i >= 0 && i <= count - MemoryLayout<Value>.size, "past the end of the buffer")
    var target = storage.mutableSpan
    // They lie in the buffer: see above.
    unsafe target.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: value.littleEndian, toByteOffset: i, as: Value.self)
    }
  }
}
