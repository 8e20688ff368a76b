import GNSSProtocols
import LocationTypes

extension DecoderProperty {
  /// Initial inputs: one of each kind that is decoded, from Torpor's encoders and written by hand.
  public var seeds: [[UInt8]] {
    switch self {
    case .stream: Seeds.streams
    case .nmea: Seeds.sentences.map { [0] + Array($0.utf8) }
    case .ubx: Seeds.frames.map { [0] + $0 }
    case .commands: Seeds.commands
    case .ring: Seeds.rings
    case .profile: Seeds.profiles.map { Array($0.utf8) }
    case .track: Seeds.tracks.map { Array($0.utf8) }
    case .recording: Seeds.recordings.map { [0, 9] + $0 }
    case .wire: WireProperty.seeds
    case .gpsd: GPSDProperty.seeds
    case .uplink: UplinkProperty.seeds
    }
  }

  /// Tokens for this kind of input, in the format of a libFuzzer dictionary.
  public var dictionary: String {
    let words: [String] =
      switch self {
      case .stream, .nmea, .recording: Seeds.sentenceDictionary
      case .ubx, .commands: ["\\xb5\\x62", "\\x01\\x07\\x5c\\x00", "\\x06\\x8a", "\\x06\\x8b"]
      case .ring: ["TORPRING", "\\x01\\x00\\x00\\x00"]
      case .profile: Seeds.profileDictionary
      case .track: ["unix_time,lat,lon,alt,speed", ",", "1700000000", "-180", "1e-9", "\\x0a"]
      case .wire: WireProperty.dictionary
      case .gpsd: GPSDProperty.dictionary
      case .uplink:
        ["TPUP", "\\x01\\x01", "\\x08", "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x01"]
      }
    return words.map { "\"\($0)\"\n" }.joined()
  }
}

/// The seeds of each property; each is small.
enum Seeds {
  static let sentences = [
    "GPRMC,084725.23,A,3751.65,S,14507.36,E,000.0,360.0,130998,011.3,E,A,V",
    "GNGGA,084725.23,3751.65,S,14507.36,E,1,04,2.95,-16.05,M,47.0,M,,",
    "GPGSA,A,3,02,08,09,05,04,26,,,,,,,4.92,3.86,3.05,1",
    "GLGSV,4,1,13,02,28,259,33,04,12,212,27,05,34,305,30,07,79,138,20,1",
    "GPGSV,2,1,05,02,28,259,33,04,12,212,,05,34,305,00,40,79,138,20\nGPGSV,2,2,05,12,05,360,9\n"
      + "GLGSV,1,1,01,66,40,010,41\nGNGSA,A,3,02,40,66,,,,,,,,,,1.8,1.0,1.5\n"
      + "GPGSV,1,1,01,02,28,259,33\nGLGSV,1,1,01,66,40,010,41",
    "GPGST,084725.23,3.2,6.6,4.7,47.3,5.8,5.6,22.0",
    "GPVTG,251.34,T,,M,0.58,N,1.07,K,A",
    "GPVTG,054.7,034.4,005.5,010.2",
    "GPZDA,084725.23,13,09,1998,-1,00",
    "GPGLL,3751.65,S,14507.36,E,084725.23,A,A",
    "GNGNS,084725.23,3751.65,S,14507.36,E,AN,08,1.2,40.1,47.0,,",
    "GNGBS,084725.23,3.0,2.9,8.3,,,,",
    "PUBX,00,084725.23,3751.65,S,14507.36,E,40.1,G3,2.1,2.0,0.1,77.5,0.0,,0.9,1.2,0.8,9,0,0",
    "PGRMZ,246,f,3", "PMTK001,220,3", "PAIR001,050,0",
    "GPRMC,235959.99,A,0000.00,N,00000.00,W,1.5,1.5,311299,,,A\nGPRMC,000000.00,A,0000.00,N,"
      + "00000.00,W,1.5,1.5,010100,,,A\nGPGGA,000000.00,0000.00,N,00000.00,W,1,04,1.0,1,M,,M,,",
  ]

  static let sentenceDictionary = [
    "GPRMC,", "GNGGA,", "GPGSA,", "GPGSV,", "GPGST,", "GPVTG,", "GPZDA,", "GPGLL,", "GNGNS,",
    "GNGBS,", "PUBX,00,", "PGRM", "PMTK001,", "PAIR001,", "235960", "311299", "9000.0", "18000.0",
    "99999999999999999999", "2147483647", "-", ".", "*00", "$", "\\xb5\\x62", "\\xd3\\x00",
    "# Date: 2020-02-29\\x0a", "\\x0d\\x0a",
  ]

  static let profileDictionary = [
    "[board]", "[board.idle]", "[receiver]", "[receiver.power]", "[receiver.batch]", "[cache]",
    "wakes_on = [", "after_off = [", "{ off_s = 0, fix_s = 1 }", "name = ", "= true",
    "= 1979-05-27",
    "\\x22\\x22\\x22", "'''", "0x", "0b1", "inf", "nan", "\\\\u", "[[", "]]", "e+9", "\\x0a", "#",
  ]

  /// UBX frames from class to payload.
  static let frames: [[UInt8]] = {
    var solution = UBXSolution(
      utc: UTCTime(microseconds: 1_700_000_000_000_000), fixType: 3, isFixOK: true,
      longitude_e7: 145_122_667, latitude_e7: -37_860_833, height_mm: 63_000,
      horizontalAccuracy_mm: 1_500)
    solution.timeOfWeek_ms = 1_000
    solution.positionDOP_e2 = 120
    solution.satellites = 12
    var buffers = [FrameBuffer](repeating: FrameBuffer(), count: 7)
    buffers[0].appendNavPVT(solution)
    buffers[1].appendBatchEntry(
      UBXBatchEntry(messageCount: 1, hasExtraPVT: true, solution: solution))
    buffers[2].appendBatchEntry(
      UBXBatchEntry(messageCount: 2, hasExtraPVT: false, solution: solution))
    buffers[3].appendBatchStatus(UBXBatchStatus(fillLevel: 3))
    buffers[4].appendAcknowledgement(of: .cfgVALSET)
    buffers[5].appendAcknowledgement(of: .cfgVALSET, isAccepted: false)
    buffers[6].appendVersion(
      UBXVersion(
        software: "ROM SPG 5.10 (7b202e)", hardware: "000A0000", module: "MAX-M10S",
        protocolVersion_e2: 3_410))
    var answer = FrameBuffer()
    answer.append(UBXAidingAnswer(to: .mgaDBD, payloadStart: 40))
    buffers.append(answer)
    var values = FrameBuffer()
    values.appendConfigurationValues(configuration, layer: UBXPolledLayer.ram.rawValue)
    buffers.append(values)
    buffers += satelliteBuffers
    return buffers.map { Array($0.bytes.dropFirst(2).dropLast(2)) } + [aidingEntry] + olderFrames
  }()

  /// NAV-SAT and NAV-DOP.
  private static var satelliteBuffers: [FrameBuffer] {
    var view = SatelliteView()
    view.add(
      Satellite(.gps, 2, isUsed: true, elevation_deg: 71, azimuth_deg: 285, signal_dBHz: 46))
    view.add(Satellite(.sbas, 123, signal_dBHz: 37))
    view.add(Satellite(.glonass, 255))
    view.dilutions.position_e2 = 150
    var buffers = [FrameBuffer](repeating: FrameBuffer(), count: 2)
    buffers[0].appendNavSAT(view, timeOfWeek_ms: 1_000)
    buffers[1].appendNavDOP(view.dilutions, timeOfWeek_ms: 1_000)
    return buffers
  }

  /// An entry of a u-blox navigation database (UBX-MGA-DBD).
  private static let aidingEntry: [UInt8] =
    [0x13, 0x80, 76, 0] + [UInt8](repeating: 0, count: 12) + (0..<64).map { UInt8($0) }

  /// Identities and lengths of frames of other receivers and protocol versions; the payload is zero.
  private static let olderFrames: [[UInt8]] = [
    (0x01, 0x07, 84), (0x01, 0x14, 36), (0x28, 0x00, 72), (0x01, 0x21, 20), (0x01, 0x20, 16),
    (0x01, 0x26, 24), (0x01, 0x35, 20), (0x01, 0x04, 18), (0x01, 0x61, 4), (0x01, 0x03, 16),
    (0x01, 0x06, 52), (0x01, 0x02, 28), (0x01, 0x01, 20), (0x01, 0x12, 36), (0x01, 0x11, 20),
    (0x01, 0x30, 20),
  ].map { [$0.0, $0.1, $0.2, 0] + [UInt8](repeating: 0, count: Int($0.2)) }

  static let streams: [[UInt8]] = {
    let text = sentences.map { [0, 0, 0] + stream(of: Array($0.utf8)) }
    var both: [UInt8] = [1, 200, 20]
    for frame in frames.prefix(3) { both += stream(frame: frame) }
    for line in sentences.prefix(6) { both += stream(of: Array(line.utf8)) }
    let falseStart: [UInt8] = [0, 3, 20, 0xB5, 0xB5, 0x62, 0x62, 0x24, 0x24]
    return text + [both, falseStart + stream(frame: frames[4])]
      + frames.prefix(7).map { [0, 130, 0] + stream(frame: $0) }
      + [[0, 130, 20] + frames[9...10].flatMap { stream(frame: $0) }]
  }()

  /// Configuration items of 1, 2 and 4 bytes.
  private static let configuration: UBXConfiguration = {
    var configuration = UBXConfiguration(layers: .ram)
    configuration.set(0x1007_0001, 1)
    configuration.set(0x3021_0001, 1_000)
    configuration.set(0x4052_0001, 115_200)
    return configuration
  }()

  static let commands: [[UInt8]] = {
    var items = configuration
    items.set(0x5005_0008, 1)
    var buffers = [FrameBuffer](repeating: FrameBuffer(), count: 7)
    buffers[6].appendConfigurationPoll(
      UBXConfigurationPoll(layer: .ram, keysOf: items))
    buffers[4].appendAidingTime(UTCTime(microseconds: 1_700_000_000_500_000))
    buffers[5].appendAidingAcknowledgement(true)
    buffers[0].appendConfiguration(items)
    buffers[1].appendPowerRequest(
      UBXPowerRequest(wakeupSources: UBXPowerRequest.wakesByUART))
    buffers[2].appendRetrieveBatch(sendsStatusFirst: true)
    buffers[3].appendPoll(.monVER)
    let framed = buffers.map { [0, 0] + Array($0.bytes.dropFirst(2).dropLast(2)) }
    let short: [UInt8] = [0, 0, 0x02, 0x41, 8, 0, 0, 0, 0, 0, 2, 0, 0, 0]
    return framed + [short] + buffers.map { [5, 1] + $0.bytes }
  }()

  static let tracks = [
    "unix_time,lat,lon,alt,speed\n1700000000,48.1,11.5,520,1.5\n1700000001.5,48.1001,11.5,,\n",
    "unix_time,lat,lon,alt,speed,note\r\n1e9,-90,180,,0,a\r\n\r\n1.1e9,90,-180,1,,b\r\n",
    "\u{FEFF}unix_time,lat,lon,alt,speed\n0,0,179.999,,\n0,0,0,,\n1,0,-179.999,-1,16777\n2,,,,\n",
  ]

  static let recordings: [[UInt8]] = {
    let line = stream(of: Array(sentences[0].utf8))
    let header = Array("# Name: a\n# Date: 2018-09-13\n".utf8)
    let frame = stream(frame: frames[0])
    return [
      header + line + line, line + header + frame + frame,
      Array("# Date = 1998/9/13\n".utf8) + line,
      frame + Array("#\u{1}\n".utf8) + line,
    ]
  }()

  static let profiles = [
    """
    name = "b"
    description = "d"
    [board.awake]
    power_mw = 1000
    [board.idle]
    power_mw = 100
    resume_s = 0.001
    [board.suspended]
    power_mw = 10
    resume_s = 0.5
    alarm_resolution_s = 1
    wakes_on = ["alarm", "bytes", "batch_pin"]
    [receiver]
    family = "ublox-m10"
    output = "ubx"
    wake_line = "W"
    supply_line = "S"
    [receiver.power]
    acquire_mw = 30
    track_mw = 25
    standby_mw = 0.2
    backup_mw = 0.1
    off_mw = 0
    [receiver.batch]
    capacity_fixes = 300
    watermark_fixes = 240
    power_mw = 25
    line = "B"
    pio = 4
    [receiver.time_to_fix]
    after_off = [{ off_s = 0, fix_s = 1 }, { off_s = 7200, fix_s = 30 }]
    ephemeris_s = 14400
    cold_s = 30
    [cache]
    capacity_fixes = 7200
    deferral_limit_fixes = 3600
    """,
    "a.b = 'x'\n[c]\nd = [1, 2.5, \"e\", true, 1979-05-27]\n[[f]]\ng = { h = 0x1F, i = -inf }\n",
  ]

  /// NMEA sentences with the given bodies, one per line.
  static func stream(of body: [UInt8]) -> [UInt8] {
    body.split(separator: UInt8(ascii: "\n")).flatMap { line in
      SentenceProperty.sentence(line)
    }
  }

  /// A complete UBX frame: sync characters, `frame` from class to payload, checksum.
  static func stream(frame: [UInt8]) -> [UInt8] {
    var reader = InputReader(frame)
    var count = 0
    return FrameProperty.frames(&reader, &count)
  }
}
