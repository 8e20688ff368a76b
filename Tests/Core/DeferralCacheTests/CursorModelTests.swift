import DeferralCache
import LocationTypes
import TestSupport
import Testing

/// What a cursor must do, said plainly: a state for each fix, no arithmetic.
private struct PlainClient {
  enum State { case waiting, delivered, lost, told, settled }
  var states: [State] = []
  let capacity: Int

  func isThere(_ n: Int) -> Bool { n >= states.count - capacity }

  mutating func append() {
    let doomed = states.count - capacity
    if doomed >= 0, states[doomed] == .waiting { states[doomed] = .lost }
    states.append(.waiting)
  }

  var untold: [Int] { states.indices.filter { states[$0] == .lost } }

  mutating func takeGap() {
    for n in untold { states[n] = .told }
  }

  mutating func deliver(_ count: Int) {
    for n in states.indices.filter({ states[$0] == .waiting }).prefix(count) {
      states[n] = .delivered
    }
  }

  /// Settles all through `n` if the client can have seen it.
  mutating func acknowledge(_ n: Int) -> Bool {
    guard states[0...n].allSatisfy({ $0 != .waiting && $0 != .lost }) else { return false }
    for k in 0...n { states[k] = .settled }
    return true
  }

  mutating func rewind() {
    for n in states.indices where states[n] != .settled {
      states[n] = isThere(n) ? .waiting : .lost
    }
  }
}

@Suite("Cursors against a plain client") struct CursorModelTests {
  @Test("RNG-3, RNG-4, RNG-6: long random lives of a client", arguments: 2...6)
  func randomLives(capacity: Int) throws {
    for seed in 0..<60 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let memory = RingMemory(capacity: capacity)
      var ring = try memory.openSynced()
      var cursor = Cursor(at: 0)
      var client = PlainClient(capacity: capacity)
      for _ in 0..<120 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5:
          cursor.makeRoom(in: ring)
          ring.append(fix(client.states.count))
          client.append()
        case 5..<7:
          #expect(cursor.takeGap()?.count ?? 0 == UInt64(client.untold.count))
          client.takeGap()
          let count = Int.random(in: 0...Int(cursor.backlog(in: ring)), using: &random)
          cursor.deliver(to: cursor.delivered + UInt64(count), in: ring)
          client.deliver(count)
        case 7..<10 where !client.states.isEmpty:
          let n =
            client.states.count - 1 - Int.random(in: 0..<client.states.count, using: &random) / 2
          let name = FixName(generation: ring.generation, sequence: UInt64(n))
          let wasSettled = client.states[n] == .settled
          let result = cursor.acknowledge(name, in: ring)
          if wasSettled {
            #expect(result == .repeated)
          } else {
            #expect((result != .ahead) == client.acknowledge(n))
          }
        case 10:
          cursor.rewind()
          client.rewind()
        case 11 where Int.random(in: 0..<4, using: &random) == 0:
          cursor.skipToHead(of: ring)
          for n in client.states.indices { client.states[n] = .settled }
        default: break
        }
        expectSame(cursor, client, ring)
      }
    }
  }

  private func expectSame(_ cursor: Cursor, _ client: PlainClient, _ ring: borrowing FixRing) {
    let untold = client.untold
    #expect(cursor.gap?.count ?? 0 == UInt64(untold.count))
    #expect(cursor.gap.map { Int($0.range.lowerBound) } == untold.first)
    #expect(cursor.gap.map { Int($0.range.upperBound) - 1 } == untold.last)
    #expect(cursor.gap?.to == untold.last.map(time))
    if let gap = cursor.gap, let first = untold.first, let from = gap.from {
      #expect(from.acquired <= fix(first).acquired, "a bound, if not the moment itself")
    }
    #expect((cursor.gap?.from == nil) == untold.isEmpty)
    let waiting = client.states.indices.filter { client.states[$0] == .waiting }
    #expect(walk(ring, from: cursor.delivered).fixes.map(\.fix) == waiting.map(fix))
    let settled = client.states.prefix { $0 == .settled }.count
    #expect(cursor.acknowledged == UInt64(settled))
    #expect(cursor.acknowledged <= cursor.delivered && cursor.delivered <= ring.head)
  }
}
