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

  /// Computes the optimum. O(n log n) for each piece of the costs, usually for few of them.
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
    // Longer cycles cannot end before the device leaves the circle.
    let longest = departures.indices.map { departures[$0] - $0 }.max() ?? 0
    var lines = costs.pieces.enumerated().filter { $0.element.first <= longest }
      .map { CycleLine($0.element, index: $0.offset, costs) }
    lines.sort { $0.minimum_mJ < $1.minimum_mJ }
    // All starts whose circle the device has not left, by their energy with the power of the time off up to now.
    var starts = CycleStarts()
    for second in departures.indices.dropFirst() {
      let previous = second - 1
      var least = cost[previous] + costs.on_mW
      var step: (from: Int, piece: Int) = (previous, -1)
      starts.insert(
        .init(
          key: cost[previous] - costs.off_mW * Double(previous), last: departures[previous],
          second: previous))
      let key = starts.minimum(at: second)?.key ?? .infinity
      let bound = key + costs.off_mW * Double(second)
      for position in lines.indices {
        // Neither this line nor a later one contains a cheaper cycle.
        if bound + lines[position].minimum_mJ >= least { break }
        guard let from = lines[position].cheapestStart(to: second, cost, departures) else {
          continue
        }
        let total = cost[from] + costs.cycle_mJ(second - from, on: lines[position].piece)
        if total < least {
          least = total
          step = (from, lines[position].index)
        }
      }
      cost[second] = least
      predecessor[second] = Int32(step.from)
      piece[second] = Int16(step.piece)
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

/// The cycles on one piece of the costs, and their possible starts.
private struct CycleLine {
  let piece: ScheduleCosts.Piece
  /// Index of the piece.
  let index: Int
  /// Least energy of a cycle on this piece beyond the power of the time off during its whole length, millijoules.
  let minimum_mJ: Double
  private let slope_mJ: Double
  /// First second that has not been considered as a start.
  private var nextStart = 0
  private var starts = CycleStarts()

  init(_ piece: ScheduleCosts.Piece, index: Int, _ costs: ScheduleCosts) {
    self.piece = piece
    self.index = index
    slope_mJ = costs.slope_mJ(of: piece)
    minimum_mJ = min(
      costs.cycle_mJ(piece.first, on: piece) - costs.off_mW * Double(piece.first),
      costs.cycle_mJ(piece.last, on: piece) - costs.off_mW * Double(piece.last))
  }

  /// Returns the start of the cheapest cycle that ends at `second`.
  ///
  /// - Precondition: `second` is not less than in the previous call.
  mutating func cheapestStart(to second: Int, _ cost: [Double], _ departures: [Int]) -> Int? {
    let latest = second - piece.first
    if latest < nextStart { return starts.minimum(at: second)?.second }
    for from in max(nextStart, second - piece.last)...latest {
      // The energy per additional second of a cycle is the same from every start. Therefore the cheapest start remains
      // the cheapest while its cycle may continue.
      let last = min(from + piece.last, departures[from])
      if last >= second {
        starts.insert(
          .init(key: cost[from] - slope_mJ * Double(from), last: last, second: from))
      }
    }
    nextStart = latest + 1
    return starts.minimum(at: second)?.second
  }
}

/// Possible starts of a cycle. Of two starts, one that is not cheaper and does not last longer is never needed: the
/// others are in ascending order of both key and last second.
private struct CycleStarts {
  struct CycleStart {
    /// Energy that is compared: the cheapest start has the least key.
    var key: Double
    /// Last second at which the cycle may end.
    var last: Int
    var second: Int
  }

  private var entries: [CycleStart] = []
  /// First entry that has not been removed.
  private var head = 0

  mutating func insert(_ start: CycleStart) {
    // First entry with a greater key.
    var position = entries.count
    if position > head, entries[position - 1].key > start.key {
      var low = head
      while low < position {
        let middle = low + (position - low) / 2
        if entries[middle].key > start.key { position = middle } else { low = middle + 1 }
      }
    }
    if position > head, entries[position - 1].last >= start.last { return }
    var end = position
    while end < entries.count, entries[end].last <= start.last { end += 1 }
    if end == position, position == head, head > 0 {
      head -= 1
      entries[head] = start
    } else if position == entries.count {
      entries.append(start)
    } else {
      entries.replaceSubrange(position..<end, with: CollectionOfOne(start))
    }
  }

  /// Returns the cheapest start whose cycle may end at `now`, and removes expired ones.
  mutating func minimum(at now: Int) -> CycleStart? {
    while head < entries.count, entries[head].last < now { head += 1 }
    guard head < entries.count else {
      entries.removeAll(keepingCapacity: true)
      head = 0
      return nil
    }
    if head > 1_024, head > entries.count / 2 {
      entries.removeFirst(head)
      head = 0
    }
    return entries[head]
  }
}
