import LocationTypes

/// The open UBX epoch: content of the messages with one GPS time of week, in any order.
///
/// Sources in order of preference. Position and heights: NAV-HPPOSLLH, NAV-POSLLH, NAV-SOL,
/// NAV-POSECEF. Fix status: NAV-SOL, NAV-STATUS; without either there is no fix. Speed and course:
/// NAV-VELNED, else the ECEF velocity of NAV-SOL or NAV-VELECEF. Time: NAV-TIMEUTC, else GPS week and
/// time of week minus leap seconds. Owned by ``EpochAssembler``.
struct UBXDraft {
  var timeOfWeek_ms: UInt32 = 0
  /// Arrival time of the first message.
  var received = Instant.boot
  private var position: UBXPosition?
  private(set) var precise: UBXPrecisePosition?
  private var ecefPosition: UBXECEFVector?
  private var ecefVelocity: UBXECEFVector?
  private var velocity: UBXVelocity?
  private var solution: UBXECEFSolution?
  private var status: UBXStatus?
  private(set) var dilutions: UBXDilutions?
  private(set) var satellites: UBXSatellites?
  private var utc: UBXTimeUTC?
  private var gpsTime: UBXGPSTime?

  /// Stores a message with this time of week.
  mutating func apply(_ part: UBXNavigation) {
    switch part {
    case .ecefPosition(let m): ecefPosition = m
    case .position(let m): position = m
    case .status(let m): status = m
    case .dilutions(let m): dilutions = m
    case .ecefSolution(let m): solution = m
    case .ecefVelocity(let m): ecefVelocity = m
    case .velocity(let m): velocity = m
    case .precisePosition(let m): precise = m
    case .gpsTime(let m): gpsTime = m
    case .utc(let m): utc = m
    case .channels(let m), .satellites(let m): satellites = m
    case .leapSeconds, .endOfEpoch: break
    }
  }

  /// Whether a message with the fix status was received.
  var hasFixStatus: Bool { solution != nil || status != nil }

  /// Whether a message with the speed was received.
  var hasVelocity: Bool { velocity != nil || solution != nil || ecefVelocity != nil }
}

extension UBXDraft {
  /// The combined solution in the fields of NAV-PVT, and its position in full resolution; nil without a
  /// position.
  ///
  /// `leapSeconds` is the receiver's value; nil until the receiver has sent one.
  func solution(_ leapSeconds: Int8?) -> (solution: UBXSolution, coordinate: Coordinate?) {
    let flags = solution?.flags ?? status?.flags ?? 0
    var s = UBXSolution(
      utc: nil, fixType: solution?.fixType ?? status?.fixType ?? 0, isFixOK: flags & 1 != 0,
      longitude_e7: 0, latitude_e7: 0, height_mm: 0, horizontalAccuracy_mm: .max)
    s.isDifferential = flags & 2 != 0
    s.timeOfWeek_ms = timeOfWeek_ms
    s.headingAccuracy_e5 = .max
    if let count = satellites?.used ?? solution?.satellites { s.satellites = count }
    s.positionDOP_e2 = dilutions?.position_e2 ?? solution?.positionDOP_e2
    let coordinate = addPosition(&s)
    if let coordinate { addVelocity(&s, coordinate) } else { s.isFixOK = false }
    addTime(&s, leapSeconds)
    return (s, coordinate)
  }

  private func addPosition(_ s: inout UBXSolution) -> Coordinate? {
    if let position {
      s.longitude_e7 = position.longitude_e7
      s.latitude_e7 = position.latitude_e7
      s.height_mm = position.height_mm
      s.heightMSL_mm = position.heightMSL_mm
      s.horizontalAccuracy_mm = position.horizontalAccuracy_mm
      s.verticalAccuracy_mm = position.verticalAccuracy_mm
    }
    if let precise, precise.refines(s.coordinate) || (position == nil && precise.isUsable) {
      s.refine(precise)
      return precise.coordinate
    }
    if position != nil { return s.coordinate.isValid ? s.coordinate : nil }
    guard let ecef = solution?.position ?? ecefPosition, let found = ecef.vector.geodetic,
      abs(found.height) < 2e6
    else { return nil }
    s.height_mm = Int32((found.height * 1e3).rounded())
    // A 3D accuracy is an upper bound of the horizontal and of the vertical one.
    s.horizontalAccuracy_mm = UBXDraft.tenfold(ecef.accuracy)
    s.verticalAccuracy_mm = s.horizontalAccuracy_mm
    return found.coordinate
  }

  private func addVelocity(_ s: inout UBXSolution, _ coordinate: Coordinate) {
    if let velocity {
      s.velocityNorth_mmps = UBXDraft.tenfold(velocity.north_cmps)
      s.velocityEast_mmps = UBXDraft.tenfold(velocity.east_cmps)
      s.velocityDown_mmps = UBXDraft.tenfold(velocity.down_cmps)
      s.groundSpeed_mmps = UBXDraft.tenfold(Int32(clamping: velocity.groundSpeed_cmps))
      s.headingOfMotion_e5 = velocity.heading_e5
      s.speedAccuracy_mmps = UBXDraft.tenfold(velocity.speedAccuracy_cmps)
      s.headingAccuracy_e5 = velocity.headingAccuracy_e5
      return
    }
    guard let ecef = solution?.velocity ?? ecefVelocity else {
      s.groundSpeed_mmps = -1
      return
    }
    let enu = ecef.vector.localVelocity(at: coordinate)
    let speed = (enu.north * enu.north + enu.east * enu.east).squareRoot()
    s.velocityNorth_mmps = UBXDraft.millimetres(enu.north)
    s.velocityEast_mmps = UBXDraft.millimetres(enu.east)
    s.velocityDown_mmps = UBXDraft.millimetres(-enu.up)
    s.groundSpeed_mmps = UBXDraft.millimetres(speed)
    s.speedAccuracy_mmps = UBXDraft.tenfold(ecef.accuracy)
    // Below its own error, a speed has no usable course.
    guard speed > Double(ecef.accuracy) / 100 else { return }
    s.headingOfMotion_e5 = Int32((ECEF.course(north: enu.north, east: enu.east) * 1e5).rounded())
    s.headingAccuracy_e5 = UInt32(min(Double(ecef.accuracy) / 100 / speed * 57.3, 179) * 1e5)
  }

  private func addTime(_ s: inout UBXSolution, _ leapSeconds: Int8?) {
    if let utc, let moment = utc.utc {
      s.utc = moment
      s.isTimeResolved = true
      s.timeAccuracy_ns = utc.accuracy_ns
      return
    }
    s.timeAccuracy_ns = gpsTime?.accuracy_ns
    var week: (number: Int16, fraction_ns: Int32)?
    if let solution, solution.flags & 12 == 12 { week = (solution.week, solution.fraction_ns) }
    if let gpsTime, gpsTime.valid & 3 == 3 { week = (gpsTime.week, gpsTime.fraction_ns) }
    guard let week else { return }
    s.utc = GPSTime.utc(
      week: week.number, timeOfWeek_ms: timeOfWeek_ms, fraction_ns: week.fraction_ns,
      leapSeconds: leapSeconds ?? GPSTime.leapSeconds)
    s.isTimeResolved = leapSeconds != nil
  }

  private static func tenfold(_ value: Int32) -> Int32 {
    let (product, isOver) = value.multipliedReportingOverflow(by: 10)
    return isOver ? (value < 0 ? .min : .max) : product
  }

  private static func tenfold(_ value: UInt32) -> UInt32 {
    let (product, isOver) = value.multipliedReportingOverflow(by: 10)
    return isOver ? .max : product
  }

  /// Converts a speed in m/s to mm/s, clamped to ±2e9: the frame may contain any value.
  private static func millimetres(_ speed: Double) -> Int32 {
    Int32(max(min((speed * 1e3).rounded(), 2e9), -2e9))
  }
}

extension UBXDraft {
  /// Adds the dilutions of precision, which NAV-PVT lacks.
  func addDilutions(to epoch: inout Epoch) {
    guard let dilutions else { return }
    epoch.hdop_e2 = UBXDraft.known(dilutions.horizontal_e2)
    epoch.vdop_e2 = UBXDraft.known(dilutions.vertical_e2)
    epoch.pdop_e2 = UBXDraft.known(dilutions.position_e2)
  }

  /// Values of 0 and from 99 up mean unknown, as in NMEA.
  private static func known(_ dilution_e2: UInt16) -> UInt16? {
    dilution_e2 == 0 || dilution_e2 >= 9_900 ? nil : dilution_e2
  }
}
