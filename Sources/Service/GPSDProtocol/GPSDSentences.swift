import GNSSProtocols
import LocationTypes
import TextFormats

/// NMEA sentences of a report, for clients with `"nmea":true`: RMC, GGA, GSA, VTG and ZDA, whatever the receiver sends.
public enum GPSDSentences {
  /// As many decimals as programs expect.
  private static let format = NMEAFormat(
    minuteDecimals: 6, timeDecimals: 2, courseDecimals: 2, metreDecimals: 2)

  /// Appends the sentences.
  public static func write(_ report: GPSDReport, to text: inout TextBuffer) {
    guard var fix = report.fix else { return writeNoFix(report.utc, to: &text) }
    fix.utc = report.utc
    add(to: &text) { $0.append(RMC(fix), format: format) }
    add(to: &text) { $0.append(GGA(fix), format: format) }
    add(to: &text) { $0.append(GSA(talker: .combined, fixMode: fix.mode.rawValue)) }
    add(to: &text) { $0.append(VTG(fix), format: format) }
    if let utc = report.utc { add(to: &text) { $0.append(ZDA(utc), format: format) } }
  }

  private static func writeNoFix(_ utc: UTCTime?, to text: inout TextBuffer) {
    var time = RMC(talker: .combined, time_us: utc?.microsecondsOfDay, isValid: false)
    time.date = utc.map { ShortDate($0.date) }
    add(to: &text) { $0.append(time, format: format) }
    add(to: &text) {
      $0.append(
        GGA(talker: .combined, time_us: utc?.microsecondsOfDay, quality: 0), format: format)
    }
    add(to: &text) { $0.append(GSA(talker: .combined, fixMode: 1)) }
  }

  private static func add(to text: inout TextBuffer, _ body: (inout FrameBuffer) -> Void) {
    var frame = FrameBuffer()
    body(&frame)
    for index in 0..<frame.count { text.add(byte: frame[index]) }
  }
}
