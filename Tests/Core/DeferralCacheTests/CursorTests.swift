import DeferralCache
import LocationTypes
import TestSupport
import Testing

@Suite("Cursors") struct CursorTests {
  @Test("RNG-3: excluded fixes are skipped, and acknowledged when no earlier fix is undelivered")
  func excluded() throws {
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
    var advanced = cursor
    let early = advanced.acknowledgeExcluded(to: 2)
    #expect(early && advanced.acknowledged == 2 && advanced.delivered == 3)
    // More fixes than the excluded ones were overwritten: the client has lost them.
    for n in 3..<8 {
      cursor.prepareForAppend(in: ring)
      ring.append(fix(n))
    }
    advanced = cursor
    let beforeGap = advanced.acknowledgeExcluded(to: 4)
    #expect(!beforeGap && advanced == cursor, "the gap is reported first")
    let gap = advanced.takeGap()
    #expect(gap?.range == 3..<4)
    let part = advanced.acknowledgeExcluded(to: 3)
    #expect(!part && advanced.acknowledged == 1)
    let all = advanced.acknowledgeExcluded(to: 4)
    #expect(all && advanced.acknowledged == 4 && advanced.delivered == 4 && advanced.gap == nil)
  }

  @Test(
    "RNG-4: for every capacity, start, cursor and count, exactly the overwritten fixes are reported",
    arguments: 2...5)
  func everyOverflow(capacity: Int) throws {
    for shape in RingShape.every(capacity: capacity, starts: capacity + 1) {
      let stored = min(shape.start, capacity)
      for unread in 0...stored {
        for unacknowledged in 0...stored - unread {
          for step in 1...3 {
            try overflow(capacity, shape.start, unread, unacknowledged, shape.count, step)
          }
        }
      }
    }
  }

  private func overflow(
    _ capacity: Int, _ start: Int, _ unread: Int, _ unacknowledged: Int, _ count: Int, _ step: Int
  ) throws {
    let memory = RingMemory(capacity: capacity)
    var ring = try memory.openSynced()
    for n in 0..<start { ring.append(fix(n)) }
    let acknowledged = start - unread - unacknowledged
    let delivered = start - unread
    var cursor = Cursor(at: UInt64(acknowledged))
    cursor.deliver(to: UInt64(delivered), in: ring)
    var next = start
    var lost = 0
    while next < start + count {
      let chunk = min(step, start + count - next)
      let before = ring.head
      lost += Int(cursor.prepareForAppend(of: UInt64(chunk), in: ring))
      #expect(cursor.delivered <= before, "a cursor is never beyond the head")
      for _ in 0..<chunk {
        ring.append(fix(next))
        next += 1
      }
      // A chunk larger than the ring overwrites its own fixes: a second call reports them.
      lost += Int(cursor.prepareForAppend(of: 0, in: ring))
    }
    let end = max(0, start + count - capacity)
    let unreported = delivered..<max(delivered, end)
    let overwritten = acknowledged..<max(acknowledged, end)
    #expect(lost == unreported.count)
    expect(cursor.gap, unreported, capacity: capacity, step: step)
    expect(cursor.overwritten, overwritten, capacity: capacity, step: step)
    #expect(cursor.acknowledged == UInt64(acknowledged))
    #expect(cursor.delivered == UInt64(unreported.upperBound))
    let remaining = walk(ring, from: cursor.delivered)
    #expect(remaining.gaps.isEmpty)
    #expect(remaining.fixes.map(\.fix) == (unreported.upperBound..<start + count).map(fix))
    expectRewound(cursor, ring, overwritten, all: start + count)
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
    let reported = cursor.takeGap()
    #expect(reported?.count ?? 0 == UInt64(lost.count))
    #expect(cursor.takeGap() == nil)
    cursor.deliver(to: ring.head, in: ring)
    cursor.rewind()
    #expect(cursor.gap == reported, "an unacknowledged gap is reported again")
  }

  @Test("RNG-3: every acknowledgement of every name, at every cursor position")
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

  @Test("RNG-3: an acknowledgement covers exactly the overwritten fixes before it")
  func acknowledgingOverwritten() throws {
    for through in 0..<4 as Range<UInt64> {
      let memory = RingMemory(capacity: 3)
      var ring = try memory.openSynced()
      for n in 0..<3 { ring.append(fix(n)) }
      var cursor = Cursor(at: 0)
      cursor.deliver(to: 3, in: ring)
      for n in 3..<5 {
        #expect(cursor.prepareForAppend(in: ring) == 0)
        ring.append(fix(n))
      }
      cursor.deliver(to: 4, in: ring)
      #expect(cursor.gap == nil && cursor.overwritten?.count == 2)
      let name = FixName(generation: ring.generation, sequence: through)
      #expect(cursor.acknowledge(name, in: ring) == .advanced(through + 1))
      let remaining = through == 0 ? Gap(1..<2, from: time(0), to: time(1)) : nil
      #expect(cursor.overwritten == remaining)
      cursor.rewind()
      #expect(cursor.gap == remaining)
      #expect(cursor.delivered == max(2, through + 1))
    }
  }

  @Test("RNG-3: fixes after an unreported gap cannot be acknowledged")
  func acknowledgingUnreportedGap() throws {
    let memory = RingMemory(capacity: 2)
    var ring = try memory.openSynced()
    var cursor = Cursor(at: 0)
    for n in 0..<4 {
      cursor.prepareForAppend(in: ring)
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

  @Test("RNG-4: two unreported gaps are merged, with the sum of both counts")
  func mergedGaps() throws {
    let memory = RingMemory(capacity: 2)
    var ring = try memory.openSynced()
    var cursor = Cursor(at: 0)
    for n in 0..<7 {
      cursor.prepareForAppend(in: ring)
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

  @Test("RNG-6: revocation moves the cursor to the head; no earlier fix or gap is delivered")
  func skip() throws {
    let memory = RingMemory(capacity: 3)
    var ring = try memory.openSynced()
    var cursor = Cursor(at: 0)
    for n in 0..<5 {
      cursor.prepareForAppend(in: ring)
      ring.append(fix(n))
    }
    #expect(cursor.gap != nil)
    cursor = Cursor(at: ring.head)
    #expect(cursor == Cursor(at: 5))
    cursor.rewind()
    #expect(cursor == Cursor(at: 5) && cursor.backlog(in: ring) == 0)
    ring.append(fix(5))
    #expect(cursor.backlog(in: ring) == 1)
    #expect(walk(ring, from: cursor.delivered).fixes.map(\.fix) == [fix(5)])
  }

  @Test("BKG-20: after a restart, a client resumes after its last acknowledged fix")
  func resume() throws {
    for acknowledged in 0...8 as ClosedRange<UInt64> {
      let memory = RingMemory(capacity: 4)
      var before = try memory.openSynced()
      for n in 0..<6 { before.append(fix(n)) }
      // A bookmark cannot be beyond the head; it can be at the head.
      let bookmark = before.bookmark(below: min(acknowledged, 6))
      #expect((bookmark == nil) == (acknowledged == 0))
      var ring = try memory.openSynced()
      ring.append(fix(6))
      var cursor = Cursor(resumingAfter: bookmark, in: ring)
      let position = min(acknowledged, 6)
      #expect(cursor.acknowledged == position)
      let lost: Gap? = position < 3 ? Gap(position..<3, from: nil, to: time(3)) : nil
      #expect(cursor.gap == lost)
      #expect(cursor.delivered == max(position, 3))
      _ = cursor.takeGap()
      cursor.deliver(to: 7, in: ring)
      cursor.rewind()
      #expect(cursor.gap == lost && cursor.delivered == max(position, 3))
    }
  }

  @Test("a client that reconnects while the service runs resumes the same way")
  func resumeWithinAGeneration() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    for n in 0..<6 { ring.append(fix(n)) }
    for sequence in 2..<6 as Range<UInt64> {
      let name = FixName(generation: ring.generation, sequence: sequence)
      #expect(Cursor(resumingAfter: name, in: ring) == Cursor(at: sequence + 1))
    }
  }

  @Test("after a name from another image, the cursor starts at the tail")
  func resumeElsewhere() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    for n in 0..<6 { ring.append(fix(n)) }
    let name = FixName(generation: ring.generation + 1, sequence: 5)
    #expect(Cursor(resumingAfter: name, in: ring) == Cursor(at: 2))
  }
}
