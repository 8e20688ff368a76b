import LocationTypes
import TextFormats

// The objects of gpsd's protocol 3.14, with gpsd's names, units, digits and order of members. `class` comes first, and
// no object contains a space outside of a string, null or a number that is not finite. Source: gpsd_json(5), and the
// output of gpsd 3.22.

extension JSONOutput {
  /// Version of the protocol.
  private static let protocolVersion = (major: Int64(3), minor: Int64(14))
  /// Release of gpsd whose protocol this is. Some programs compare it.
  private static let release = "3.22"

  /// Appends an object on a line of its own.
  private mutating func gpsdLine(_ body: (inout JSONOutput) -> Void) {
    object(body)
    text.add(word: "\r\n")
  }

  /// Appends the greeting.
  ///
  /// - Parameter service: Name and version of the service.
  public mutating func gpsdVersion(_ service: String) {
    gpsdLine { json in
      json.member("class", word: "VERSION")
      json.member("release", JSONOutput.release)
      json.member("rev", service)
      json.member("proto_major", JSONOutput.protocolVersion.major)
      json.member("proto_minor", JSONOutput.protocolVersion.minor)
    }
  }

  /// Appends the list of devices.
  public mutating func gpsdDevices(_ device: GPSDDevice, activated: UTCTime) {
    gpsdLine { json in
      json.member("class", word: "DEVICES")
      json.list("devices") { json in
        json.element { $0.gpsdMembers(device, activated: activated) }
      }
    }
  }

  /// Appends the device.
  public mutating func gpsdDevice(_ device: GPSDDevice, activated: UTCTime) {
    gpsdLine { $0.gpsdMembers(device, activated: activated) }
  }

  private mutating func gpsdMembers(_ device: GPSDDevice, activated: UTCTime) {
    member("class", word: "DEVICE")
    member("path", device.path)
    member("driver", device.driver)
    string("activated") { $0.add(iso8601: activated) }
    member("flags", Int64(1))
    member("native", Int64(device.isBinary ? 1 : 0))
    member("bps", Int64(device.speed_baud))
    member("parity", word: "N")
    member("stopbits", Int64(1))
    member("cycle", 100, scale: 2, places: 2)
  }

  /// Appends the policy in force.
  public mutating func gpsdWatch(_ policy: GPSDPolicy) {
    gpsdLine { json in
      json.member("class", word: "WATCH")
      json.member("enable", policy.enable)
      json.member("json", policy.json)
      json.member("nmea", policy.nmea)
      json.member("raw", Int64(0))
      json.member("scaled", false)
      json.member("timing", policy.timing)
      json.member("split24", false)
      json.member("pps", policy.pps)
      if let device = policy.device, !device.isEmpty { json.member("device", device) }
      if policy.name != GPSDPolicy.standardName { json.member("torpor_name", policy.name) }
      if let interval = policy.saving.interval_s { json.member("torpor_interval", interval) }
      if let accuracy = policy.saving.accuracy_m { json.member("torpor_accuracy", accuracy) }
      if let time = policy.saving.defer_s { json.member("torpor_defer", time) }
    }
  }

  /// Appends an error.
  public mutating func gpsdError(_ message: String) {
    gpsdLine { json in
      json.member("class", word: "ERROR")
      json.member("message", message)
    }
  }

  /// Appends a report of time, position and velocity.
  public mutating func gpsdTPV(_ report: GPSDReport, _ device: GPSDDevice) {
    gpsdLine { $0.gpsdMembers(GPSDPosition(report, device)) }
  }

  /// Appends the satellites in view; without a view, the number of those used for the fix, if it is known.
  public mutating func gpsdSKY(
    _ report: GPSDReport, _ view: SatelliteView?, _ device: GPSDDevice
  ) {
    gpsdLine { $0.gpsdMembers(report, view, device) }
  }

  /// Appends the answer to a request for the current report; without one if the connection has requested no data.
  ///
  /// - Parameter hasSky: Whether the client may receive satellites. Then the answer has a SKY even if they are unknown,
  ///   because programs read the last one of the list.
  public mutating func gpsdPoll(
    _ report: GPSDReport?, _ view: SatelliteView?, hasSky: Bool, _ device: GPSDDevice,
    at time: UTCTime
  ) {
    gpsdLine { json in
      json.member("class", word: "POLL")
      json.string("time") { $0.add(iso8601: time) }
      json.member("active", Int64(report == nil ? 0 : 1))
      json.list("tpv") { json in
        if let report { json.element { $0.gpsdMembers(GPSDPosition(report, device)) } }
      }
      json.list("gst") { json in
        guard report != nil else { return }
        json.element { json in
          json.member("class", word: "GST")
          json.member("device", device.path)
        }
      }
      json.list("sky") { json in
        if hasSky, let report { json.element { $0.gpsdMembers(report, view, device) } }
      }
    }
  }

  /// Appends the time of a fix by the receiver's clock, and of the arrival of its first byte by the system's clock.
  public mutating func gpsdTOFF(_ real: UTCTime, clock: UTCTime, _ device: GPSDDevice) {
    // gpsd's constant: half a second.
    gpsdTimes("TOFF", real, clock: clock, device, precision: -1)
  }

  /// Appends the time of a pulse per second by the receiver's and by the system's clock.
  public mutating func gpsdPPS(_ real: UTCTime, clock: UTCTime, _ device: GPSDDevice) {
    // 2⁻²⁰ s, about a microsecond.
    gpsdTimes("PPS", real, clock: clock, device, precision: -20)
  }

  private mutating func gpsdTimes(
    _ name: StaticString, _ real: UTCTime, clock: UTCTime, _ device: GPSDDevice, precision: Int64
  ) {
    gpsdLine { json in
      json.member("class", word: name)
      json.member("device", device.path)
      json.member("real_sec", real.wholeSeconds)
      json.member("real_nsec", real.nanoseconds)
      json.member("clock_sec", clock.wholeSeconds)
      json.member("clock_nsec", clock.nanoseconds)
      json.member("precision", precision)
    }
  }

  /// Appends the end of the fixes of the past.
  public mutating func gpsdHistoryEnd(count: Int, isComplete: Bool) {
    gpsdLine { json in
      json.member("class", word: "TORPOR")
      json.member("fixes", Int64(count))
      json.member("complete", isComplete)
    }
  }
}

// MARK: - SKY

extension JSONOutput {
  private mutating func gpsdMembers(
    _ report: GPSDReport, _ view: SatelliteView?, _ device: GPSDDevice
  ) {
    member("class", word: "SKY")
    member("device", device.path)
    if let utc = report.utc { string("time") { $0.add(iso8601: utc) } }
    guard let view else {
      if let used = report.fix?.satellites { member("uSat", Int64(used)) }
      return
    }
    gpsdMembers(view.dilutions)
    let listed = (0..<view.count).compactMap { index in
      view[index].nmeaNumber.map { (satellite: view[index], number: $0) }
    }
    member("nSat", Int64(listed.count))
    member("uSat", Int64(listed.count { $0.satellite.isUsed }))
    list("satellites") { json in
      for entry in listed {
        json.element { $0.gpsdMembers(entry.satellite, numbered: entry.number) }
      }
    }
  }

  private mutating func gpsdMembers(_ dilutions: DilutionsOfPrecision) {
    dilution("xdop", dilutions.east_e2)
    dilution("ydop", dilutions.north_e2)
    dilution("vdop", dilutions.vertical_e2)
    dilution("tdop", dilutions.time_e2)
    dilution("hdop", dilutions.horizontal_e2)
    dilution("gdop", dilutions.geometric_e2)
    dilution("pdop", dilutions.position_e2)
  }

  private mutating func dilution(_ name: StaticString, _ value: UInt16?) {
    if let value { member(name, Int64(value), scale: 2, places: 2) }
  }

  private mutating func gpsdMembers(_ satellite: Satellite, numbered number: UInt16) {
    member("PRN", Int64(number))
    if let elevation = satellite.elevation_deg {
      member("el", Int64(elevation), scale: 0, places: 1)
    }
    if let azimuth = satellite.azimuth_deg { member("az", Int64(azimuth), scale: 0, places: 1) }
    member("ss", Int64(satellite.signal_dBHz ?? 0), scale: 0, places: 1)
    member("used", satellite.isUsed)
    member("gnssid", Int64(satellite.constellation.rawValue))
    member("svid", Int64(satellite.number))
  }
}

extension UTCTime {
  fileprivate var wholeSeconds: Int64 {
    microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0)
  }

  fileprivate var nanoseconds: Int64 { (microseconds - wholeSeconds * 1_000_000) * 1_000 }
}
