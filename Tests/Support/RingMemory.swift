import DeferralCache

/// Storage for one ring, as the memory-mapped file of a service would be.
@safe public final class RingMemory {
  /// How many fixes the ring holds.
  public let capacity: Int
  /// Bytes of storage.
  public let size: Int
  private let buffer: UnsafeMutableRawBufferPointer

  /// Storage of zeros.
  ///
  /// - Parameter size: Its bytes; those that the capacity needs if not given.
  public init(capacity: Int, size: Int? = nil) {
    self.capacity = capacity
    self.size = size ?? FixRing.storageSize(capacity: capacity)
    unsafe buffer = .allocate(byteCount: self.size, alignment: 4096)
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe buffer.deallocate() }

  /// Opens the ring as it is.
  ///
  /// - Parameters:
  ///   - capacity: Its capacity if not the storage's.
  ///   - floor: The generation floor.
  public func open(capacity: Int? = nil, floor: UInt32 = 0) throws(RingError) -> FixRing {
    try unsafe FixRing(
      recovering: buffer, capacity: capacity ?? self.capacity, generationFloor: floor)
  }

  /// Opens a ring in storage whose start has the wrong alignment.
  public func openMisaligned() throws(RingError) -> FixRing {
    try unsafe FixRing(
      recovering: UnsafeMutableRawBufferPointer(rebasing: buffer[4...]), capacity: capacity - 1)
  }

  /// Opens the ring as a service does: its header is durable before the first append.
  public func openSynced(floor: UInt32 = 0) throws(RingError) -> FixRing {
    var ring = try open(floor: floor)
    ring.markSynced(ring.unsynced)
    return ring
  }

  /// The storage's content.
  public var bytes: [UInt8] {
    get { unsafe [UInt8](buffer) }
    set {
      precondition(newValue.count == size)
      unsafe buffer.copyBytes(from: newValue)
    }
  }

  /// One byte of the storage.
  public subscript(index: Int) -> UInt8 {
    get { unsafe buffer[index] }
    set { unsafe buffer[index] = newValue }
  }
}
