/// Up to 256 bytes as a plain value, as they come from or go to a byte line.
@frozen public struct ByteChunk: Sendable {
  /// The most bytes a chunk holds.
  public static let capacity = 256

  @usableFromInline var storage: InlineArray<256, UInt8>
  @usableFromInline var length: Int

  // Inlinable, for a call would move the whole chunk: each is filled and looked at once a step.

  /// How many bytes it holds, 0 to ``capacity``.
  @inlinable public var count: Int { length }

  /// Creates an empty chunk.
  @inlinable public init() {
    storage = InlineArray(repeating: 0)
    length = 0
  }

  /// Creates a chunk from the first bytes of `span`, as many as fit.
  public init(_ span: Span<UInt8>) {
    self.init()
    append(span.extracting(first: ByteChunk.capacity))
  }

  /// Whether no further byte fits.
  @inlinable public var isFull: Bool { count == ByteChunk.capacity }

  /// Adds a byte at the end.
  ///
  /// - Precondition: the chunk is not full.
  public mutating func append(_ byte: UInt8) {
    precondition(count < ByteChunk.capacity, "a chunk holds 256 bytes")
    storage[count] = byte
    length += 1
  }

  /// Adds bytes at the end.
  ///
  /// - Precondition: they fit.
  @inlinable public mutating func append(_ span: Span<UInt8>) {
    precondition(span.count <= ByteChunk.capacity - count, "a chunk holds 256 bytes")
    let place = count
    var target = storage.mutableSpan
    // The length is checked above; the source is the caller's and never this chunk.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe span.withUnsafeBufferPointer { span in
        guard let from = span.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + place).update(from: from, count: span.count)
      }
    }
    length += span.count
  }

  /// Takes all bytes out, in O(1).
  @inlinable public mutating func removeAll() { length = 0 }

  /// The byte at `index`, which is below ``count``.
  @inlinable public subscript(index: Int) -> UInt8 {
    precondition(index < count, "past the end of the chunk")
    return storage[index]
  }

  /// The bytes it holds.
  @inlinable public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { storage.span.extracting(0..<count) }
  }
}
