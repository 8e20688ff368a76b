import DeferralCache
import LocationEngine
import LocationPolicy

/// Memory on the heap for an engine, which does not own its memory; for simulations and tests.
@safe public final class EngineMemory {
  private let capacity: Int
  private let ring: UnsafeMutableRawBufferPointer
  private let clients: UnsafeMutableBufferPointer<Client>
  private let aiding: UnsafeMutableRawBufferPointer

  /// How many entries of a receiver's navigation database there is room for.
  public static let aidingEntries: UInt8 = 128

  /// Memory for a ring of `capacity` fixes and for `count` clients.
  public init(capacity: Int, clients count: Int) {
    self.capacity = capacity
    unsafe ring = .allocate(
      byteCount: FixRing.storageSize(capacity: capacity), alignment: 8)
    unsafe ring.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe clients = .allocate(capacity: count)
    unsafe aiding = .allocate(
      byteCount: AidingStore.byteCount(capacity: Int(EngineMemory.aidingEntries)), alignment: 1)
  }

  deinit {
    unsafe ring.deallocate()
    // Clients are plain values: nothing in them is to be released.
    unsafe clients.deallocate()
    unsafe aiding.deallocate()
  }

  /// A store for what the receiver of its engine knows of the sky.
  public var aidingStore: AidingStore { unsafe AidingStore(aiding) }

  /// A copy of the ring of fixes, as a file would have it.
  public var ringBytes: [UInt8] { unsafe Array(ring) }

  /// An engine on this memory; a second one is the service after a restart.
  ///
  /// - Precondition: it has no other engine, and the ring's capacity is one that opens.
  public func engine(_ setup: EngineSetup) -> Engine {
    unsafe Engine(setup, ring: openRing(), clients: clients)
  }

  /// The ring as it is, with a durable header.
  public func openRing() -> FixRing {
    do {
      var fixes = try unsafe FixRing(recovering: ring, capacity: capacity)
      fixes.markSynced(fixes.unsynced)
      return fixes
    } catch {
      preconditionFailure("a ring of zeros of a profile's capacity opens: \(error)")
    }
  }
}
