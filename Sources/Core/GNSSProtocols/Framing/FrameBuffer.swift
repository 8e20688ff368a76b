/// A fixed buffer of 1,024 bytes into which encoders write frames to send to a byte line.
///
/// Appending beyond its capacity traps: all frames are bounded, so that is a programming error. No
/// heap.
@frozen public struct FrameBuffer: Sendable {
  /// Capacity, bytes.
  public static let capacity = 1_024

  @usableFromInline private(set) var storage: InlineArray<1_024, UInt8>
  /// Number of bytes in the buffer, 0 to ``capacity``.
  public private(set) var count: Int

  /// Creates an empty buffer.
  public init() {
    storage = InlineArray(repeating: 0)
    count = 0
  }

  /// Appends a byte.
  ///
  /// - Precondition: ``available`` is at least 1.
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

  /// Removes all bytes. O(1).
  public mutating func removeAll() { count = 0 }

  /// Whether the buffer is empty.
  public var isEmpty: Bool { count == 0 }

  /// Free space, bytes.
  public var available: Int { FrameBuffer.capacity - count }

  /// The bytes in the buffer.
  public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { storage.span.extracting(0..<count) }
  }

  /// Appends `bytes`.
  ///
  /// - Precondition: ``available`` is at least `bytes.count`.
  public mutating func append(_ bytes: Span<UInt8>) {
    precondition(bytes.count <= available, "a frame buffer holds 1,024 bytes")
    let offset = count
    var target = storage.mutableSpan
    // The length is checked above; the source is the caller's and never this buffer.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        guard let from = bytes.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + offset).update(from: from, count: bytes.count)
      }
    }
    count += bytes.count
  }

  /// Appends an integer in little-endian order, as in UBX.
  mutating func append(littleEndian value: some FixedWidthInteger & BitwiseCopyable) {
    put(value, at: appendZeroes(MemoryLayout.size(ofValue: value)))
  }

  /// Appends `count` zero bytes and returns the index of the first.
  ///
  /// - Precondition: ``available`` is at least `count`.
  mutating func appendZeroes(_ count: Int) -> Int {
    let start = self.count
    precondition(count >= 0 && count <= available, "a frame buffer holds 1,024 bytes")
    var target = storage.mutableSpan
    // The precondition above checked the bounds.
    unsafe target.withUnsafeMutableBufferPointer { target in
      guard let to = target.baseAddress else { return }
      unsafe (to + start).update(repeating: 0, count: count)
    }
    self.count += count
    return start
  }

  /// Overwrites the bytes at `i` with an integer in little-endian order.
  ///
  /// - Precondition: these bytes lie within ``count``.
  @inline(__always)
  mutating func put<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at i: Int) {
    precondition(i >= 0 && i <= count - MemoryLayout<Value>.size, "past the end of the buffer")
    var target = storage.mutableSpan
    // The precondition above checked the bounds.
    unsafe target.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: value.littleEndian, toByteOffset: i, as: Value.self)
    }
  }
}
