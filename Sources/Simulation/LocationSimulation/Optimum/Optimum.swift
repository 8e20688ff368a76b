import LocationTypes

/// The least receiver energy with which the last reported position stays within a distance of the
/// truth, for one who knows the whole way beforehand: the yardstick of every planner that does not.
///
/// A schedule begins with a fix at second 0, whose search nobody is charged for. From then on, at
/// every second with a fix, the receiver tracks for another second, or sleeps and searches
/// (``ReceiverCosts``); the last sleep may outlast the track. Each fix is the truth of its second.
/// Bounds are checked at whole seconds outside the recording's gaps. Docs/Explanation/optimum.md.
public struct Optimum: Equatable, Sendable {
  /// From the first second to the last one, seconds.
  public private(set) var duration_s = 0
  /// What the receiver takes, millijoules.
  public private(set) var energy_mJ = 0.0
  /// What a receiver takes that tracks at full power all the time, millijoules.
  public private(set) var alwaysOn_mJ = 0.0
  /// The seconds at which a fix is reported, ascending, from 0 on.
  public private(set) var fixes: [Int] = [0]
  /// How often the receiver sleeps and finds a fix again.
  public private(set) var searches = 0
  /// How long the receiver is off, seconds.
  public private(set) var off_s = 0.0
  /// How long it searches, seconds.
  public private(set) var acquiring_s = 0.0
  /// How long it tracks, seconds.
  public private(set) var tracking_s = 0.0

  /// Mean power, milliwatts; 0 where there is no time.
  public var mean_mW: Double { duration_s > 0 ? energy_mJ / Double(duration_s) : 0 }

  /// Finds it: a shortest path over the seconds with a fix, O(n log n) for each line of the table of
  /// times to fix, and 30 bytes of memory a second for each.
  ///
  /// - Parameters:
  ///   - track: The truth.
  ///   - accuracy_m: How far the last report may be from it, metres, 0 to 100,000.
  ///   - costs: What the receiver takes.
  public init(_ track: TrackSeconds, within accuracy_m: Double, _ costs: ReceiverCosts) {
    let departures = track.departures(beyond: accuracy_m)
    var path = SchedulePath(departures: departures, costs)
    path.search()
    duration_s = departures.count - 1
    alwaysOn_mJ = Double(duration_s) * costs.track_mW
    let (steps, end) = path.least()
    for step in steps { add(step, costs) }
    off_s += Double(end.rest)
    if end.isCut {
      // The second of tracking after the last fix lies behind the end.
      tracking_s -= Double(ReceiverCosts.fixSecond)
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
    searches += 1
    off_s += off
    acquiring_s += Double(cycle - ReceiverCosts.fixSecond) - off
    tracking_s += Double(ReceiverCosts.fixSecond)
    for second in [step.to - ReceiverCosts.fixSecond, step.to]
    where second <= duration_s && second > fixes[fixes.count - 1] {
      fixes.append(second)
    }
  }
}

/// The cheapest way from second 0 to each second that may begin with a fix.
private struct SchedulePath {
  /// Tracking for a second, or a cycle on a piece of ``ReceiverCosts/pieces``.
  struct Step {
    var from: Int
    var to: Int
    var piece: Int?
  }

  /// How the schedule ends.
  struct End {
    /// Seconds off after the last fix.
    var rest = 0
    /// Whether the last fix comes at the very end.
    var isCut = false
  }

  private let costs: ReceiverCosts
  private let departures: [Int]
  /// What it costs to be at each second with a fix, and beyond the last one.
  private var cost: [Double]
  private var source: [Int32]
  private var piece: [Int8]

  init(departures: [Int], _ costs: ReceiverCosts) {
    precondition(costs.pieces.count < 128 && departures.count < Int(Int32.max) / 4)
    self.costs = costs
    self.departures = departures
    let nodes = departures.count + 1
    cost = Array(repeating: .infinity, count: nodes)
    source = Array(repeating: -1, count: nodes)
    piece = Array(repeating: -1, count: nodes)
    cost[0] = 0
  }

  mutating func search() {
    let count = departures.count
    let slopes = costs.pieces.map { costs.slope_mJ(of: $0) }
    var open = costs.pieces.map { _ in Sources() }
    for second in 1...count {
      if second < count {
        cost[second] = cost[second - 1] + costs.on_mW
        source[second] = Int32(second - 1)
      }
      for (index, line) in costs.pieces.enumerated() {
        let from = second - line.first
        guard from >= 0 else { continue }
        // What a second's sleep costs is the same from everywhere, so that whichever start is the
        // cheapest here stays so as long as it is open.
        let last = min(from + line.last, latest(from: from))
        if last >= second {
          open[index].insert(
            .init(key: cost[from] - slopes[index] * Double(from), last: last, second: from))
        }
        guard let best = open[index].least(at: second) else { continue }
        let total = cost[best] + costs.cycle_mJ(second - best, on: line)
        if total < cost[second] {
          cost[second] = total
          source[second] = Int32(best)
          piece[second] = Int8(index)
        }
      }
    }
  }

  /// The longest cycle from `second` ends here: its fix comes when the truth departs, at the latest.
  private func latest(from second: Int) -> Int {
    min(departures[second] + ReceiverCosts.fixSecond, departures.count)
  }

  /// The cheapest schedule to the end of the track.
  func least() -> (steps: [Step], end: End) {
    let count = departures.count
    var least = cost[count - 1]
    var node = count - 1
    var end = End()
    for second in 0..<count where departures[second] == count {
      let total = cost[second] + Double(count - 1 - second) * costs.off_mW
      if total < least { (least, node, end) = (total, second, End(rest: count - 1 - second)) }
    }
    let cut = cost[count] - Double(ReceiverCosts.fixSecond) * costs.on_mW
    if cut < least { (least, node, end) = (cut, count, End(isCut: true)) }
    var steps: [Step] = []
    while node > 0 {
      let from = Int(source[node])
      steps.append(
        Step(from: from, to: node, piece: piece[node] < 0 ? nil : Int(piece[node])))
      node = from
    }
    return (steps.reversed(), end)
  }
}

/// Where a cycle may have begun: a heap, least key first; what is over is thrown out at the top.
private struct Sources {
  struct Source {
    var key: Double
    /// The last second at which it may end.
    var last: Int
    var second: Int
  }

  private var heap: [Source] = []

  mutating func insert(_ source: Source) {
    var index = heap.count
    heap.append(source)
    while index > 0, heap[(index - 1) / 2].key > source.key {
      heap[index] = heap[(index - 1) / 2]
      index = (index - 1) / 2
    }
    heap[index] = source
  }

  /// The second with the least key of those that are open at `now`, which does not go back.
  mutating func least(at now: Int) -> Int? {
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
