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
  ///   - times: Times of the fix by both clocks; nil if it did not arrive just now, or they are uncertain.
  ///   - hasSentences: Whether any connection has requested sentences.
  init(
    _ report: GPSDReport, _ view: SatelliteView?, _ device: GPSDDevice, _ times: GPSDTimes?,
    hasSentences: Bool
  ) {
    objects.gpsdTPV(report, device)
    if view != nil || report.fix?.satellites != nil { objects.gpsdSKY(report, view, device) }
    if let times {
      timing.gpsdTOFF(times.utc, clock: times.arrival, device)
      if let pulse = times.pulse { timing.gpsdPPS(pulse.real, clock: pulse.clock, device) }
    }
    if hasSentences { GPSDSentences.write(report, view, to: &sentences) }
  }

  /// Appends the forms that a connection has requested.
  borrowing func append(to connection: GPSDConnection) {
    if connection.policy.json { connection.append(objects.text) }
    if connection.policy.pps || connection.policy.timing { connection.append(timing.text) }
    if connection.policy.nmea { connection.append(sentences) }
  }

  /// Appends a report without satellites and times.
  static func append(_ report: GPSDReport, _ device: GPSDDevice, to connection: GPSDConnection) {
    if connection.policy.json { connection.write { $0.gpsdTPV(report, device) } }
    guard connection.policy.nmea else { return }
    var sentences = TextBuffer()
    GPSDSentences.write(report, nil, to: &sentences)
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
  let pulse: (real: UTCTime, clock: UTCTime)?

  /// Nil if the fix has no time of satellites, or its arrival is unknown: a program may set a clock by it.
  ///
  /// - Parameters:
  ///   - epoch: Times of the fix.
  ///   - wallTime: Converts a time of the boot clock to the system's clock.
  init?(_ epoch: EpochTime, _ wallTime: (Instant) -> UTCTime) {
    guard !epoch.isDateUncertain, let arrival = epoch.arrival else { return nil }
    utc = epoch.utc
    self.arrival = wallTime(arrival)
    pulse = epoch.pulse.map { ($0.utc, wallTime($0.time)) }
  }
}
