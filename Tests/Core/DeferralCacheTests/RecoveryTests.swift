import DeferralCache
import LocationTypes
import TestSupport
import Testing

/// One step of a history: the image and the fixes named so far.
struct HistoryStep {
  var label: String
  var image: [UInt8]
  var journal: [FixName: Fix]
  /// The fixes found by opening the undamaged image.
  var whole: [StoredFix] = []
}

/// Runs a history with wrap-around, restarts, losses, an erasure and a close; returns its steps.
func steps(capacity: Int) throws -> [HistoryStep] {
  var history = History(capacity: capacity)
  var steps: [HistoryStep] = []
  func keep(_ label: String) {
    steps.append(
      HistoryStep(label: label, image: history.memory.bytes, journal: history.journal))
  }
  func session(_ label: String, _ count: Int, synced: Int = 0, close: Bool = false) throws {
    var ring = try history.open(synced: false)
    keep(label + ", opened")
    ring.markSynced(ring.unsynced)
    history.append(synced, to: &ring)
    history.disk = history.memory.bytes
    history.append(count - synced, to: &ring)
    if close { ring.close() }
    keep(label + ", run")
  }
  try session("first", capacity / 2)
  try session("second", capacity / 3 + 1)
  try session("third, wraps around", capacity, close: true)
  try session("fourth", capacity / 2 + 3, synced: 2)
  history.cutPower { $0 % 2 == 1 }
  try session("fifth, after a loss", 5, synced: 1)
  history.cutPower { _ in false }
  try session("sixth, after a loss", capacity / 4)
  var ring = try history.open()
  ring.erase(ring.head - 9..<ring.head - 6)
  history.append(2 * capacity + 3, to: &ring)
  ring.erase(ring.head - 3..<ring.head - 1)
  keep("seventh, with erasures")
  for i in steps.indices {
    history.memory.bytes = steps[i].image
    steps[i].whole = walk(try history.memory.open()).fixes
  }
  return steps
}

@Suite("Recovery") struct RecoveryTests {
  @Test(
    "RNG-7: with any subset of sectors zero or older, no fix is wrong and no intact one is lost",
    arguments: [16, 32])
  func everySubset(capacity: Int) throws {
    let steps = try steps(capacity: capacity)
    let blank = [UInt8](repeating: 0, count: steps[0].image.count)
    let sectors = (blank.count + 511) / 512
    for (i, step) in steps.enumerated() {
      let others = [blank, steps[max(0, i - 1)].image, steps[i / 2].image]
      for (which, other) in others.enumerated() {
        for subset in 0..<1 << sectors {
          let image = mixed([step.image, other]) { subset >> $0 & 1 }
          var lost = Loss(label: "\(step.label), \(which), \(subset)")
          lost.areBothHeadersLost = subset & 3 == 3
          lost.isAHeaderLost = subset & 3 != 0
          lost.intact = (2..<sectors).filter { subset >> $0 & 1 == 0 }
          try check(image, step, lost, capacity: capacity)
        }
      }
    }
  }

  @Test("RNG-7: with new, older and zero sectors mixed, no fix is wrong and no intact one is lost")
  func everyMixture() throws {
    let capacity = 21
    let steps = try steps(capacity: capacity)
    let blank = [UInt8](repeating: 0, count: steps[0].image.count)
    for (i, step) in steps.enumerated() {
      let versions = [step.image, steps[max(0, i - 2)].image, blank]
      for code in 0..<243 {
        let choice = [code % 3, code / 3 % 3, code / 9 % 3, code / 27 % 3, code / 81]
        var lost = Loss(label: "\(step.label), \(choice)")
        lost.areBothHeadersLost = choice[0] > 0 && choice[1] > 0
        lost.isAHeaderLost = choice[0] > 0 || choice[1] > 0
        lost.intact = (2..<5).filter { choice[$0] == 0 }
        try check(mixed(versions) { choice[$0] }, step, lost, capacity: capacity)
      }
    }
  }

  @Test("RNG-7: with any one bit of the image flipped, no wrong fix is returned")
  func everyBit() throws {
    let capacity = 10
    let steps = try steps(capacity: capacity)
    let memory = RingMemory(capacity: capacity)
    for step in [steps[0], steps[steps.count - 1]] {
      for bit in 0..<step.image.count * 8 {
        var image = step.image
        image[bit / 8] ^= 1 << UInt8(bit % 8)
        // Without the mark of its only header and without a slot, the image is no known ring.
        if step.image[512] == 0, step.image[1024...].allSatisfy({ $0 == 0 }), bit < 64 {
          try expectNoRing(image, capacity: capacity)
          continue
        }
        let label = "\(step.label), bit \(bit)"
        try check(image, step, Loss(label: label), capacity: capacity, isBrief: true)
        let slot = bit / 512 - 16
        let others = step.whole.filter { Int($0.name.sequence) % capacity != slot }
        memory.bytes = image
        let remaining = walk(try memory.open()).fixes
        let arePresent = others.allSatisfy { remaining.contains($0) }
        #expect(arePresent, "\(label): no other fix is lost")
      }
    }
  }

  private func expectNoRing(_ image: [UInt8], capacity: Int) throws {
    let memory = RingMemory(capacity: capacity)
    memory.bytes = image
    #expect(throws: RingError.notARing) { _ = try memory.open() }
    #expect(memory.bytes == image)
  }

  /// The damage of an image.
  struct Loss {
    var label: String
    /// Whether both headers are lost; then a generation without a remaining slot may be repeated.
    var areBothHeadersLost = false
    var isAHeaderLost = false
    /// The unchanged sectors of slots.
    var intact: [Int] = []
  }

  private func check(
    _ image: [UInt8], _ step: HistoryStep, _ loss: Loss, capacity: Int, isBrief: Bool = false
  ) throws {
    let memory = RingMemory(capacity: capacity)
    memory.bytes = image
    var ring = try memory.openSynced()
    let comment = Comment(rawValue: loss.label)
    let stored = walk(ring).fixes
    let isTrue = stored.allSatisfy { step.journal[$0.name] == $0.fix }
    #expect(isTrue, comment)
    let isOrdered = zip(stored, stored.dropFirst()).allSatisfy {
      $0.name.order < $1.name.order && $0.fix.acquired < $1.fix.acquired
    }
    #expect(isOrdered, comment)
    let inRange = stored.allSatisfy {
      $0.name.sequence >= ring.tail && $0.name.sequence < ring.head
    }
    #expect(inRange && (stored.isEmpty || stored[0].name.sequence == ring.tail), comment)
    #expect(ring.recovery.newest == stored.last, comment)
    #expect(UInt64(stored.count) + ring.recovery.missing == ring.head - ring.tail, comment)
    expectComplete(ring, step, loss)
    // A new name is unique even if only slots or only one header copy remained.
    let used = step.journal.keys.map(\.generation).max() ?? 0
    if !loss.areBothHeadersLost { #expect(ring.generation > used, comment) }
    let newest = stored.map(\.name.generation).max() ?? 0
    #expect(ring.generation > newest, comment)
    if isBrief { return }
    expectResumes(ring, step, stored, comment, isHeaderKnown: !loss.areBothHeadersLost)
    expectReopens(&ring, memory, stored, comment)
  }

  /// No fix of an unchanged sector was dropped, if it belongs to the last branch.
  private func expectComplete(_ ring: borrowing FixRing, _ step: HistoryStep, _ loss: Loss) {
    for found in step.whole {
      let sector = (1024 + Int(found.name.sequence) % ring.capacity * 64) / 512
      guard loss.intact.contains(sector) else { continue }
      // With the newest header lost, fixes that its generation had cut off may be the newest ones.
      let isPassed = found.name.sequence + UInt64(ring.capacity) < ring.head
      if loss.isAHeaderLost && isPassed { continue }
      #expect(
        ring.stored(at: found.name.sequence) == found,
        "\(loss.label): dropped \(found.name)")
    }
  }

  /// RNG-3: after any assigned name, a client receives exactly the remaining later fixes.
  private func expectResumes(
    _ ring: borrowing FixRing, _ step: HistoryStep, _ stored: [StoredFix], _ comment: Comment,
    isHeaderKnown: Bool
  ) {
    for name in step.journal.keys where name.sequence % 5 == 0 {
      // An image of older sectors may contain nothing of this generation.
      guard name.generation < ring.generation else { continue }
      let cursor = Cursor(resumingAfter: name, in: ring)
      let found = stored.filter { $0.name.sequence >= cursor.delivered }
      let later = stored.filter { $0.name.order > name.order }
      // Without a header a cut-off branch may count as the end of its generation.
      let isRight = isHeaderKnown ? found == later : later.allSatisfy(found.contains)
      #expect(isRight, comment)
    }
  }

  /// Opened again, the ring has the same fixes and the appended ones.
  private func expectReopens(
    _ ring: inout FixRing, _ memory: RingMemory, _ stored: [StoredFix], _ comment: Comment
  ) {
    let names = [ring.append(fix(90_001)), ring.append(fix(90_002))]
    let now = walk(ring).fixes
    #expect(now.suffix(2).map(\.name) == names, comment)
    #expect(now.dropLast(2).elementsEqual(stored.suffix(now.count - 2)), comment)
    guard let again = try? memory.open() else {
      Issue.record(comment)
      return
    }
    #expect(walk(again).fixes == now && again.head == ring.head, comment)
    #expect(again.generation > ring.generation, comment)
  }
}

extension RecoveryTests {
  @Test("RNG-7: fixes are kept over any number of starts, with and without new fixes between them")
  func manyStarts() throws {
    for step in 0...2 {
      let memory = RingMemory(capacity: 120)
      for session in 0..<40 {
        var ring = try memory.openSynced()
        #expect(walk(ring).fixes.count == session * step, "start \(session), \(step) each")
        for n in 0..<step { ring.append(fix(session * step + n)) }
        ring.markSynced(ring.unsynced)
      }
    }
  }
}
