import LocationTypes

/// The lowest energy with which the last reported position stays within an accuracy bound, if the whole track is known
/// in advance: the reference for the planner, which can only use past fixes.
/// Docs/Explanation/optimum.md describes the model and its limits.
///
/// **Model.** A schedule starts with a fix at second 0, whose acquisition is free. At every second with a fix, the
/// receiver either stays on until the next fix a second later, or starts a cycle of ``ScheduleCosts``: a second of
/// tracking, a time off and an acquisition, with no report before the next fix. The last sleep may extend past the end
/// of the track. Each fix is the true position of its second. The bound applies at whole seconds outside the
/// recording's gaps.
///
/// **Algorithm.** A shortest path: nodes are the seconds with a fix, edges are a second of tracking or a cycle. A
/// cycle ends at the latest when the device leaves the circle around its first fix (`departures(beyond:)`).
public struct Optimum: Equatable, Sendable {
  /// Time from the first second to the last one, seconds.
  public private(set) var duration_s = 0
  /// Energy, millijoules.
  public private(set) var energy_mJ = 0.0
  /// Energy with continuous tracking at full power, millijoules.
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

  /// Computes the optimum: O(n log n) per piece of the costs, and 30 bytes of memory per second and piece.
  ///
  /// - Parameters:
  ///   - track: The true positions.
  ///   - accuracy_m: Accuracy bound, metres, 0 to 100,000.
  ///   - costs: Powers and times.
  public init(_ track: SampledTrack, within accuracy_m: Double, _ costs: ScheduleCosts) {
    self.init(departures: track.departures(beyond: accuracy_m), costs)
  }

  /// Computes the optimum as above.
  ///
  /// - Parameter departures: For each second the first later one at which the device is outside the circle around its
  ///   position; the number of seconds if there is none. Not empty.
  public init(departures: [Int], _ costs: ScheduleCosts) {
    var path = SchedulePath(departures: departures, costs)
    path.solve()
    duration_s = departures.count - 1
    alwaysOn_mJ = Double(duration_s) * costs.track_mW
    let (steps, remaining) = path.cheapest()
    for step in steps { add(step, costs) }
    let tracking = min(remaining, ScheduleCosts.trackingAfterFix_s)
    tracking_s += Double(tracking)
    off_s += Double(remaining - tracking)
    energy_mJ =
      off_s * costs.off_mW + acquiring_s * costs.acquire_mW + tracking_s * costs.on_mW
      + Double(acquisitions) * costs.start_mJ
  }

  private mutating func add(_ step: SchedulePath.Step, _ costs: ScheduleCosts) {
    fixes.append(step.to)
    guard let piece = step.piece.map({ costs.pieces[$0] }) else {
      tracking_s += 1
      return
    }
    acquisitions += 1
    off_s += Double(piece.off_s(ofCycle: step.to - step.from))
    acquiring_s += piece.acquisition_s(ofCycle: step.to - step.from)
    tracking_s += Double(ScheduleCosts.trackingAfterFix_s)
  }
}

/// Shortest path from second 0 to each second that may have a fix.
private struct SchedulePath {
  /// One second of tracking, or a cycle on a piece of ``ScheduleCosts/pieces``.
  struct Step {
    var from: Int
    var to: Int
    var piece: Int?
  }

  private let costs: ScheduleCosts
  private let departures: [Int]
  /// Lowest energy up to each second with a fix, millijoules.
  private var cost: [Double]
  /// Second at which the last step of the cheapest schedule up to each node starts; −1 for none.
  private var predecessor: [Int32]
  /// Piece of that step; −1 for a second of tracking.
  private var piece: [Int16]

  init(departures: [Int], _ costs: ScheduleCosts) {
    precondition(costs.pieces.count < Int16.max && departures.count < Int(Int32.max) / 4)
    self.costs = costs
    self.departures = departures
    cost = Array(repeating: .infinity, count: departures.count)
    predecessor = Array(repeating: -1, count: departures.count)
    piece = Array(repeating: -1, count: departures.count)
    cost[0] = 0
  }

  mutating func solve() {
    let count = departures.count
    // Longer cycles cannot end before the device leaves the circle.
    let longest = departures.indices.map { departures[$0] - $0 }.max() ?? 0
    let lines = costs.pieces.enumerated().filter { $0.element.first <= longest }
      .map { (index: $0.offset, piece: $0.element, slope: costs.slope_mJ(of: $0.element)) }
    var open = lines.map { _ in CycleStarts() }
    for second in 1..<max(count, 1) {
      cost[second] = cost[second - 1] + costs.on_mW
      predecessor[second] = Int32(second - 1)
      for (position, line) in lines.enumerated() {
        let from = second - line.piece.first
        guard from >= 0 else { continue }
        // The energy per additional second of a cycle is the same from every start. Therefore the cheapest start
        // remains the cheapest while its cycle may continue.
        let last = min(from + line.piece.last, departures[from])
        if last >= second {
          open[position].insert(
            .init(key: cost[from] - line.slope * Double(from), last: last, second: from))
        }
        guard let best = open[position].minimum(at: second) else { continue }
        let total = cost[best] + costs.cycle_mJ(second - best, on: line.piece)
        if total < cost[second] {
          cost[second] = total
          predecessor[second] = Int32(best)
          piece[second] = Int16(line.index)
        }
      }
    }
  }

  /// Returns the cheapest schedule: its steps, and the number of seconds after its last fix.
  func cheapest() -> (steps: [Step], remaining: Int) {
    let count = departures.count
    var least = cost[count - 1]
    var node = count - 1
    for second in 0..<count where departures[second] == count {
      let tracking = min(count - 1 - second, ScheduleCosts.trackingAfterFix_s)
      let total =
        cost[second] + Double(tracking) * costs.on_mW
        + Double(count - 1 - second - tracking) * costs.off_mW
      if total < least { (least, node) = (total, second) }
    }
    let remaining = count - 1 - node
    var steps: [Step] = []
    while node > 0 {
      let from = Int(predecessor[node])
      steps.append(
        Step(from: from, to: node, piece: piece[node] < 0 ? nil : Int(piece[node])))
      node = from
    }
    return (steps.reversed(), remaining)
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
