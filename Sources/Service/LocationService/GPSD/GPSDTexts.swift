import GPSDProtocol
import LocationEngine
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
  ///   - view: Satellites in view; nil if they are unknown.
  ///   - times: Times of the fix by both clocks; nil if it did not arrive just now.
  ///   - hasSentences: Whether any connection has requested sentences.
  init(
    _ report: GPSDReport, _ view: SatelliteView?, _ device: GPSDDevice, _ times: GPSDTimes?,
    hasSentences: Bool
  ) {
    objects.gpsdTPV(report, device)
    objects.gpsdSKY(report, view, device)
    if let times {
      timing.gpsdTOFF(times.utc, clock: times.arrival, device)
      if let pulse = times.pulse { timing.gpsdPPS(pulse.real, clock: pulse.clock, device) }
    }
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

/// Times of a fix and of its pulse per second, by the receiver's and by the system's clock.
struct GPSDTimes {
  /// UTC of the fix.
  let utc: UTCTime
  /// Arrival of its first byte, by the system's clock.
  let arrival: UTCTime
  /// The pulse; nil without one.
  private(set) var pulse: (real: UTCTime, clock: UTCTime)?

  /// - Parameters:
  ///   - epoch: Times of the fix.
  ///   - now: Time at which it is reported.
  ///   - wallTime: Converts a time of the boot clock to the system's clock.
  init(_ epoch: EpochTime, at now: Instant, _ wallTime: (Instant) -> UTCTime) {
    utc = epoch.utc
    arrival = wallTime(epoch.arrival ?? now)
    guard let edge = epoch.pulse else { return }
    // The pulse marks the whole second that is nearest to the fix.
    let second = (epoch.utc.microseconds + 500_000) / 1_000_000
    pulse = (UTCTime(microseconds: second * 1_000_000), wallTime(edge))
  }
}
