import GNSSProtocols
import LocationTypes

// Receivers that are commanded by sentences. They are read here without the project's own decoder, so
// that a driver's sentences are looked at by somebody else.

extension SimulatedReceiver {
  /// The host's bytes are there, for a receiver that takes sentences.
  mutating func receiveSentences(_ arrived: IncomingBytes, at now: Instant) {
    if phase == .standby, figures.family != .airoha {
      // The bytes that wake it are lost.
      boot(at: now)
      return
    }
    let hears = phase == .running || phase == .standby
    guard hears, arrived.speed == active.speed else { return }
    if faults.plan.commandLoss > 0, faultRandom.uniform() < faults.plan.commandLoss { return }
    for byte in arrived.bytes {
      if byte == UInt8(ascii: "$") { begunSentence.removeAll() }
      begunSentence.append(byte)
      guard byte == 0x0A else { continue }
      if let fields = SimulatedReceiver.fields(of: begunSentence) {
        answers.append(PendingAnswer(due: now + figures.answer, command: .sentence(fields)))
      }
      begunSentence.removeAll()
    }
  }

  /// The fields of a sentence whose checksum is right.
  private static func fields(of bytes: [UInt8]) -> [String]? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix("$"), text.hasSuffix("\r\n"), let star = text.lastIndex(of: "*") else {
      return nil
    }
    let body = text[text.index(after: text.startIndex)..<star]
    let sum = UInt8(text[text.index(after: star)...].dropLast(), radix: 16)
    guard sum == body.utf8.reduce(0, ^) else { return nil }
    return body.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  /// Carries a sentence out and answers it.
  mutating func carryOut(_ fields: [String], at now: Instant) {
    guard let name = fields.first, phase == .running || phase == .standby else { return }
    let values = fields.dropFirst().map { Int($0) }
    switch figures.family {
    case .mtk: obeyPMTK(name, values, at: now)
    case .airoha: obeyPAIR(name, values, at: now)
    case .casic: obeyPCAS(name, values, at: now)
    case .ubloxM10, .ubloxM8, .streaming: break
    }
  }

  /// A receiver that has started says so.
  mutating func sayStarted(at now: Instant) {
    switch figures.family {
    case .mtk:
      send("PMTK011,MTKGPS", at: now)
      send("PMTK010,001", at: now)
    case .casic:
      send("GPTXT,01,01,02,MA=CASIC", at: now)
      send("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0", at: now)
    // It asks for what would help it.
    case .airoha: send("PAIR010,1,-1", at: now)
    case .ubloxM10, .ubloxM8, .streaming: break
    }
  }

  // MARK: Families

  private mutating func obeyPMTK(_ name: String, _ values: [Int?], at now: Instant) {
    let number = UInt16(name.dropFirst(4)) ?? 0
    switch (name, values.count) {
    case ("PMTK000", 0): answer(.pmtk, number, .done, at: now)
    // What it is: release, build, model, version.
    case ("PMTK605", 0): send("PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0", at: now)
    case ("PMTK314", 19):
      // GLL, RMC, VTG, GGA, GSA, GSV.
      let told = values.map { $0 ?? 0 }
      change(at: now) { $0.rates = [told[3], told[0], told[4], told[5], told[1], told[2]] }
      answer(.pmtk, number, .done, at: now)
    case ("PMTK220", 1):
      guard let period = values[0], (100...10_000).contains(period) else {
        return refuse(.pmtk, number, .failed, at: now)
      }
      change(at: now) { $0.interval = .milliseconds(Int64(period)) }
      answer(.pmtk, number, .done, at: now)
    case ("PMTK251", 1):
      guard let speed = values[0], SimulatedReceiver.speeds.contains(speed) else {
        return refuse(.pmtk, number, .failed, at: now)
      }
      change(at: now) { $0.speed = UInt32(speed) }
      answer(.pmtk, number, .done, at: now)
    case ("PMTK161", 1):
      answer(.pmtk, number, .done, at: now)
      fallAsleep(for: 0, at: now)
    case _: refuse(.pmtk, number, .unsupported, at: now)
    }
  }

  private mutating func obeyPAIR(_ name: String, _ values: [Int?], at now: Instant) {
    let number = UInt16(name.dropFirst(4)) ?? 0
    switch (name, values.count) {
    case ("PAIR002", 0):
      answer(.pair, number, .done, at: now)
      if phase == .standby { run(at: now) }
    case ("PAIR003", 0):
      answer(.pair, number, .done, at: now)
      if phase == .running { fallAsleep(for: 0, at: now) }
    // What it is: release and, after it, what nobody here reads.
    case ("PAIR020", 0):
      answer(.pair, number, .done, at: now)
      send("PAIR020,AG3335M_V2.5.0.AG3335_20230424,S,N,1a2b3c4,2304241200", at: now)
    case ("PAIR023", 0):
      line.cut(at: max(now, line.freeAt))
      change(at: now) { $0.forget() }
      boot(at: now)
    case ("PAIR050", 1):
      guard let period = values[0], (100...1_000).contains(period) else {
        return refuse(.pair, number, .invalid, at: now)
      }
      change(at: now) { $0.interval = .milliseconds(Int64(period)) }
      answer(.pair, number, .done, at: now)
    case ("PAIR062", 2):
      guard let kind = values[0], let rate = values[1], (0...5).contains(kind) else {
        return refuse(.pair, number, .invalid, at: now)
      }
      change(at: now) { $0.rates[kind] = rate }
      answer(.pair, number, .done, at: now)
    case ("PAIR864", 3):
      guard let speed = values[2], SimulatedReceiver.speeds.contains(speed) else {
        return refuse(.pair, number, .invalid, at: now)
      }
      configuration.sentences.nextSpeed = UInt32(speed)
      answer(.pair, number, .done, at: now)
    case _: refuse(.pair, number, .unsupported, at: now)
    }
  }

  private mutating func obeyPCAS(_ name: String, _ values: [Int?], at now: Instant) {
    switch (name, values.count) {
    case ("PCAS01", 1):
      guard let speed = values[0], (0...5).contains(speed) else { break }
      change(at: now) { $0.speed = SimulatedReceiver.casicSpeeds[speed] }
    case ("PCAS02", 1):
      guard let period = values[0], (100...1_000).contains(period) else { break }
      change(at: now) { $0.interval = .milliseconds(Int64(period)) }
    case ("PCAS03", 14):
      // An empty field leaves things as they are.
      change(at: now) { settings in
        for i in 0..<6 { settings.rates[i] = values[i] ?? settings.rates[i] }
      }
    case ("PCAS06", 1): send("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0", at: now)
    case ("PCAS12", 1):
      if let seconds = values[0], !faults.plan.ignoresEndlessStandby {
        fallAsleep(for: seconds, at: now)
      }
    case _:
      violate(.refusedByReceiver, "a CASIC receiver knows no \(name)", at: now)
    }
  }

  private static let speeds = [4_800, 9_600, 19_200, 38_400, 57_600, 115_200]
  private static let casicSpeeds: [UInt32] = [4_800, 9_600, 19_200, 38_400, 57_600, 115_200]

  // MARK: What they have in common

  private mutating func change(at now: Instant, _ make: (inout SentenceSettings) -> Void) {
    let before = active
    make(&configuration.sentences)
    active = ActiveConfiguration(figures, configuration)
    if phase == .running, active.interval != before.interval { planEpochs(from: now) }
  }

  private mutating func fallAsleep(for seconds: Int, at now: Instant) {
    standbyRequest = UBXPowerRequest(
      duration_ms: UInt32(clamping: seconds * 1_000), wakeupSources: 0)
    standbyAt = max(now, line.freeAt)
    epochDue = .distantFuture
  }

  private mutating func answer(
    _ family: CommandResult.Family, _ command: UInt16, _ outcome: CommandResult.Outcome,
    at now: Instant
  ) {
    acknowledgementsSent += 1
    if acknowledgementsSent <= faults.plan.acknowledgementsLostFirst { return }
    let loss = faults.plan.acknowledgementLoss
    if loss > 0, faultRandom.uniform() < loss { return }
    frame.removeAll()
    frame.append(CommandResult(family: family, command: command, outcome: outcome))
    transmit(at: now)
  }

  private mutating func refuse(
    _ family: CommandResult.Family, _ command: UInt16, _ outcome: CommandResult.Outcome,
    at now: Instant
  ) {
    violate(.refusedByReceiver, "the receiver refused command \(command): \(outcome)", at: now)
    answer(family, command, outcome, at: now)
  }

  private mutating func send(_ body: String, at now: Instant) {
    let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    frame.removeAll()
    for byte in "$\(body)*\(sum.count < 2 ? "0" : "")\(sum)\r\n".utf8 { frame.append(byte) }
    transmit(at: now)
  }
}
