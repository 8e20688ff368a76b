import GNSSProtocols
import LocationTypes

extension SimulatedReceiver {
  /// The host's bytes, the last of which arrives at `due`.
  mutating func accept(_ bytes: Span<UInt8>, due: Instant, speed: UInt32) {
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.count)
    for i in bytes.indices { copy.append(bytes[i]) }
    incoming.append(IncomingBytes(due: due, bytes: copy, speed: speed))
  }

  /// The bytes are there.
  mutating func receive(_ arrived: IncomingBytes, at now: Instant) {
    if figures.family.takesSentences { return receiveSentences(arrived, at: now) }
    if phase == .standby, wakes(by: UBXPowerRequest.wakesByUART) {
      // The bytes that wake it are lost.
      boot(at: now)
      return
    }
    guard phase == .running, active.listensToUBX, arrived.speed == active.speed else { return }
    if faults.plan.commandLoss > 0, faultRandom.uniform() < faults.plan.commandLoss { return }
    var offset = 0
    while let command = decoder.next(arrived.bytes.span, &offset) {
      var answer = PendingAnswer(due: now + figures.answer, command: .ubx(command))
      if case .aidingEntry(let entry) = command {
        let copy = decoder.frame(of: entry)
        let frame = copy.span
        answer.bytes = frame.indices.map { frame[$0] }
      }
      answers.append(answer)
    }
  }

  /// Carries a command out and answers it.
  ///
  /// - Parameter bytes: Those of the whole frame, for an entry of its navigation database.
  mutating func carryOut(_ command: UBXCommand, _ bytes: [UInt8] = [], at now: Instant) {
    guard phase == .running else { return }
    switch command {
    case .valset(let items):
      if figures.family == .ubloxM8 { return refuse(.cfgVALSET, "message unknown", at: now) }
      configure(items, .cfgVALSET, at: now)
    case .port, .messageRate, .rate, .powerManagement, .receiverPower, .save, .batch,
      .aidingAcknowledgement:
      carryOutOlder(command, at: now)
    case .powerRequest(let request):
      if request.isShortForm, figures.family == .ubloxM10 {
        violate(.shortPowerRequest, "the 8-byte RXM-PMREQ leaves an M10 at milliamperes", at: now)
      }
      guard request.isBackup else { return }
      if request.duration_ms == 0, faults.plan.ignoresEndlessStandby { return }
      if figures.acknowledgesPowerRequest { acknowledge(.rxmPMREQ, at: now) }
      standbyRequest = request
      standbyAt = max(now, line.freeAt)
      epochDue = .distantFuture
      sendDue = .distantFuture
    case .retrieveBatch(let sendsStatusFirst): retrieve(sendsStatusFirst, at: now)
    case .aidingTime: takeTime(at: now)
    case .aidingEntry: takeEntry(bytes, at: now)
    case .poll(.mgaDBD): sendDatabase(at: now)
    case .poll(.monVER):
      frame.removeAll()
      frame.appendVersion(version)
      transmit(at: now)
    case .poll(.monBATCH):
      if figures.batch != nil { sendBatchStatus(at: now) }
    case .poll(let identity), .unknown(let identity), .malformed(let identity):
      // Other classes are passed over in silence; CFG is always answered.
      if identity.messageClass == 0x06 { refuse(identity, "message unknown", at: now) }
    }
  }

  private var version: UBXVersion {
    if figures.family == .ubloxM8 {
      return UBXVersion(
        software: "ROM SPG 3.51 (b5b8d6)", hardware: "00080000", module: "MAX-M8Q",
        protocolVersion_e2: 2_301)
    }
    return UBXVersion(
      software: "ROM SPG 5.10 (7b202e)", hardware: "000A0000", module: "MAX-M10S",
      protocolVersion_e2: 3_410)
  }

  /// Writes what a message of this identity asks, and answers it.
  mutating func configure(
    _ items: UBXConfiguration, _ identity: UBXIdentity, at now: Instant
  ) {
    if items.layers.rawValue == 0 || items.layers.contains(.flash) {
      return refuse(identity, "layer it does not have", at: now)
    }
    if let key = configuration.firstRefused(items) {
      return refuse(identity, "key 0x\(String(key, radix: 16)) or its value", at: now)
    }
    if let reason = refusedBatching(items) { return refuse(identity, reason, at: now) }
    if faults.plan.batchingRefused.contains(where: { $0.contains(now) }),
      items.value(of: ConfigurationKey.batchEnable) == 1
    {
      return sayNo(to: identity, at: now)
    }
    if faults.plan.powerModeRefused.contains(where: { $0.contains(now) }),
      items.value(of: ConfigurationKey.powerMode) != nil
    {
      return sayNo(to: identity, at: now)
    }
    let before = active
    configuration.write(items)
    active = ActiveConfiguration(figures, configuration)
    if figures.acknowledgesAtOldSpeed {
      let new = active.speed
      active.speed = before.speed
      acknowledge(identity, at: now)
      active.speed = new
    } else {
      acknowledge(identity, at: now)
    }
    guard items.layers.contains(.ram) else { return }
    if active.interval != before.interval { planEpochs(from: now) }
    if SimulatedReceiver.batchKeys.contains(where: { items.value(of: $0) != nil }) {
      applyBatching()
    }
  }

  /// Keys whose change makes the buffer anew.
  private static let batchKeys = [
    ConfigurationKey.batchEnable, ConfigurationKey.batchEntries, ConfigurationKey.batchExtraPVT,
    ConfigurationKey.batchExtraOdometer,
  ]

  mutating func acknowledge(_ identity: UBXIdentity, at now: Instant) {
    if losesAcknowledgement() { return }
    frame.removeAll()
    frame.appendAcknowledgement(of: identity)
    transmit(at: now)
  }

  /// Whether a fault takes the acknowledgement that is to be sent now.
  mutating func losesAcknowledgement() -> Bool {
    acknowledgementsSent += 1
    if acknowledgementsSent <= faults.plan.acknowledgementsLostFirst { return true }
    let loss = faults.plan.acknowledgementLoss
    return loss > 0 && faultRandom.uniform() < loss
  }

  mutating func refuse(_ identity: UBXIdentity, _ what: String, at now: Instant) {
    violate(
      .refusedByReceiver,
      "the receiver refused message 0x"
        + String(UInt16(identity.messageClass) << 8 | UInt16(identity.messageID), radix: 16)
        + ": " + what, at: now)
    sayNo(to: identity, at: now)
  }

  private mutating func sayNo(to identity: UBXIdentity, at now: Instant) {
    frame.removeAll()
    frame.appendAcknowledgement(of: identity, isAccepted: false)
    transmit(at: now)
  }

  mutating func violate(_ kind: Violation.Kind, _ text: String, at now: Instant) {
    violations.append(Violation(time: now, kind: kind, text: text))
  }

  /// Sends what is in the frame buffer.
  mutating func transmit(at now: Instant) {
    if recordsBytes { for i in frame.span.indices { sentBytes.append(frame[i]) } }
    line.send(frame.span, at: now, speed: active.speed)
  }
}
