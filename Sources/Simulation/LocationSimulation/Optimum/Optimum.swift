import LocationTypes

/// The lowest receiver energy with which the last reported position stays within an accuracy bound, if the whole
/// track is known in advance: the reference for the planner, which can only use past fixes.
/// Docs/Explanation/optimum.md describes the model and its limits.
///
/// **Model.** A schedule starts with a fix at second 0, whose acquisition is free. At every second with a fix, the
/// receiver either tracks for another second, or sleeps and acquires a new fix (a cycle of ``ReceiverCosts``). The
/// last sleep may extend past the end of the track. Each fix is the true position of its second. The bound applies at
/// whole seconds outside the recording's gaps.
///
/// **Algorithm.** A shortest path: nodes are the seconds with a fix, edges are a second of tracking or a cycle. A
/// cycle may last at most until the device leaves the circle around its first fix (`departures(beyond:)`).
public struct Optimum: Equatable, Sendable {
  /// Time from the first second to the last one, seconds.
  public private(set) var duration_s = 0
  /// Receiver energy, millijoules.
  public private(set) var energy_mJ = 0.0
  /// Receiver energy with continuous tracking at full power, millijoules.
  public private(set) var alwaysOn_mJ = 0.0
  /// Seconds at which a fix is reported, ascending, starting at 0.
  public private(set) var fixes: [Int] = [0]
  /// Number of acquisitions after a sleep.
  public private(set) var acquisitions = 0
  /// Time off, seconds.
  public private(set) var off_s = 0.0
  /// Time of acquisition, seconds.
  public private(set) var acquiring_s = 0.0
  /// Time of tracking, seconds.
  public private(set) var tracking_s = 0.0

  /// Mean power, milliwatts; 0 for a duration of 0.
  public var mean_mW: Double { duration_s > 0 ? energy_mJ / Double(duration_s) : 0 }

  /// Computes the optimum: O(n log n) per row of the table of times to fix, and 30 bytes of memory per second and
  /// row.
  ///
  /// - Parameters:
  ///   - track: The true positions.
  ///   - accuracy_m: Accuracy bound, metres, 0 to 100,000.
  ///   - costs: Power and times of the receiver.
  public init(_ track: SampledTrack, within accuracy_m: Double, _ costs: ReceiverCosts) {
    let departures = track.departures(beyond: accuracy_m)
    var path = SchedulePath(departures: departures, costs)
    path.solve()
    duration_s = departures.count - 1
    alwaysOn_mJ = Double(duration_s) * costs.track_mW
    let (steps, end) = path.cheapest()
    for step in steps { add(step, costs) }
    off_s += Double(end.finalOff_s)
    if end.isTruncated {
      // The second of tracking after the last fix is beyond the end.
      tracking_s -= Double(ReceiverCosts.trackingAfterFix_s)
    }
    energy_mJ =
      off_s * costs.off_mW + acquiring_s * costs.acquire_mW + tracking_s * costs.on_mW
  }

  private mutating func add(_ step: SchedulePath.Step, _ costs: ReceiverCosts) {
    guard let piece = step.piece else {
      tracking_s += 1
      fixes.append(step.to)
      return
    }
    let cycle = step.to - step.from
    let off = costs.pieces[piece].off_s(ofCycle: cycle)
    acquisitions += 1
    off_s += off
    acquiring_s += Double(cycle - ReceiverCosts.trackingAfterFix_s) - off
    tracking_s += Double(ReceiverCosts.trackingAfterFix_s)
    for second in [step.to - ReceiverCosts.trackingAfterFix_s, step.to]
    where second <= duration_s && second > fixes[fixes.count - 1] {
      fixes.append(second)
    }
  }
}

/// Shortest path from second 0 to each second that may start with a fix.
private struct SchedulePath {
  /// One second of tracking, or a cycle on a piece of ``ReceiverCosts/pieces``.
  struct Step {
    var from: Int
    var to: Int
    var piece: Int?
  }

  /// End of the schedule.
  struct End {
    /// Seconds off after the last fix.
    var finalOff_s = 0
    /// Whether the last fix is at the end, so that the second of tracking after it is excluded.
    var isTruncated = false
  }

  private let costs: ReceiverCosts
  private let departures: [Int]
  /// Lowest energy up to each second with a fix, and up to one second beyond the last, millijoules.
  private var cost: [Double]
  /// Second at which the last step of the cheapest schedule up to each node starts; −1 for none.
  private var predecessor: [Int32]
  /// Piece of that step; −1 for a second of tracking.
  private var piece: [Int8]

  init(departures: [Int], _ costs: ReceiverCosts) {
    precondition(costs.pieces.count < 128 && departures.count < Int(Int32.max) / 4)
    self.costs = costs
    self.departures = departures
    let nodes = departures.count + 1
    cost = Array(repeating: .infinity, count: nodes)
    predecessor = Array(repeating: -1, count: nodes)
    piece = Array(repeating: -1, count: nodes)
    cost[0] = 0
  }

  mutating func solve() {
    let count = departures.count
    let slopes = costs.pieces.map { costs.slope_mJ(of: $0) }
    var open = costs.pieces.map { _ in CycleStarts() }
    for second in 1...count {
      if second < count {
        cost[second] = cost[second - 1] + costs.on_mW
        predecessor[second] = Int32(second - 1)
      }
      for (index, line) in costs.pieces.enumerated() {
        let from = second - line.first
        guard from >= 0 else { continue }
        // The energy per additional second of a cycle is the same from every start. Therefore the cheapest start
        // remains the cheapest while its cycle may continue.
        let last = min(from + line.last, latestCycleEnd(from: from))
        if last >= second {
          open[index].insert(
            .init(key: cost[from] - slopes[index] * Double(from), last: last, second: from))
        }
        guard let best = open[index].minimum(at: second) else { continue }
        let total = cost[best] + costs.cycle_mJ(second - best, on: line)
        if total < cost[second] {
          cost[second] = total
          predecessor[second] = Int32(best)
          piece[second] = Int8(index)
        }
      }
    }
  }

  /// Latest end of a cycle that starts at `second`: its fix occurs at the latest when the device leaves the circle.
  private func latestCycleEnd(from second: Int) -> Int {
    min(departures[second] + ReceiverCosts.trackingAfterFix_s, departures.count)
  }

  /// Returns the cheapest schedule up to the end of the track.
  func cheapest() -> (steps: [Step], end: End) {
    let count = departures.count
    var least = cost[count - 1]
    var node = count - 1
    var end = End()
    for second in 0..<count where departures[second] == count {
      let total = cost[second] + Double(count - 1 - second) * costs.off_mW
      if total < least { (least, node, end) = (total, second, End(finalOff_s: count - 1 - second)) }
    }
    let truncated = cost[count] - Double(ReceiverCosts.trackingAfterFix_s) * costs.on_mW
    if truncated < least { (least, node, end) = (truncated, count, End(isTruncated: true)) }
    var steps: [Step] = []
    while node > 0 {
      let from = Int(predecessor[node])
      steps.append(
        Step(from: from, to: node, piece: piece[node] < 0 ? nil : Int(piece[node])))
      node = from
    }
    return (steps.reversed(), end)
  }
}

/// Possible start times of a cycle: a min-heap by key. Expired entries are removed when they reach the top.
private struct CycleStarts {
  struct CycleStart {
    var key: Double
    /// Last second at which the cycle may end.
    var last: Int
    var second: Int
  }

  private var heap: [CycleStart] = []

  mutating func insert(_ start: CycleStart) {
    var index = heap.count
    heap.append(start)
    while index > 0, heap[(index - 1) / 2].key > start.key {
      heap[index] = heap[(index - 1) / 2]
      index = (index - 1) / 2
    }
    heap[index] = start
  }

  /// Returns the second with the lowest key among those that are valid at `now`. `now` must not decrease.
  mutating func minimum(at now: Int) -> Int? {
    while let top = heap.first {
      if top.last >= now { return top.second }
      removeTop()
    }
    return nil
  }

  private mutating func removeTop() {
    guard let moved = heap.popLast(), !heap.isEmpty else { return }
    var index = 0
    while true {
      var child = 2 * index + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].key < heap[child].key { child += 1 }
      guard heap[child].key < moved.key else { break }
      heap[index] = heap[child]
      index = child
    }
    heap[index] = moved
  }
}
