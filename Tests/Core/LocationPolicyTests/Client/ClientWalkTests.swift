import DeferralCache
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// Expected deliveries to a client, kept in plain lists without cursors.
struct Oracle {
  /// Unacknowledged fixes of the client, oldest first.
  var expected: [UInt64] = []
  /// Fixes excluded for the client: from the time between two runs, or measured for others. A
  /// second excluded range may make the first one deliverable again.
  var excluded: Set<UInt64> = []
  /// Lowest deliverable sequence number; a denial excludes everything below.
  var lowest: UInt64 = 0
  /// Last sequence number delivered to the current process.
  var lastDelivered: UInt64?
  var isAuthorized = true
  /// Fixes measured up to this time do not belong to the client.
  var startedAt = -1.0
  var deniedUntil = -1.0
  /// Fixes measured later do not belong to the client while the drain after a stop is awaited.
  var stoppedAt = -1.0
  /// Number of `expected` fixes delivered to the current process, as fixes or in a gap.
  var delivered = 0
  var isConnected = false
  var isUpdating = false
  /// Whether the receiver buffers fixes of updates that have ended.
  var isStopping = false
  /// Number of calls without their finish.
  var outstanding = 0
  var calls = 0
  var finishes = 0

  /// Whether a fix measured at `time` and appended now belongs to the client.
  func belongsToClient(_ time: Double) -> Bool {
    guard isAuthorized, time > deniedUntil, time > startedAt else { return false }
    return isUpdating || (isStopping && time <= stoppedAt)
  }

  /// Whether an excluded fix may be delivered, because another excluded range followed.
  func mayBeDelivered(_ sequence: UInt64) -> Bool {
    guard excluded.contains(sequence), sequence >= lowest else { return false }
    var next = sequence + 1
    while excluded.contains(next) { next += 1 }
    return excluded.contains { $0 > next }
  }
}

/// Seeded random sequences of all events of a client, checked against ``Oracle``.
@Suite("Client under random events")
struct ClientWalkTests {
  @Test(
    "RNG-3, RNG-4, DEF-8, DEF-10, DEF-30, DEF-37: each fix once, in order or in a gap; each call one finish",
    arguments: 0..<200 as Range<UInt64>)
  func walk(_ seed: UInt64) throws {
    var walk = Walk(seed: seed, hasFilter: false)
    for _ in 0..<500 { try walk.step() }
  }

  @Test(
    "STD-4, DEF-39: with a filter, fixes stay in order and each call has one finish",
    arguments: 500..<560 as Range<UInt64>)
  func filteredWalk(_ seed: UInt64) throws {
    var walk = Walk(seed: seed, hasFilter: true)
    for _ in 0..<500 { try walk.step() }
  }
}

/// One random sequence of events.
struct Walk {
  var random: SplitMix64
  let bench: ClientBench
  var oracle = Oracle()
  let hasFilter: Bool
  /// Times of the fixes buffered in the receiver.
  var buffered: [Double] = []
  var mayEngage = false
  var lastAcknowledged: UInt64?

  init(seed: UInt64, hasFilter: Bool) {
    random = SplitMix64(seed: seed)
    self.hasFilter = hasFilter
    bench = ClientBench(capacity: Int.random(in: 8...24, using: &random))
    bench.limit = 4
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
      oracle.isStopping = false
    case 19: if buffered.isEmpty { bench.buffers = true }
    case 20...22: drain()
    case 23: mayEngage = Bool.random(using: &random)
    case 24: if Int.random(in: 0..<4, using: &random) == 0 { authorize(!oracle.isAuthorized) }
    case 25: authorize(true)
    default: fix()
    }
    bench.now += 0.25
    runEngine()
    try check()
  }

  /// As the engine does after each step.
  mutating func runEngine() {
    countEnds { $0.client.elapse($0.context) }
    bench.client.updateEngagement(mayEngage, bench.context)
    if !bench.buffers && bench.isWaitingForDrain { finishDrain() }
  }

  /// Runs `body`, which may end the outstanding call.
  mutating func countEnds(_ body: (ClientBench) -> Void) {
    let wasOutstanding = bench.state != .idle
    body(bench)
    if wasOutstanding && bench.state == .idle { oracle.outstanding += 1 }
  }

  mutating func connect() {
    disconnect()
    bench.sendOnly(.connect)
    oracle.isConnected = true
  }

  mutating func disconnect() {
    guard oracle.isConnected else { return }
    bench.sendOnly(.disconnect)
    endUpdating()
    oracle.isConnected = false
    oracle.outstanding = 0
    oracle.delivered = 0
    oracle.lastDelivered = nil
  }

  mutating func authorize(_ isAuthorized: Bool) {
    countEnds { $0.sendOnly(.setAuthorization(isAuthorized ? .always : .denied)) }
    guard isAuthorized != oracle.isAuthorized else { return }
    oracle.isAuthorized = isAuthorized
    oracle.expected = []
    oracle.delivered = 0
    oracle.lowest = bench.ring.head
    oracle.isStopping = false
    if isAuthorized { oracle.deniedUntil = bench.now }
  }

  mutating func endUpdating() {
    if oracle.isUpdating && bench.buffers {
      oracle.isStopping = true
      oracle.stoppedAt = bench.now
    }
    oracle.isUpdating = false
  }

  mutating func start() {
    guard oracle.isConnected else { return }
    if !oracle.isUpdating && !oracle.isStopping && bench.buffers { oracle.startedAt = bench.now }
    oracle.isUpdating = true
    oracle.isStopping = false
    bench.sendOnly(.startUpdating)
  }

  mutating func stop() {
    guard oracle.isConnected else { return }
    countEnds { $0.sendOnly(.stopUpdating) }
    endUpdating()
  }

  mutating func call() {
    guard oracle.isConnected else { return }
    let distances: [Double] = [.infinity, 0, 60, -1]
    let timeouts: [Double] = [.infinity, 0, 3, 10]
    let distance = distances[Int.random(in: 0..<4, using: &random)]
    let timeout = timeouts[Int.random(in: 0..<4, using: &random)]
    let wasOutstanding = bench.state != .idle
    bench.sendOnly(.allowDeferred(distance: distance, timeout: timeout))
    // The previous call has ended; this one has too, unless it is armed now.
    oracle.outstanding += (wasOutstanding ? 1 : 0) + (bench.state == .idle ? 1 : 0)
  }

  mutating func request(_ request: Request) {
    guard oracle.isConnected else { return }
    countEnds { $0.sendOnly(request) }
  }

  mutating func acknowledge() {
    guard oracle.isConnected, oracle.delivered > 0 else { return }
    let index = Int.random(in: 0..<oracle.delivered, using: &random)
    let sequence = oracle.expected[index]
    bench.sendOnly(.acknowledge(bench.name(sequence)))
    lastAcknowledged = sequence
  }

  mutating func fix() {
    if bench.buffers {
      buffered.append(bench.now)
    } else {
      append(
        LocationPolicyTests.fix(at: bench.now, east: Double.random(in: 0...80, using: &random)))
    }
  }

  mutating func append(_ fix: Fix) {
    let sequence = bench.ring.head
    if oracle.belongsToClient(fix.acquired.seconds) {
      oracle.expected.append(sequence)
    } else if oracle.isAuthorized && fix.acquired.seconds > oracle.deniedUntil {
      oracle.excluded.insert(sequence)
    }
    countEnds { $0.append(fix) }
  }

  mutating func drain() {
    guard bench.buffers else { return }
    bench.isDraining = true
    for time in buffered {
      append(LocationPolicyTests.fix(at: time, east: Double.random(in: 0...80, using: &random)))
    }
    buffered = []
    bench.isDraining = false
    bench.buffers = false
    finishDrain()
  }

  mutating func finishDrain() {
    bench.client.drainFinished(bench.context)
    oracle.isStopping = false
  }

  /// Reads all notices and compares them with the oracle.
  mutating func check() throws {
    let suspended = bench.client.execution == .suspended
    let notices = bench.notices()
    try #require(notices.isEmpty || (oracle.isConnected && !suspended))
    for notice in notices {
      switch notice {
      case .finish:
        oracle.outstanding -= 1
        try #require(oracle.outstanding >= 0, "a finish without a call")
      case .batch(let range):
        for sequence in range { try deliver(sequence) }
        try #require(bench.ring.stored(at: range.lowerBound) != nil)
      case .gap(let range, let count):
        var counted: UInt64 = 0
        while oracle.delivered < oracle.expected.count,
          oracle.expected[oracle.delivered] < range.upperBound
        {
          try #require(oracle.expected[oracle.delivered] >= range.lowerBound)
          oracle.delivered += 1
          counted += 1
        }
        let others = oracle.excluded.filter { range.contains($0) }.count
        try #require(
          count >= counted && count <= counted + UInt64(others),
          "\(count) reported as lost, \(counted) were lost")
      case .failure, .authorization, .degraded, .paused, .resumed, .report, .coarse, .visit,
        .region, .live, .liveRefused:
        break
      }
    }
    try #require(!bench.hasNotices)
    if let last = lastAcknowledged, oracle.isConnected, !suspended {
      try #require(bench.client.cursor.acknowledged > last)
      lastAcknowledged = nil
    }
    // Fixes dropped by the filter are not reported.
    while hasFilter, oracle.isConnected, bench.client.cursor.gap == nil,
      oracle.delivered < oracle.expected.count,
      oracle.expected[oracle.delivered] < bench.client.cursor.delivered
    {
      oracle.delivered += 1
    }
    // Advance: acknowledged, or from ended updates and delivered again to a later process.
    while oracle.delivered > 0, oracle.expected[0] < bench.client.cursor.acknowledged {
      oracle.expected.removeFirst()
      oracle.delivered -= 1
    }
    guard oracle.isConnected, !suspended, !bench.isWaitingForDrain else { return }
    try #require(oracle.outstanding == 0, "a call without its finish")
    guard oracle.isUpdating, bench.state != .engaged, !bench.isDraining else { return }
    try #require(oracle.delivered == oracle.expected.count, "fixes were not delivered")
  }

  mutating func deliver(_ sequence: UInt64) throws {
    try #require(oracle.lastDelivered.map { $0 < sequence } ?? true, "once to each process")
    oracle.lastDelivered = sequence
    if oracle.mayBeDelivered(sequence) { return }
    if hasFilter {
      while oracle.delivered < oracle.expected.count, oracle.expected[oracle.delivered] < sequence {
        oracle.delivered += 1
      }
    }
    try #require(oracle.delivered < oracle.expected.count, "\(sequence) is not expected")
    try #require(oracle.expected[oracle.delivered] == sequence, "in order, none left out")
    oracle.delivered += 1
  }
}
