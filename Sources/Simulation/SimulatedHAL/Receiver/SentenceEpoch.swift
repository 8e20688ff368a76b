import GNSSProtocols
import LocationTypes

/// NMEA sentences of an epoch; unknown fields are empty.
struct SentenceEpoch {
  private let s: UBXSolution
  private let hasFix: Bool
  private let time_us: Int64?
  private let date: CalendarDate?
  private let coordinate: Coordinate?
  private let sky: SimulatedSky?

  /// Creates the sentences of a solution; without a sky, GSA and GSV name no satellites.
  init(_ solution: UBXSolution, sky: SimulatedSky?) {
    s = solution
    self.sky = sky
    hasFix = solution.fixType >= 2 && solution.isFixOK
    time_us = solution.utc?.microsecondsOfDay
    date = solution.utc?.date
    coordinate = hasFix ? solution.coordinate : nil
  }

  /// Appends the sentences that are due in an epoch.
  ///
  /// - Parameter number: Number of the epoch.
  func append(to frame: inout FrameBuffer, _ rates: ActiveConfiguration, number: Int) {
    func isDue(_ rate: Int) -> Bool { rate > 0 && number % rate == 0 }
    if isDue(rates.rmc) { frame.append(rmc) }
    if isDue(rates.gga) { frame.append(gga) }
    if isDue(rates.gll) { frame.append(gll) }
    if isDue(rates.gsa) {
      if let sky { sky.appendGSA(to: &frame, gsa) } else { frame.append(gsa) }
    }
    if sky == nil, isDue(rates.gsv) {
      for number: UInt8 in 1...3 {
        frame.append(GSV(sentences: 3, number: number, inView: 12))
      }
    }
    if isDue(rates.gst) { frame.append(gst) }
    if isDue(rates.vtg) { frame.append(vtg) }
    if isDue(rates.zda) { frame.append(zda) }
  }

  private var mode: NMEAMode { hasFix ? .autonomous : .notValid }
  private var course_e4: Int32? { hasFix ? (s.headingOfMotion_e5 + 5) / 10 : nil }
  private var speed_mmps: Int32? { hasFix ? s.groundSpeed_mmps : nil }

  private var rmc: RMC {
    var m = RMC(time_us: time_us, isValid: hasFix)
    m.coordinate = coordinate
    m.speed_mmps = speed_mmps
    m.course_e4 = course_e4
    m.date = date.map { ShortDate($0) }
    m.mode = mode
    return m
  }

  private var gga: GGA {
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

  private var gll: GLL {
    var m = GLL(time_us: time_us, isValid: hasFix)
    m.coordinate = coordinate
    m.mode = mode
    return m
  }

  private var gsa: GSA {
    var m = GSA(fixMode: hasFix ? 3 : 1, satellites: s.satellites ?? 0)
    m.positionDOP_e2 = s.positionDOP_e2
    m.horizontalDOP_e2 = hasFix ? 90 : 9_999
    m.verticalDOP_e2 = hasFix ? 120 : 9_999
    return m
  }

  private var gst: GST {
    var m = GST(time_us: time_us)
    guard hasFix else { return m }
    // Half of the variance applies to each axis.
    let axis = Int32((Double(s.horizontalAccuracy_mm) * 0.707_106_781_2).rounded())
    m.latitude_mm = axis
    m.longitude_mm = axis
    m.altitude_mm = s.verticalAccuracy_mm.map { Int32($0) }
    return m
  }

  private var vtg: VTG {
    var m = VTG()
    m.course_e4 = course_e4
    m.speed_mmps = speed_mmps
    m.mode = mode
    return m
  }

  private var zda: ZDA { ZDA(time_us: time_us, date: date, zone_min: 0) }
}
