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
    for i in bytes.indices { append(bytes[i]) }
  }

  /// Adds an integer in little-endian order, as UBX has it.
  mutating func append(littleEndian value: some FixedWidthInteger) {
    var rest = UInt64(truncatingIfNeeded: value)
    for _ in 0..<MemoryLayout.size(ofValue: value) {
      append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
