import GNSSProtocols
import LocationTypes

extension SimulatedReceiver {
  /// Epochs lie on whole multiples of the interval in UTC; the first one is not before `now`.
  mutating func planEpochs(from now: Instant) {
    let utc = origin.microseconds + now.microseconds
    let step = active.interval.microseconds
    let rest = utc % step
    let due = rest == 0 ? utc : utc - rest + (rest > 0 ? step : 0)
    planEpoch(at: UTCTime(microseconds: due))
  }

  private mutating func planEpoch(at time: UTCTime) {
    epochTime = time
    epochDue =
      Instant(microseconds: time.microseconds - origin.microseconds) + figures.outputLatency
  }

  /// An epoch is worked out: it is stored and sent as configured.
  mutating func epoch(at now: Instant) {
    let time = epochTime
    planEpoch(at: time + active.interval)
    epochCount &+= 1
    guard batch.isEnabled || active.sendsEpochs else { return }
    let solution = solution(at: time)
    if batch.isEnabled { batch.append(solution) }
    guard active.sendsEpochs else { return }
    let backlog = line.freeAt - now
    if backlog.microseconds > 4_096 * 10_000_000 / Int64(active.speed) {
      droppedMessages += 1
      return
    }
    if active.navPVT > 0, epochCount % active.navPVT == 0 {
      frame.removeAll()
      frame.appendNavPVT(solution)
      transmit(at: now)
    }
    if active.sendsNMEA { sendSentences(solution, at: now) }
  }

  /// What the receiver believes at an epoch.
  private mutating func solution(at time: UTCTime) -> UBXSolution {
    let moment = Instant(microseconds: time.microseconds - origin.microseconds)
    guard let since = acquisition.fixSince, since <= moment else {
      var none = UBXSolution(
        utc: acquisition.knowsTime ? time : nil, fixType: 0, isFixOK: false, longitude_e7: 0,
        latitude_e7: 0, height_mm: 0, horizontalAccuracy_mm: .max)
      none.satellites = 0
      none.positionDOP_e2 = 9_999
      return none
    }
    let truth = reader.state(at: time)
    let error = noise.error(at: time, sinceFix: moment - since)
    return SimulatedReceiver.solution(
      truth, error, at: time, separation_mm: figures.geoidSeparation_mm)
  }

  /// Truth and error in the protocol's units.
  private static func solution(
    _ truth: TrackState, _ error: EpochError, at time: UTCTime, separation_mm: Int32
  ) -> UBXSolution {
    let place =
      error.east == 0 && error.north == 0
      ? truth.coordinate : truth.coordinate.moved(east: error.east, north: error.north)
    let msl = (truth.altitude_mm ?? 0) + scaled(error.up, 1e3)
    var s = UBXSolution(
      utc: time, fixType: 3, isFixOK: true, longitude_e7: e7(place.longitude_e9),
      latitude_e7: e7(place.latitude_e9), height_mm: msl + separation_mm,
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

  /// 1e-9° to the protocol's 1e-7°, to the nearest.
  private static func e7(_ e9: Int64) -> Int32 {
    Int32((e9 + (e9 < 0 ? -50 : 50)) / 100)
  }

  private static func course_e5(east: Double, north: Double) -> Int32 {
    let degrees = Degrees.course(east: east, north: north)
    let value = Int32((degrees * 1e5).rounded())
    return value >= 36_000_000 ? 0 : value
  }

  /// What the error of speed makes of the course; 180° when standing.
  private static func headingAccuracy_e5(_ sigma: Double, _ speed: Double) -> UInt32 {
    let degrees = speed > sigma ? min(sigma / speed * 57.295_779_5, 180) : 180
    return UInt32(degrees * 1e5)
  }

  /// GPS time of week: weeks begin on Sunday; 18 leap seconds since 2017.
  private static func timeOfWeek_ms(_ time: UTCTime) -> UInt32 {
    let week: Int64 = 604_800_000
    let since1980 = time.microseconds / 1_000 - 315_964_800_000 + 18_000
    let rest = since1980 % week
    return UInt32(rest < 0 ? rest + week : rest)
  }
}
