import BoardHardware
import BoardProfiles
import LinuxHAL
import LocationTypes

// Checks of the receiver: whether it sends data, its identity and speed, its time to first byte and fix.

extension Doctor {
  mutating func examineReceiver() {
    if let profile = options.profile, profile.receiver == nil {
      return skip("receiver", "the profile has no receiver")
    }
    if specifiedLine == nil,
      skipWithoutProfile("receiver", hint: "--line DEVICE checks a line without the profile")
    {
      return
    }
    guard let path = specifiedLine else { return scanLines() }
    if examineLine(path), let line = open(path, speed: speeds[0]) {
      let supply = requestSupply()
      if examineReceiver(on: line, path) { return examineTimes(on: line, supply) }
    }
    guard !findings.contains(where: { $0.name == "receiver" }), !options.isStopped() else { return }
    skip("receiver", "not checked: its line cannot be read, see above")
  }

  /// Scans lines for a receiver if no line is specified.
  private mutating func scanLines() {
    let candidates = candidateLines
    guard !candidates.isEmpty else {
      return fail(
        "serial line", "there is no serial line",
        suggestion: "enable the port or connect the receiver, then run the check again")
    }
    let count = candidates.count == 1 ? "1 line exists" : "\(candidates.count) lines exist"
    skip(
      "serial lines",
      "none is specified; \(count): \(candidates.joined(separator: ", ")). Up to \(Doctor.maxScannedLines) unused "
        + "lines are read; nothing is sent unless a receiver is detected")
    var scanned: [String] = []
    var unread = candidates[...]
    while scanned.count < Doctor.maxScannedLines, facts.device == nil,
      let path = unread.popFirst()
    {
      guard !options.isStopped() else { return }
      guard examineLine(path), let line = open(path, speed: speeds[0]) else { continue }
      scanned.append(path)
      let supply = requestSupply()
      if examineReceiver(on: line, path) { examineTimes(on: line, supply) }
    }
    guard !options.isStopped() else { return }
    reportScan(of: scanned, unscanned: Array(unread))
  }

  /// Reports the result of a scan: lines that were not read, and a failure if no receiver was found.
  private mutating func reportScan(of scanned: [String], unscanned: [String]) {
    if !unscanned.isEmpty {
      let reason = facts.device == nil ? "" : ", because a receiver was found"
      skip(
        "lines left out", "not checked\(reason): \(unscanned.joined(separator: ", "))",
        hint: "--line \(unscanned[0]) checks that line")
    }
    guard facts.device == nil else { return }
    guard !scanned.isEmpty else {
      // Suggest how to free the first, most likely line before specifying another line.
      return fail(
        "receiver", "no serial line can be read, see above",
        suggestion: lineInUseSuggestion ?? Doctor.specifyLineSuggestion)
    }
    fail(
      "receiver", "no receiver detected on \(scanned.joined(separator: ", "))",
      suggestion: "\(silenceSuggestion); a sleeping receiver is polled only on a specified "
        + "line: --line "
        + scanned[0])
  }

  private static let specifyLineSuggestion =
    "specify the line with --line DEVICE, or --board NAME with a device; the receiver is then also polled"
  private var silenceSuggestion: String {
    let supply = excludedSupplyLine.map { " (--no-pins excludes \($0))" } ?? ""
    return "check that it is powered\(supply), that TX and RX are crossed, and that ground "
      + "is connected"
  }

  /// Expected line speeds, baud.
  private var speeds: [UInt32] {
    guard let receiver = options.profile?.receiver else { return [ReceiverScan.speeds[0]] }
    return [UInt32(receiver.lineSpeed_baud), UInt32(receiver.defaultLineSpeed_baud)]
  }

  private func scan(_ line: ReceiverLine) -> ReceiverScan {
    ReceiverScan(
      line, timeouts, isLineSpecified ? .always : .afterDetection, isStopped: options.isStopped)
  }

  /// Scans a line.
  ///
  /// - Returns: Whether a receiver was detected.
  private mutating func examineReceiver(on line: ReceiverLine, _ path: String) -> Bool {
    switch scan(line).run(expecting: speeds) {
    case .detected(let detected):
      facts.device = path
      facts.speed_baud = detected.speed
      facts.identity = detected.probe.identity
      // Report a different receiver first, because it also explains a different speed.
      let isOther = isOtherFamily(detected.probe.identity)
      if isOther { examineIdentity(detected, path) }
      examineSpeed(detected)
      if !isOther { examineIdentity(detected, path) }
      examineFix(detected.probe)
      return true
    case .unrecognised(let bytes):
      guard isLineSpecified else { return false }
      fail(
        "receiver",
        "received \(bytes) bytes on \(path), but no valid message at any of the usual speeds",
        suggestion:
          "check that it is a receiver, that its signal level is 3.3 V and not RS-232, and its speed"
      )
    case .silence:
      guard isLineSpecified else { return false }
      fail(
        "receiver", "received nothing on \(path) at any of the usual speeds",
        suggestion: silenceSuggestion + "; specify another line with --line")
    case .stopped: break
    case .disconnected:
      guard isLineSpecified else { return false }
      fail(
        "receiver", "\(path) was disconnected during the check",
        suggestion: "check the plug, and `dmesg` for the reason")
    }
    return false
  }

  /// Whether the profile has another family. A profile with the family `nmea` works with every receiver.
  private func isOtherFamily(_ identity: ReceiverIdentity?) -> Bool {
    guard let family = options.profile?.receiver?.family, let identity else { return false }
    return family != .passive && family != identity.family
  }

  private mutating func examineSpeed(_ detected: ReceiverScan.Detected) {
    let text = "sends \(detected.probe.format) at \(detected.speed) baud"
    guard let receiver = options.profile?.receiver, !speeds.contains(detected.speed) else {
      return pass("receiver", text)
    }
    let family = detected.probe.identity?.family ?? receiver.family
    let isDefault =
      receiver.family != .passive && family.descriptor.isUsualDefaultSpeed(detected.speed)
    let key = isDefault ? "default_line_speed_baud" : "line_speed_baud"
    var suggestion = "\(key) = \(detected.speed) in [receiver]"
    if receiver.family != .passive, !isDefault {
      suggestion +=
        "; a program such as torpord may have set this speed, while default_line_speed_baud is "
        + "the speed after power-on"
    }
    let expected =
      speeds[0] == speeds[1] ? "\(speeds[0])" : "\(speeds[0]), or \(speeds[1]) after power-on"
    fail("receiver", "it \(text); the profile says \(expected)", suggestion: suggestion)
  }

  private mutating func examineIdentity(_ detected: ReceiverScan.Detected, _ path: String) {
    guard detected.wasQueried || detected.probe.identity != nil else {
      return skip(
        "identity", "not polled: its output contains no fixes, so it may not be a GNSS receiver",
        hint: "if it is the receiver: --line \(path)")
    }
    guard let identity = detected.probe.identity else {
      let isUnexpected = options.profile.map { $0.receiver?.family != .passive } ?? false
      guard isUnexpected, let family = options.profile?.receiver?.family else {
        return skip(
          "identity", "it does not identify itself; use the family \"nmea\"")
      }
      return fail(
        "identity",
        "it responds to no command, but the profile's family is \"\(family.name)\"; "
          + "the service can deliver its fixes, but cannot put it to sleep or use its batching",
        suggestion:
          "connect the board's TX to the receiver's RX, or set family = \"nmea\" in [receiver]")
    }
    guard let family = options.profile?.receiver?.family, family != identity.family else {
      return pass("identity", identity.description)
    }
    let suggestion = "family = \"\(identity.family.name)\" in [receiver]"
    // The family nmea works with every receiver.
    if family == .passive { return pass("identity", identity.description, hint: suggestion) }
    fail(
      "identity", "\(identity.description); the profile's family is \"\(family.name)\"",
      suggestion: suggestion)
  }

  private mutating func examineFix(_ probe: BaudProbe) {
    let used = probe.satellites.map { ", \($0) satellites used" } ?? ""
    switch probe.hasFix {
    case true?: pass("fix", "available\(used)")
    case false?: skip("fix", "no fix now", hint: "place the antenna with a view of the sky")
    case nil: skip("fix", "its output does not say whether it has a fix")
    }
  }

  // MARK: Time to first byte and fix

  /// The supply line, if the options exclude it.
  private var excludedSupplyLine: String? { excludedLines.first { $0.hasPrefix("supply_line") } }

  /// Requests the supply line and switches the supply on; nil if there is no such line or the request fails.
  private mutating func requestSupply() -> GPIOAccess.Drive? {
    guard let text = options.profile?.receiver?.supplyLine, let line = try? GPIOLine(text),
      let drive = try? gpio.request(line, true)
    else { return nil }
    return drive
  }

  private mutating func skipTimes(_ reason: String) { skip("times", "not measured: \(reason)") }

  /// Switches the supply off and on, and measures the time to the first byte and to the first fix.
  private mutating func examineTimes(on line: ReceiverLine, _ supply: GPIOAccess.Drive?) {
    if let excludedSupplyLine { return skipTimes("--no-pins excludes \(excludedSupplyLine)") }
    if skipWithoutProfile("times") { return }
    guard let receiver = options.profile?.receiver, receiver.supplyLine != nil else {
      return skipTimes("the profile has no supply_line")
    }
    guard options.measuresTimeToFix else { return skipTimes("disabled by an option") }
    guard let supply else { return skipTimes("the supply_line cannot be used, see above") }
    let clock = SystemClock()
    guard supply(false) else { return skipTimes("the supply_line cannot be switched") }
    var discarded = BaudProbe()
    let receiverScan = scan(line)
    // Wait until the capacitors of the supply are discharged.
    receiverScan.read(into: &discarded, until: clock.now + .seconds(2)) { _ in false }
    _ = line.setSpeed(UInt32(receiver.defaultLineSpeed_baud))
    line.discardInput()
    let begin = clock.now
    guard supply(true) else { return skipTimes("the supply_line cannot be switched") }
    var probe = BaudProbe()
    receiverScan.read(into: &probe, until: begin + .seconds(10)) { $0.byteCount > 0 }
    guard !options.isStopped() else { return }
    guard probe.byteCount > 0 else {
      return fail(
        "first byte", "no byte within 10 s after its supply was switched on",
        suggestion: "check that \(receiver.supplyLine ?? "") switches its supply and that "
          + "high is on; "
          + "mark a line that is active low: \"GPIO17, active-low\"")
    }
    pass("first byte", "\(Doctor.durationText(clock.now - begin)) after its supply was switched on")
    receiverScan.read(into: &probe, until: begin + options.fixTimeout) { $0.hasFix == true }
    guard !options.isStopped() else { return }
    guard probe.hasFix == true else {
      return skip(
        "first fix",
        "no fix within \(Doctor.durationText(options.fixTimeout)), so its time is unknown",
        hint: "place the antenna with a view of the sky, and set a longer --timeout")
    }
    facts.timeToFix = clock.now - begin
    pass("first fix", "\(Doctor.durationText(clock.now - begin)) after its supply was switched on")
  }
}
