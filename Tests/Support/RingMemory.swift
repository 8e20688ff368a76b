import DeferralCache

/// Storage for one ring, in place of the memory-mapped file of the service.
@safe public final class RingMemory {
  /// Capacity of the ring, fixes.
  public let capacity: Int
  /// Size of the storage, bytes.
  public let size: Int
  private let buffer: UnsafeMutableRawBufferPointer

  /// Creates storage filled with zeros.
  ///
  /// - Parameter size: Size, bytes; by default the size for the capacity.
  public init(capacity: Int, size: Int? = nil) {
    self.capacity = capacity
    self.size = size ?? FixRing.storageSize(capacity: capacity)
    unsafe buffer = .allocate(byteCount: self.size, alignment: 4096)
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe buffer.deallocate() }

  /// Opens the ring with the present content of the storage.
  ///
  /// - Parameters:
  ///   - capacity: Capacity of the ring; by default that of the storage.
  ///   - floor: The generation floor.
  ///   - newID: The id of a new ring.
  ///   - recordedID: The recorded id.
  public func open(
    capacity: Int? = nil, floor: UInt32 = 0, newID: UInt64 = 0, recordedID: UInt64 = 0
  ) throws(RingError) -> FixRing {
    try unsafe FixRing(
      recovering: buffer, capacity: capacity ?? self.capacity, generationFloor: floor,
      newID: newID, recordedID: recordedID)
  }

  /// Opens a ring in storage whose start has the wrong alignment.
  public func openMisaligned() throws(RingError) -> FixRing {
    try unsafe FixRing(
      recovering: UnsafeMutableRawBufferPointer(rebasing: buffer[4...]), capacity: capacity - 1)
  }

  /// Opens the ring like the service: its header is durable before the first append.
  public func openSynced(
    floor: UInt32 = 0, newID: UInt64 = 0, recordedID: UInt64 = 0
  ) throws(RingError) -> FixRing {
    var ring = try open(floor: floor, newID: newID, recordedID: recordedID)
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
