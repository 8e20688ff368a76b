import LocationTypes

/// Storage for the entries of a receiver's navigation database (UBX-MGA-DBD) while its supply is off, so that its next
/// start is shorter (PWR-8).
///
/// The engine does not own the store: ``Effects/aiding`` states which entry the engine's caller (`LocationLoop`) must
/// store, or read from the store and send to the receiver. The entries are in memory that the caller provides, and are
/// written to no file. A store without memory stores nothing; an engine whose setup declares no store
/// (``EngineSetup/enableAidingStore(entries:)``) never uses it. No I/O, no clock, no heap.
@safe public struct AidingStore: ~Copyable {
  /// Largest length of an entry, bytes.
  public static let entryLimit = 172
  /// Bytes per entry, including its length.
  private static let stride = entryLimit + 1

  private let storage: UnsafeMutableRawBufferPointer?
  /// Largest number of entries.
  public let capacity: Int
  /// Number of stored entries, 0 to ``capacity``.
  public private(set) var count = 0

  /// Bytes that a store of `capacity` entries needs.
  public static func byteCount(capacity: Int) -> Int { capacity * stride }

  /// Creates a store without capacity.
  public init() {
    unsafe storage = nil
    capacity = 0
  }

  /// Creates an empty store in `storage`, which may have any content and must outlive the store. Bytes behind the last
  /// whole entry are not used.
  @unsafe public init(_ storage: UnsafeMutableRawBufferPointer) {
    unsafe self.storage = storage
    capacity = min(storage.count / AidingStore.stride, Int(UInt8.max))
  }

  /// Stores an entry in slot `index`; slot 0 discards all stored entries first.
  ///
  /// O(length). An entry is ignored if it is too long, if it is not for the next slot, or if the store is full.
  public mutating func store(_ entry: ByteChunk, at index: UInt8) {
    let slot = Int(index)
    if slot == 0 { count = 0 }
    guard let storage = unsafe storage, slot == count, slot < capacity,
      entry.count <= AidingStore.entryLimit
    else { return }
    let start = slot * AidingStore.stride
    unsafe storage[start] = UInt8(entry.count)
    for i in entry.span.indices { unsafe storage[start + 1 + i] = entry.span[i] }
    count += 1
  }

  /// The entry in slot `index`; empty if none is stored. O(1).
  public func entry(at index: UInt8) -> ByteChunk {
    var entry = ByteChunk()
    let slot = Int(index)
    guard let storage = unsafe storage, slot < count else { return entry }
    let start = slot * AidingStore.stride
    // The memory belongs to the caller, so the length is checked again.
    let length = min(unsafe Int(storage[start]), AidingStore.entryLimit)
    for i in 0..<length { unsafe entry.append(storage[start + 1 + i]) }
    return entry
  }
}
