import DeferralCache
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine

@Suite("Client table") struct ClientTableTests {
  /// Calls `body` with a table of three clients in use, of four, and a ring with two fixes.
  static func withTable(
    _ body: (inout ClientTable, borrowing FixRing, ClientContext) -> Void
  ) throws {
    let storage = RingMemory(capacity: 16)
    var ring = try storage.openSynced()
    let memory = UnsafeMutableBufferPointer<Client>.allocate(capacity: 4)
    defer { unsafe memory.deallocate() }
    var table = unsafe ClientTable(memory, head: ring.head)
    table.activate(2)
    for i in 0..<2 {
      var fix = Fix(
        acquired: Instant(seconds: Double(i)),
        coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
      fix.horizontalAccuracy_mm = 2_000
      _ = ring.append(fix)
    }
    let context = ClientContext(
      now: Instant(seconds: 2), head: ring.head, newest: ring.stored(at: 1), receiverBuffers: false,
      isDraining: false, isDeferralAvailable: true, deferralLimit: 4, deliveryHold: .seconds(2))
    body(&table, ring, context)
  }

  @Test("clients are put into use up to an index, once")
  func activate() throws {
    try Self.withTable { table, ring, context in
      let used = table.indices
      #expect(used == 0..<3)
      table[1].handle(.connect, in: ring, context)
      table.activate(0)
      table.activate(2)
      let unchanged = table.indices
      #expect(unchanged == 0..<3)
      table.activate(3)
      let all = table.indices
      #expect(all == 0..<4)
      for i in all {
        let isConnected = table.withClient(i) { $0.isConnected }
        #expect(isConnected == (i == 1))
      }
    }
  }

  @Test("a client that is not in use reads as a new one")
  func unused() throws {
    try Self.withTable { table, _, _ in
      let isConnected = table.withClient(3) { $0.isConnected }
      let used = table.indices
      #expect(!isConnected && used == 0..<3)
    }
  }

  @Test("notices come client by client, each until it has none, then from the first client again")
  func notices() throws {
    try Self.withTable { table, ring, context in
      for _ in 0..<2 {
        let hadNotices = table.hasNotices
        #expect(!hadNotices)
        for i in [2, 0] {
          table[i].handle(.connect, in: ring, context)
          let region = Region(
            RegionIdentifier(.region, 1), center: Coordinate(latitude_e9: 0, longitude_e9: 0),
            radius: -1)
          table[i].handle(.addRegion(region, assuming: .unknown), in: ring, context)
          table[i].handle(.setReducedAccuracy(true), in: ring, context)
          table[i].handle(.setReducedAccuracy(false), in: ring, context)
        }
        let hasNotices = table.hasNotices
        #expect(hasNotices)
        var clients: [Int] = []
        while let notice = table.nextNotice(in: ring, hold: context.now) {
          clients.append(notice.client.index)
        }
        #expect(clients == [0, 0, 2, 2])
      }
    }
  }

  @Test("RNG-8: the latest acknowledgement that is still awaited keeps the board awake")
  func acknowledgements() throws {
    try Self.withTable { table, ring, context in
      let none = table.acknowledgementDeadline(at: context.now)
      #expect(none == nil)
      for (i, hold) in [(0, 3.0), (1, 5), (2, 4)] {
        table[i].handle(.connect, in: ring, context)
        table[i].handle(.requestLocation, in: ring, context)
        _ = table[i].nextNotice(in: ring, hold: Instant(seconds: hold))
      }
      let deadlines = [2, 4.9, 5].map {
        table.acknowledgementDeadline(at: Instant(seconds: $0))?.seconds
      }
      #expect(deadlines == [5, 5, nil])
      // Each client needs the fix that was delivered to it.
      let needed = table.neededFrom(head: ring.head)
      #expect(needed == 1)
    }
  }

  @Test("a table whose clients need no fix needs none below the head")
  func needed() throws {
    try Self.withTable { table, ring, _ in
      let needed = table.neededFrom(head: ring.head)
      #expect(needed == 2)
    }
  }
}
