import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

/// What a client must be told, kept in the simplest way: lists, no cursors.
struct Oracle {
  /// A fix in the ring.
  struct Entry {
    var sequence: UInt64
    /// It must be told; else it was made between two runs of updates, and may be told or not.
    var isOwed: Bool
  }

  /// Fixes that were not acknowledged, oldest first.
  var owed: [Entry] = []
  /// How many of them the process that lives has been told, as fixes or in a gap, or passed over.
  var told = 0
  /// When updates were stopped whose last fixes the receiver still holds.
  var closedAt = 0.0
  /// Fixes of until then were made for others, before this run of updates.
  var visibleFrom = -1.0
  /// From a stop to the start that came before the receiver was drained: told or not.
  var pause: ClosedRange<Double>?
  var isConnected = false
  var isUpdating = false
  /// The receiver holds fixes of updates that have ended.
  var isClosing = false
  /// Calls that lived, without their finish.
  var outstanding = 0

  /// The next fix that was not told.
  var next: Entry? { told < owed.count ? owed[told] : nil }
}

/// Seeded walks over everything that can happen to a client, checked against ``Oracle``.
@Suite("A client on a random walk")
struct ClientWalkTests {
  @Test(
    "RNG-3, RNG-4, DEF-8, DEF-10, DEF-30, DEF-37: each fix once, in order, or in a gap; each call one finish",
    arguments: 0..<120 as Range<UInt64>)
  func walk(_ seed: UInt64) throws {
    var walk = Walk(seed: seed, hasFilter: false)
    for _ in 0..<500 { try walk.step() }
  }

  @Test(
    "STD-4, DEF-39: with a filter, nothing out of order and each call one finish",
    arguments: 500..<540 as Range<UInt64>)
  func filteredWalk(_ seed: UInt64) throws {
    var walk = Walk(seed: seed, hasFilter: true)
    for _ in 0..<500 { try walk.step() }
  }
}

/// One walk.
struct Walk {
  var random: SeededGenerator
  let world: World
  var oracle = Oracle()
  let hasFilter: Bool
  /// Times of the fixes that the receiver holds.
  var held: [Double] = []
  var mayEngage = false
  var lastAcknowledged: UInt64?

  init(seed: UInt64, hasFilter: Bool) {
    random = SeededGenerator(seed: seed)
    self.hasFilter = hasFilter
    world = World(capacity: Int.random(in: 8...24, using: &random))
    world.limit = 4
  }

  mutating func step() throws {
    switch Int.random(in: 0..<40, using: &random) {
    case 0: connect()
    case 1: disconnect()
    case 2...4: start()
    case 5: stop()
    case 6...9: call()
    case 10: request(.disallowDeferred)
    case 11: request(.setDesiredAccuracy([-1, -1, -2, 10].randomElement(using: &random) ?? -1))
    case 12:
      request(
        .setDistanceFilter(hasFilter ? [-1, 50].randomElement(using: &random) ?? -1 : -1))
    case 13: request(.setExecution(.background))
    case 14: request(.setExecution(Bool.random(using: &random) ? .foreground : .suspended))
    case 15...17: acknowledge()
    case 18:
      countEnds { $0.client.receiverLost($0.context) }
      oracle.isClosing = false
    case 19: if held.isEmpty { world.buffers = true }
    case 20...22: drain()
    case 23: mayEngage = Bool.random(using: &random)
    default: fix()
    }
    world.now += 0.25
    settle()
    try check()
  }

  /// As the engine does after each step.
  mutating func settle() {
    countEnds { $0.client.elapse($0.context) }
    world.client.mayEngage(mayEngage, world.context)
    if !world.buffers && world.client.isWaitingForDrain { finishDrain() }
  }

  /// Does something that may end the outstanding call.
  mutating func countEnds(_ body: (World) -> Void) {
    let had = world.state != .idle
    body(world)
    if had && world.state == .idle { oracle.outstanding += 1 }
  }

  mutating func connect() {
    disconnect()
    world.askQuietly(.connect)
    oracle.isConnected = true
  }

  mutating func disconnect() {
    guard oracle.isConnected else { return }
    world.askQuietly(.disconnect)
    close()
    oracle.isConnected = false
    oracle.outstanding = 0
    oracle.told = 0
  }

  mutating func close() {
    if oracle.isUpdating && world.buffers {
      oracle.isClosing = true
      oracle.closedAt = world.now
    }
    oracle.isUpdating = false
  }

  mutating func start() {
    guard oracle.isConnected else { return }
    if !oracle.isUpdating && oracle.isClosing {
      oracle.pause = (oracle.pause?.lowerBound ?? oracle.closedAt)...world.now
    } else if !oracle.isUpdating {
      oracle.pause = nil
      oracle.visibleFrom = world.buffers ? world.now : -1
    }
    oracle.isUpdating = true
    oracle.isClosing = false
    world.askQuietly(.startUpdating)
  }

  mutating func stop() {
    guard oracle.isConnected else { return }
    countEnds { $0.askQuietly(.stopUpdating) }
    close()
  }

  mutating func call() {
    guard oracle.isConnected else { return }
    let distances: [Double] = [.infinity, 0, 60, -1]
    let timeouts: [Double] = [.infinity, 0, 3, 10]
    let distance = distances[Int.random(in: 0..<4, using: &random)]
    let timeout = timeouts[Int.random(in: 0..<4, using: &random)]
    let had = world.state != .idle
    world.askQuietly(.allowDeferred(distance: distance, timeout: timeout))
    // The one before has ended; this one has, unless it is armed now.
    oracle.outstanding += (had ? 1 : 0) + (world.state == .idle ? 1 : 0)
  }

  mutating func request(_ request: Request) {
    guard oracle.isConnected else { return }
    countEnds { $0.askQuietly(request) }
  }

  mutating func acknowledge() {
    guard oracle.isConnected, oracle.told > 0 else { return }
    let index = Int.random(in: 0..<oracle.told, using: &random)
    let sequence = oracle.owed[index].sequence
    world.askQuietly(.acknowledge(world.name(sequence)))
    lastAcknowledged = sequence
  }

  mutating func fix() {
    if world.buffers {
      held.append(world.now)
    } else {
      append(
        LocationPolicyTests.fix(at: world.now, east: Double.random(in: 0...80, using: &random)))
    }
  }

  mutating func append(_ fix: Fix) {
    let sequence = world.ring.head
    oracle.owed.append(Oracle.Entry(sequence: sequence, isOwed: isOwed(fix)))
    countEnds { $0.append(fix) }
  }

  /// Whether the fix was made during a run of updates.
  private func isOwed(_ fix: Fix) -> Bool {
    let time = fix.acquired.seconds
    if time <= oracle.visibleFrom { return false }
    if let pause = oracle.pause, time > pause.lowerBound, time <= pause.upperBound { return false }
    return oracle.isUpdating || oracle.isClosing && time <= oracle.closedAt
  }

  mutating func drain() {
    guard world.buffers else { return }
    world.isDraining = true
    for time in held {
      append(LocationPolicyTests.fix(at: time, east: Double.random(in: 0...80, using: &random)))
    }
    held = []
    world.isDraining = false
    world.buffers = false
    finishDrain()
  }

  mutating func finishDrain() {
    world.client.drained(world.context)
    oracle.isClosing = false
  }

  /// Takes all notices and holds them against the oracle.
  mutating func check() throws {
    let suspended = world.client.execution == .suspended
    let notices = world.told()
    try #require(notices.isEmpty || (oracle.isConnected && !suspended))
    for notice in notices {
      switch notice {
      case .finish:
        oracle.outstanding -= 1
        try #require(oracle.outstanding >= 0, "a finish without a call")
      case .batch(let range):
        for sequence in range { try tell(sequence) }
        try #require(world.ring.stored(at: range.lowerBound) != nil)
      case .gap(let range, let count):
        var owed: UInt64 = 0
        var all: UInt64 = 0
        while let next = oracle.next, next.sequence < range.upperBound {
          try #require(next.sequence >= range.lowerBound || !next.isOwed)
          if next.sequence >= range.lowerBound { all += 1 }
          if next.isOwed { owed += 1 }
          oracle.told += 1
        }
        try #require(count >= owed && count <= all, "\(count) told as lost, \(owed) were")
      case .failure: break
      }
    }
    try #require(!world.hasNotices)
    if let last = lastAcknowledged, oracle.isConnected, !suspended {
      try #require(world.client.cursor.acknowledged > last)
      lastAcknowledged = nil
    }
    // What the filter passed over is told in no other way.
    while hasFilter, oracle.isConnected, world.client.cursor.gap == nil,
      let next = oracle.next, next.sequence < world.client.cursor.delivered
    {
      oracle.told += 1
    }
    // Settled: acknowledged, or passed over.
    while let first = oracle.owed.first, first.sequence < world.client.cursor.acknowledged {
      try #require(oracle.told > 0 || !first.isOwed, "settled, but never told")
      oracle.owed.removeFirst()
      oracle.told = max(oracle.told - 1, 0)
    }
    guard oracle.isConnected, !suspended, !world.client.isWaitingForDrain else { return }
    try #require(oracle.outstanding == 0, "a call without its finish")
    guard oracle.isUpdating, world.state != .engaged, !world.isDraining else { return }
    try #require(!oracle.owed[oracle.told...].contains { $0.isOwed }, "fixes were not told")
  }

  mutating func tell(_ sequence: UInt64) throws {
    while let next = oracle.next, next.sequence < sequence, hasFilter || !next.isOwed {
      oracle.told += 1
    }
    let next = try #require(oracle.next, "\(sequence) was told before")
    try #require(next.sequence == sequence, "in order, none left out")
    oracle.told += 1
  }
}
