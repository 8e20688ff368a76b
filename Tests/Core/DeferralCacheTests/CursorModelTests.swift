import DeferralCache
import LocationTypes
import TestSupport
import Testing

/// Reference model of a cursor: one state per fix, no arithmetic.
private struct ReferenceClient {
  enum State { case waiting, delivered, lost, reported, acknowledged }
  var states: [State] = []
  let capacity: Int

  func isStored(_ n: Int) -> Bool { n >= states.count - capacity }

  mutating func append() {
    let overwritten = states.count - capacity
    if overwritten >= 0, states[overwritten] == .waiting { states[overwritten] = .lost }
    states.append(.waiting)
  }

  var unreported: [Int] { states.indices.filter { states[$0] == .lost } }

  mutating func takeGap() {
    for n in unreported { states[n] = .reported }
  }

  mutating func deliver(_ count: Int) {
    for n in states.indices.filter({ states[$0] == .waiting }).prefix(count) {
      states[n] = .delivered
    }
  }

  /// Acknowledges all fixes through `n` if the client can have received them.
  mutating func acknowledge(_ n: Int) -> Bool {
    guard states[0...n].allSatisfy({ $0 != .waiting && $0 != .lost }) else { return false }
    for k in 0...n { states[k] = .acknowledged }
    return true
  }

  mutating func rewind() {
    for n in states.indices where states[n] != .acknowledged {
      states[n] = isStored(n) ? .waiting : .lost
    }
  }
}

@Suite("Cursors compared with a reference model") struct CursorModelTests {
  @Test("RNG-3, RNG-4, RNG-6: a cursor equals the model after any operations", arguments: 2...6)
  func randomOperations(capacity: Int) throws {
    for seed in 0..<60 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let memory = RingMemory(capacity: capacity)
      var ring = try memory.openSynced()
      var cursor = Cursor(at: 0)
      var client = ReferenceClient(capacity: capacity)
      for _ in 0..<120 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5:
          cursor.prepareForAppend(in: ring)
          ring.append(fix(client.states.count))
          client.append()
        case 5..<7:
          #expect(cursor.takeGap()?.count ?? 0 == UInt64(client.unreported.count))
          client.takeGap()
          let count = Int.random(in: 0...Int(cursor.backlog(in: ring)), using: &random)
          cursor.deliver(to: cursor.delivered + UInt64(count), in: ring)
          client.deliver(count)
        case 7..<10 where !client.states.isEmpty:
          let n =
            client.states.count - 1 - Int.random(in: 0..<client.states.count, using: &random) / 2
          let name = FixName(generation: ring.generation, sequence: UInt64(n))
          let wasAcknowledged = client.states[n] == .acknowledged
          let result = cursor.acknowledge(name, in: ring)
          if wasAcknowledged {
            #expect(result == .repeated)
          } else {
            #expect((result != .ahead) == client.acknowledge(n))
          }
        case 10:
          cursor.rewind()
          client.rewind()
        case 11 where Int.random(in: 0..<4, using: &random) == 0:
          cursor = Cursor(at: ring.head)
          for n in client.states.indices { client.states[n] = .acknowledged }
        default: break
        }
        expectSame(cursor, client, ring)
      }
    }
  }

  private func expectSame(_ cursor: Cursor, _ client: ReferenceClient, _ ring: borrowing FixRing) {
    let unreported = client.unreported
    #expect(cursor.gap?.count ?? 0 == UInt64(unreported.count))
    #expect(cursor.gap.map { Int($0.range.lowerBound) } == unreported.first)
    #expect(cursor.gap.map { Int($0.range.upperBound) - 1 } == unreported.last)
    #expect(cursor.gap?.to == unreported.last.map(time))
    if let gap = cursor.gap, let first = unreported.first, let from = gap.from {
      #expect(from.acquired <= fix(first).acquired, "the time itself or an earlier bound")
    }
    #expect((cursor.gap?.from == nil) == unreported.isEmpty)
    let waiting = client.states.indices.filter { client.states[$0] == .waiting }
    #expect(walk(ring, from: cursor.delivered).fixes.map(\.fix) == waiting.map(fix))
    let acknowledged = client.states.prefix { $0 == .acknowledged }.count
    #expect(cursor.acknowledged == UInt64(acknowledged))
    #expect(cursor.acknowledged <= cursor.delivered && cursor.delivered <= ring.head)
  }
}
