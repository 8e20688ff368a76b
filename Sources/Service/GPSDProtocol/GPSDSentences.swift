import GNSSProtocols
import LocationTypes
import TextFormats

/// NMEA sentences of a report, for clients with `"nmea":true`: RMC, GGA, GSA, GSV, VTG and ZDA, whatever the receiver
/// sends.
public enum GPSDSentences {
  /// As many decimals as programs expect.
  private static let format = NMEAFormat(
    minuteDecimals: 6, timeDecimals: 2, courseDecimals: 2, metreDecimals: 2)

  /// A satellite system in sentences.
  private struct System {
    let talker: Talker
    /// System identifier of NMEA 4.1, for GSA.
    let identifier: UInt8
    let constellations: [Constellation]
    /// Whether satellites have the numbers of NMEA 2.X instead of those of their system.
    let usesCommonNumbers: Bool
  }

  /// NavIC is missing, because its satellites have no number in NMEA sentences.
  private static let systems = [
    System(
      talker: .gps, identifier: 1, constellations: [.gps, .sbas], usesCommonNumbers: true),
    System(
      talker: Talker(UInt8(ascii: "G"), UInt8(ascii: "L")), identifier: 2,
      constellations: [.glonass], usesCommonNumbers: true),
    System(
      talker: Talker(UInt8(ascii: "G"), UInt8(ascii: "A")), identifier: 3,
      constellations: [.galileo], usesCommonNumbers: false),
    System(
      talker: Talker(UInt8(ascii: "G"), UInt8(ascii: "B")), identifier: 4,
      constellations: [.beidou], usesCommonNumbers: false),
    System(
      talker: Talker(UInt8(ascii: "G"), UInt8(ascii: "Q")), identifier: 5,
      constellations: [.qzss], usesCommonNumbers: false),
  ]

  /// Largest number of satellites in a GSA.
  private static let satellitesPerGSA: UInt8 = 12
  /// Largest number of satellites in a GSV.
  private static let satellitesPerGSV = 4

  /// Appends the sentences of a fix, or of its absence. GSV only with satellites in view.
  public static func write(
    _ report: GPSDReport, _ view: SatelliteView?, to text: inout TextBuffer
  ) {
    if var fix = report.fix {
      fix.utc = report.utc
      let dilution = view?.dilutions.horizontal_e2
      add(to: &text) { $0.append(RMC(fix), format: format) }
      add(to: &text) { $0.append(GGA(fix, horizontalDOP_e2: dilution), format: format) }
    } else {
      writeNoFix(report.utc, to: &text)
    }
    let satellites = systems.map { numbers(of: $0, view) }
    writeActive(satellites, mode: UInt8(report.mode), view, to: &text)
    for (system, all) in zip(systems, satellites) { writeInView(system, all.map(\.0), to: &text) }
    if let fix = report.fix {
      add(to: &text) { $0.append(VTG(fix), format: format) }
      if let utc = report.utc { add(to: &text) { $0.append(ZDA(utc), format: format) } }
    }
  }

  /// The satellites of a system, each with whether it is used.
  private static func numbers(
    of system: System, _ view: SatelliteView?
  ) -> [(SatelliteInView, Bool)] {
    guard let view else { return [] }
    var found: [(SatelliteInView, Bool)] = []
    for index in 0..<view.count where system.constellations.contains(view[index].constellation) {
      let satellite = view[index]
      guard let common = satellite.nmeaNumber else { continue }
      let number = system.usesCommonNumbers ? common : UInt16(satellite.number)
      let inView = SatelliteInView(
        number: number, elevation_deg: satellite.elevation_deg, azimuth_deg: satellite.azimuth_deg,
        signal_dBHz: satellite.signal_dBHz)
      found.append((inView, satellite.isUsed))
    }
    return found
  }

  /// Appends a GSA for each system with used satellites; one without satellites if there is none.
  private static func writeActive(
    _ satellites: [[(SatelliteInView, Bool)]], mode: UInt8, _ view: SatelliteView?,
    to text: inout TextBuffer
  ) {
    var hasWritten = false
    for (system, all) in zip(systems, satellites) {
      var sentence = GSA(talker: .combined, fixMode: mode)
      for (satellite, isUsed) in all
      where isUsed && sentence.satellites < satellitesPerGSA {
        sentence.append(satellite.number)
      }
      let isLast = system.identifier == systems.last?.identifier
      guard sentence.satellites > 0 || (isLast && !hasWritten) else { continue }
      sentence.positionDOP_e2 = view?.dilutions.position_e2
      sentence.horizontalDOP_e2 = view?.dilutions.horizontal_e2
      sentence.verticalDOP_e2 = view?.dilutions.vertical_e2
      if sentence.satellites > 0 { sentence.system = system.identifier }
      hasWritten = true
      add(to: &text) { $0.append(sentence) }
    }
  }

  private static func writeInView(
    _ system: System, _ satellites: [SatelliteInView], to text: inout TextBuffer
  ) {
    let count = (satellites.count + satellitesPerGSV - 1) / satellitesPerGSV
    for number in 0..<count {
      var sentence = GSV(
        talker: system.talker, sentences: UInt8(count), number: UInt8(number + 1),
        inView: UInt8(satellites.count))
      for satellite in satellites.dropFirst(number * satellitesPerGSV).prefix(satellitesPerGSV) {
        sentence.append(satellite)
      }
      add(to: &text) { $0.append(sentence) }
    }
  }

  private static func writeNoFix(_ utc: UTCTime?, to text: inout TextBuffer) {
    var time = RMC(talker: .combined, time_us: utc?.microsecondsOfDay, isValid: false)
    time.date = utc.map { ShortDate($0.date) }
    add(to: &text) { $0.append(time, format: format) }
    let position = GGA(talker: .combined, time_us: utc?.microsecondsOfDay, quality: 0)
    add(to: &text) { $0.append(position, format: format) }
  }

  private static func add(to text: inout TextBuffer, _ body: (inout FrameBuffer) -> Void) {
    var frame = FrameBuffer()
    body(&frame)
    for index in 0..<frame.count { text.add(byte: frame[index]) }
  }
}
