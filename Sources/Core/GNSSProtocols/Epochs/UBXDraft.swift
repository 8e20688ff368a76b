import LocationTypes

/// What the UBX messages of one time of week have said so far, whatever their order.
///
/// Place and heights: NAV-HPPOSLLH, else NAV-POSLLH, else NAV-SOL, else NAV-POSECEF. Whether there is
/// a fix: NAV-SOL, else NAV-STATUS; a place of which neither has told is none. Speed and course:
/// NAV-VELNED, else the ECEF velocity of NAV-SOL or NAV-VELECEF. Time: NAV-TIMEUTC, else GPS week and
/// time of week less leap seconds.
struct UBXDraft {
  var timeOfWeek_ms: UInt32 = 0
  /// When the first message came.
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

  /// Adds a message of this time of week.
  mutating func take(_ part: UBXNavigation) {
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

  /// Whether a message has come that says if there is a position.
  var isTold: Bool { solution != nil || status != nil }

  /// Whether a message has come that tells the speed.
  var hasVelocity: Bool { velocity != nil || solution != nil || ecefVelocity != nil }
}

extension UBXDraft {
  /// What it adds up to, in the fields of NAV-PVT, and the place where it is known finer than there.
  ///
  /// `leapSeconds` is what the receiver told of them, nil before it did.
  func solution(_ leapSeconds: Int8?) -> (whole: UBXSolution, place: Coordinate?) {
    let flags = solution?.flags ?? status?.flags ?? 0
    var s = UBXSolution(
      utc: nil, fixType: solution?.fixType ?? status?.fixType ?? 0, isFixOK: flags & 1 != 0,
      longitude_e7: 0, latitude_e7: 0, height_mm: 0, horizontalAccuracy_mm: .max)
    s.isDifferential = flags & 2 != 0
    s.timeOfWeek_ms = timeOfWeek_ms
    s.headingAccuracy_e5 = .max
    if let count = satellites?.used ?? solution?.satellites { s.satellites = count }
    s.positionDOP_e2 = dilutions?.position_e2 ?? solution?.positionDOP_e2
    let place = addPlace(&s)
    if let place { addVelocity(&s, place) } else { s.isFixOK = false }
    addTime(&s, leapSeconds)
    return (s, place)
  }

  private func addPlace(_ s: inout UBXSolution) -> Coordinate? {
    if let position {
      s.longitude_e7 = position.longitude_e7
      s.latitude_e7 = position.latitude_e7
      s.height_mm = position.height_mm
      s.heightMSL_mm = position.heightMSL_mm
      s.horizontalAccuracy_mm = position.horizontalAccuracy_mm
      s.verticalAccuracy_mm = position.verticalAccuracy_mm
    }
    if let precise, precise.refines(s.place) || (position == nil && precise.isUsable) {
      s.refine(precise)
      return precise.place
    }
    if position != nil { return s.place.isValid ? s.place : nil }
    guard let ecef = solution?.position ?? ecefPosition, let found = ecef.vector.geodetic,
      abs(found.height) < 2e6
    else { return nil }
    s.height_mm = Int32((found.height * 1e3).rounded())
    // An accuracy in space is no better than that on the plane or that of the height.
    s.horizontalAccuracy_mm = UBXDraft.tenfold(ecef.accuracy)
    s.verticalAccuracy_mm = s.horizontalAccuracy_mm
    return found.place
  }

  private func addVelocity(_ s: inout UBXSolution, _ place: Coordinate) {
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
    let seen = ecef.vector.seen(from: place)
    let speed = (seen.north * seen.north + seen.east * seen.east).squareRoot()
    s.velocityNorth_mmps = UBXDraft.millimetres(seen.north)
    s.velocityEast_mmps = UBXDraft.millimetres(seen.east)
    s.velocityDown_mmps = UBXDraft.millimetres(-seen.up)
    s.groundSpeed_mmps = UBXDraft.millimetres(speed)
    s.speedAccuracy_mmps = UBXDraft.tenfold(ecef.accuracy)
    // Slower than it errs, it may go anywhere.
    guard speed > Double(ecef.accuracy) / 100 else { return }
    s.headingOfMotion_e5 = Int32((ECEF.course(north: seen.north, east: seen.east) * 1e5).rounded())
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

  /// Of a speed in m/s, which may be anything the frame says.
  private static func millimetres(_ speed: Double) -> Int32 {
    Int32(max(min((speed * 1e3).rounded(), 2e9), -2e9))
  }
}

extension UBXDraft {
  /// Adds to an epoch what NAV-PVT does not say.
  func complete(_ epoch: inout Epoch) {
    guard let dilutions else { return }
    epoch.hdop_e2 = UBXDraft.known(dilutions.horizontal_e2)
    epoch.vdop_e2 = UBXDraft.known(dilutions.vertical_e2)
    epoch.pdop_e2 = UBXDraft.known(dilutions.position_e2)
  }

  /// From 99 up, and 0, say that there is none, as in NMEA.
  private static func known(_ dilution_e2: UInt16) -> UInt16? {
    dilution_e2 == 0 || dilution_e2 >= 9_900 ? nil : dilution_e2
  }
}
