import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Positions of a client in the ring") struct DeliveryPositionTests {
  /// A ring with four fixes.
  final class Ring {
    let memory = RingMemory(capacity: 16)
    var ring: FixRing

    init() {
      do { ring = try memory.openSynced() } catch {
        preconditionFailure("empty storage opens: \(error)")
      }
      for second in 1...4 { ring.append(fix(at: Double(second))) }
    }

    func name(_ sequence: UInt64) -> FixName {
      FixName(generation: ring.generation, sequence: sequence)
    }
  }

  enum State: CaseIterable { case new, heldBack, due, delivered, acknowledged }

  static func delivery(in state: State, _ ring: Ring) -> ClientDelivery {
    if state == .new { return ClientDelivery(at: 4) }
    var delivery = ClientDelivery(at: 0)
    delivery.open()
    if state == .heldBack { return delivery }
    delivery.makeDue(before: 4)
    if state == .due { return delivery }
    delivery.deliver(to: 4, in: ring.ring)
    if state == .delivered { return delivery }
    let isAcknowledged = delivery.acknowledge(ring.name(3), in: ring.ring)
    #expect(isAcknowledged)
    return delivery
  }

  /// Acknowledged and delivered position, ends of the due fixes and of the client's fixes, excluded fixes.
  static func text(_ delivery: ClientDelivery) -> String {
    let end = delivery.undeliveredEnd == .max ? "∞" : "\(delivery.undeliveredEnd)"
    let excluded = delivery.excluded.map { "\($0)" } ?? "-"
    let cursor = delivery.cursor
    return "\(cursor.acknowledged) \(cursor.delivered) \(delivery.dueEnd) \(end) \(excluded)"
  }

  @Test("Every event in every state")
  func everyPair() {
    let ring = Ring()
    let before = ["4 4 4 4 -", "0 0 0 ∞ -", "0 0 4 ∞ -", "0 4 4 ∞ -", "4 4 4 ∞ -"]
    typealias Row = (name: String, event: (inout ClientDelivery) -> Void, results: [String])
    let rows: [Row] = [
      ("nothing", { _ in }, before),
      (
        "close", { $0.close(at: 4) },
        ["4 4 4 4 -", "0 0 0 4 -", "0 0 4 4 -", "0 4 4 4 -", "4 4 4 4 -"]
      ),
      (
        "due", { $0.makeDue(before: 4) },
        ["4 4 4 4 -", "0 0 4 ∞ -", "0 0 4 ∞ -", "0 4 4 ∞ -", "4 4 4 ∞ -"]
      ),
      (
        "drop", { $0.drop(below: 4, isOpen: true) },
        ["4 4 4 4 -", "4 4 4 ∞ -", "4 4 4 ∞ -", "4 4 4 ∞ -", "4 4 4 ∞ -"]
      ),
      (
        "drop and close", { $0.drop(below: 4, isOpen: false) },
        ["4 4 4 4 -", "4 4 4 4 -", "4 4 4 4 -", "4 4 4 4 -", "4 4 4 4 -"]
      ),
      (
        "rewind", { $0.rewind() },
        ["4 4 4 4 -", "0 0 0 ∞ -", "0 0 0 ∞ -", "0 0 0 ∞ -", "4 4 4 ∞ -"]
      ),
      (
        "exclude", { $0.exclude(3..<4) },
        ["4 4 4 4 3..<4", "0 0 0 ∞ 3..<4", "0 0 4 ∞ 3..<4", "0 4 4 ∞ 3..<4", "4 4 4 ∞ 3..<4"]
      ),
      ("resume", { $0.resume(at: 4) }, before),
      (
        "acknowledge", { _ = $0.acknowledge(ring.name(3), in: ring.ring) },
        ["4 4 4 4 -", "0 0 0 ∞ -", "0 0 4 ∞ -", "4 4 4 ∞ -", "4 4 4 ∞ -"]
      ),
      (
        "read backlog", { _ = $0.deliverBacklog(in: ring.ring) },
        ["4 4 4 4 -", "0 4 4 ∞ -", "0 4 4 ∞ -", "0 4 4 ∞ -", "4 4 4 ∞ -"]
      ),
    ]
    for row in rows {
      for (state, expected) in zip(State.allCases, row.results) {
        var delivery = Self.delivery(in: state, ring)
        row.event(&delivery)
        #expect(Self.text(delivery) == expected, "\(state) \(row.name)")
      }
    }
  }

  @Test("What is due, complete and needed in the ring, in every state")
  func status() {
    let ring = Ring()
    let all = State.allCases.map { Self.delivery(in: $0, ring) }
    #expect(all.map(\.isDue) == [false, false, true, false, false])
    #expect(all.map(\.isComplete) == [true, false, false, false, false])
    #expect(all.map(\.neededFrom) == [.max, 0, 0, 0, 4])
    #expect(all.map { $0.hasReached(4, at: 4) } == [false, true, true, false, false])
    #expect(all.map { $0.backlog(in: ring.ring) } == [4..<4, 0..<4, 0..<4, 0..<4, 4..<4])
  }

  @Test("Fixes excluded next are skipped; excluded fixes do not fill the queue (BKG-5)")
  func excluded() {
    let ring = Ring()
    var delivery = Self.delivery(in: .heldBack, ring)
    delivery.exclude(0..<2)
    #expect(Self.text(delivery) == "2 2 2 ∞ -", "acknowledged at once: no fix comes before them")
    delivery.exclude(3..<4)
    #expect(delivery.hasReached(2, at: 4) && !delivery.isQueueFull(2, at: 4))
    delivery.deliver(to: 3, in: ring.ring)
    delivery.skipExcluded()
    #expect(Self.text(delivery) == "2 4 4 ∞ 3..<4")
    _ = delivery.acknowledge(ring.name(2), in: ring.ring)
    #expect(Self.text(delivery) == "4 4 4 ∞ -")
  }

  @Test("A resumed client keeps its unacknowledged fixes and excludes those since its stop")
  func resume() {
    let ring = Ring()
    var delivery = Self.delivery(in: .heldBack, ring)
    delivery.close(at: 2)
    delivery.resume(at: 4)
    #expect(Self.text(delivery) == "0 0 0 2 2..<4")
    delivery.open()
    #expect(Self.text(delivery) == "0 0 0 ∞ 2..<4")
  }

  @Test(
    "DEF-8, X1: an end is followed by its batch; a nearly full queue does not wait for the drain")
  func ends() {
    var delivery = ClientDelivery(at: 0)
    delivery.beginDrain()
    delivery.append(PendingEnd(code: nil, batchEnd: .max), before: 1)
    delivery.append(PendingEnd(code: nil, batchEnd: 2), before: 2)
    #expect(delivery.waitsForDrain && delivery.dueEnd == 2)
    delivery.append(PendingEnd(code: nil, batchEnd: 3), before: 3)
    #expect(!delivery.waitsForDrain)
    delivery.limitBatches(to: 2)
    for _ in 0..<3 {
      let end = delivery.popEnd()
      #expect(end?.batchEnd == 2 && delivery.finalBatchEnd == 2)
      delivery.finishFinalBatch()
      #expect(delivery.finalBatchEnd == nil)
    }
    let none = delivery.popEnd()
    #expect(none?.batchEnd == nil)
    delivery.append(PendingEnd(code: nil, batchEnd: 4), before: 4)
    delivery.beginDrain()
    delivery.rewind()
    #expect(delivery.ends.isEmpty && !delivery.waitsForDrain, "DEF-11")
  }

  @Test("STD-8: the newest delivered fix is the one with the greatest number, or the coarse one")
  func newest() {
    let ring = Ring()
    var delivery = Self.delivery(in: .delivered, ring)
    func stored(_ sequence: UInt64) -> StoredFix {
      StoredFix(name: ring.name(sequence), fix: fix(at: Double(sequence)))
    }
    delivery.noteReport(of: stored(2), isCoarse: false)
    delivery.noteDelivery(of: 3)
    delivery.noteReport(of: stored(1), isCoarse: false)
    delivery.noteReport(of: stored(0), isCoarse: true)
    #expect(delivery.newestDelivered == 3 && delivery.newestCoarse == stored(0))
    delivery.drop(below: 4, isOpen: true)
    #expect(delivery.newestDelivered == nil && delivery.newestCoarse == nil)
  }
}
