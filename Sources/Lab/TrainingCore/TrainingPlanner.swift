import BoardHardware
import CTraining
import LocationPolicy
import LocationSimulation
import LocationTypes

// The functions of `planner.h`, by which the simulator of the training and its Python programs use the core's planner
// and the optimum.

/// A planner of the core with the constants of a training run.
@safe private final class TrainingPlanner {
  private var model: MovementModel
  private let constants: Tuning
  private let tuning: MovementTuning
  private let figures: ReceiverParameters

  init(_ profile: Profile, _ constants: Tuning, within bound: Double, hasMotionLine: Bool) {
    model = MovementModel(within: bound, hasMotionLine: hasMotionLine)
    unsafe self.constants = unsafe constants
    var tuning = MovementTuning(hasMotionLine: hasMotionLine)
    unsafe tuning.weights = constants.weights
    tuning.price = unsafe constants.price
    tuning.minimumPrice = unsafe constants.least_price
    tuning.priorEnergy = unsafe constants.prior_energy
    tuning.priorTime = unsafe constants.prior_time
    tuning.raisesPrice = unsafe constants.raises_price != 0
    self.tuning = tuning
    figures = ReceiverParameters(profile)
  }

  static func at(_ pointer: OpaquePointer) -> TrainingPlanner {
    unsafe Unmanaged<TrainingPlanner>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
  }

  func decide(_ fix: FixSample) -> Decision {
    var sample = model.history.last
    sample.time = fix.time
    sample.east = fix.east
    sample.north = fix.north
    sample.speed = fix.speed
    sample.accuracy = fix.accuracy
    sample.isMoving = fix.is_moving != 0
    sample.motionSeconds = fix.motion
    sample.secondsSinceLineChange = fix.since_change
    var decision = Decision()
    decision.off_time = model.offTime(after: sample, figures, TimeToFixPredictor(), tuning)
    if unsafe constants.policy != Int32(NETWORK) {
      decision.off_time = ruleOffTime()
      override(decision.off_time)
    }
    decision.time_scale = model.history.timeScale
    decision.pause_limit = model.pauseLimit
    let features = model.history.features
    unsafe withUnsafeMutableBytes(of: &decision.features) { bytes in
      for i in features.indices {
        unsafe bytes.storeBytes(of: features[i], toByteOffset: 8 * i, as: Double.self)
      }
    }
    return decision
  }

  func override(_ offTime: Double) { model.replaceDecision(offTime) }

  /// The decision of a planner for comparison, or of the rule that decides before a first network exists.
  private func ruleOffTime() -> Double {
    let history = model.history
    var longest = 3_600.0
    var scale = 1.0
    let expected: Double
    switch unsafe Int(constants.policy) {
    case ENTRACKED:
      // Kjærgaard et al., EnTracked (MobiSys 2009): at the recent speed, straight motion.
      expected = max(history.speeds.mean(0), history.last.speed, 0.5)
    case ENTRACKED_CAUTIOUS:
      expected = max(1.3 * max(history.speeds.mean(0), history.last.speed), 1.5)
      longest = 120
    default:
      // With a random scale, this rule creates the samples of the first training round.
      expected = max(1.1 * max(history.speeds.peak(0), history.last.speed), 0.4)
      scale = unsafe constants.explorer_scale
    }
    let bound = history.bound
    var off = (bound - 5) / expected * scale - 1
    if bound < 20 { off = 0.7 * bound / expected * scale }
    off = min(off - figures.acquisitionTime(off), longest)
    return off < 1 ? 0 : off.rounded(.down)
  }
}

extension Profile {
  /// Times to fix after times off, seconds.
  fileprivate var rows: [(off: Double, fix: Double)] {
    unsafe withUnsafeBytes(of: off) { offs in
      unsafe withUnsafeBytes(of: search) { searches in
        (0..<Int(points)).map { index in
          (
            off: unsafe offs.load(fromByteOffset: 8 * index, as: Double.self),
            fix: unsafe searches.load(fromByteOffset: 8 * index, as: Double.self)
          )
        }
      }
    }
  }
}

extension ReceiverParameters {
  fileprivate init(_ profile: Profile) {
    var table = TimeToFixTable(cold: .zero)
    for row in profile.rows {
      table.append(off: Interval(seconds: row.off), fix: Interval(seconds: row.fix))
    }
    self.init(timeToFix: table)
    acquire_mW = profile.acquire
    track_mW = profile.track
    standby_mW = profile.standby
    startUp = .zero
  }

  fileprivate func acquisitionTime(_ off: Double) -> Double {
    timeToFix.expected(after: Interval(seconds: off)).seconds
  }
}

/// Sets the constants and weights of the product.
@c @implementation public func set_product_tuning(
  _ tuning: UnsafeMutablePointer<Tuning>!, _ has_line: Int32
) {
  let product = MovementTuning(hasMotionLine: has_line != 0)
  unsafe tuning.pointee = unsafe Tuning(
    weights: product.weights, price: product.price, least_price: product.minimumPrice,
    prior_energy: product.priorEnergy, prior_time: product.priorTime,
    raises_price: product.raisesPrice ? 1 : 0, policy: Int32(NETWORK), explorer_scale: 1)
}

/// A planner for the accuracy bound `bound`, metres; end its life with ``planner_free(_:)``.
@c @implementation public func planner_create(
  _ profile: UnsafePointer<Profile>!, _ tuning: UnsafePointer<Tuning>!, _ bound: Double,
  _ has_line: Int32
) -> OpaquePointer! {
  let planner = unsafe TrainingPlanner(
    profile.pointee, tuning.pointee, within: bound, hasMotionLine: has_line != 0)
  return unsafe OpaquePointer(Unmanaged.passRetained(planner).toOpaque())
}

/// Ends the life of a planner.
@c @implementation public func planner_free(_ planner: OpaquePointer!) {
  unsafe Unmanaged<TrainingPlanner>.fromOpaque(UnsafeRawPointer(planner)).release()
}

/// Accepts a fix and decides.
@c @implementation public func planner_decide(
  _ planner: OpaquePointer!, _ sample: UnsafePointer<FixSample>!,
  _ decision: UnsafeMutablePointer<Decision>!
) {
  unsafe decision.pointee = TrainingPlanner.at(planner).decide(sample.pointee)
}

/// Replaces the off time of the last decision, seconds.
@c @implementation public func planner_override(_ planner: OpaquePointer!, _ off_time: Double) {
  unsafe TrainingPlanner.at(planner).override(off_time)
}

/// Seconds of acquisition after `off` seconds off.
@c @implementation public func acquisition_time(
  _ profile: UnsafePointer<Profile>!, _ off: Double
) -> Double {
  unsafe ReceiverParameters(profile.pointee).acquisitionTime(off)
}

/// Energy of the schedule with the least receiver energy, millijoules.
@c @implementation public func schedule_energy(
  _ profile: UnsafePointer<Profile>!, _ departures: UnsafePointer<Int32>!, _ seconds: Int32
) -> Double {
  let profile = unsafe profile.pointee
  let points = profile.rows.map {
    TimeToFix.Point(off: Interval(seconds: $0.off), fix: Interval(seconds: $0.fix))
  }
  let costs = ScheduleCosts(
    acquire_mW: profile.acquire, track_mW: profile.track, off_mW: profile.standby,
    timeToFix: TimeToFix(
      afterOff: points, coldStart: points[points.count - 1].fix,
      ephemerisLifetime: .seconds(1_000_000)))
  let leaving = unsafe UnsafeBufferPointer(start: departures, count: Int(seconds))
  return Optimum(departures: unsafe leaving.map { Int($0) }, costs).energy_mJ
}

/// Lower bound of a bin, 0 to 24, in units of `Decision.time_scale`.
@c @implementation public func exit_bin(_ index: Int32) -> Double {
  ExitBins.lowerBound(Int(index))
}

/// Rate of the off clock while the line reports no motion after motion.
@c @implementation public func still_rate() -> Double { MovementTuning.stillAfterMotionRate }

/// Longest motion, seconds, that is a false alarm of the motion line.
@c @implementation public func longest_false_alarm(_ off_time: Double) -> Double {
  MovementTuning.longestFalseAlarm(offTime: off_time)
}
