import LocationTypes

/// Where the owner of an engine keeps what its receiver knew of the sky (PWR-8): entries of one length
/// limit in memory that was handed in. It decides nothing; ``Effects/aiding`` says what is done with it.
///
/// One without memory keeps nothing: with an engine that was not told of any it is never asked to.
@safe public struct AidingStore: ~Copyable {
  /// Bytes of the longest entry.
  public static let entryLimit = 172
  /// An entry and its length.
  private static let stride = entryLimit + 1

  private let storage: UnsafeMutableRawBufferPointer?
  /// How many entries there is room for.
  public let capacity: Int
  /// How many are kept, 0 to ``capacity``.
  public private(set) var count = 0

  /// The bytes that a store of `capacity` entries takes.
  public static func byteCount(capacity: Int) -> Int { capacity * stride }

  /// Creates a store that has no room.
  public init() {
    unsafe storage = nil
    capacity = 0
  }

  /// Creates an empty store in `storage`, which is any bytes and outlives it; what is left of it behind
  /// the last whole entry is not used.
  @unsafe public init(_ storage: UnsafeMutableRawBufferPointer) {
    unsafe self.storage = storage
    capacity = min(storage.count / AidingStore.stride, Int(UInt8.max))
  }

  /// Keeps an entry in a place; the first place takes the place of all that was kept.
  ///
  /// O(its length). One that is too long, or not the next one, or for which there is no room, is let go.
  public mutating func keep(_ entry: ByteChunk, at index: UInt8) {
    let place = Int(index)
    if place == 0 { count = 0 }
    guard let storage = unsafe storage, place == count, place < capacity,
      entry.count <= AidingStore.entryLimit
    else { return }
    let start = place * AidingStore.stride
    unsafe storage[start] = UInt8(entry.count)
    for i in entry.span.indices { unsafe storage[start + 1 + i] = entry.span[i] }
    count += 1
  }

  /// The entry in a place; empty where none is kept. O(1).
  public func entry(at index: UInt8) -> ByteChunk {
    var entry = ByteChunk()
    let place = Int(index)
    guard let storage = unsafe storage, place < count else { return entry }
    let start = place * AidingStore.stride
    // What is in the memory is the owner's word for nothing: a length is bounded again.
    let length = min(unsafe Int(storage[start]), AidingStore.entryLimit)
    for i in 0..<length { unsafe entry.append(storage[start + 1 + i]) }
    return entry
  }

  /// Lets all go.
  public mutating func clear() { count = 0 }
}
