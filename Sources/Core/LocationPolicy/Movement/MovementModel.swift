import CCore
import LocationTypes

/// Chooses how long the receiver may be off while the last reported position stays within an accuracy bound.
///
/// Every candidate off time is rated by its energy and by the expected time outside the bound: J(off) = (energy +
/// price × seconds outside) ÷ cycle. The candidate with the smallest J is chosen. "Stay on for one more second" is one
/// of the candidates, so there is no separate break-even rule (Docs/Explanation/planner.md). Pure; it depends on
/// ``ExitNetwork``, ``ReceiverParameters`` and ``TimeToFixPredictor``.
package struct MovementModel: Equatable, Sendable {
  package private(set) var history: MovementHistory
  /// Receiver energy in mJ and time in seconds so far: their ratio is the mean power for this device.
  private var energy = 0.0
  private var time = 0.0
  /// Estimated seconds outside the bound so far, derived from successive fixes.
  private var outsideTime = 0.0
  private var plannedOff = -1.0

  package init(within bound: Double, hasMotionLine: Bool) {
    history = MovementHistory(within: bound, hasMotionLine: hasMotionLine)
  }

  /// Adds a fix and returns for how many seconds the receiver may be off; 0 to stay on.
  package mutating func offTime(
    after sample: MovementHistory.Sample, _ figures: ReceiverParameters,
    _ predictor: TimeToFixPredictor, _ tuning: borrowing MovementTuning
  ) -> Double {
    let isFirst = history.fixCount == 0
    history.accept(sample)
    if !isFirst { recordCycle(figures, predictor) }
    plannedOff = cheapestOffTime(
      ExitNetwork.probabilities(
        history.features, hasMotionLine: history.hasMotionLine, tuning), figures, predictor, tuning)
    return plannedOff
  }

  /// Replaces the last decision; for training, which also tries other off times.
  package mutating func replaceDecision(_ offTime: Double) { plannedOff = offTime }

  /// Adds energy and time outside of the cycle that this fix ended.
  ///
  /// Energy is computed at full tracking power. Otherwise a duty cycle would lower the price, and a cheaper receiver
  /// would leave the bound more often.
  private mutating func recordCycle(_ figures: ReceiverParameters, _ predictor: TimeToFixPredictor)
  {
    let step = history.move.seconds
    if plannedOff <= 0 {
      energy += (figures.track_mW + figures.board.idle_mW) * step
    } else {
      var search = MovementModel.acquisitionTime(step - 1, figures, predictor)
      var off = step - 1 - search
      if off < 0 {
        off = 0
        search = step - 1
      }
      energy +=
        figures.track_mW + figures.standby_mW * off + figures.acquire_mW * search
        + MovementModel.board_mJ(off: off, search: search, figures.board)
    }
    time += step
    if history.move.distance > history.bound {
      outsideTime += (1 - history.bound / history.move.distance) * (step - 1)
    }
  }

  private static func acquisitionTime(
    _ off: Double, _ figures: ReceiverParameters, _ predictor: TimeToFixPredictor
  ) -> Double {
    predictor.expected(after: Interval(seconds: off), figures).seconds
  }

  /// Energy of the board in a cycle, mJ; without time off it idles for a second.
  private static func board_mJ(
    off: Double, search: Double, _ board: BoardParameters
  ) -> Double {
    guard off > 0 else { return board.idle_mW }
    return board.wait_mJ(Interval(seconds: off))
      + board.search_mJ(Interval(seconds: search + epochDelay))
  }

  /// Mean time from a fix until the epoch in which the receiver reports it, seconds.
  private static let epochDelay = 0.5

  /// Energy of a start in relation to that of the receiver for which the prices were chosen.
  private static func startScale(_ figures: ReceiverParameters) -> Double {
    let search = 3.0
    let start =
      figures.track_mW + figures.acquire_mW * search + figures.board.start_mJ
      + figures.board.search_mJ(Interval(seconds: search + epochDelay))
    return start / MovementTuning.trainingStart_mJ
  }

  /// Price of one second outside the bound, mJ: a multiple of the mean power so far, scaled by the share of time
  /// outside so far.
  private func price(
    _ figures: ReceiverParameters, _ tuning: borrowing MovementTuning
  ) -> Double {
    let scale = MovementModel.startScale(figures)
    let mean = (energy + tuning.priorEnergy * scale) / (time + tuning.priorTime)
    let allowed = MovementTuning.allowedOutsideShare * (time + MovementTuning.outsideAveragingTime)
    let excess =
      (outsideTime + MovementTuning.allowedOutsideShare * MovementTuning.outsideAveragingTime)
      / allowed
    let factor = tuning.raisesPrice ? min(max(excess, 0.6), 5).squareRoot() : 1
    return max(tuning.price * mean * factor, tuning.minimumPrice * scale)
  }

  /// Longest time for which the off clock may be paused, seconds: the time for which fixes have already shown the device
  /// in one spot, within limits.
  package var pauseLimit: Double {
    min(
      max(history.last.time - history.stationarySince, MovementTuning.minimumPauseLimit),
      MovementTuning.maximumPauseLimit)
  }

  private func cheapestOffTime(
    _ probabilities: InlineArray<24, Double>, _ figures: ReceiverParameters,
    _ predictor: TimeToFixPredictor, _ tuning: borrowing MovementTuning
  ) -> Double {
    let last = history.last
    let price = price(figures, tuning)
    let isStill = history.hasMotionLine && !last.isMoving
    let longestTravel =
      history.distanceMargin
      * (history.fixCount <= MovementTuning.initialFixCount ? 1 : MovementTuning.travelLimit)
    var risk = ExitRisk(probabilities: probabilities, timeScale: history.timeScale)
    var best = 0.0
    var leastCost = Double.infinity
    var off = isStill ? 1.0 : 0
    while off <= MovementTuning.maximumOff {
      let assumedOff = isStill && off < 600 ? 600 : off
      let search = off > 0 ? MovementModel.acquisitionTime(assumedOff, figures, predictor) : 0
      let cycle = 1 + off + search
      // The farthest that the device can travel until the next fix, with maximum acceleration.
      let wait = cycle - 1
      let reach = last.speed * wait + 0.5 * MovementTuning.maximumAcceleration * wait * wait
      var secondsOutside = risk.secondsOutside(until: cycle - 1)
      if history.hasMotionLine { secondsOutside /= MovementTuning.stillAfterMotionRate }
      // Longer off times are not considered: at the reported speed the device would travel too far.
      if last.speed * wait > longestTravel { break }
      if reach < history.distanceMargin { secondsOutside = 0 }
      // The receiver has not entered its duty cycle in the second after a fix; the cheaper power applies only if it
      // stays on.
      let trackingEnergy = off > 0 ? figures.track_mW : figures.on_mW
      let cycleEnergy =
        trackingEnergy + figures.standby_mW * off + figures.acquire_mW * search
        + MovementModel.board_mJ(off: off, search: search, figures.board)
      let cost = (cycleEnergy + price * secondsOutside) / cycle
      if cost < leastCost {
        leastCost = cost
        best = off
      }
      off = MovementTuning.nextCandidate(after: off)
    }
    return best
  }
}

/// The expected seconds outside the bound as a function of the time since the fix. Query it with increasing times.
private struct ExitRisk {
  let probabilities: InlineArray<24, Double>
  let timeScale: Double
  var bin = 0
  var sum = 0.0
  var lastTime = 0.0
  var lastProbability = 0.0

  /// The integral of the probability from the fix until `time`.
  ///
  /// The probability is interpolated linearly between the midpoints of the bins, starts at 0 at the fix, and is
  /// constant after the last midpoint.
  mutating func secondsOutside(until time: Double) -> Double {
    while bin < ExitBins.count, ExitBins.midpoint(bin) * timeScale < time {
      let middle = ExitBins.midpoint(bin) * timeScale
      sum += 0.5 * (lastProbability + probabilities[bin]) * (middle - lastTime)
      lastProbability = probabilities[bin]
      lastTime = middle
      bin += 1
    }
    var chance = lastProbability
    if bin < ExitBins.count {
      let width = ExitBins.midpoint(bin) * timeScale - lastTime
      chance += (probabilities[bin] - lastProbability) * (time - lastTime) / width
    }
    return sum + 0.5 * (lastProbability + chance) * (time - lastTime)
  }
}

/// Constants of ``MovementModel`` and ``MovementPlanner``, chosen on generated tracks (Sources/Lab/Training).
///
/// Training sets the properties to other values; the rest of the constants are the same for it.
@safe package struct MovementTuning {
  /// Weights of ``ExitNetwork``, in the order of `CExitWeights.h`.
  package var weights: UnsafePointer<Float>
  /// Price of a second outside the bound, in seconds of mean power.
  package var price: Double
  /// Smallest price, mW.
  package var minimumPrice: Double
  /// Energy and time assumed before the first measurement: 5.4 J in 20 min.
  package var priorEnergy = 5_400.0
  package var priorTime = 1_200.0
  /// Whether the price rises and falls with the share of time outside so far.
  package var raisesPrice = true

  /// The constants of the product, for a board with or without a motion line.
  package init(hasMotionLine: Bool) {
    unsafe weights = torpor_exit_weights(hasMotionLine ? 1 : 0)!
    price = hasMotionLine ? 36 : 25
    minimumPrice = hasMotionLine ? 14 : 100
  }

  /// Energy of a start of the receiver for which the prices were chosen, mJ: a second of tracking at 24.6 mW and three of
  /// acquisition at 27.6 mW. Prices for other receivers and boards are scaled by the energy of their start.
  static let trainingStart_mJ = 107.4
  /// Share of time outside above which the price rises, and the time over which the share is averaged, seconds.
  static let allowedOutsideShare = 0.003
  static let outsideAveragingTime = 1_800.0
  /// Upper limit of the time from one fix to the next: in it the device, at the speed just reported, travels this many
  /// times ``MovementHistory/distanceMargin``. For the first fixes, before the motion is known, the factor is 1.
  static let travelLimit = 3.0
  static let initialFixCount = 3
  /// Largest plausible acceleration of the device, m/s².
  static let maximumAcceleration = 1.5
  /// Rate of ``OffClock`` while the line reports "still" after motion.
  package static let stillAfterMotionRate = 0.5
  /// Limits of the pause limit, seconds.
  static let minimumPauseLimit = 300.0
  static let maximumPauseLimit = 7_200.0
  /// Longest off time, seconds.
  static let maximumOff = 7_200.0

  /// Longest motion, seconds, that counts as a false alarm of the motion sensor in an off time.
  package static func longestFalseAlarm(offTime: Double) -> Double { min(0.3 * offTime, 60) }

  /// The next candidate: 0 (stay on), 1 to 20 s, then each 7 % longer, up to two hours; infinity after the last.
  static func nextCandidate(after off: Double) -> Double {
    if off < 20 { return off + 1 }
    if off >= maximumOff { return .infinity }
    return min((off * 1.07).rounded(), maximumOff)
  }
}
