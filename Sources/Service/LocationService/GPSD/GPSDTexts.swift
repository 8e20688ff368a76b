import GPSDProtocol
import LocationTypes
import TextFormats

/// One report in each form that a connection can request, encoded once for all connections of a client.
struct GPSDTexts: ~Copyable {
  private var objects = JSONOutput()
  private var timing = JSONOutput()
  private var sentences = TextBuffer()

  /// Encodes a report.
  ///
  /// - Parameters:
  ///   - arrival: Time of the system's clock.
  ///   - hasSentences: Whether any connection has requested sentences.
  init(
    _ report: GPSDReport, _ view: SatelliteView?, _ device: GPSDDevice, arrival: UTCTime,
    hasSentences: Bool
  ) {
    objects.gpsdTPV(report, device)
    objects.gpsdSKY(report, view, device)
    if let utc = report.fix?.utc { timing.gpsdTOFF(utc, clock: arrival, device) }
    if hasSentences { GPSDSentences.write(report, view, to: &sentences) }
  }

  /// Appends the forms that a connection has requested.
  borrowing func append(to connection: GPSDConnection) {
    if connection.policy.json {
      connection.append(objects.text)
      if connection.policy.pps || connection.policy.timing { connection.append(timing.text) }
    }
    if connection.policy.nmea { connection.append(sentences) }
  }

  /// Appends the report of no fix without anything else.
  static func appendRefusal(_ device: GPSDDevice, to connection: GPSDConnection) {
    if connection.policy.json { connection.write { $0.gpsdTPV(.none, device) } }
    guard connection.policy.nmea else { return }
    var sentences = TextBuffer()
    GPSDSentences.write(.none, nil, to: &sentences)
    connection.append(sentences)
  }
}
