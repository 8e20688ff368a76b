import BoardHardware
import GNSSProtocols
import LocationTypes

/// Simulated GNSS receiver of any family: converts a track to bytes on a line, and executes commands, except in the
/// family `passive`, which accepts none.
///
/// # Problem
///
/// The product's decoder, drivers and planner must run against bytes and timing like those of real modules:
/// acquisition depends on the time off, commands have latencies and can be rejected, and configuration is lost with the
/// power. The simulation depends only on LocationTypes, GNSSProtocols (encoding, and decoding of UBX commands) and
/// BoardHardware (power states); it has no clock of its own.
///
/// It is event-driven. ``nextEvent`` is the time of the next event and ``handle(at:)`` executes it. Between two events
/// nothing changes except the bytes in transit on the line. The owner (``SimulatedBoard``, ``VirtualReceiver``) must
/// execute events in ascending order of time.
///
/// # Parts
///
/// Each part owns its state and changes it in its own file. No part stores another; a part that needs another receives
/// it as an argument. Commands and changes of the power phase concern several parts and are carried out here.
///
///     part                      owns                                                      times
///     ``SimulatedPower``        supply switch, device, phase with the standby request     end of the phase
///     ``ReceiverConfiguration`` layers, sentence settings, settings in effect
///     ``AcquisitionModel``      stored satellite data, fix                                next fix
///     ``EpochSource``           epochs, track, noise                                      next epoch
///     ``ReceiverBatch``         batch buffer, its retrieval                               next entries
///     ``DatabaseTransfer``      transfer of the navigation database                       next entries
///     ``CommandInput``          bytes in transit from the host, decoders, commands        next arrival, command
///     ``ReceiverLine``          bytes in transit to the host, unread bytes
///     ``MessageOutput``         the message being composed, recorded bytes
///     ``ReceiverFaults``        events of the fault plan, random faults                   next fault
///     ``RecordingPlayer``       position in a replayed recording                          next chunk
///
/// # States
///
/// Those of ``SimulatedPower``. While it runs, ``AcquisitionModel`` alternates between acquiring and fix; an outage
/// restarts the acquisition. The power state follows from the phase, the fix and the configuration (``state``).
///
/// A replayed recording is sent while the receiver has power, regardless of commands, signal outages and lost
/// configuration. Without a supply switch its receiver is in RUNNING from the start.
///
/// # Invariants
///
/// - After leaving RUNNING nothing of it remains: `stopAll(at:)` clears the batch buffer, pending commands, the database
///   transfer, and all due times of epochs and output.
/// - At power-off the sentence settings are lost, except an Airoha's line speed in flash. Without a backup supply, the
///   BBR layer and the navigation database are lost as well.
/// - Epochs occur only while the receiver runs.
///
/// # Bounds
///
/// An epoch is dropped if more than 4,096 bytes wait on the line. Batch entries and database entries are sent four per
/// event, so that live output is sent between them.
struct SimulatedReceiver: Sendable {
  private let parameters: SimulatedReceiverParameters
  private var power = SimulatedPower()
  private var configuration: ReceiverConfiguration
  private var acquisition: AcquisitionModel
  private var epochs: EpochSource
  private var batch = ReceiverBatch()
  private var database = DatabaseTransfer()
  private var input = CommandInput()
  /// The line to the host.
  private(set) var line = ReceiverLine()
  private var output: MessageOutput
  private var faults: ReceiverFaults
  /// Recording that is replayed instead of the track.
  private(set) var player: RecordingPlayer?
  /// Forbidden or unsupported requests since the last ``removeViolations()``.
  private var violations: [Violation] = []
  /// Solution of the last epoch that was sent; nil before the first.
  private var lastSolution: UBXSolution?
  /// Number of epochs dropped because the output buffer was full.
  private(set) var droppedEpochs = 0

  /// Creates a receiver without power.
  init(_ setup: SimulationSetup, track: Track, player: RecordingPlayer? = nil) {
    parameters = setup.receiver
    configuration = ReceiverConfiguration(setup.receiver)
    acquisition = AcquisitionModel(setup)
    epochs = EpochSource(setup, track: track)
    output = MessageOutput(recordsBytes: setup.recordsBytes)
    faults = ReceiverFaults(setup.faults, seed: setup.seed)
    self.player = player
  }

  /// UTC at boot.
  var origin: UTCTime { epochs.origin }

  /// Present line speed, baud.
  var speed: UInt32 { configuration.active.speed }

  /// Whether the receiver has power.
  var isSupplied: Bool { power.isSupplied }

  /// Whether the receiver's device does not exist.
  var isDeviceAbsent: Bool { power.isDeviceAbsent }

  /// Present power state.
  var state: ReceiverPowerState {
    switch power.phase {
    case .unpowered: return parameters.hasBackupSupply ? .backup : .off
    case .standby: return .standby
    case .booting: return .acquiring
    case .running, .stopping: break
    }
    if player != nil { return .tracking }
    if !acquisition.hasFix { return .acquiring }
    if batch.isEnabled && !configuration.active.sendsEpochs { return .batching }
    return configuration.active.savesPower ? .powersave : .tracking
  }

  /// Whether the batch pin is asserted.
  var isBatchPinActive: Bool {
    let watermark = configuration.active.batchWatermark
    return watermark > 0 && batch.isEnabled && batch.count >= watermark
  }

  // MARK: Events

  /// Time of the next event; `.distantFuture` for none.
  var nextEvent: Instant {
    var next = min(epochs.due, min(batch.sendDue, database.due))
    next = min(next, min(power.due, min(acquisition.nextFixTime, faults.nextTime)))
    next = min(next, min(input.nextArrival, input.nextExecution))
    if let player { next = min(next, player.nextTime) }
    return next
  }

  /// Executes one event that is due at `now`.
  mutating func handle(at now: Instant) {
    if acquisition.nextFixTime <= now {
      acquisition.recordFix(at: acquisition.nextFixTime)
    } else if epochs.due <= now {
      outputEpoch(at: now)
    } else if batch.sendDue <= now {
      sendBatch(at: now)
    } else if database.due <= now {
      sendEntries(at: now)
    } else if input.nextArrival <= now {
      receive(input.removeArrival(), at: now)
    } else if input.nextExecution <= now {
      switch input.removeCommand().command {
      case .ubx(let command, let frame): execute(command, frame, at: now)
      case .sentence(let fields): execute(fields, at: now)
      }
    } else if power.due <= now {
      endPhase(at: now)
    } else if faults.nextTime <= now {
      handleFault(at: now)
    } else if isSupplied {
      player?.sendNext(into: &line)
    } else {
      player?.skip()
    }
  }

  private mutating func handleFault(at now: Instant) {
    switch faults.removeNext() {
    case .signalLost:
      guard power.isRunning, player == nil else { return }
      acquisition.stop(at: now)
      acquisition.start(at: now)
    case .configurationLost:
      configuration.restoreFactorySettings()
      guard isSupplied, player == nil else { return }
      line.truncate(at: now)
      boot(at: now)
    case .garbage(let count):
      guard !isDeviceAbsent else { return }
      output.sendGarbage(
        count, of: &faults, on: &line, at: now, speed: configuration.active.speed)
    case .deviceRemoved:
      apply(power.setDevice(isPresent: false), at: now)
      // Unread bytes are lost with the device.
      line.discardArrived(by: now)
    case .deviceReturned: apply(power.setDevice(isPresent: true), at: now)
    }
  }

  private mutating func recordViolation(_ kind: Violation.Kind, _ text: String, at now: Instant) {
    violations.append(Violation(time: now, kind: kind, text: text))
  }

  /// Removes and returns the violations since the last call.
  mutating func removeViolations() -> [Violation] {
    if violations.isEmpty { return [] }
    defer { violations.removeAll() }
    return violations
  }
}

// MARK: - The host's side of the line

extension SimulatedReceiver {
  /// Accepts the host's bytes, the last of which arrives at `due`.
  mutating func accept(_ bytes: Span<UInt8>, due: Instant, speed: UInt32) {
    input.append(bytes, due: due, speed: speed)
  }

  /// Reads bytes of the line: see ``ReceiverLine/read(into:at:speed:)``.
  mutating func read(into chunk: inout ByteChunk, at now: Instant, speed: UInt32) {
    line.read(into: &chunk, at: now, speed: speed)
  }

  /// Discards unread bytes of the line: see ``ReceiverLine/discardArrived(by:keeping:)``.
  mutating func discardArrived(by now: Instant, keeping kept: UInt32? = nil) {
    line.discardArrived(by: now, keeping: kept)
  }

  /// Discards unread bytes of the line: see ``ReceiverLine/discardExcess(over:by:)``.
  mutating func discardExcess(over limit: Int, by now: Instant) {
    line.discardExcess(over: limit, by: now)
  }

  /// Removes and returns the recorded bytes that the receiver has sent.
  mutating func removeSentBytes() -> [UInt8] { output.removeRecordedBytes() }
}

// MARK: - Power

extension SimulatedReceiver {
  /// Switches the receiver's power.
  mutating func setSupply(_ isOn: Bool, at now: Instant) {
    apply(power.setSwitch(isOn), at: now)
  }

  private mutating func apply(_ change: SimulatedPower.SupplyChange?, at now: Instant) {
    switch change {
    case nil: break
    case .applied: boot(at: now)
    case .removed: losePower(at: now)
    }
  }

  /// Processes an edge on the wake pin.
  mutating func wakeEdge(at now: Instant) {
    if power.wakes(by: UBXPowerRequest.wakesByEXTINT0) { boot(at: now) }
  }

  /// Whether a standby request is in transit, in execution or waiting for the line.
  var isStandbyPending: Bool {
    power.isStopping || input.containsStandbyRequest(to: parameters.family)
  }

  /// Ends a phase that has lasted as long as it should.
  private mutating func endPhase(at now: Instant) {
    switch power.phase {
    case .booting: startRunning(at: now)
    case .stopping: enterStandby(at: now)
    case .standby: boot(at: now)
    case .unpowered, .running: preconditionFailure("this phase does not end by itself")
    }
  }

  /// Starts booting, from power-on or standby; the RAM layer is loaded.
  private mutating func boot(at now: Instant) {
    stopAll(at: now)
    configuration.loadRAM()
    power.boot(until: now + parameters.bootTime)
  }

  /// Enters the running phase: acquisition and epochs start.
  mutating func startRunning(at now: Instant) {
    power.run()
    configuration.activate()
    if player != nil { return }
    for body in sentences?.startupSentences ?? [] { sendSentence(body, at: now) }
    acquisition.start(at: now)
    planEpochs(from: now)
    applyBatching()
  }

  /// Accepts a standby request, which is executed when the output queued now is sent.
  private mutating func requestStandby(_ request: SimulatedPower.StandbyRequest, at now: Instant) {
    power.requestStandby(request, at: max(now, line.sendingEnd))
    epochs.stop()
    batch.endRetrieval()
  }

  private mutating func enterStandby(at now: Instant) {
    stopAll(at: now)
    line.truncate(at: now)
    power.enterStandby(at: now)
    if sentences?.losesSettingsInStandby == true { configuration.loseSentenceSettings() }
  }

  private mutating func losePower(at now: Instant) {
    stopAll(at: now)
    line.truncate(at: now)
    input.discardTransit()
    power.losePower()
    configuration.loseSentenceSettings()
    if !parameters.hasBackupSupply {
      configuration.clearBatteryBacked()
      acquisition.clear()
    }
  }

  /// Stops all activity; RAM is lost.
  private mutating func stopAll(at now: Instant) {
    acquisition.stop(at: now)
    batch.disable()
    database = DatabaseTransfer()
    input.discardCommands()
    epochs.stop()
  }
}

// MARK: - Epochs and batching

extension SimulatedReceiver {
  private mutating func planEpochs(from now: Instant) {
    epochs.plan(from: now, every: configuration.active.interval)
  }

  /// Computes an epoch's solution, stores it in the batch buffer and sends it, as configured.
  private mutating func outputEpoch(at now: Instant) {
    let active = configuration.active
    let time = epochs.advance(by: active.interval)
    guard batch.isEnabled || active.sendsEpochs else { return }
    let solution = epochs.solution(
      at: time, fixSince: acquisition.fixSince, hasTime: acquisition.hasTime)
    if batch.isEnabled { batch.append(solution) }
    guard active.sendsEpochs else { return }
    let backlog = line.sendingEnd - now
    if backlog.microseconds > 4_096 * 10_000_000 / Int64(active.speed) {
      droppedEpochs += 1
      return
    }
    send(solution, active, number: epochs.count, at: now)
  }

  /// Sends the messages that are due in an epoch, in the order of a u-blox receiver; GSV last, as they are many bytes.
  private mutating func send(
    _ solution: UBXSolution, _ active: ActiveConfiguration, number: Int, at now: Instant
  ) {
    func isDue(_ rate: Int) -> Bool { rate > 0 && number % rate == 0 }
    lastSolution = solution
    if isDue(active.navDOP) {
      let sky = SimulatedSky(solution, at: now)
      transmit(at: now) {
        $0.appendNavDOP(sky.view.dilutions, timeOfWeek_ms: sky.timeOfWeek_ms)
      }
    }
    if isDue(active.navPVT) { transmit(at: now) { $0.appendNavPVT(solution) } }
    if isDue(active.navSAT) {
      let sky = SimulatedSky(solution, at: now)
      transmit(at: now) { $0.appendNavSAT(sky.view, timeOfWeek_ms: sky.timeOfWeek_ms) }
    }
    guard active.sendsNMEA else { return }
    let sky = parameters.hasSky ? SimulatedSky(solution, at: now) : nil
    transmit(at: now) {
      SentenceEpoch(solution, sky: sky).append(to: &$0, active, number: number)
    }
    if let sky, isDue(active.gsv) { transmit(at: now) { sky.appendGSV(to: &$0) } }
  }

  /// Applies the configuration to the batch buffer; a change of the configuration clears the buffer.
  private mutating func applyBatching() {
    guard configuration.isOn(ConfigurationKey.batchEnable) else { return batch.disable() }
    let entries = Int(configuration.value(ConfigurationKey.batchEntries))
    let extra = configuration.isOn(ConfigurationKey.batchExtraPVT)
    // It is not documented whether an M8 keeps its buffer if it receives the same configuration again; the simulated
    // M8 clears it.
    if batch.capacity != entries || batch.hasExtraPVT != extra || parameters.hasSeparateMessages {
      batch.enable(capacity: entries, hasExtraPVT: extra)
    }
  }

  private mutating func startRetrieval(_ sendsStatusFirst: Bool, at now: Instant) {
    guard parameters.batchCapacity != nil else { return }
    if parameters.acknowledgesRetrieval { acknowledge(.logRETRIEVEBATCH, at: now) }
    if sendsStatusFirst { sendBatchStatus(at: now) }
    batch.beginRetrieval(at: max(now, line.sendingEnd))
  }

  private mutating func sendBatchStatus(at now: Instant) {
    let status = batch.readStatus()
    transmit(at: now) { $0.appendBatchStatus(status) }
  }

  /// Sends up to four entries while the line is idle, so that live output is sent between them.
  private mutating func sendBatch(at now: Instant) {
    for _ in 0..<4 {
      guard let entry = batch.removeNext() else { break }
      transmit(at: now) { $0.appendBatchEntry(entry) }
    }
    batch.continueRetrieval(at: line.sendingEnd)
  }
}

// MARK: - Output

extension SimulatedReceiver {
  /// Sends messages, at the present speed or another one.
  private mutating func transmit(
    at now: Instant, speed: UInt32? = nil, _ fill: (inout FrameBuffer) -> Void
  ) {
    output.send(on: &line, at: now, speed: speed ?? configuration.active.speed, fill)
  }

  private mutating func acknowledge(
    _ identity: UBXIdentity, at now: Instant, speed: UInt32? = nil
  ) {
    if faults.losesAcknowledgement() { return }
    transmit(at: now, speed: speed) { $0.appendAcknowledgement(of: identity) }
  }

  private mutating func reject(_ identity: UBXIdentity, _ reason: String, at now: Instant) {
    recordViolation(
      .rejectedByReceiver,
      "the receiver rejected message 0x"
        + String(UInt16(identity.messageClass) << 8 | UInt16(identity.messageID), radix: 16)
        + ": " + reason, at: now)
    sendNAK(to: identity, at: now)
  }

  private mutating func sendNAK(to identity: UBXIdentity, at now: Instant) {
    transmit(at: now) { $0.appendAcknowledgement(of: identity, isAccepted: false) }
  }

  private mutating func acknowledgeAiding(
    _ message: UBXIdentity, isAccepted: Bool = true, reason: UInt8 = 0, start: UInt32,
    at now: Instant
  ) {
    guard configuration.isOn(ConfigurationKey.acknowledgesAiding), !faults.losesAcknowledgement()
    else { return }
    let answer = UBXAidingAnswer(
      to: message, isAccepted: isAccepted, reason: reason, payloadStart: start)
    transmit(at: now) { $0.append(answer) }
  }

  private mutating func sendSentence(_ body: String, at now: Instant) {
    transmit(at: now) { $0.append(sentence: body.utf8) }
  }
}

// MARK: - Input

extension SimulatedReceiver {
  /// Processes bytes that have arrived.
  private mutating func receive(_ arrived: IncomingBytes, at now: Instant) {
    let wakes =
      sentences.map { power.isStandby && $0.standbyInput == .wakes }
      ?? power.wakes(by: UBXPowerRequest.wakesByUART)
    // The bytes that wake the receiver are lost.
    if wakes { return boot(at: now) }
    let isReceiving =
      sentences.map { power.isRunning || (power.isStandby && $0.standbyInput == .executed) }
      ?? (power.isRunning && configuration.active.acceptsUBX)
    guard isReceiving, arrived.speed == configuration.active.speed, !faults.losesCommand() else {
      return
    }
    let execution = now + parameters.commandLatency
    if sentences == nil {
      input.decodeUBX(arrived.bytes, executedAt: execution)
    } else {
      input.decodeSentences(arrived.bytes, executedAt: execution)
    }
  }
}

// MARK: - UBX commands

extension SimulatedReceiver {
  /// Executes a UBX command and answers it.
  ///
  /// - Parameter bytes: Bytes of the whole frame, for an entry of the navigation database.
  private mutating func execute(_ command: UBXCommand, _ bytes: [UInt8], at now: Instant) {
    guard power.isRunning else { return }
    switch command {
    case .valset(let items):
      if parameters.hasSeparateMessages { return reject(.cfgVALSET, "message unknown", at: now) }
      configure(items, .cfgVALSET, at: now)
    case .valget(let poll): sendValues(of: poll, at: now)
    case .port, .messageRate, .rate, .powerManagement, .receiverPower, .save, .batch,
      .aidingAcknowledgement:
      executeLegacy(command, at: now)
    case .powerRequest(let request):
      if request.isShortForm, !parameters.hasSeparateMessages {
        recordViolation(
          .shortStandbyRequest,
          "the 8-byte RXM-PMREQ leaves an M10 at a current of several milliamperes", at: now)
      }
      guard request.isBackup else { return }
      if request.duration_ms == 0, faults.ignoresUnlimitedStandby { return }
      if parameters.acknowledgesPowerRequest { acknowledge(.rxmPMREQ, at: now) }
      requestStandby(
        .init(duration_ms: request.duration_ms, wakeupSources: request.wakeupSources), at: now)
    case .retrieveBatch(let sendsStatusFirst): startRetrieval(sendsStatusFirst, at: now)
    case .aidingTime: acceptTime(at: now)
    case .aidingEntry: acceptEntry(bytes, at: now)
    case .poll(.mgaDBD): sendDatabase(at: now)
    case .poll(.monVER):
      let version = self.version
      transmit(at: now) { $0.appendVersion(version) }
    case .poll(.monBATCH):
      if parameters.batchCapacity != nil { sendBatchStatus(at: now) }
    case .poll(let identity), .unknown(let identity), .malformed(let identity):
      // Unsupported messages of other classes are ignored; CFG messages are always answered.
      if identity.messageClass == 0x06 { reject(identity, "message unknown", at: now) }
    }
  }

  private var version: UBXVersion {
    if parameters.hasSeparateMessages {
      return UBXVersion(
        software: "ROM SPG 3.51 (b5b8d6)", hardware: "00080000", module: "MAX-M8Q",
        protocolVersion_e2: 2_301)
    }
    return UBXVersion(
      software: "ROM SPG 5.10 (7b202e)", hardware: "000A0000", module: "MAX-M10S",
      protocolVersion_e2: 3_410)
  }

  /// Writes configuration items and answers the message with this identity.
  private mutating func configure(
    _ items: UBXConfiguration, _ identity: UBXIdentity, at now: Instant
  ) {
    if items.layers.rawValue == 0 || items.layers.contains(.flash) {
      return reject(identity, "unsupported configuration layer", at: now)
    }
    if let key = configuration.firstRejected(items) {
      return reject(
        identity,
        "unsupported key 0x\(String(key, radix: 16)) or invalid value", at: now)
    }
    if let reason = configuration.batchingRejection(items) {
      return reject(identity, reason, at: now)
    }
    if faults.rejects(items, at: now) { return sendNAK(to: identity, at: now) }
    let before = configuration.active
    configuration.write(items)
    acknowledge(identity, at: now, speed: parameters.acknowledgesAtOldSpeed ? before.speed : nil)
    guard items.layers.contains(.ram) else { return }
    if configuration.active.interval != before.interval { planEpochs(from: now) }
    if ReceiverConfiguration.affectsBatching(items) { applyBatching() }
  }

  /// Answers CFG-VALGET with the values of the layer and an acknowledgement, or with a rejection.
  private mutating func sendValues(of poll: UBXConfigurationPoll, at now: Instant) {
    if parameters.hasSeparateMessages { return reject(.cfgVALGET, "message unknown", at: now) }
    if faults.rejects(poll, at: now) { return sendNAK(to: .cfgVALGET, at: now) }
    guard let values = configuration.values(of: poll) else {
      return reject(.cfgVALGET, "unsupported key, or no value in this layer", at: now)
    }
    if faults.losesAcknowledgement() { return }
    transmit(at: now) {
      $0.appendConfigurationValues(values, layer: poll.layer.rawValue)
      $0.appendAcknowledgement(of: .cfgVALGET)
    }
  }

  /// Executes a configuration message of receivers without CFG-VALSET, and answers it.
  private mutating func executeLegacy(_ command: UBXCommand, at now: Instant) {
    let identity = command.legacyIdentity
    guard parameters.hasSeparateMessages else {
      return reject(identity, "message unknown", at: now)
    }
    if case .save = command {
      configuration.save()
      return acknowledge(identity, at: now)
    }
    if case .batch = command, parameters.batchCapacity == nil {
      return reject(identity, "message unknown", at: now)
    }
    configure(command.legacyItems, identity, at: now)
  }

  // MARK: Navigation database

  /// Starts sending the database entry by entry, followed by an acknowledgement with the number of entries.
  private mutating func sendDatabase(at now: Instant) {
    guard acquisition.navigationDatabase(at: now) != nil else {
      // Response of an M10 without database entries.
      return acknowledgeAiding(.mgaDBD, isAccepted: false, reason: 255, start: 0, at: now)
    }
    database.begin(at: now)
  }

  /// Sends up to four entries, so that live output is sent between them.
  private mutating func sendEntries(at now: Instant) {
    for _ in 0..<4 {
      guard let number = database.nextEntry,
        let contents = acquisition.navigationDatabase(at: now)
      else { break }
      if number == parameters.databaseEntries {
        database.end()
        return acknowledgeAiding(.mgaDBD, start: UInt32(number), at: now)
      }
      database.didSendEntry()
      let payload = contents.payload(number)
      transmit(at: now) { $0.appendUBX(.mgaDBD, payload: payload.span) }
    }
    database.postpone(to: max(now, line.sendingEnd))
  }

  /// Sets the time from the host (UBX-MGA-INI).
  private mutating func acceptTime(at now: Instant) {
    acquisition.setTime()
    acknowledgeAiding(.mgaINI, start: 0x8000_0010, at: now)
  }

  /// Accepts an entry from the host. The database is restored when three quarters of its entries have arrived.
  private mutating func acceptEntry(_ bytes: [UInt8], at now: Instant) {
    guard bytes.count == NavigationDatabase.entryLength + 8 else {
      return acknowledgeAiding(.mgaDBD, isAccepted: false, reason: 3, start: 0, at: now)
    }
    let payload = Array(bytes[6..<(6 + NavigationDatabase.entryLength)])
    let start = UInt32(payload[0]) * 0x0101_0101
    guard acquisition.hasTime else {
      return acknowledgeAiding(.mgaDBD, isAccepted: false, reason: 1, start: start, at: now)
    }
    if database.didReceive(payload[0], of: parameters.databaseEntries) {
      acquisition.restore(NavigationDatabase(payload: payload), at: now)
    }
    acknowledgeAiding(.mgaDBD, start: start, at: now)
  }
}

// MARK: - Sentence commands

extension SimulatedReceiver {
  /// Behaviour of a receiver with proprietary sentences; nil for any other.
  private var sentences: SimulatedSentences? { parameters.family.simulatedSentences }

  /// Executes a sentence and answers it.
  private mutating func execute(_ fields: [String], at now: Instant) {
    guard let address = fields.first, power.isRunning || power.isStandby, let sentences else {
      return
    }
    let reactions = sentences.execute(
      address, Array(fields.dropFirst()), configuration.sentenceSettings)
    for reaction in reactions {
      switch reaction {
      case .answer(let body): if !faults.losesAcknowledgement() { sendSentence(body, at: now) }
      case .send(let body): sendSentence(body, at: now)
      case .sendSatellites:
        guard let lastSolution else { break }
        let sky = SimulatedSky(lastSolution, at: now)
        transmit(at: now) { sky.appendGSV(to: &$0) }
      case .violation(let text): recordViolation(.rejectedByReceiver, text, at: now)
      case .update(let change): updateSettings(at: now, change)
      case .standby(let seconds): requestStandby(for: seconds, at: now)
      case .leaveStandby: if power.isStandby { startRunning(at: now) }
      case .restart:
        updateSettings(at: now) { $0.loseRAM() }
        boot(at: now)
      }
    }
  }

  private mutating func updateSettings(at now: Instant, _ edit: (inout SentenceSettings) -> Void) {
    let before = configuration.active
    configuration.updateSentenceSettings(edit)
    if power.isRunning, configuration.active.interval != before.interval {
      planEpochs(from: now)
    }
  }

  private mutating func requestStandby(for seconds: Int, at now: Instant) {
    guard power.isRunning, !faults.ignoresUnlimitedStandby else { return }
    requestStandby(.init(duration_ms: UInt32(clamping: seconds * 1_000)), at: now)
  }
}
