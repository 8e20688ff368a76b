import GNSSProtocols
import LocationTypes

/// Epochs of the simulated receiver: when they occur, and the solution of each, from the track with the errors of the
/// noise model.
///
/// Epochs occur at whole multiples of the fix interval in UTC. Their output begins after a latency.
///
/// Owner: ``SimulatedReceiver``, which plans epochs only while it runs, and stores or sends the solutions.
struct EpochSource: Sendable {
  /// UTC at boot.
  let origin: UTCTime
  private let outputLatency: Interval
  private let geoidSeparation_mm: Int32
  private var reader: TrackReader
  private var noise: NoiseProcess
  /// Time of the next epoch.
  private var nextTime = UTCTime(microseconds: 0)
  /// Time at which the output of the next epoch begins; `.distantFuture` while none is planned.
  private(set) var due = Instant.distantFuture
  /// Number of epochs until now.
  private(set) var count = 0

  init(_ setup: SimulationSetup, track: Track) {
    origin = track.firstTime
    outputLatency = setup.receiver.outputLatency
    geoidSeparation_mm = setup.receiver.geoidSeparation_mm
    reader = TrackReader(track)
    noise = NoiseProcess(setup.noise, seed: setup.seed)
  }

  // MARK: Times

  /// Plans epochs; the first one is at or after `now`.
  mutating func plan(from now: Instant, every interval: Interval) {
    let utc = origin.microseconds + now.microseconds
    let step = interval.microseconds
    let remainder = utc % step
    let next = remainder == 0 ? utc : utc - remainder + (remainder > 0 ? step : 0)
    plan(UTCTime(microseconds: next))
  }

  private mutating func plan(_ time: UTCTime) {
    nextTime = time
    due = Instant(microseconds: time.microseconds - origin.microseconds) + outputLatency
  }

  /// Plans no epochs until the next ``plan(from:every:)``.
  mutating func stop() { due = .distantFuture }

  /// Counts the next epoch and plans the one after it. Returns its time.
  mutating func advance(by interval: Interval) -> UTCTime {
    let time = nextTime
    plan(time + interval)
    count &+= 1
    return time
  }

  // MARK: Solutions

  /// The receiver's solution at an epoch.
  ///
  /// - Parameters:
  ///   - fixSince: Start time of the present fix; nil without a fix.
  ///   - hasTime: Whether the receiver's clock is set.
  mutating func solution(at time: UTCTime, fixSince: Instant?, hasTime: Bool) -> UBXSolution {
    let moment = Instant(microseconds: time.microseconds - origin.microseconds)
    guard let since = fixSince, since <= moment else {
      var none = UBXSolution(
        utc: hasTime ? time : nil, fixType: 0, isFixOK: false, longitude_e7: 0,
        latitude_e7: 0, height_mm: 0, horizontalAccuracy_mm: .max)
      none.satellites = 0
      none.positionDOP_e2 = 9_999
      return none
    }
    let truth = reader.state(at: time)
    let error = noise.error(at: time, sinceFix: moment - since)
    return EpochSource.solution(truth, error, at: time, separation_mm: geoidSeparation_mm)
  }

  /// Converts true state and errors to the protocol's units.
  private static func solution(
    _ truth: TrackState, _ error: EpochError, at time: UTCTime, separation_mm: Int32
  ) -> UBXSolution {
    let position =
      error.east == 0 && error.north == 0
      ? truth.coordinate : truth.coordinate.moved(east: error.east, north: error.north)
    let msl = (truth.altitude_mm ?? 0) + scaled(error.up, 1e3)
    var s = UBXSolution(
      utc: time, fixType: 3, isFixOK: true,
      longitude_e7: UBXSolution.angle_e7(position.longitude_e9),
      latitude_e7: UBXSolution.angle_e7(position.latitude_e9), height_mm: msl + separation_mm,
      horizontalAccuracy_mm: UInt32(scaled(error.horizontalAccuracy, 1e3)))
    let east = truth.speed * truth.east + error.velocityEast
    let north = truth.speed * truth.north + error.velocityNorth
    let speed = (east * east + north * north).squareRoot()
    s.timeOfWeek_ms = timeOfWeek_ms(time)
    s.timeAccuracy_ns = 30
    s.satellites = 12
    s.heightMSL_mm = msl
    s.verticalAccuracy_mm = UInt32(scaled(error.verticalAccuracy, 1e3))
    s.velocityNorth_mmps = scaled(north, 1e3)
    s.velocityEast_mmps = scaled(east, 1e3)
    s.velocityDown_mmps = -scaled(truth.climb + error.velocityUp, 1e3)
    s.groundSpeed_mmps = scaled(speed, 1e3)
    s.headingOfMotion_e5 = course_e5(
      east: speed > 0 ? east : truth.east, north: speed > 0 ? north : truth.north)
    s.speedAccuracy_mmps = UInt32(scaled(error.speedAccuracy, 1e3))
    s.headingAccuracy_e5 = headingAccuracy_e5(error.speedAccuracy, speed)
    s.positionDOP_e2 = 150
    return s
  }

  private static func scaled(_ value: Double, _ factor: Double) -> Int32 {
    Int32((value * factor).rounded())
  }

  private static func course_e5(east: Double, north: Double) -> Int32 {
    let degrees = Degrees.course(east: east, north: north)
    let value = Int32((degrees * 1e5).rounded())
    return value >= 36_000_000 ? 0 : value
  }

  /// Course accuracy from the speed's error; 180° at standstill.
  private static func headingAccuracy_e5(_ sigma: Double, _ speed: Double) -> UInt32 {
    let degrees = speed > sigma ? min(sigma / speed * 57.295_779_5, 180) : 180
    return UInt32(degrees * 1e5)
  }

  /// GPS time of week: weeks begin on Sunday; 18 leap seconds since 2017.
  private static func timeOfWeek_ms(_ time: UTCTime) -> UInt32 {
    let week: Int64 = 604_800_000
    let since1980 = time.microseconds / 1_000 - 315_964_800_000 + 18_000
    let remainder = since1980 % week
    return UInt32(remainder < 0 ? remainder + week : remainder)
  }
}
