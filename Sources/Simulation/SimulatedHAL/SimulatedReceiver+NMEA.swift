import GNSSProtocols
import LocationTypes

extension SimulatedReceiver {
  /// Sends the sentences of an epoch that are due.
  mutating func sendSentences(_ s: UBXSolution, at now: Instant) {
    frame.removeAll()
    let epoch = SentenceEpoch(s)
    if isDue(active.rmc) { frame.append(epoch.rmc) }
    if isDue(active.gga) { frame.append(epoch.gga) }
    if isDue(active.gll) { frame.append(epoch.gll) }
    if isDue(active.gsa) { frame.append(epoch.gsa) }
    if isDue(active.gsv) {
      for number: UInt8 in 1...3 {
        frame.append(GSV(sentences: 3, number: number, inView: 12))
      }
    }
    if isDue(active.gst) { frame.append(epoch.gst) }
    if isDue(active.vtg) { frame.append(epoch.vtg) }
    if isDue(active.zda) { frame.append(epoch.zda) }
    transmit(at: now)
  }

  private func isDue(_ rate: Int) -> Bool { rate > 0 && epochCount % rate == 0 }
}

/// An epoch in the words of NMEA: unknown fields stay empty.
private struct SentenceEpoch {
  private let s: UBXSolution
  private let hasFix: Bool
  private let time_us: Int64?
  private let date: CalendarDate?
  private let coordinate: Coordinate?

  init(_ solution: UBXSolution) {
    s = solution
    hasFix = solution.fixType >= 2 && solution.isFixOK
    time_us = solution.utc?.microsecondsOfDay
    date = solution.utc?.date
    coordinate =
      hasFix
      ? Coordinate(
        latitude_e9: Int64(solution.latitude_e7) * 100,
        longitude_e9: Int64(solution.longitude_e7) * 100) : nil
  }

  private var mode: NMEAMode { hasFix ? .autonomous : .notValid }
  private var course_e4: Int32? { hasFix ? (s.headingOfMotion_e5 + 5) / 10 : nil }
  private var speed_mmps: Int32? { hasFix ? s.groundSpeed_mmps : nil }

  var rmc: RMC {
    var m = RMC(time_us: time_us, isValid: hasFix)
    m.coordinate = coordinate
    m.speed_mmps = speed_mmps
    m.course_e4 = course_e4
    m.date = date.map {
      ShortDate(year: UInt8($0.year % 100), month: UInt8($0.month), day: UInt8($0.day))
    }
    m.mode = mode
    return m
  }

  var gga: GGA {
    var m = GGA(time_us: time_us, quality: hasFix ? 1 : 0)
    m.coordinate = coordinate
    m.satellites = s.satellites ?? 0
    m.horizontalDOP_e2 = hasFix ? 90 : 9_999
    if hasFix, let height = s.heightMSL_mm {
      m.altitude_mm = height
      m.separation_mm = s.height_mm - height
    }
    return m
  }

  var gll: GLL {
    var m = GLL(time_us: time_us, isValid: hasFix)
    m.coordinate = coordinate
    m.mode = mode
    return m
  }

  var gsa: GSA {
    var m = GSA(fixMode: hasFix ? 3 : 1, satellites: s.satellites ?? 0)
    m.positionDOP_e2 = s.positionDOP_e2
    m.horizontalDOP_e2 = hasFix ? 90 : 9_999
    m.verticalDOP_e2 = hasFix ? 120 : 9_999
    return m
  }

  var gst: GST {
    var m = GST(time_us: time_us)
    guard hasFix else { return m }
    // Half of the variance lies on each axis.
    let axis = Int32((Double(s.horizontalAccuracy_mm) * 0.707_106_781_2).rounded())
    m.latitude_mm = axis
    m.longitude_mm = axis
    m.altitude_mm = s.verticalAccuracy_mm.map { Int32($0) }
    return m
  }

  var vtg: VTG {
    var m = VTG()
    m.course_e4 = course_e4
    m.speed_mmps = speed_mmps
    m.mode = mode
    return m
  }

  var zda: ZDA { ZDA(time_us: time_us, date: date, zone_min: 0) }
}
