import LocationTypes

// GNS, GBS and what the makers of receivers have added.

extension FrameBuffer {
  /// Adds a GNS of NMEA 3.1, or 4.1 if it has a navigational status.
  public mutating func append(_ m: GNS, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GNS")
    appendTime(m.time_us, format)
    appendCoordinate(m.coordinate, format)
    appendField(letter: m.mode?.rawValue)
    appendField(m.satellites.map { Int64($0) }, integers: 2)
    appendDilution(m.horizontalDOP_e2)
    appendMetres(m.altitude_mm, format)
    appendMetres(m.separation_mm, format)
    appendMetres(m.correctionAge_ms, format)
    appendField(m.station.map { Int64($0) }, integers: 4)
    if let status = m.navigationalStatus { appendField(letter: status) }
    endSentence(start)
  }

  /// Adds a GBS.
  public mutating func append(_ m: GBS, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GBS")
    appendTime(m.time_us, format)
    appendMetres(m.latitude_mm, format)
    appendMetres(m.longitude_mm, format)
    appendMetres(m.altitude_mm, format)
    appendField(m.satellite.map { Int64($0) }, integers: 2)
    append(UInt8(ascii: ","))
    appendMetres(m.bias_mm, format)
    appendMetres(m.biasError_mm, format)
    endSentence(start)
  }

  /// Adds a `$PUBX,00`.
  public mutating func append(_ m: UBloxPosition, format: NMEAFormat = .common) {
    let start = beginSentence("PUBX,00")
    appendTime(m.time_us, format)
    appendCoordinate(m.coordinate, format)
    appendMetres(m.height_mm, format)
    append(UInt8(ascii: ","))
    if let status = m.status { append(ascii: FrameBuffer.word(status)) }
    appendMetres(m.horizontalAccuracy_mm, format)
    appendMetres(m.verticalAccuracy_mm, format)
    appendKilometres(m.speed_mmps)
    appendCourse(m.course_e4, format)
    appendField(m.velocityDown_mmps.map { Int64($0) }, from: 3, to: 3)
    appendMetres(m.correctionAge_ms, format)
    appendDilution(m.horizontalDOP_e2)
    appendDilution(m.verticalDOP_e2)
    appendDilution(m.timeDOP_e2)
    appendField(m.satellites.map { Int64($0) })
    append(ascii: ",0,0")
    endSentence(start)
  }

  private static func word(_ status: UBloxPosition.Status) -> StaticString {
    switch status {
    case .noFix: "NF"
    case .deadReckoning: "DR"
    case .twoDimensional: "G2"
    case .threeDimensional: "G3"
    case .differential2D: "D2"
    case .differential3D: "D3"
    case .combined: "RK"
    case .timeOnly: "TT"
    }
  }

  /// Adds a `$PGRME`.
  public mutating func append(_ m: GarminErrors, format: NMEAFormat = .common) {
    let start = beginSentence("PGRME")
    appendMetres(m.horizontal_mm, format)
    append(ascii: ",M")
    appendMetres(m.vertical_mm, format)
    append(ascii: ",M")
    appendMetres(m.position_mm, format)
    append(ascii: ",M")
    endSentence(start)
  }

  /// Adds a `$PGRMZ`, in whole feet, or in thousandths where metres have three decimals.
  public mutating func append(_ m: GarminAltitude, format: NMEAFormat = .common) {
    let start = beginSentence("PGRMZ")
    let feet_e3 = m.altitude_mm.map { (altitude: Int32) -> Int64 in
      (Int64(altitude) * 10_000 + (altitude < 0 ? -1_524 : 1_524)) / 3_048
    }
    appendField(feet_e3, from: 3, to: format.metreDecimals == 3 ? 3 : 0)
    append(ascii: ",f")
    appendField(m.dimensions.map { Int64($0) })
    endSentence(start)
  }

  /// Adds a `$PMTK001` or `$PAIR001`.
  ///
  /// - Precondition: `$PMTK001` knows neither ``CommandResult/Outcome/pending`` nor
  ///   ``CommandResult/Outcome/busy``.
  public mutating func append(_ m: CommandResult) {
    let start: Int
    let result: UInt8
    switch m.family {
    case .pair:
      start = beginSentence("PAIR001")
      result = m.outcome.rawValue
    case .pmtk:
      start = beginSentence("PMTK001")
      switch m.outcome {
      case .invalid: result = 0
      case .unsupported: result = 1
      case .failed: result = 2
      case .done: result = 3
      case .pending, .busy: preconditionFailure("PMTK001 has no word for that")
      }
    }
    appendField(Int64(m.command), integers: 3)
    appendField(Int64(result))
    endSentence(start)
  }
}
