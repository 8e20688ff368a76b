import CCore
import LocationTypes

/// Decides how long the receiver may be off while the last reported place stays true to a distance.
///
/// Of every possible time off it weighs the energy against the chance of being too far meanwhile, at
/// a price: J(off) = (energy + price × seconds too far) ÷ cycle. The least wins; staying on for one
/// more second is one of the choices, so that break-even needs no rule of its own
/// (Docs/Explanation/planner.md).
struct MovementModel: Equatable, Sendable {
  private(set) var history: MovementHistory
  /// Millijoules and seconds so far: what a second of the receiver costs on average here.
  private var energy = 0.0
  private var time = 0.0
  /// Seconds outside the distance so far, as far as fixes have shown.
  private var outside = 0.0
  private var off = -1.0

  init(within bound: Double, hasLine: Bool) {
    history = MovementHistory(within: bound, hasLine: hasLine)
  }

  /// Takes a fix in and gives the seconds for which the receiver may be off; 0 to stay on.
  mutating func off(
    after seen: MovementHistory.Sighting, _ figures: ReceiverFigures,
    _ predictor: TimeToFixPredictor
  ) -> Double {
    let isFirst = history.count == 0
    history.take(seen)
    if !isFirst { book(figures, predictor) }
    off = cheapest(
      ExitNetwork.chances(history.features, hasLine: history.hasLine), figures, predictor)
    return off
  }

  /// How the cycle that this fix ended went; at full power, for a promise is worth no less where a
  /// duty cycle makes keeping it cheap.
  private mutating func book(_ figures: ReceiverFigures, _ predictor: TimeToFixPredictor) {
    let step = history.step
    if off <= 0 {
      energy += figures.track_mW * step
    } else {
      var search = MovementModel.search(step - 1, figures, predictor)
      var off = step - 1 - search
      if off < 0 {
        off = 0
        search = step - 1
      }
      energy += figures.track_mW + figures.standby_mW * off + figures.acquire_mW * search
    }
    time += step
    if history.moved > history.bound {
      outside += (1 - history.bound / history.moved) * (step - 1)
    }
  }

  private static func search(
    _ off: Double, _ figures: ReceiverFigures, _ predictor: TimeToFixPredictor
  ) -> Double {
    predictor.expected(after: Interval(seconds: off), figures).seconds
  }

  /// What a second outside costs, mJ: so many times what a second costs anyhow, and more where it
  /// has happened too often.
  private func price(_ figures: ReceiverFigures) -> Double {
    let scale = figures.track_mW / MovementTuning.trackOfTraining
    let tuning = MovementTuning(hasLine: history.hasLine)
    let mean =
      (energy + MovementTuning.priorEnergy * scale) / (time + MovementTuning.priorTime)
    let allowed = MovementTuning.share * (time + MovementTuning.guardTime)
    let excess = (outside + MovementTuning.share * MovementTuning.guardTime) / allowed
    let price = tuning.price * mean * min(max(excess, 0.6), 5).squareRoot()
    return max(price, tuning.leastPrice * scale)
  }

  private func cheapest(
    _ chances: InlineArray<24, Double>, _ figures: ReceiverFigures,
    _ predictor: TimeToFixPredictor
  ) -> Double {
    let seen = history.last
    let price = price(figures)
    let isStill = history.hasLine && !seen.isMoving
    let longestRun =
      history.room * (history.count <= MovementTuning.firstFixes ? 1 : MovementTuning.runLimit)
    var risk = ExitRisk(chances, unit: history.unit)
    var best = 0.0
    var least = Double.infinity
    var off = isStill ? 1.0 : 0
    while off <= MovementTuning.longest {
      let known = isStill && off < 600 ? 600 : off
      let search = off > 0 ? MovementModel.search(known, figures, predictor) : 0
      let cycle = 1 + off + search
      // Nobody can have left who would have to accelerate harder than this.
      let ahead = cycle - 1
      let reach = seen.speed * ahead + 0.5 * MovementTuning.acceleration * ahead * ahead
      var outside = risk.seconds(until: cycle - 1)
      if history.hasLine { outside /= MovementTuning.standingRate }
      // No network is trusted so far against what the receiver itself says of the speed.
      if seen.speed * ahead > longestRun { break }
      if reach < history.room { outside = 0 }
      // A duty cycle has not begun in the second after a fix; it counts for one that stays on.
      let second = off > 0 ? figures.track_mW : figures.on_mW
      let spent = second + figures.standby_mW * off + figures.acquire_mW * search
      let cost = (spent + price * outside) / cycle
      if cost < least {
        least = cost
        best = off
      }
      off = MovementTuning.next(off)
    }
    return best
  }
}

/// Seconds outside so far, as the time since the fix goes on; asked in rising order of time.
private struct ExitRisk {
  private let chances: InlineArray<24, Double>
  private let unit: Double
  private var bin = 0
  private var sum = 0.0
  private var lastTime = 0.0
  private var lastChance = 0.0

  init(_ chances: InlineArray<24, Double>, unit: Double) {
    self.chances = chances
    self.unit = unit
  }

  /// The chance runs straight between the middles of the bins, from 0 at the fix, and stays as it is
  /// after the last.
  mutating func seconds(until time: Double) -> Double {
    while bin < ExitBins.count, ExitBins.middle(bin) * unit < time {
      let middle = ExitBins.middle(bin) * unit
      sum += 0.5 * (lastChance + chances[bin]) * (middle - lastTime)
      lastChance = chances[bin]
      lastTime = middle
      bin += 1
    }
    var chance = lastChance
    if bin < ExitBins.count {
      let width = ExitBins.middle(bin) * unit - lastTime
      chance += (chances[bin] - lastChance) * (time - lastTime) / width
    }
    return sum + 0.5 * (lastChance + chance) * (time - lastTime)
  }
}

/// Constants of the decision; chosen on generated tracks (Sources/Lab/Training).
struct MovementTuning {
  /// A second outside costs so many seconds' mean energy.
  let price: Double
  /// The least price, mW.
  let leastPrice: Double

  init(hasLine: Bool) {
    price = hasLine ? 26 : 18
    leastPrice = hasLine ? 10 : 70
  }

  /// What tracking took where the prices were chosen, mW: another receiver's are scaled by it.
  static let trackOfTraining = 24.6
  /// What is assumed before anything is known: 5.4 J in 20 min.
  static let priorEnergy = 5_400.0
  static let priorTime = 1_200.0
  /// The share of time outside above which the price rises, and the time over which it is judged.
  static let share = 0.003
  static let guardTime = 1_800.0
  /// The receiver rests at most as long as a wearer who keeps the speed just told would take for so
  /// many times the distance; for the first fixes, when nothing is known of the wearer, once.
  static let runLimit = 3.0
  static let firstFixes = 3
  /// Hardest start of a wearer, m/s².
  static let acceleration = 1.5
  /// The off clock goes at this rate while the line says still again after motion.
  static let standingRate = 0.5
  /// Motion shorter than this part of the time off is taken for a false alarm; but none is longer
  /// than so many seconds, however long the time off.
  static let falseAlarm = 0.3
  static let longestAlarm = 60.0
  /// The longest time off, seconds.
  static let longest = 7_200.0

  /// The choices: 0 (stay on), 1 to 20 s, then each 7 % longer, to two hours.
  static func next(_ off: Double) -> Double {
    if off < 20 { return off + 1 }
    if off >= longest { return .infinity }
    return min(max((off * 1.07).rounded(), off + 1), longest)
  }
}
