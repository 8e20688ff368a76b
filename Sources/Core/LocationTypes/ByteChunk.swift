/// Value type with up to 256 bytes that were read from, or are to be written to, the receiver's serial line.
@frozen public struct ByteChunk: Sendable {
  /// Maximum number of bytes in a chunk.
  public static let capacity = 256

  @usableFromInline private(set) var storage = InlineArray<256, UInt8>(repeating: 0)
  @usableFromInline private(set) var length = 0

  /// Number of bytes in the chunk, 0 to ``capacity``.
  @inlinable public var count: Int { length }

  /// Creates an empty chunk.
  @inlinable public init() {}

  /// Creates a chunk from the first bytes of `span`, at most ``capacity``.
  public init(_ span: Span<UInt8>) {
    self.init()
    append(span.extracting(first: ByteChunk.capacity))
  }

  /// Whether the chunk is full.
  @inlinable public var isFull: Bool { count == ByteChunk.capacity }

  /// Appends a byte.
  ///
  /// - Precondition: The chunk is not full.
  public mutating func append(_ byte: UInt8) {
    precondition(count < ByteChunk.capacity, "a chunk holds 256 bytes")
    storage[count] = byte
    length += 1
  }

  /// Appends bytes.
  ///
  /// - Precondition: The free capacity is at least `span.count`.
  @inlinable public mutating func append(_ span: Span<UInt8>) {
    precondition(span.count <= ByteChunk.capacity - count, "a chunk holds 256 bytes")
    let offset = count
    var target = storage.mutableSpan
    // The precondition checks the length. The source belongs to the caller and never overlaps this chunk.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe span.withUnsafeBufferPointer { span in
        guard let from = span.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + offset).update(from: from, count: span.count)
      }
    }
    length += span.count
  }

  /// Removes all bytes. O(1).
  @inlinable public mutating func removeAll() { length = 0 }

  /// The byte at `index`, 0 ..< ``count``.
  @inlinable public subscript(index: Int) -> UInt8 {
    precondition(index < count, "past the end of the chunk")
    return storage[index]
  }

  /// The bytes in the chunk.
  @inlinable public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { storage.span.extracting(0..<count) }
  }
}
