import DeferralCache
import LocationTypes
import TestSupport
import Testing

@Suite("Cursors") struct CursorTests {
  @Test("RNG-3: what is another's is passed over, and settled once nothing waits before it")
  func passing() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    for n in 0..<3 { ring.append(fix(n)) }
    var cursor = Cursor(at: 0)
    cursor.skip(to: 1)
    #expect(cursor == Cursor(at: 1))
    cursor.deliver(to: 2, in: ring)
    cursor.skip(to: 3)
    cursor.skip(to: 1)
    #expect(cursor.acknowledged == 1 && cursor.delivered == 3)
    var settled = cursor
    let early = settled.acknowledgeExcluded(to: 2)
    #expect(early && settled.acknowledged == 2 && settled.delivered == 3)
    // More was overwritten than is another's: it is lost to who begins anew.
    for n in 3..<8 {
      cursor.makeRoom(in: ring)
      ring.append(fix(n))
    }
    settled = cursor
    let told = settled.acknowledgeExcluded(to: 4)
    #expect(!told && settled == cursor, "the gap is told first")
    let gap = settled.takeGap()
    #expect(gap?.range == 3..<4)
    let part = settled.acknowledgeExcluded(to: 3)
    #expect(!part && settled.acknowledged == 1)
    let all = settled.acknowledgeExcluded(to: 4)
    #expect(all && settled.acknowledged == 4 && settled.delivered == 4 && settled.gap == nil)
  }

  @Test(
    "RNG-4: every capacity, start, cursor and count: what the head passes is told, no more, no less",
    arguments: 2...5)
  func everyOverflow(capacity: Int) throws {
    for shape in RingShape.every(capacity: capacity, starts: capacity + 1) {
      let stored = min(shape.start, capacity)
      for unread in 0...stored {
        for unsettled in 0...stored - unread {
          for step in 1...3 {
            try overflow(capacity, shape.start, unread, unsettled, shape.count, step)
          }
        }
      }
    }
  }

  private func overflow(
    _ capacity: Int, _ start: Int, _ unread: Int, _ unsettled: Int, _ count: Int, _ step: Int
  ) throws {
    let memory = RingMemory(capacity: capacity)
    var ring = try memory.openSynced()
    for n in 0..<start { ring.append(fix(n)) }
    let acknowledged = start - unread - unsettled
    let delivered = start - unread
    var cursor = Cursor(at: UInt64(acknowledged))
    cursor.deliver(to: UInt64(delivered), in: ring)
    var next = start
    var lost = 0
    while next < start + count {
      let chunk = min(step, start + count - next)
      let before = ring.head
      lost += Int(cursor.makeRoom(for: UInt64(chunk), in: ring))
      #expect(cursor.delivered <= before, "a cursor never passes the head")
      for _ in 0..<chunk {
        ring.append(fix(next))
        next += 1
      }
      // A chunk larger than the ring passes fixes of itself: then a second call tells them.
      lost += Int(cursor.makeRoom(for: 0, in: ring))
    }
    let end = max(0, start + count - capacity)
    let untold = delivered..<max(delivered, end)
    let unsettledLost = acknowledged..<max(acknowledged, end)
    #expect(lost == untold.count)
    expect(cursor.gap, untold, capacity: capacity, step: step)
    expect(cursor.overwritten, unsettledLost, capacity: capacity, step: step)
    #expect(cursor.acknowledged == UInt64(acknowledged))
    #expect(cursor.delivered == UInt64(untold.upperBound))
    let rest = walk(ring, from: cursor.delivered)
    #expect(rest.gaps.isEmpty)
    #expect(rest.fixes.map(\.fix) == (untold.upperBound..<start + count).map(fix))
    expectRewound(cursor, ring, unsettledLost, all: start + count)
  }

  /// Times are exact as long as no chunk was larger than the ring.
  private func expect(_ gap: Gap?, _ range: Range<Int>, capacity: Int, step: Int) {
    guard !range.isEmpty else {
      #expect(gap == nil)
      return
    }
    #expect(gap?.count == UInt64(range.count))
    #expect(gap?.range == UInt64(range.lowerBound)..<UInt64(range.upperBound))
    #expect(gap?.mayBeMore == false)
    guard step <= capacity else { return }
    #expect(gap?.from == time(range.lowerBound))
    #expect(gap?.to == time(range.upperBound - 1))
  }

  private func expectRewound(
    _ cursor: Cursor, _ ring: borrowing FixRing, _ lost: Range<Int>, all: Int
  ) {
    var cursor = cursor
    cursor.rewind()
    #expect(cursor.gap == cursor.overwritten)
    #expect(cursor.delivered == UInt64(lost.upperBound))
    #expect(walk(ring, from: cursor.delivered).fixes.map(\.fix) == (lost.upperBound..<all).map(fix))
    let told = cursor.takeGap()
    #expect(told?.count ?? 0 == UInt64(lost.count))
    #expect(cursor.takeGap() == nil)
    cursor.deliver(to: ring.head, in: ring)
    cursor.rewind()
    #expect(cursor.gap == told, "until acknowledged, a gap is told again")
  }

  @Test("RNG-3: every acknowledgement of every name, at every place of the cursor")
  func everyAcknowledgement() throws {
    let memory = RingMemory(capacity: 4)
    var old = try memory.openSynced()
    for n in 0..<3 { old.append(fix(n)) }
    let first = old.generation
    var ring = try memory.openSynced()
    for n in 3..<6 { ring.append(fix(n)) }
    for acknowledged in 2...6 {
      for delivered in acknowledged...6 {
        for sequence in 0...7 {
          for generation in 0...ring.generation + 1 {
            var cursor = Cursor(at: UInt64(acknowledged))
            cursor.deliver(to: UInt64(delivered), in: ring)
            let before = cursor
            let result = cursor.acknowledge(
              FixName(generation: generation, sequence: UInt64(sequence)), in: ring)
            let isKnown =
              generation == ring.generation
              ? (3..<6).contains(sequence) : generation > 0 && generation < ring.generation
            // All of the first generation lies below 3.
            let end = generation == first ? min(sequence + 1, 3) : sequence + 1
            if !isKnown {
              #expect(result == .unknown && cursor == before)
            } else if end <= acknowledged {
              #expect(result == .repeated && cursor == before)
            } else if end > delivered {
              #expect(result == .ahead && cursor == before)
            } else {
              #expect(result == .advanced(UInt64(end - acknowledged)))
              #expect(cursor.acknowledged == UInt64(end))
              #expect(cursor.delivered == before.delivered)
            }
          }
        }
      }
    }
  }

  @Test("RNG-3: an acknowledgement settles what was overwritten before it, and only that")
  func acknowledgingOverwritten() throws {
    for through in 0..<4 as Range<UInt64> {
      let memory = RingMemory(capacity: 3)
      var ring = try memory.openSynced()
      for n in 0..<3 { ring.append(fix(n)) }
      var cursor = Cursor(at: 0)
      cursor.deliver(to: 3, in: ring)
      for n in 3..<5 {
        #expect(cursor.makeRoom(in: ring) == 0)
        ring.append(fix(n))
      }
      cursor.deliver(to: 4, in: ring)
      #expect(cursor.gap == nil && cursor.overwritten?.count == 2)
      let name = FixName(generation: ring.generation, sequence: through)
      #expect(cursor.acknowledge(name, in: ring) == .advanced(through + 1))
      let left = through == 0 ? Gap(1..<2, from: time(0), to: time(1)) : nil
      #expect(cursor.overwritten == left)
      cursor.rewind()
      #expect(cursor.gap == left)
      #expect(cursor.delivered == max(2, through + 1))
    }
  }

  @Test("RNG-3: what lies behind an untold gap cannot have been handled")
  func acknowledgingAnUntoldGap() throws {
    let memory = RingMemory(capacity: 2)
    var ring = try memory.openSynced()
    var cursor = Cursor(at: 0)
    for n in 0..<4 {
      cursor.makeRoom(in: ring)
      ring.append(fix(n))
    }
    let name = FixName(generation: ring.generation, sequence: 0)
    #expect(cursor.acknowledge(name, in: ring) == .ahead)
    let gap = cursor.takeGap()
    #expect(gap == Gap(0..<2, from: time(0), to: time(1)))
    #expect(cursor.acknowledge(name, in: ring) == .advanced(1))
    cursor.rewind()
    #expect(cursor.gap == Gap(1..<2, from: time(0), to: time(1)))
  }

  @Test("RNG-4: two gaps before they are told are one, with the sum of both")
  func mergedGaps() throws {
    let memory = RingMemory(capacity: 2)
    var ring = try memory.openSynced()
    var cursor = Cursor(at: 0)
    for n in 0..<7 {
      cursor.makeRoom(in: ring)
      ring.append(fix(n))
      if n == 2 { #expect(cursor.gap == Gap(0..<1, from: time(0), to: time(0))) }
    }
    #expect(cursor.takeGap() == Gap(0..<5, from: time(0), to: time(4)))
    cursor.deliver(to: 7, in: ring)
    var split = Gap(0..<2, from: time(0), to: time(1))
    split.merge(Gap(5..<6, from: time(5), to: nil))
    #expect(split.count == 3 && split.range == 0..<6)
    #expect(split.from == time(0) && split.to == nil && !split.mayBeMore)
    split.merge(Gap(unsyncedBefore: 9, after: time(8)))
    #expect(split.count == 3 && split.range == 0..<9 && split.mayBeMore)
    let alone = Gap(unsyncedBefore: 9, after: time(8))
    #expect(alone.count == 0 && alone.from == time(8) && alone.to == nil)
  }

  @Test("RNG-6: revocation moves the cursor to the head, and nothing before is told or shown")
  func skip() throws {
    let memory = RingMemory(capacity: 3)
    var ring = try memory.openSynced()
    var cursor = Cursor(at: 0)
    for n in 0..<5 {
      cursor.makeRoom(in: ring)
      ring.append(fix(n))
    }
    #expect(cursor.gap != nil)
    cursor.skipToHead(of: ring)
    #expect(cursor == Cursor(at: 5))
    cursor.rewind()
    #expect(cursor == Cursor(at: 5) && cursor.backlog(in: ring) == 0)
    ring.append(fix(5))
    #expect(cursor.backlog(in: ring) == 1)
    #expect(walk(ring, from: cursor.delivered).fixes.map(\.fix) == [fix(5)])
  }

  @Test("BKG-20: a client that comes back after a restart resumes behind what it acknowledged")
  func resume() throws {
    for acknowledged in 0...8 as ClosedRange<UInt64> {
      let memory = RingMemory(capacity: 4)
      var before = try memory.openSynced()
      for n in 0..<6 { before.append(fix(n)) }
      // A bookmark beyond the head cannot be; one made at the head can.
      let bookmark = before.bookmark(below: min(acknowledged, 6))
      #expect((bookmark == nil) == (acknowledged == 0))
      var ring = try memory.openSynced()
      ring.append(fix(6))
      var cursor = Cursor(resumingAfter: bookmark, in: ring)
      let place = min(acknowledged, 6)
      #expect(cursor.acknowledged == place)
      let lost: Gap? = place < 3 ? Gap(place..<3, from: nil, to: time(3)) : nil
      #expect(cursor.gap == lost)
      #expect(cursor.delivered == max(place, 3))
      _ = cursor.takeGap()
      cursor.deliver(to: 7, in: ring)
      cursor.rewind()
      #expect(cursor.gap == lost && cursor.delivered == max(place, 3))
    }
  }

  @Test("a client that comes back while the service runs resumes the same way")
  func resumeWithinAGeneration() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    for n in 0..<6 { ring.append(fix(n)) }
    for sequence in 2..<6 as Range<UInt64> {
      let name = FixName(generation: ring.generation, sequence: sequence)
      #expect(Cursor(resumingAfter: name, in: ring) == Cursor(at: sequence + 1))
    }
  }

  @Test("a name from another image begins at the tail")
  func resumeElsewhere() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    for n in 0..<6 { ring.append(fix(n)) }
    let name = FixName(generation: ring.generation + 1, sequence: 5)
    #expect(Cursor(resumingAfter: name, in: ring) == Cursor(at: 2))
  }
}
