import LocationTypes
import TestSupport

@testable import GNSSProtocols

extension SplitMix64 {
  mutating func maybe<Value>(_ value: Value) -> Value? {
    Int.random(in: 0..<4, using: &self) == 0 ? nil : value
  }
  mutating func bits<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
    Value(truncatingIfNeeded: next())
  }

  mutating func utc() -> UTCTime {
    UTCTime(
      microseconds: Int64.random(in: 315_964_800_000_000..<3_400_000_000_000_000, using: &self))
  }
  mutating func time() -> Int64 { Int64.random(in: 0..<86_400_000_000, using: &self) }
  mutating func position() -> Coordinate {
    Coordinate(
      latitude_e9: Int64.random(in: -90_000_000_000...90_000_000_000, using: &self),
      longitude_e9: Int64.random(in: -180_000_000_000...180_000_000_000, using: &self))
  }
  mutating func talker() -> Talker {
    [Talker.gps, .combined, Talker(0x49, 0x49), Talker(0x47, 0x4C)].randomElement(using: &self)!
  }
  mutating func mode() -> NMEAMode {
    [NMEAMode.autonomous, .differential, .notValid, .rtkFixed, .estimated].randomElement(
      using: &self)!
  }
  mutating func metres() -> Int32 { Int32.random(in: -12_000_000...60_000_000, using: &self) }
  mutating func dilution() -> UInt16 { UInt16.random(in: 1..<9_900, using: &self) }

  /// A solution with every field of NAV-PVT.
  mutating func solution() -> UBXSolution {
    var s = UBXSolution(
      utc: maybe(utc()), fixType: UInt8.random(in: 0...5, using: &self),
      isFixOK: Bool.random(using: &self),
      longitude_e7: bits(Int32.self), latitude_e7: bits(Int32.self), height_mm: bits(Int32.self),
      horizontalAccuracy_mm: bits(UInt32.self))
    s.isTimeResolved = s.utc != nil && Bool.random(using: &self)
    s.groundSpeed_mmps = bits(Int32.self)
    s.headingOfMotion_e5 = bits(Int32.self)
    s.isDifferential = Bool.random(using: &self)
    s.carrierSolution = UInt8.random(in: 0...2, using: &self)
    return s
  }

  mutating func fullSolution() -> UBXSolution {
    var s = solution()
    s.timeOfWeek_ms = bits(UInt32.self)
    s.timeAccuracy_ns = bits(UInt32.self)
    s.satellites = bits(UInt8.self)
    s.heightMSL_mm = bits(Int32.self)
    s.verticalAccuracy_mm = bits(UInt32.self)
    s.velocityNorth_mmps = bits(Int32.self)
    s.velocityEast_mmps = bits(Int32.self)
    s.velocityDown_mmps = bits(Int32.self)
    s.speedAccuracy_mmps = bits(UInt32.self)
    s.headingAccuracy_e5 = bits(UInt32.self)
    s.positionDOP_e2 = bits(UInt16.self)
    return s
  }

  /// A message with any content that its encoder can write, and its bytes.
  mutating func message(_ buffer: inout FrameBuffer) -> GNSSMessage {
    let kind = Int.random(in: 0..<17, using: &self)
    switch kind {
    case 0..<4: return fixSentence(kind, &buffer)
    case 4..<8: return sentence(kind, &buffer)
    case 8..<14, 16: return frame(kind, &buffer)
    case 14: return more(&buffer)
    default: return proprietary(&buffer)
    }
  }

  /// RMC, GGA, GSA or GSV.
  private mutating func fixSentence(_ kind: Int, _ buffer: inout FrameBuffer) -> GNSSMessage {
    switch kind {
    case 0:
      var m = RMC(talker: talker(), time_us: maybe(time()), isValid: Bool.random(using: &self))
      m.coordinate = maybe(position())
      m.speed_mmps = maybe(Int32.random(in: 0...500_000_000, using: &self))
      m.course_e4 = maybe(Int32.random(in: 0..<3_600_000, using: &self))
      m.date = maybe(ShortDate(utc().date))
      m.mode = maybe(mode())
      m.variation_e4 = maybe(Int32.random(in: -1_800_000...1_800_000, using: &self))
      m.navigationalStatus = maybe(UInt8(ascii: "V"))
      buffer.append(m, format: .finest)
      return .rmc(m)
    case 1:
      var m = GGA(
        talker: talker(), time_us: maybe(time()),
        quality: maybe(UInt8.random(in: 0...8, using: &self)))
      m.coordinate = maybe(position())
      m.satellites = maybe(bits(UInt8.self))
      m.horizontalDOP_e2 = maybe(dilution())
      m.altitude_mm = maybe(metres())
      m.separation_mm = maybe(metres())
      m.correctionAge_ms = maybe(abs(metres()))
      m.station = maybe(bits(UInt16.self))
      buffer.append(m, format: .finest)
      return .gga(m)
    case 2:
      var m = GSA(
        talker: talker(), fixMode: maybe(UInt8.random(in: 1...3, using: &self)),
        satellites: UInt8.random(in: 0...6, using: &self))
      for _ in 0..<Int.random(in: 0...6, using: &self) { m.append(bits(UInt16.self)) }
      m.isAutomatic = maybe(Bool.random(using: &self))
      m.system = maybe(UInt8.random(in: 1...6, using: &self))
      m.positionDOP_e2 = maybe(dilution())
      m.horizontalDOP_e2 = maybe(dilution())
      m.verticalDOP_e2 = maybe(dilution())
      buffer.append(m)
      return .gsa(m)
    default:
      var m = GSV(
        talker: talker(), sentences: maybe(3), number: maybe(1), inView: maybe(bits(UInt8.self)))
      for _ in 0..<Int.random(in: 0...4, using: &self) {
        m.append(
          SatelliteInView(
            number: UInt16.random(in: 1...500, using: &self),
            elevation_deg: maybe(Int8.random(in: -90...90, using: &self)),
            azimuth_deg: maybe(UInt16.random(in: 0...360, using: &self)),
            signal_dBHz: maybe(UInt8.random(in: 0...99, using: &self))))
      }
      m.signal = maybe(UInt8.random(in: 0...15, using: &self))
      buffer.append(m)
      return .gsv(m)
    }
  }

  /// GST, VTG, ZDA or GLL.
  private mutating func sentence(_ kind: Int, _ buffer: inout FrameBuffer) -> GNSSMessage {
    switch kind {
    case 4:
      var m = GST(talker: talker(), time_us: maybe(time()))
      m.residual_mm = maybe(abs(metres()))
      m.semiMajor_mm = maybe(abs(metres()))
      m.semiMinor_mm = maybe(abs(metres()))
      m.orientation_e4 = maybe(Int32.random(in: 0..<3_600_000, using: &self))
      m.latitude_mm = maybe(abs(metres()))
      m.longitude_mm = maybe(abs(metres()))
      m.altitude_mm = maybe(abs(metres()))
      buffer.append(m, format: .finest)
      return .gst(m)
    case 5:
      var m = VTG(talker: talker())
      m.magneticCourse_e4 = maybe(Int32.random(in: 0..<3_600_000, using: &self))
      m.course_e4 = maybe(Int32.random(in: 0..<3_600_000, using: &self))
      m.speed_mmps = maybe(Int32.random(in: 0...500_000_000, using: &self))
      m.mode = maybe(mode())
      buffer.append(m, format: .finest)
      return .vtg(m)
    case 6:
      let m = ZDA(
        talker: talker(), time_us: maybe(time()), date: maybe(utc().date),
        zone_min: maybe(Int16.random(in: -13 * 60...13 * 60, using: &self)))
      buffer.append(m, format: .finest)
      return .zda(m)
    default:
      var m = GLL(talker: talker(), time_us: maybe(time()), isValid: Bool.random(using: &self))
      m.coordinate = maybe(position())
      m.mode = maybe(mode())
      buffer.append(m, format: .finest)
      return .gll(m)
    }
  }

  /// A frame of UBX.
  private mutating func frame(_ kind: Int, _ buffer: inout FrameBuffer) -> GNSSMessage {
    switch kind {
    case 8:
      let s = fullSolution()
      buffer.appendNavPVT(s)
      return .navPVT(s)
    case 9:
      let hasExtraPVT = Bool.random(using: &self)
      var entry = UBXBatchEntry(
        messageCount: bits(UInt16.self), hasExtraPVT: hasExtraPVT,
        solution: hasExtraPVT ? fullSolution() : solution())
      // LOG-BATCH does not report the carrier-phase solution.
      entry.solution.carrierSolution = 0
      buffer.appendBatchEntry(entry)
      return .batchEntry(entry)
    case 10:
      let status = UBXBatchStatus(
        fillLevel: bits(UInt16.self), dropsAll: bits(UInt16.self),
        dropsSinceLast: bits(UInt16.self),
        nextMessageCount: bits(UInt16.self))
      buffer.appendBatchStatus(status)
      return .batchStatus(status)
    case 11:
      let identity = UBXIdentity(bits(UInt8.self), bits(UInt8.self))
      buffer.appendAcknowledgement(of: identity)
      return .acknowledged(identity)
    case 13:
      let part = part(Int.random(in: 0..<14, using: &self))
      buffer.append(part)
      return .navigation(part)
    case 12:
      let identity = UBXIdentity(bits(UInt8.self), bits(UInt8.self))
      buffer.appendAcknowledgement(of: identity, isAccepted: false)
      return .refused(identity)
    default:
      let version = UBXVersion(
        software: "ROM SPG 5.10 (7b202e)", hardware: "000A0000",
        module: Bool.random(using: &self) ? "MAX-M10S" : "",
        protocolVersion_e2: maybe(UInt16.random(in: 0...9_999, using: &self)))
      buffer.appendVersion(version)
      return .receiverVersion(version)
    }
  }

  private mutating func more(_ buffer: inout FrameBuffer) -> GNSSMessage {
    if Bool.random(using: &self) {
      var m = GNS(talker: talker(), time_us: maybe(time()), mode: maybe(mode()))
      m.coordinate = maybe(position())
      m.satellites = maybe(bits(UInt8.self))
      m.horizontalDOP_e2 = maybe(dilution())
      m.altitude_mm = maybe(metres())
      m.separation_mm = maybe(metres())
      m.correctionAge_ms = maybe(abs(metres()))
      m.station = maybe(bits(UInt16.self))
      m.navigationalStatus = maybe(UInt8(ascii: "S"))
      buffer.append(m, format: .finest)
      return .gns(m)
    }
    var m = GBS(talker: talker(), time_us: maybe(time()))
    m.latitude_mm = maybe(abs(metres()))
    m.longitude_mm = maybe(abs(metres()))
    m.altitude_mm = maybe(abs(metres()))
    m.satellite = maybe(bits(UInt16.self))
    m.bias_mm = maybe(metres())
    m.biasError_mm = maybe(abs(metres()))
    buffer.append(m, format: .finest)
    return .gbs(m)
  }

  private mutating func proprietary(_ buffer: inout FrameBuffer) -> GNSSMessage {
    switch Int.random(in: 0..<4, using: &self) {
    case 0:
      var m = UBloxPosition(
        time_us: maybe(time()),
        status: maybe(UBloxPosition.Status(rawValue: UInt8.random(in: 0...7, using: &self))!))
      m.coordinate = maybe(position())
      m.height_mm = maybe(metres())
      m.horizontalAccuracy_mm = maybe(abs(metres()))
      m.verticalAccuracy_mm = maybe(abs(metres()))
      m.speed_mmps = maybe(Int32.random(in: 0...500_000_000, using: &self))
      m.course_e4 = maybe(Int32.random(in: 0..<3_600_000, using: &self))
      m.velocityDown_mmps = maybe(metres())
      m.correctionAge_ms = maybe(abs(metres()))
      m.horizontalDOP_e2 = maybe(dilution())
      m.verticalDOP_e2 = maybe(dilution())
      m.timeDOP_e2 = maybe(dilution())
      m.satellites = maybe(bits(UInt8.self))
      buffer.append(m, format: .finest)
      return .ubloxPosition(m)
    case 1:
      let m = GarminErrors(
        horizontal_mm: maybe(abs(metres())), vertical_mm: maybe(abs(metres())),
        position_mm: maybe(abs(metres())))
      buffer.append(m, format: .finest)
      return .garminErrors(m)
    case 2:
      let m = GarminAltitude(
        altitude_mm: maybe(metres()), dimensions: maybe(UInt8.random(in: 1...3, using: &self)))
      buffer.append(m, format: .finest)
      return .garminAltitude(m)
    default:
      let isPAIR = Bool.random(using: &self)
      // By code.
      let outcomes: [CommandResult.Outcome] =
        isPAIR
        ? [.done, .pending, .failed, .unsupported, .invalid, .busy]
        : [.invalid, .unsupported, .failed, .done]
      let code = outcomes.indices.randomElement(using: &self)!
      let command = bits(UInt16.self)
      let start = buffer.beginSentence(isPAIR ? "PAIR001" : "PMTK001")
      buffer.appendField(Int64(command), integers: 3)
      buffer.appendField(Int64(code))
      buffer.endSentence(start)
      return .commandResult(
        CommandResult(family: isPAIR ? .airoha : .mtk, command: command, outcome: outcomes[code]))
    }
  }

  /// A fix with every field of NAV-PVT; coordinates in steps of 1e-9 degree.
  mutating func fix(step: Int64) -> Fix {
    let position = position()
    var fix = Fix(
      acquired: .boot,
      coordinate: Coordinate(
        latitude_e9: position.latitude_e9 / step * step,
        longitude_e9: position.longitude_e9 / step * step))
    fix.utc = utc()
    fix.altitude_mm = metres()
    fix.ellipsoidalAltitude_mm = metres()
    fix.speed_mmps = Int32.random(in: 0...16_000_000, using: &self)
    fix.course_e4 = Int32.random(in: 0..<3_600_000, using: &self)
    fix.horizontalAccuracy_mm = Int32.random(in: 1...Fix.accuracyLimit_mm, using: &self)
    fix.verticalAccuracy_mm = Int32.random(in: 1...Fix.accuracyLimit_mm, using: &self)
    fix.speedAccuracy_mmps = Int32.random(in: 1...65_000, using: &self)
    fix.courseAccuracy_e2 = Int32.random(in: 1..<18_000, using: &self)
    fix.satellites = Int16.random(in: 0...40, using: &self)
    fix.quality = [.autonomous, .differential, .rtkFixed, .rtkFloat].randomElement(using: &self)!
    return fix
  }
}
