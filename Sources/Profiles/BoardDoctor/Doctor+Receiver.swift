import BoardHardware
import BoardProfiles
import LinuxHAL
import LocationTypes

// The receiver: does it talk, what is it, how long does it need.

extension Doctor {
  mutating func examineReceiver() {
    if let profile = options.profile, profile.receiver == nil {
      return skip("receiver", "the profile has none")
    }
    if namedLine == nil,
      skipWithoutProfile("receiver", hint: "--line DEVICE looks at a line without the profile")
    {
      return
    }
    guard let path = namedLine else { return search() }
    if examineLine(path), let line = open(path, speed: speeds[0]) {
      let supply = takeSupply()
      if examineReceiver(on: line, path) { return examineTimes(on: line, supply) }
    }
    guard !findings.contains(where: { $0.name == "receiver" }), !options.isStopped() else { return }
    skip("receiver", "its line cannot be listened to, see above")
  }

  /// Looks for a receiver on lines that nobody named.
  private mutating func search() {
    let candidates = candidates
    guard !candidates.isEmpty else {
      return fail(
        "serial line", "there is none",
        remedy: "enable the port or connect the receiver, then look again")
    }
    let count = candidates.count == 1 ? "one is" : "\(candidates.count) are"
    skip(
      "serial lines",
      "none is named; \(count) there: \(candidates.joined(separator: ", ")). Those that nobody uses are "
        + "listened to, \(Doctor.linesLimit) at most; nothing is sent where no receiver is heard")
    var heard: [String] = []
    var rest = candidates[...]
    while heard.count < Doctor.linesLimit, facts.device == nil, let path = rest.popFirst() {
      guard !options.isStopped() else { return }
      guard examineLine(path), let line = open(path, speed: speeds[0]) else { continue }
      heard.append(path)
      let supply = takeSupply()
      if examineReceiver(on: line, path) { examineTimes(on: line, supply) }
    }
    guard !options.isStopped() else { return }
    tellEnd(of: heard, leftOut: Array(rest))
  }

  /// What of a search is to be told behind it.
  private mutating func tellEnd(of heard: [String], leftOut: [String]) {
    if !leftOut.isEmpty {
      let why = facts.device == nil ? "" : ", for a receiver was found"
      skip(
        "lines left out", "not looked at\(why): \(leftOut.joined(separator: ", "))",
        hint: "--line \(leftOut[0]) looks at that one")
    }
    guard facts.device == nil else { return }
    guard !heard.isEmpty else {
      // Why the first, likeliest line is not free comes before where else a receiver may be.
      return fail(
        "receiver", "there is no line that could be listened to, see above",
        remedy: takenRemedy ?? Doctor.namingRemedy)
    }
    fail(
      "receiver", "none is heard on \(heard.joined(separator: ", "))",
      remedy: "\(silenceRemedy); one that sleeps is asked only on a line that is named: --line "
        + heard[0])
  }

  private static let namingRemedy =
    "--line DEVICE, or --board NAME with a device, says where it is: there it is asked, too"
  private var silenceRemedy: String {
    let supply = supplyLine.map { " (--no-pins leaves \($0) alone)" } ?? ""
    return "is it powered\(supply), are TX and RX crossed and ground connected"
  }

  /// The speeds at which it should be heard.
  private var speeds: [UInt32] {
    guard let receiver = options.profile?.receiver else { return [ReceiverHunt.speeds[0]] }
    return [UInt32(receiver.lineSpeed_baud), UInt32(receiver.defaultLineSpeed_baud)]
  }

  private func hunt(_ line: ReceiverLine) -> ReceiverHunt {
    ReceiverHunt(line, pace, isLineNamed ? .atOnce : .onceHeard, isStopped: options.isStopped)
  }

  /// Listens; says whether a receiver was heard.
  private mutating func examineReceiver(on line: ReceiverLine, _ path: String) -> Bool {
    switch hunt(line).run(expecting: speeds) {
    case .heard(let heard):
      facts.device = path
      facts.speed_baud = heard.speed
      facts.identity = heard.ear.identity
      // Another receiver than the profile's is why its speed differs, too.
      let isOther = isOtherFamily(heard.ear.identity)
      if isOther { examineIdentity(heard, path) }
      examineSpeed(heard)
      if !isOther { examineIdentity(heard, path) }
      examineFix(heard.ear)
      return true
    case .rubbish(let bytes):
      guard isLineNamed else { return false }
      fail(
        "receiver",
        "\(bytes) bytes came on \(path), which are no message at any of the usual speeds",
        remedy:
          "is it a receiver? If so, is its level right (3.3 V, not RS-232), or its speed another?")
    case .silence:
      guard isLineNamed else { return false }
      fail(
        "receiver", "nothing comes on \(path), at none of the usual speeds",
        remedy: silenceRemedy + "? --line names another line")
    case .stopped: break
    case .gone:
      guard isLineNamed else { return false }
      fail(
        "receiver", "\(path) went away while it was listened to",
        remedy: "look at the plug, and at `dmesg` for the kernel's reason")
    }
    return false
  }

  /// Whether the profile says another family, and more than that its sentences are read.
  private func isOtherFamily(_ identity: ReceiverIdentity?) -> Bool {
    guard let family = options.profile?.receiver?.family, let identity else { return false }
    return family != .nmea && family != identity.family
  }

  private mutating func examineSpeed(_ heard: ReceiverHunt.Heard) {
    let text = "sends \(heard.ear.format) at \(heard.speed) baud"
    guard let receiver = options.profile?.receiver, !speeds.contains(heard.speed) else {
      return pass("receiver", text)
    }
    let family = heard.ear.identity?.family ?? receiver.family
    let isDefault = receiver.family != .nmea && family.startsAt(heard.speed)
    let key = isDefault ? "default_line_speed_baud" : "line_speed_baud"
    var remedy = "\(key) = \(heard.speed) in [receiver]"
    if receiver.family != .nmea, !isDefault {
      remedy +=
        ": a program, torpord too, may have set this speed; default_line_speed_baud is "
        + "the one after power-on"
    }
    let expected =
      speeds[0] == speeds[1] ? "\(speeds[0])" : "\(speeds[0]), or \(speeds[1]) after power-on"
    fail("receiver", "it \(text); the profile says \(expected)", remedy: remedy)
  }

  private mutating func examineIdentity(_ heard: ReceiverHunt.Heard, _ path: String) {
    guard heard.wasAsked || heard.ear.identity != nil else {
      return skip(
        "identity", "not asked: what it sends tells of no fixes, so it may be another instrument",
        hint: "if it is the receiver: --line \(path)")
    }
    guard let identity = heard.ear.identity else {
      let isUnexpected = options.profile.map { $0.receiver?.family != .nmea } ?? false
      guard isUnexpected, let family = options.profile?.receiver?.family else {
        return skip(
          "identity", "it says nothing of itself: it can be used as what it sends, family \"nmea\"")
      }
      return fail(
        "identity",
        "it answers no command, and the profile's family is \"\(family.rawValue)\": "
          + "the service delivers its fixes as they are, and cannot put it to sleep or let it batch",
        remedy:
          "is the board's TX connected to the receiver's RX? Else family = \"nmea\" in [receiver]")
    }
    guard let family = options.profile?.receiver?.family, family != identity.family else {
      return pass("identity", identity.description)
    }
    let remedy = "family = \"\(identity.family.rawValue)\" in [receiver]"
    // One that is only listened to works with any receiver.
    if family == .nmea { return pass("identity", identity.description, hint: remedy) }
    fail(
      "identity", "\(identity.description); the profile's family is \"\(family.rawValue)\"",
      remedy: remedy)
  }

  private mutating func examineFix(_ ear: ReceiverEar) {
    let used = ear.satellites.map { ", \($0) satellites used" } ?? ""
    switch ear.hasFix {
    case true?: pass("fix", "it has one now\(used)")
    case false?: skip("fix", "it has none now", hint: "give its antenna a view of the sky")
    case nil: skip("fix", "it says nothing of one")
    }
  }

  // MARK: From power to fix

  /// The line that switches its supply, where that is left alone.
  private var supplyLine: String? { leftAlone.first { $0.hasPrefix("supply_line") } }

  /// Its supply while it is looked at: switched on, where a line switches it.
  private mutating func takeSupply() -> LinePins.Drive? {
    guard let text = options.profile?.receiver?.supplyLine, let line = try? GPIOLine(text),
      let drive = try? pins.take(line, true)
    else { return nil }
    return drive
  }

  /// Switches its supply off and on, and takes the time to the first byte and to the first fix.
  private mutating func examineTimes(on line: ReceiverLine, _ supply: LinePins.Drive?) {
    if let supplyLine {
      return skip("times", "\(supplyLine) is left alone: --no-pins was said")
    }
    if skipWithoutProfile("times") { return }
    guard let receiver = options.profile?.receiver, receiver.supplyLine != nil else {
      return skip("times", "no supply_line is wired: how long it needs after power cannot be seen")
    }
    guard options.timesFix else { return skip("times", "left out, as was asked for") }
    guard let supply else { return skip("times", "its supply_line cannot be taken, see above") }
    let clock = SystemClock()
    guard supply(false) else { return skip("times", "its supply_line is not to be switched") }
    var rest = ReceiverEar()
    let hunt = hunt(line)
    // What its capacitors keep alive is no start.
    hunt.hear(into: &rest, until: clock.now + .seconds(2)) { _ in false }
    _ = line.setSpeed(UInt32(receiver.defaultLineSpeed_baud))
    line.forget()
    let begin = clock.now
    guard supply(true) else { return skip("times", "its supply_line is not to be switched") }
    var ear = ReceiverEar()
    hunt.hear(into: &ear, until: begin + .seconds(10)) { $0.byteCount > 0 }
    guard !options.isStopped() else { return }
    guard ear.byteCount > 0 else {
      return fail(
        "first byte", "none within 10 s after its supply was switched on",
        remedy: "does \(receiver.supplyLine ?? "") switch its supply, and is high on? "
          + "A line that is active low is named with its flag: \"GPIO17, active-low\"")
    }
    pass("first byte", "\(Doctor.text(clock.now - begin)) after its supply was switched on")
    hunt.hear(into: &ear, until: begin + options.longestFix) { $0.hasFix == true }
    guard !options.isStopped() else { return }
    guard ear.hasFix == true else {
      return skip(
        "first fix", "none within \(Doctor.text(options.longestFix)); so its times are not known",
        hint: "give its antenna a view of the sky, and it more time with --timeout")
    }
    facts.timeToFix = clock.now - begin
    pass("first fix", "\(Doctor.text(clock.now - begin)) after its supply was switched on")
  }
}
