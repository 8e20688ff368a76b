import DeferralCache
import LocationTypes
import TestSupport

@testable import LocationPolicy

/// A stored fix `east` metres east of (0, 0).
func stored(
  _ sequence: UInt64, at seconds: Double, east: Double = 0, accuracy_mm: Int32? = 3_000,
  speed_mmps: Int32? = nil
) -> StoredFix {
  StoredFix(
    name: FixName(generation: 1, sequence: sequence),
    fix: fix(at: seconds, east: east, accuracy_mm: accuracy_mm, speed_mmps: speed_mmps))
}

/// A fix with a speed and its accuracy, m/s.
func fix(at seconds: Double, east: Double = 0, speed: Double, deviation: Double) -> Fix {
  var result = fix(at: seconds, east: east, speed_mmps: Int32((speed * 1e3).rounded()))
  result.speedAccuracy_mmps = Int32((deviation * 1e3).rounded())
  return result
}

/// Speed fields that a receiver reports.
enum SpeedKind: CaseIterable, Sendable {
  /// Doppler speed with its accuracy, as in UBX.
  case doppler
  /// Doppler speed alone, as in NMEA.
  case bare
  /// No speed.
  case absent
}

/// A receiver whose position drifts at standstill: a few metres correlated over 100 s, 0.7 m of
/// white noise, and an excursion of 20 to 30 m for a minute about every ten minutes.
struct WanderingReceiver {
  var random: SplitMix64
  let kind: SpeedKind
  private var drift = (east: 0.0, north: 0.0)
  private var time = 0.0
  private var excursion = (start: 0.0, east: 0.0, north: 0.0)

  init(seed: UInt64, _ kind: SpeedKind) {
    random = SplitMix64(seed: seed)
    self.kind = kind
    excursion.start = Double.random(in: 60..<600, using: &random)
    newExcursion(after: 0)
  }

  private mutating func newExcursion(after end: Double) {
    let angle = Double.random(in: 0..<6.28, using: &random)
    let size = Double.random(in: 20...30, using: &random)
    excursion = (
      end + Double.random(in: 300..<900, using: &random), size * cosine(angle),
      size * cosine(angle - 1.570_796)
    )
  }

  private func cosine(_ angle: Double) -> Double {
    // Accurate to 1e-3, which is enough for a direction.
    let x = angle.remainder(dividingBy: 6.283_185)
    return 1 - x * x / 2 + x * x * x * x / 24 - x * x * x * x * x * x / 720
      + x * x * x * x * x * x * x * x / 40_320
  }

  /// The fix at `seconds` of a device `east` metres from the start that moves at `speed` m/s.
  mutating func fix(at seconds: Double, east: Double = 0, speed: Double = 0) -> Fix {
    let step = seconds - time
    time = seconds
    // Approximately e^(−step / 100).
    let correlation = step >= 500 ? 0 : 1 / (1 + step / 100 + step * step / 20_000)
    let fresh = 2.5 * (1 - correlation * correlation).squareRoot()
    drift.east = drift.east * correlation + fresh * random.normal()
    drift.north = drift.north * correlation + fresh * random.normal()
    if seconds > excursion.start + 60 { newExcursion(after: seconds) }
    let into = seconds - excursion.start
    let share = into < 0 ? 0 : min(1, into / 20, (60 - into) / 20)
    var result = LocationPolicyTests.fix(
      at: seconds, east: east + drift.east + share * excursion.east + 0.7 * random.normal(),
      north: drift.north + share * excursion.north + 0.7 * random.normal(), accuracy_mm: 4_000)
    let measured = abs(speed + 0.08 * random.normal())
    switch kind {
    case .doppler:
      result.speed_mmps = Int32(measured * 1e3)
      result.speedAccuracy_mmps = 200
    case .bare: result.speed_mmps = Int32(measured * 1e3)
    case .absent: break
    }
    return result
  }
}
