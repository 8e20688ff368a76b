import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// What a client must be told, kept in the simplest way: lists, no cursors.
struct Oracle {
  /// Fixes that belong to the client and were not acknowledged, oldest first.
  var owed: [UInt64] = []
  /// Fixes that are not the client's: of the time between two runs, or made for others. A second
  /// stretch of them may bring back the first.
  var passed: Set<UInt64> = []
  /// Owed nothing below: a denial gave it up.
  var lowest: UInt64 = 0
  /// The last number that the process that lives was told.
  var lastTold: UInt64?
  var isAuthorized = true
  /// What was made until then is not for it.
  var startedAt = -1.0
  var deniedUntil = -1.0
  /// What was made later, while the drain after a stop is awaited, is not for it.
  var stoppedAt = -1.0
  /// How many of them the process that lives has been told, as fixes or in a gap.
  var told = 0
  var isConnected = false
  var isUpdating = false
  /// The receiver holds fixes of updates that have ended.
  var isClosing = false
  /// Calls that lived, without their finish.
  var outstanding = 0
  var calls = 0
  var finishes = 0

  /// Whether a fix made at `time` that goes into the ring now is the client's.
  func isOwed(_ time: Double) -> Bool {
    guard isAuthorized, time > deniedUntil, time > startedAt else { return false }
    return isUpdating || (isClosing && time <= stoppedAt)
  }

  /// Whether a fix that is not the client's may come: another stretch of such fixes followed.
  func mayBeTold(_ sequence: UInt64) -> Bool {
    guard passed.contains(sequence), sequence >= lowest else { return false }
    var next = sequence + 1
    while passed.contains(next) { next += 1 }
    return passed.contains { $0 > next }
  }
}

/// Seeded walks over everything that can happen to a client, checked against ``Oracle``.
@Suite("A client on a random walk")
struct ClientWalkTests {
  @Test(
    "RNG-3, RNG-4, DEF-8, DEF-10, DEF-30, DEF-37: each fix once, in order, or in a gap; each call one finish",
    arguments: 0..<200 as Range<UInt64>)
  func walk(_ seed: UInt64) throws {
    var walk = Walk(seed: seed, hasFilter: false)
    for _ in 0..<500 { try walk.step() }
  }

  @Test(
    "STD-4, DEF-39: with a filter, nothing out of order and each call one finish",
    arguments: 500..<560 as Range<UInt64>)
  func filteredWalk(_ seed: UInt64) throws {
    var walk = Walk(seed: seed, hasFilter: true)
    for _ in 0..<500 { try walk.step() }
  }
}

/// One walk.
struct Walk {
  var random: SplitMix64
  let world: World
  var oracle = Oracle()
  let hasFilter: Bool
  /// Times of the fixes that the receiver holds.
  var held: [Double] = []
  var mayEngage = false
  var lastAcknowledged: UInt64?

  init(seed: UInt64, hasFilter: Bool) {
    random = SplitMix64(seed: seed)
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
    case 24: if Int.random(in: 0..<4, using: &random) == 0 { authorize(!oracle.isAuthorized) }
    case 25: authorize(true)
    default: fix()
    }
    world.now += 0.25
    settle()
    try check()
  }

  /// As the engine does after each step.
  mutating func settle() {
    countEnds { $0.client.elapse($0.context) }
    world.client.updateEngagement(mayEngage, world.context)
    if !world.buffers && world.isWaitingForDrain { finishDrain() }
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
    oracle.lastTold = nil
  }

  mutating func authorize(_ isAuthorized: Bool) {
    countEnds { $0.askQuietly(.setAuthorization(isAuthorized ? .always : .denied)) }
    guard isAuthorized != oracle.isAuthorized else { return }
    oracle.isAuthorized = isAuthorized
    oracle.owed = []
    oracle.told = 0
    oracle.lowest = world.ring.head
    oracle.isClosing = false
    if isAuthorized { oracle.deniedUntil = world.now }
  }

  mutating func close() {
    if oracle.isUpdating && world.buffers {
      oracle.isClosing = true
      oracle.stoppedAt = world.now
    }
    oracle.isUpdating = false
  }

  mutating func start() {
    guard oracle.isConnected else { return }
    if !oracle.isUpdating && !oracle.isClosing && world.buffers { oracle.startedAt = world.now }
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
    let sequence = oracle.owed[index]
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
    if oracle.isOwed(fix.acquired.seconds) {
      oracle.owed.append(sequence)
    } else if oracle.isAuthorized && fix.acquired.seconds > oracle.deniedUntil {
      oracle.passed.insert(sequence)
    }
    countEnds { $0.append(fix) }
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
    world.client.drainFinished(world.context)
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
        var counted: UInt64 = 0
        while oracle.told < oracle.owed.count, oracle.owed[oracle.told] < range.upperBound {
          try #require(oracle.owed[oracle.told] >= range.lowerBound)
          oracle.told += 1
          counted += 1
        }
        let others = oracle.passed.filter { range.contains($0) }.count
        try #require(
          count >= counted && count <= counted + UInt64(others),
          "\(count) told as lost, \(counted) were")
      case .failure, .authorization, .degraded, .paused, .resumed, .report, .coarse, .visit,
        .region, .live, .liveRefused:
        break
      }
    }
    try #require(!world.hasNotices)
    if let last = lastAcknowledged, oracle.isConnected, !suspended {
      try #require(world.client.cursor.acknowledged > last)
      lastAcknowledged = nil
    }
    // What the filter passed over is told in no other way.
    while hasFilter, oracle.isConnected, world.client.cursor.gap == nil,
      oracle.told < oracle.owed.count,
      oracle.owed[oracle.told] < world.client.cursor.delivered
    {
      oracle.told += 1
    }
    // Settled: acknowledged, or of updates that ended and told again to a later process.
    while oracle.told > 0, oracle.owed[0] < world.client.cursor.acknowledged {
      oracle.owed.removeFirst()
      oracle.told -= 1
    }
    guard oracle.isConnected, !suspended, !world.isWaitingForDrain else { return }
    try #require(oracle.outstanding == 0, "a call without its finish")
    guard oracle.isUpdating, world.state != .engaged, !world.isDraining else { return }
    try #require(oracle.told == oracle.owed.count, "fixes were not told")
  }

  mutating func tell(_ sequence: UInt64) throws {
    try #require(oracle.lastTold.map { $0 < sequence } ?? true, "once to each process")
    oracle.lastTold = sequence
    if oracle.mayBeTold(sequence) { return }
    if hasFilter {
      while oracle.told < oracle.owed.count, oracle.owed[oracle.told] < sequence {
        oracle.told += 1
      }
    }
    try #require(oracle.told < oracle.owed.count, "\(sequence) is not owed")
    try #require(oracle.owed[oracle.told] == sequence, "in order, none left out")
    oracle.told += 1
  }
}
