import CCore
import LocationTypes

/// Parameters of the receiver's errors: a first-order Gauss–Markov process on each axis, plus white noise.
///
/// The defaults resemble single-frequency receivers with an open sky view: errors of one to two metres that persist
/// for one to two minutes (satellite geometry, atmosphere, multipath).
public struct NoiseParameters: Equatable, Sendable {
  /// Standard deviation of the correlated part, for east and north each, metres.
  public var horizontal_m = 1.4
  /// Standard deviation of the correlated part of the altitude, metres.
  public var vertical_m = 2.4
  /// Correlation time of the correlated part (to 1/e), seconds.
  public var correlation_s = 90.0
  /// Standard deviation of the white noise on each axis, metres.
  public var white_m = 0.1
  /// Standard deviation of the velocity on each axis, m/s.
  public var velocity_mps = 0.04
  /// Factor by which the errors of the first fix after an acquisition are larger.
  public var firstFixFactor = 3.0
  /// Time constant with which that factor decays to 1 (to 1/e), seconds.
  public var firstFixDecay_s = 8.0

  /// The errors of a good receiver with an open sky view.
  public static let real = NoiseParameters()
}

/// Errors of one epoch: metres and m/s, with the accuracies that the receiver reports.
struct EpochError {
  var east = 0.0
  var north = 0.0
  var up = 0.0
  var velocityEast = 0.0
  var velocityNorth = 0.0
  var velocityUp = 0.0
  /// Reported horizontal accuracy, metres: an estimate of √(σe² + σn²).
  var horizontalAccuracy: Double
  var verticalAccuracy: Double
  var speedAccuracy: Double
}

/// Generates the errors of successive epochs.
struct NoiseProcess: Sendable {
  private let parameters: NoiseParameters?
  private var random: SimulationRandom
  private var east = 0.0
  private var north = 0.0
  private var up = 0.0
  private var accuracyBias = 0.0
  private var lastTime: UTCTime?
  private var step = Interval.zero
  private var decayFactor = 0.0
  private var innovationSigma = 1.0

  init(_ parameters: NoiseParameters?, seed: UInt64) {
    self.parameters = parameters
    random = SimulationRandom(seed: seed, stream: 1)
  }

  /// Returns the error at `time`, `sinceFix` after the receiver acquired its fix.
  mutating func error(at time: UTCTime, sinceFix: Interval) -> EpochError {
    guard let parameters else {
      return EpochError(horizontalAccuracy: 1, verticalAccuracy: 1.5, speedAccuracy: 0.05)
    }
    advance(to: time, parameters)
    let factor =
      1 + (parameters.firstFixFactor - 1)
      * exp(-max(sinceFix.seconds, 0) / max(parameters.firstFixDecay_s, 1e-3))
    let h = parameters.horizontal_m * factor
    let white = parameters.white_m
    // The reported accuracy deviates from the true one by a log-normal factor with a sigma of 0.2.
    let accuracyFactor = exp(0.2 * accuracyBias)
    let sigmaH = sqrt(2 * (h * h + white * white))
    let v = parameters.vertical_m * factor
    let sigmaV = sqrt(v * v + white * white)
    return EpochError(
      east: h * east + white * random.normal(),
      north: h * north + white * random.normal(),
      up: v * up + white * random.normal(),
      velocityEast: parameters.velocity_mps * random.normal(),
      velocityNorth: parameters.velocity_mps * random.normal(),
      velocityUp: parameters.velocity_mps * random.normal(),
      horizontalAccuracy: sigmaH * accuracyFactor, verticalAccuracy: sigmaV * accuracyFactor,
      speedAccuracy: parameters.velocity_mps * 1.732 * accuracyFactor)
  }

  /// Advances the correlated parts, which are in units of their standard deviation.
  private mutating func advance(to time: UTCTime, _ figures: NoiseParameters) {
    guard let lastTime else {
      self.lastTime = time
      east = random.normal()
      north = random.normal()
      up = random.normal()
      accuracyBias = random.normal()
      return
    }
    let passed = time - lastTime
    guard passed > .zero else { return }
    self.lastTime = time
    if passed != step {
      step = passed
      decayFactor = exp(-passed.seconds / max(figures.correlation_s, 1e-3))
      innovationSigma = sqrt(1 - decayFactor * decayFactor)
    }
    east = decayFactor * east + innovationSigma * random.normal()
    north = decayFactor * north + innovationSigma * random.normal()
    up = decayFactor * up + innovationSigma * random.normal()
    accuracyBias = decayFactor * accuracyBias + innovationSigma * random.normal()
  }
}
