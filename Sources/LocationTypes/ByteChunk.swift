/// Up to 128 bytes as a plain value, as they come from or go to a byte line.
@frozen public struct ByteChunk: Sendable {
  /// The most bytes a chunk holds.
  public static let capacity = 128

  @usableFromInline var storage: InlineArray<128, UInt8>
  /// How many bytes it holds, 0 to ``capacity``.
  public private(set) var count: Int

  /// Creates an empty chunk.
  public init() {
    storage = InlineArray(repeating: 0)
    count = 0
  }

  /// Creates a chunk from the first bytes of `span`, as many as fit.
  public init(_ span: Span<UInt8>) {
    self.init()
    append(span.extracting(first: ByteChunk.capacity))
  }

  /// Whether no further byte fits.
  public var isFull: Bool { count == ByteChunk.capacity }

  /// Adds a byte at the end.
  ///
  /// - Precondition: the chunk is not full.
  public mutating func append(_ byte: UInt8) {
    precondition(count < ByteChunk.capacity, "a chunk holds 128 bytes")
    storage[count] = byte
    count += 1
  }

  /// Adds bytes at the end.
  ///
  /// - Precondition: they fit.
  public mutating func append(_ span: Span<UInt8>) {
    precondition(span.count <= ByteChunk.capacity - count, "a chunk holds 128 bytes")
    let place = count
    var target = storage.mutableSpan
    // The length is checked above; the source is the caller's and never this chunk.
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe span.withUnsafeBufferPointer { span in
        guard let from = span.baseAddress, let to = target.baseAddress else { return }
        unsafe (to + place).update(from: from, count: span.count)
      }
    }
    count += span.count
  }

  /// The byte at `index`, which is below ``count``.
  public subscript(index: Int) -> UInt8 {
    precondition(index < count, "past the end of the chunk")
    return storage[index]
  }

  /// The bytes it holds.
  public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { storage.span.extracting(0..<count) }
  }
}
