import DeferralCache
import LocationEngine
import LocationPolicy

/// Heap memory for an engine, which does not own its memory; for simulations and tests.
@safe public final class EngineMemory {
  private let capacity: Int
  private let ring: UnsafeMutableRawBufferPointer
  private let clients: UnsafeMutableBufferPointer<Client>
  private let aiding: UnsafeMutableRawBufferPointer

  /// Number of navigation database entries for which there is space.
  public static let aidingEntries: UInt8 = 128

  /// Allocates memory for a ring of `capacity` fixes and for `count` clients.
  public init(capacity: Int, clients count: Int) {
    self.capacity = capacity
    // As on a board, whose ring begins on a page: a slot of 64 bytes is in one line of the processor's cache.
    unsafe ring = .allocate(
      byteCount: FixRing.storageSize(capacity: capacity), alignment: 64)
    unsafe ring.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe clients = .allocate(capacity: count)
    unsafe aiding = .allocate(
      byteCount: AidingStore.byteCount(capacity: Int(EngineMemory.aidingEntries)), alignment: 1)
  }

  deinit {
    unsafe ring.deallocate()
    // Clients are trivial values and need no deinitialisation.
    unsafe clients.deallocate()
    unsafe aiding.deallocate()
  }

  /// A store for the navigation database of the engine's receiver.
  public var aidingStore: AidingStore { unsafe AidingStore(aiding) }

  /// A copy of the ring in its file format.
  public var ringBytes: [UInt8] { unsafe Array(ring) }

  /// Creates an engine with this memory; a second one continues like the service after a restart.
  ///
  /// - Precondition: No other engine uses the memory, and the ring's capacity is valid.
  public func makeEngine(_ setup: EngineSetup) -> Engine {
    unsafe Engine(setup, ring: openRing(), clients: clients)
  }

  /// Opens or recovers the ring and marks its header as durable.
  public func openRing() -> FixRing {
    do {
      var fixes = try unsafe FixRing(recovering: ring, capacity: capacity)
      fixes.markSynced(fixes.unsynced)
      return fixes
    } catch {
      preconditionFailure("cannot open a new ring with the capacity of a profile: \(error)")
    }
  }
}
