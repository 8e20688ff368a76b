import BoardHardware
import GNSSProtocols
import LocationTypes

/// Simulated GNSS receiver of one of six families: converts a track to bytes on a line, and executes commands, except
/// in the family `streaming`, which accepts none.
///
/// It exists so that the product's decoder, drivers and planner run against bytes and timing like those of real
/// modules: acquisition depends on the time off, commands have latencies and can be rejected, and configuration is
/// lost with the power. It depends only on LocationTypes, GNSSProtocols (encoding, and decoding of UBX commands) and
/// BoardHardware (power states); it has no clock of its own.
///
/// The simulation is event-driven. ``nextEvent`` is the time of the next event and ``handle(at:)`` executes it.
/// Between two events nothing changes except the bytes in transit on ``line``. The owner (``SimulatedBoard``,
/// ``VirtualReceiver``) must execute events in ascending order of time.
///
/// ```
/// UNPOWERED --- supply on, or device returned with supply on --> BOOTING
/// BOOTING   --- bootTime has passed ---------------------------> RUNNING
/// RUNNING   --- standby command, when the line is idle (1) ----> STANDBY
/// STANDBY   --- end of standby (2), input (3), wake edge (4) --> BOOTING
/// STANDBY   --- PAIR002 (Airoha only) -------------------------> RUNNING
/// powered   --- configuration lost, reboot command (5) --------> BOOTING
/// powered   --- supply off, or device removed -----------------> UNPOWERED
/// ```
///
/// 1. Commands: UBX-RXM-PMREQ, `$PMTK161`, `$PAIR003`, `$PCAS12`. With `FaultPlan.ignoresUnlimitedStandby`, u-blox
/// and CASIC ignore requests without an end time or all requests, respectively.
/// 2. Only if the command has a duration.
/// 3. u-blox: if the request lists the UART as a wake-up source, or none. MediaTek, CASIC: always. Airoha: never; it
/// executes sentences in standby. The bytes that wake the receiver are lost.
/// 4. If the request lists EXTINT0 as a wake-up source, or none.
/// 5. PAIR023: in RUNNING and STANDBY. Lost configuration: in every phase with power ("powered").
///
/// A replayed recording (``player``) starts in RUNNING and is sent while the receiver has power, regardless of
/// commands, signal outages and lost configuration.
///
/// Within RUNNING, ``acquisition`` alternates between acquiring and fix; an outage restarts the acquisition. The
/// power state follows from the phase, the fix and the configuration (``state``).
///
/// Invariants:
/// - After leaving RUNNING nothing of it remains: the private `stopAll(at:)` clears the batch buffer, pending
///   commands, the database transfer and all due times of epochs and output.
/// - ``activeConfiguration`` is derived from ``configuration``: recomputed at each start and after each write. Only
///   commands, starts, a CASIC's standby and loss of power or configuration write ``configuration``.
/// - At power-off the sentence settings are lost, except an Airoha's line speed in flash. Without a backup supply, the
///   BBR layer and the navigation database are lost as well.
/// - Epochs occur at whole multiples of the fix interval in UTC, and only in RUNNING.
///
/// Bounds: an epoch is dropped if more than 4,096 bytes wait on the line. Batch entries and database entries are sent
/// four per event, so that live output is sent between them.
struct SimulatedReceiver: Sendable {
  /// Operating phase; transitions are described at ``SimulatedReceiver``.
  enum Phase: Equatable, Sendable {
    case unpowered
    case booting
    case running
    case standby
  }

  let parameters: SimulatedReceiverParameters
  /// UTC at boot.
  let origin: UTCTime
  var line = ReceiverLine()

  // Power.
  var phase = Phase.unpowered
  var supplySwitch = false
  var isDeviceAbsent = false
  var bootDone = Instant.distantFuture
  var standbyAt = Instant.distantFuture
  var standbyEnd = Instant.distantFuture
  var standbyRequest = UBXPowerRequest(wakeupSources: 0)

  // Position.
  var reader: TrackReader
  var noise: NoiseProcess
  var acquisition: AcquisitionModel
  var epochDue = Instant.distantFuture
  var epochTime = UTCTime(microseconds: 0)
  var epochCount = 0

  // Configuration and values derived from it.
  var configuration: ReceiverConfiguration
  var activeConfiguration: ActiveConfiguration
  var batch = ReceiverBatch()
  var batchSendDue = Instant.distantFuture
  var databaseTransfer = DatabaseTransfer()

  // Commands in transit or in execution.
  var decoder = UBXCommandDecoder()
  /// Beginning of an incomplete sentence.
  var partialSentence: [UInt8] = []
  var incoming: [IncomingBytes] = []
  var pendingCommands: [PendingCommand] = []

  // Faults.
  var faults: FaultTimeline
  var faultRandom: SimulationRandom
  var acknowledgementsSent = 0

  /// Recording that is replayed instead of the track.
  var player: RecordingPlayer?

  var frame = FrameBuffer()
  var sentBytes: [UInt8] = []
  let recordsBytes: Bool
  /// Forbidden or unsupported requests; the board removes them.
  var violations: [Violation] = []
  /// Number of epochs dropped because the output buffer was full.
  var droppedEpochs = 0

  /// Creates a receiver without power.
  init(_ setup: SimulationSetup, track: Track, player: RecordingPlayer? = nil) {
    parameters = setup.receiver
    origin = track.firstTime
    reader = TrackReader(track)
    noise = NoiseProcess(setup.noise, seed: setup.seed)
    acquisition = AcquisitionModel(setup)
    configuration = ReceiverConfiguration(setup.receiver)
    activeConfiguration = ActiveConfiguration(setup.receiver, configuration)
    faults = FaultTimeline(setup.faults)
    faultRandom = SimulationRandom(seed: setup.seed, stream: 3)
    recordsBytes = setup.recordsBytes
    self.player = player
  }

  /// Whether the receiver has power.
  var isSupplied: Bool { phase != .unpowered }

  /// Present power state.
  var state: ReceiverPowerState {
    switch phase {
    case .unpowered: return parameters.hasBackupSupply ? .backup : .off
    case .standby: return .standby
    case .booting: return .acquiring
    case .running: break
    }
    if player != nil { return .tracking }
    if !acquisition.hasFix { return .acquiring }
    if batch.isEnabled && !activeConfiguration.sendsEpochs { return .batching }
    return activeConfiguration.savesPower ? .powersave : .tracking
  }

  /// Whether the batch pin is asserted.
  var isBatchPinActive: Bool {
    activeConfiguration.batchWatermark > 0 && batch.isEnabled
      && batch.count >= activeConfiguration.batchWatermark
  }

  /// Time of the next event; `.distantFuture` for none.
  var nextEvent: Instant {
    var next = min(epochDue, min(batchSendDue, databaseTransfer.due))
    next = min(next, min(bootDone, min(standbyAt, standbyEnd)))
    next = min(next, min(acquisition.nextFixTime, faults.nextTime))
    if let first = incoming.first { next = min(next, first.due) }
    if let first = pendingCommands.first { next = min(next, first.due) }
    if let player { next = min(next, player.nextTime) }
    return next
  }

  /// Executes one event that is due at `now`.
  mutating func handle(at now: Instant) {
    if acquisition.nextFixTime <= now {
      acquisition.recordFix(at: acquisition.nextFixTime)
    } else if epochDue <= now {
      outputEpoch(at: now)
    } else if batchSendDue <= now {
      sendBatch(at: now)
    } else if databaseTransfer.due <= now {
      sendEntries(at: now)
    } else if let first = incoming.first, first.due <= now {
      incoming.removeFirst()
      receive(first, at: now)
    } else if let first = pendingCommands.first, first.due <= now {
      pendingCommands.removeFirst()
      switch first.command {
      case .ubx(let command): execute(command, first.bytes, at: now)
      case .sentence(let fields): execute(fields, at: now)
      }
    } else if bootDone <= now {
      startRunning(at: now)
    } else if standbyAt <= now {
      enterStandby(at: now)
    } else if standbyEnd <= now {
      boot(at: now)
    } else if faults.nextTime <= now {
      handleFault(at: now)
    } else if player != nil {
      if isSupplied { player?.sendNext(into: &line) } else { player?.skip() }
    }
  }
}

/// Bytes from the host in transit to the receiver.
struct IncomingBytes: Sendable {
  /// Arrival time of the last byte.
  var due: Instant
  var bytes: [UInt8]
  var speed: UInt32
}

/// A received command that the receiver executes after its latency.
struct PendingCommand: Sendable {
  /// The command, by protocol.
  enum Command: Sendable {
    case ubx(UBXCommand)
    /// Fields of a sentence.
    case sentence([String])
  }

  var due: Instant
  var command: Command
  /// Bytes of the whole frame, for an entry of the navigation database.
  var bytes: [UInt8] = []
}

/// Output and power settings derived from the configuration.
struct ActiveConfiguration: Equatable, Sendable {
  var interval: Interval
  var speed: UInt32
  /// Output rates: one NAV-PVT or sentence every n epochs, 0 for none.
  var navPVT = 0
  var rmc = 0
  var gga = 0
  var gll = 0
  var gsa = 0
  var gsv = 0
  var gst = 0
  var vtg = 0
  var zda = 0
  var savesPower = false
  /// Number of entries at which the batch pin is asserted; 0 for never.
  var batchWatermark = 0
  var acceptsUBX = false

  /// Whether epochs produce any output.
  fileprivate var sendsEpochs: Bool { navPVT > 0 || sendsNMEA }
  /// Whether epochs produce NMEA output.
  var sendsNMEA: Bool { rmc + gga + gll + gsa + gsv + gst + vtg + zda > 0 }

  init(_ figures: SimulatedReceiverParameters, _ values: ReceiverConfiguration) {
    switch figures.family {
    case .streaming:
      interval = figures.interval
      speed = figures.defaultSpeed
      switch figures.output {
      case .ubx: navPVT = 1
      case .nmea: (rmc, gga, gsa, gsv, gst, vtg, zda) = (1, 1, 1, 1, 1, 1, 1)
      }
    case .mtk, .airoha, .casic:
      let settings = values.sentenceSettings
      interval = settings.interval
      speed = settings.speed
      (gga, gll, gsa, gsv, rmc, vtg) = (
        settings.rates[0], settings.rates[1], settings.rates[2], settings.rates[3],
        settings.rates[4], settings.rates[5]
      )
    case .ubloxM10, .ubloxM8:
      let period = Int64(values.value(ConfigurationKey.measurementPeriod))
      let ratio = Int64(values.value(ConfigurationKey.navigationRatio))
      interval = .milliseconds(max(period * ratio, 1))
      speed = UInt32(values.value(ConfigurationKey.lineSpeed))
      acceptsUBX = values.isOn(ConfigurationKey.acceptsUBX)
      savesPower = values.isOn(ConfigurationKey.powerMode)
      if values.isOn(ConfigurationKey.sendsUBX) {
        navPVT = Int(values.value(ConfigurationKey.navPVT))
      }
      if values.isOn(ConfigurationKey.sendsNMEA) {
        rmc = Int(values.value(ConfigurationKey.rmc))
        gga = Int(values.value(ConfigurationKey.gga))
        gll = Int(values.value(ConfigurationKey.gll))
        gsa = Int(values.value(ConfigurationKey.gsa))
        gsv = Int(values.value(ConfigurationKey.gsv))
        gst = Int(values.value(ConfigurationKey.gst))
        vtg = Int(values.value(ConfigurationKey.vtg))
        zda = Int(values.value(ConfigurationKey.zda))
      }
      if values.isOn(ConfigurationKey.batchPinEnable) {
        batchWatermark = Int(values.value(ConfigurationKey.batchWatermark))
      }
    }
  }
}

// Transfer of the navigation database of a u-blox receiver to the host and back (UBX-MGA-DBD).

/// Contents of the simulated receiver's navigation database, as its entries encode them.
struct NavigationDatabase: Equatable, Sendable {
  /// Last time with a fix.
  var lastFix: Instant
  /// Last time at which the ephemeris was up to date.
  var ephemeris: Instant
}

/// Progress of a transfer of the navigation database.
struct DatabaseTransfer: Sendable {
  /// Numbers of the entries received from the host since the last start.
  var receivedEntries: Set<UInt8> = []
  /// Number of the next entry to send; nil if no transfer is in progress.
  var nextEntry: UInt8?
  /// Time at which it is sent.
  var due = Instant.distantFuture
}

extension SimulatedReceiver {
  /// Length of an entry's payload, bytes; the first 12 are reserved.
  private static let entryLength = 100

  /// Starts sending the database entry by entry, followed by an acknowledgement with the number of entries.
  private mutating func sendDatabase(at now: Instant) {
    guard acquisition.navigationDatabase(at: now) != nil else {
      // Response of an M10 without database entries.
      return acknowledgeAiding(.mgaDBD, isAccepted: false, reason: 255, start: 0, at: now)
    }
    databaseTransfer.nextEntry = 0
    databaseTransfer.due = now
  }

  /// Sends up to four entries, so that live output is sent between them.
  private mutating func sendEntries(at now: Instant) {
    for _ in 0..<4 {
      guard let number = databaseTransfer.nextEntry,
        let database = acquisition.navigationDatabase(at: now)
      else { break }
      if number == parameters.databaseEntries {
        databaseTransfer.nextEntry = nil
        acknowledgeAiding(.mgaDBD, start: UInt32(number), at: now)
        break
      }
      databaseTransfer.nextEntry = number + 1
      frame.removeAll()
      let payload = SimulatedReceiver.payload(number, database)
      frame.appendUBX(.mgaDBD, payload: payload.span)
      transmit(at: now)
    }
    databaseTransfer.due =
      databaseTransfer.nextEntry == nil ? .distantFuture : max(now, line.sendingEnd)
  }

  private static func payload(_ number: UInt8, _ database: NavigationDatabase) -> [UInt8] {
    var payload = [UInt8](repeating: number, count: entryLength)
    for (i, moment) in [database.lastFix, database.ephemeris].enumerated() {
      let bits = UInt64(bitPattern: moment.microseconds)
      for j in 0..<8 { payload[12 + 8 * i + j] = UInt8(truncatingIfNeeded: bits >> UInt64(8 * j)) }
    }
    return payload
  }

  /// Sets the time from the host (UBX-MGA-INI).
  private mutating func acceptTime(at now: Instant) {
    acquisition.setTime()
    acknowledgeAiding(.mgaINI, start: 0x8000_0010, at: now)
  }

  /// Accepts an entry from the host. The database is restored when three quarters of its entries have arrived.
  private mutating func acceptEntry(_ bytes: [UInt8], at now: Instant) {
    guard bytes.count == SimulatedReceiver.entryLength + 8 else {
      return acknowledgeAiding(.mgaDBD, isAccepted: false, reason: 3, start: 0, at: now)
    }
    let payload = Array(bytes[6..<(6 + SimulatedReceiver.entryLength)])
    let start = UInt32(payload[0]) * 0x0101_0101
    guard acquisition.hasTime else {
      return acknowledgeAiding(.mgaDBD, isAccepted: false, reason: 1, start: start, at: now)
    }
    func moment(_ offset: Int) -> Instant {
      var bits: UInt64 = 0
      for j in 0..<8 { bits |= UInt64(payload[offset + j]) << UInt64(8 * j) }
      return Instant(microseconds: Int64(bitPattern: bits))
    }
    databaseTransfer.receivedEntries.insert(payload[0])
    if databaseTransfer.receivedEntries.count * 4 >= Int(parameters.databaseEntries) * 3 {
      acquisition.restore(NavigationDatabase(lastFix: moment(12), ephemeris: moment(20)), at: now)
    }
    acknowledgeAiding(.mgaDBD, start: start, at: now)
  }

  private mutating func acknowledgeAiding(
    _ message: UBXIdentity, isAccepted: Bool = true, reason: UInt8 = 0, start: UInt32,
    at now: Instant
  ) {
    guard configuration.isOn(ConfigurationKey.acknowledgesAiding), !losesAcknowledgement() else {
      return
    }
    frame.removeAll()
    frame.append(
      UBXAidingAnswer(
        to: message, isAccepted: isAccepted, reason: reason, payloadStart: start))
    transmit(at: now)
  }
}

extension SimulatedReceiver {
  /// Returns why the receiver rejects batching with these items; nil if it accepts them or batching is not enabled.
  private func batchingRejection(_ items: UBXConfiguration) -> String? {
    guard let limit = parameters.batchCapacity else { return nil }
    func value(_ key: UInt32) -> UInt64 { items.value(of: key) ?? configuration.value(key) }
    guard value(ConfigurationKey.batchEnable) != 0 else { return nil }
    let entries = value(ConfigurationKey.batchEntries)
    let maximum = capacity(
      limit, value(ConfigurationKey.batchExtraPVT), value(ConfigurationKey.batchExtraOdometer))
    guard entries >= 1, entries <= UInt64(maximum) else {
      return "a batch buffer of \(entries) epochs; the allowed range is 1 to \(maximum)"
    }
    let watermark = value(ConfigurationKey.batchWatermark)
    guard watermark <= entries else {
      return "a watermark of \(watermark), above the batch buffer of \(entries) epochs"
    }
    return nil
  }

  private func capacity(_ limit: BatchCapacity, _ extraPVT: UInt64, _ odometer: UInt64) -> Int {
    switch (extraPVT != 0, odometer != 0) {
    case (false, false): limit.basic
    case (false, true): limit.odometer
    case (true, false): limit.extraPVT
    case (true, true): limit.both
    }
  }

  /// Applies the configuration to the batch buffer; a change of the configuration clears the buffer.
  private mutating func applyBatching() {
    guard configuration.isOn(ConfigurationKey.batchEnable) else {
      batch.disable()
      batchSendDue = .distantFuture
      return
    }
    let entries = Int(configuration.value(ConfigurationKey.batchEntries))
    let extra = configuration.isOn(ConfigurationKey.batchExtraPVT)
    // It is not documented whether an M8 keeps its buffer if it receives the same configuration again; the simulated
    // M8 clears it.
    if batch.capacity != entries || batch.hasExtraPVT != extra || parameters.family == .ubloxM8 {
      batch.enable(capacity: entries, hasExtraPVT: extra)
      batchSendDue = .distantFuture
    }
  }

  mutating func startRetrieval(_ sendsStatusFirst: Bool, at now: Instant) {
    guard parameters.batchCapacity != nil else { return }
    if parameters.acknowledgesRetrieval { acknowledge(.logRETRIEVEBATCH, at: now) }
    if sendsStatusFirst { sendBatchStatus(at: now) }
    batch.beginRetrieval()
    batchSendDue = batch.entriesToSend > 0 ? max(now, line.sendingEnd) : .distantFuture
  }

  private mutating func sendBatchStatus(at now: Instant) {
    frame.removeAll()
    frame.appendBatchStatus(batch.readStatus())
    transmit(at: now)
  }

  /// Sends up to four entries while the line is idle, so that live output is sent between them.
  private mutating func sendBatch(at now: Instant) {
    for _ in 0..<4 {
      guard let entry = batch.removeNext() else { break }
      frame.removeAll()
      frame.appendBatchEntry(entry)
      transmit(at: now)
    }
    batchSendDue = batch.entriesToSend > 0 ? line.sendingEnd : .distantFuture
  }
}

extension SimulatedReceiver {
  /// Accepts the host's bytes, the last of which arrives at `due`.
  mutating func accept(_ bytes: Span<UInt8>, due: Instant, speed: UInt32) {
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.count)
    for i in bytes.indices { copy.append(bytes[i]) }
    incoming.append(IncomingBytes(due: due, bytes: copy, speed: speed))
  }

  /// Processes bytes that have arrived.
  mutating func receive(_ arrived: IncomingBytes, at now: Instant) {
    if parameters.family.acceptsSentences { return receiveSentences(arrived, at: now) }
    if phase == .standby, wakes(by: UBXPowerRequest.wakesByUART) {
      // The bytes that wake the receiver are lost.
      boot(at: now)
      return
    }
    guard phase == .running, activeConfiguration.acceptsUBX,
      arrived.speed == activeConfiguration.speed
    else { return }
    if faults.plan.commandLoss > 0, faultRandom.uniform() < faults.plan.commandLoss { return }
    var offset = 0
    while let command = decoder.next(arrived.bytes.span, &offset) {
      var pending = PendingCommand(due: now + parameters.commandLatency, command: .ubx(command))
      if case .aidingEntry(let entry) = command {
        let copy = decoder.frame(of: entry)
        let frame = copy.span
        pending.bytes = frame.indices.map { frame[$0] }
      }
      pendingCommands.append(pending)
    }
  }

  /// Executes a UBX command and answers it.
  ///
  /// - Parameter bytes: Bytes of the whole frame, for an entry of the navigation database.
  private mutating func execute(_ command: UBXCommand, _ bytes: [UInt8] = [], at now: Instant) {
    guard phase == .running else { return }
    switch command {
    case .valset(let items):
      if parameters.family == .ubloxM8 { return reject(.cfgVALSET, "message unknown", at: now) }
      configure(items, .cfgVALSET, at: now)
    case .port, .messageRate, .rate, .powerManagement, .receiverPower, .save, .batch,
      .aidingAcknowledgement:
      executeLegacy(command, at: now)
    case .powerRequest(let request):
      if request.isShortForm, parameters.family == .ubloxM10 {
        recordViolation(
          .shortStandbyRequest,
          "the 8-byte RXM-PMREQ leaves an M10 at a current of several milliamperes", at: now)
      }
      guard request.isBackup else { return }
      if request.duration_ms == 0, faults.plan.ignoresUnlimitedStandby { return }
      if parameters.acknowledgesPowerRequest { acknowledge(.rxmPMREQ, at: now) }
      standbyRequest = request
      standbyAt = max(now, line.sendingEnd)
      epochDue = .distantFuture
      batchSendDue = .distantFuture
    case .retrieveBatch(let sendsStatusFirst): startRetrieval(sendsStatusFirst, at: now)
    case .aidingTime: acceptTime(at: now)
    case .aidingEntry: acceptEntry(bytes, at: now)
    case .poll(.mgaDBD): sendDatabase(at: now)
    case .poll(.monVER):
      frame.removeAll()
      frame.appendVersion(version)
      transmit(at: now)
    case .poll(.monBATCH):
      if parameters.batchCapacity != nil { sendBatchStatus(at: now) }
    case .poll(let identity), .unknown(let identity), .malformed(let identity):
      // Unsupported messages of other classes are ignored; CFG messages are always answered.
      if identity.messageClass == 0x06 { reject(identity, "message unknown", at: now) }
    }
  }

  private var version: UBXVersion {
    if parameters.family == .ubloxM8 {
      return UBXVersion(
        software: "ROM SPG 3.51 (b5b8d6)", hardware: "00080000", module: "MAX-M8Q",
        protocolVersion_e2: 2_301)
    }
    return UBXVersion(
      software: "ROM SPG 5.10 (7b202e)", hardware: "000A0000", module: "MAX-M10S",
      protocolVersion_e2: 3_410)
  }

  /// Writes configuration items and answers the message with this identity.
  mutating func configure(
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
    if let reason = batchingRejection(items) { return reject(identity, reason, at: now) }
    if faults.plan.batchingRejected.contains(where: { $0.contains(now) }),
      items.value(of: ConfigurationKey.batchEnable) == 1
    {
      return sendNAK(to: identity, at: now)
    }
    if faults.plan.powerModeRejected.contains(where: { $0.contains(now) }),
      items.value(of: ConfigurationKey.powerMode) != nil
    {
      return sendNAK(to: identity, at: now)
    }
    let before = activeConfiguration
    configuration.write(items)
    activeConfiguration = ActiveConfiguration(parameters, configuration)
    if parameters.acknowledgesAtOldSpeed {
      let new = activeConfiguration.speed
      activeConfiguration.speed = before.speed
      acknowledge(identity, at: now)
      activeConfiguration.speed = new
    } else {
      acknowledge(identity, at: now)
    }
    guard items.layers.contains(.ram) else { return }
    if activeConfiguration.interval != before.interval { planEpochs(from: now) }
    if SimulatedReceiver.batchKeys.contains(where: { items.value(of: $0) != nil }) {
      applyBatching()
    }
  }

  /// Keys whose change clears the batch buffer.
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

  /// Whether a fault suppresses the acknowledgement that would be sent now.
  private mutating func losesAcknowledgement() -> Bool {
    acknowledgementsSent += 1
    if acknowledgementsSent <= faults.plan.firstAcknowledgementsLost { return true }
    let loss = faults.plan.acknowledgementLoss
    return loss > 0 && faultRandom.uniform() < loss
  }

  mutating func reject(_ identity: UBXIdentity, _ reason: String, at now: Instant) {
    recordViolation(
      .rejectedByReceiver,
      "the receiver rejected message 0x"
        + String(UInt16(identity.messageClass) << 8 | UInt16(identity.messageID), radix: 16)
        + ": " + reason, at: now)
    sendNAK(to: identity, at: now)
  }

  private mutating func sendNAK(to identity: UBXIdentity, at now: Instant) {
    frame.removeAll()
    frame.appendAcknowledgement(of: identity, isAccepted: false)
    transmit(at: now)
  }

  mutating func recordViolation(_ kind: Violation.Kind, _ text: String, at now: Instant) {
    violations.append(Violation(time: now, kind: kind, text: text))
  }

  /// Sends the contents of the frame buffer.
  private mutating func transmit(at now: Instant) {
    if recordsBytes { for i in frame.span.indices { sentBytes.append(frame[i]) } }
    line.send(frame.span, at: now, speed: activeConfiguration.speed)
  }
}

extension SimulatedReceiver {
  /// Schedules epochs at whole multiples of the interval in UTC; the first one is at or after `now`.
  private mutating func planEpochs(from now: Instant) {
    let utc = origin.microseconds + now.microseconds
    let step = activeConfiguration.interval.microseconds
    let remainder = utc % step
    let due = remainder == 0 ? utc : utc - remainder + (remainder > 0 ? step : 0)
    planEpoch(at: UTCTime(microseconds: due))
  }

  private mutating func planEpoch(at time: UTCTime) {
    epochTime = time
    epochDue =
      Instant(microseconds: time.microseconds - origin.microseconds) + parameters.outputLatency
  }

  /// Computes an epoch's solution, stores it in the batch buffer and sends it, as configured.
  mutating func outputEpoch(at now: Instant) {
    let time = epochTime
    planEpoch(at: time + activeConfiguration.interval)
    epochCount &+= 1
    guard batch.isEnabled || activeConfiguration.sendsEpochs else { return }
    let solution = solution(at: time)
    if batch.isEnabled { batch.append(solution) }
    guard activeConfiguration.sendsEpochs else { return }
    let backlog = line.sendingEnd - now
    if backlog.microseconds > 4_096 * 10_000_000 / Int64(activeConfiguration.speed) {
      droppedEpochs += 1
      return
    }
    if activeConfiguration.navPVT > 0, epochCount % activeConfiguration.navPVT == 0 {
      frame.removeAll()
      frame.appendNavPVT(solution)
      transmit(at: now)
    }
    if activeConfiguration.sendsNMEA { sendSentences(solution, at: now) }
  }

  /// Returns the receiver's solution at an epoch.
  private mutating func solution(at time: UTCTime) -> UBXSolution {
    let moment = Instant(microseconds: time.microseconds - origin.microseconds)
    guard let since = acquisition.fixSince, since <= moment else {
      var none = UBXSolution(
        utc: acquisition.hasTime ? time : nil, fixType: 0, isFixOK: false, longitude_e7: 0,
        latitude_e7: 0, height_mm: 0, horizontalAccuracy_mm: .max)
      none.satellites = 0
      none.positionDOP_e2 = 9_999
      return none
    }
    let truth = reader.state(at: time)
    let error = noise.error(at: time, sinceFix: moment - since)
    return SimulatedReceiver.solution(
      truth, error, at: time, separation_mm: parameters.geoidSeparation_mm)
  }

  /// Converts true state and errors to the protocol's units.
  private static func solution(
    _ truth: TrackState, _ error: EpochError, at time: UTCTime, separation_mm: Int32
  ) -> UBXSolution {
    let position =
      error.east == 0 && error.north == 0
      ? truth.coordinate : truth.coordinate.moved(east: error.east, north: error.north)
    let msl = (truth.altitude_mm ?? 0) + scaled(error.up, 1e3)
    var s = UBXSolution(
      utc: time, fixType: 3, isFixOK: true, longitude_e7: e7(position.longitude_e9),
      latitude_e7: e7(position.latitude_e9), height_mm: msl + separation_mm,
      horizontalAccuracy_mm: UInt32(scaled(error.horizontalAccuracy, 1e3)))
    let east = truth.speed * truth.east + error.velocityEast
    let north = truth.speed * truth.north + error.velocityNorth
    let speed = (east * east + north * north).squareRoot()
    s.timeOfWeek_ms = timeOfWeek_ms(time)
    s.timeAccuracy_ns = 30
    s.satellites = 12
    s.heightMSL_mm = msl
    s.verticalAccuracy_mm = UInt32(scaled(error.verticalAccuracy, 1e3))
    s.velocityNorth_mmps = scaled(north, 1e3)
    s.velocityEast_mmps = scaled(east, 1e3)
    s.velocityDown_mmps = -scaled(truth.climb + error.velocityUp, 1e3)
    s.groundSpeed_mmps = scaled(speed, 1e3)
    s.headingOfMotion_e5 = course_e5(
      east: speed > 0 ? east : truth.east, north: speed > 0 ? north : truth.north)
    s.speedAccuracy_mmps = UInt32(scaled(error.speedAccuracy, 1e3))
    s.headingAccuracy_e5 = headingAccuracy_e5(error.speedAccuracy, speed)
    s.positionDOP_e2 = 150
    return s
  }

  private static func scaled(_ value: Double, _ factor: Double) -> Int32 {
    Int32((value * factor).rounded())
  }

  /// Converts units of 1e-9° to 1e-7°, rounded to nearest.
  private static func e7(_ e9: Int64) -> Int32 {
    Int32((e9 + (e9 < 0 ? -50 : 50)) / 100)
  }

  private static func course_e5(east: Double, north: Double) -> Int32 {
    let degrees = Degrees.course(east: east, north: north)
    let value = Int32((degrees * 1e5).rounded())
    return value >= 36_000_000 ? 0 : value
  }

  /// Course accuracy from the speed's error; 180° at standstill.
  private static func headingAccuracy_e5(_ sigma: Double, _ speed: Double) -> UInt32 {
    let degrees = speed > sigma ? min(sigma / speed * 57.295_779_5, 180) : 180
    return UInt32(degrees * 1e5)
  }

  /// GPS time of week: weeks begin on Sunday; 18 leap seconds since 2017.
  private static func timeOfWeek_ms(_ time: UTCTime) -> UInt32 {
    let week: Int64 = 604_800_000
    let since1980 = time.microseconds / 1_000 - 315_964_800_000 + 18_000
    let remainder = since1980 % week
    return UInt32(remainder < 0 ? remainder + week : remainder)
  }
}

extension SimulatedReceiver {
  /// Sends the sentences of an epoch that are due.
  private mutating func sendSentences(_ s: UBXSolution, at now: Instant) {
    frame.removeAll()
    let epoch = SentenceEpoch(s)
    if isDue(activeConfiguration.rmc) { frame.append(epoch.rmc) }
    if isDue(activeConfiguration.gga) { frame.append(epoch.gga) }
    if isDue(activeConfiguration.gll) { frame.append(epoch.gll) }
    if isDue(activeConfiguration.gsa) { frame.append(epoch.gsa) }
    if isDue(activeConfiguration.gsv) {
      for number: UInt8 in 1...3 {
        frame.append(GSV(sentences: 3, number: number, inView: 12))
      }
    }
    if isDue(activeConfiguration.gst) { frame.append(epoch.gst) }
    if isDue(activeConfiguration.vtg) { frame.append(epoch.vtg) }
    if isDue(activeConfiguration.zda) { frame.append(epoch.zda) }
    transmit(at: now)
  }

  private func isDue(_ rate: Int) -> Bool { rate > 0 && epochCount % rate == 0 }
}

/// NMEA sentences of an epoch; unknown fields are empty.
private struct SentenceEpoch {
  private let s: UBXSolution
  private let hasFix: Bool
  private let time_us: Int64?
  private let date: CalendarDate?
  private let coordinate: Coordinate?

  init(_ solution: UBXSolution) {
    s = solution
    hasFix = solution.fixType >= 2 && solution.isFixOK
    time_us = solution.utc?.microsecondsOfDay
    date = solution.utc?.date
    coordinate =
      hasFix
      ? Coordinate(
        latitude_e9: Int64(solution.latitude_e7) * 100,
        longitude_e9: Int64(solution.longitude_e7) * 100) : nil
  }

  private var mode: NMEAMode { hasFix ? .autonomous : .notValid }
  private var course_e4: Int32? { hasFix ? (s.headingOfMotion_e5 + 5) / 10 : nil }
  private var speed_mmps: Int32? { hasFix ? s.groundSpeed_mmps : nil }

  var rmc: RMC {
    var m = RMC(time_us: time_us, isValid: hasFix)
    m.coordinate = coordinate
    m.speed_mmps = speed_mmps
    m.course_e4 = course_e4
    m.date = date.map {
      ShortDate(year: UInt8($0.year % 100), month: UInt8($0.month), day: UInt8($0.day))
    }
    m.mode = mode
    return m
  }

  var gga: GGA {
    var m = GGA(time_us: time_us, quality: hasFix ? 1 : 0)
    m.coordinate = coordinate
    m.satellites = s.satellites ?? 0
    m.horizontalDOP_e2 = hasFix ? 90 : 9_999
    if hasFix, let height = s.heightMSL_mm {
      m.altitude_mm = height
      m.separation_mm = s.height_mm - height
    }
    return m
  }

  var gll: GLL {
    var m = GLL(time_us: time_us, isValid: hasFix)
    m.coordinate = coordinate
    m.mode = mode
    return m
  }

  var gsa: GSA {
    var m = GSA(fixMode: hasFix ? 3 : 1, satellites: s.satellites ?? 0)
    m.positionDOP_e2 = s.positionDOP_e2
    m.horizontalDOP_e2 = hasFix ? 90 : 9_999
    m.verticalDOP_e2 = hasFix ? 120 : 9_999
    return m
  }

  var gst: GST {
    var m = GST(time_us: time_us)
    guard hasFix else { return m }
    // Half of the variance applies to each axis.
    let axis = Int32((Double(s.horizontalAccuracy_mm) * 0.707_106_781_2).rounded())
    m.latitude_mm = axis
    m.longitude_mm = axis
    m.altitude_mm = s.verticalAccuracy_mm.map { Int32($0) }
    return m
  }

  var vtg: VTG {
    var m = VTG()
    m.course_e4 = course_e4
    m.speed_mmps = speed_mmps
    m.mode = mode
    return m
  }

  var zda: ZDA { ZDA(time_us: time_us, date: date, zone_min: 0) }
}

// Configuration messages of an M8. The values are stored under the keys of an M10; messages set only the RAM layer
// until CFG-CFG saves it.

extension SimulatedReceiver {
  /// Executes a configuration message of receivers without CFG-VALSET, and answers it.
  private mutating func executeLegacy(_ command: UBXCommand, at now: Instant) {
    let identity = SimulatedReceiver.identity(of: command)
    guard parameters.family == .ubloxM8 else { return reject(identity, "message unknown", at: now) }
    if case .save = command {
      configuration.save()
      return acknowledge(identity, at: now)
    }
    if case .batch = command, parameters.batchCapacity == nil {
      return reject(identity, "message unknown", at: now)
    }
    configure(SimulatedReceiver.items(of: command), identity, at: now)
  }

  private static func identity(of command: UBXCommand) -> UBXIdentity {
    switch command {
    case .port: .cfgPRT
    case .messageRate: .cfgMSG
    case .rate: .cfgRATE
    case .powerManagement: .cfgPM2
    case .receiverPower: .cfgRXM
    case .save: .cfgCFG
    case .batch: .cfgBATCH
    case .aidingAcknowledgement: .cfgNAVX5
    case .valset, .powerRequest, .retrieveBatch, .aidingTime, .aidingEntry, .poll, .unknown,
      .malformed:
      preconditionFailure("not a configuration message of an M8")
    }
  }

  /// Returns the items that a message sets, by the keys of an M10.
  private static func items(of command: UBXCommand) -> UBXConfiguration {
    var items = UBXConfiguration(layers: .ram)
    switch command {
    case .port(let port):
      items.set(ConfigurationKey.lineSpeed, UInt64(port.speed))
      items.set(ConfigurationKey.acceptsUBX, port.inputProtocols & UBXPort.ubx == 0 ? 0 : 1)
      items.set(ConfigurationKey.sendsUBX, port.outputProtocols & UBXPort.ubx == 0 ? 0 : 1)
      items.set(ConfigurationKey.sendsNMEA, port.outputProtocols & UBXPort.nmea == 0 ? 0 : 1)
    case .messageRate(.navPVT, let rate): items.set(ConfigurationKey.navPVT, UInt64(rate))
    case .rate(let period, let ratio):
      items.set(ConfigurationKey.measurementPeriod, UInt64(period))
      items.set(ConfigurationKey.navigationRatio, UInt64(ratio))
    case .receiverPower(let saves): items.set(ConfigurationKey.powerMode, saves ? 1 : 0)
    case .batch(let batch): add(batch, to: &items)
    case .aidingAcknowledgement(let isOn):
      items.set(ConfigurationKey.acknowledgesAiding, isOn ? 1 : 0)
    case .messageRate, .powerManagement, .save, .valset, .powerRequest, .retrieveBatch,
      .aidingTime, .aidingEntry, .poll, .unknown, .malformed:
      break
    }
    return items
  }

  private static func add(_ batch: UBXBatchConfiguration, to items: inout UBXConfiguration) {
    items.set(ConfigurationKey.batchEnable, batch.isEnabled ? 1 : 0)
    items.set(ConfigurationKey.batchEntries, UInt64(batch.capacity))
    items.set(ConfigurationKey.batchWatermark, UInt64(batch.watermark))
    items.set(ConfigurationKey.batchExtraPVT, batch.hasExtraPVT ? 1 : 0)
    items.set(ConfigurationKey.batchExtraOdometer, batch.hasOdometer ? 1 : 0)
    items.set(ConfigurationKey.batchPinEnable, batch.pin == nil ? 0 : 1)
    items.set(ConfigurationKey.batchPin, UInt64(batch.pin ?? 0))
    items.set(ConfigurationKey.batchPinActiveLow, batch.isActiveLow ? 1 : 0)
  }
}

extension SimulatedReceiver {
  /// Switches the receiver's power.
  mutating func setSupply(_ isOn: Bool, at now: Instant) {
    supplySwitch = isOn
    if isOn, !isSupplied, !isDeviceAbsent { boot(at: now) }
    if !isOn, isSupplied { losePower(at: now) }
  }

  /// Starts booting, from power-on or standby; the RAM layer is loaded.
  mutating func boot(at now: Instant) {
    stopAll(at: now)
    configuration.loadRAM()
    phase = .booting
    bootDone = now + parameters.bootTime
  }

  /// Enters the running phase: acquisition and epochs start.
  mutating func startRunning(at now: Instant) {
    bootDone = .distantFuture
    phase = .running
    activeConfiguration = ActiveConfiguration(parameters, configuration)
    if player == nil { sendStartupMessages(at: now) }
    if player != nil { return }
    acquisition.start(at: now)
    planEpochs(from: now)
    applyBatching()
  }

  /// Stops all activity; RAM is lost.
  private mutating func stopAll(at now: Instant) {
    acquisition.stop(at: now)
    batch.disable()
    databaseTransfer = DatabaseTransfer()
    decoder = UBXCommandDecoder()
    partialSentence.removeAll()
    pendingCommands.removeAll()
    epochDue = .distantFuture
    batchSendDue = .distantFuture
    bootDone = .distantFuture
    standbyAt = .distantFuture
    standbyEnd = .distantFuture
  }

  private mutating func losePower(at now: Instant) {
    stopAll(at: now)
    line.truncate(at: now)
    incoming.removeAll()
    phase = .unpowered
    configuration.sentenceSettings.loseRAM()
    if !parameters.hasBackupSupply {
      configuration.clearBatteryBacked()
      acquisition.clear()
    }
  }

  /// Whether a standby request is in transit, in execution or waiting for the line.
  var isStandbyPending: Bool {
    if standbyAt < .distantFuture { return true }
    for pending in pendingCommands {
      switch pending.command {
      case .ubx(.powerRequest): return true
      case .ubx: break
      case .sentence(let fields): if parameters.family.isStandbyRequest(fields) { return true }
      }
    }
    return incoming.contains { SimulatedReceiver.containsStandbyRequest($0.bytes) }
  }

  private static func containsStandbyRequest(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 4 else { return false }
    if bytes[0] == UInt8(ascii: "$") {
      let text = String(decoding: bytes, as: UTF8.self)
      return ["$PMTK161", "$PAIR003", "$PCAS12"].contains { text.hasPrefix($0) }
    }
    for i in 0...(bytes.count - 4)
    where bytes[i] == 0xB5 && bytes[i + 1] == 0x62 && bytes[i + 2] == 0x02
      && bytes[i + 3] == 0x41
    {
      return true
    }
    return false
  }

  private mutating func enterStandby(at now: Instant) {
    stopAll(at: now)
    line.truncate(at: now)
    phase = .standby
    // It is not documented what remains of a CASIC's RAM after standby; the simulated CASIC keeps nothing.
    if parameters.family == .casic { configuration.sentenceSettings.loseRAM() }
    if standbyRequest.duration_ms > 0 {
      standbyEnd = now + .milliseconds(Int64(standbyRequest.duration_ms))
    }
  }

  /// Processes an edge on the wake pin.
  mutating func wakeEdge(at now: Instant) {
    guard phase == .standby, wakes(by: UBXPowerRequest.wakesByEXTINT0) else { return }
    boot(at: now)
  }

  /// Whether `source` ends the standby. A request that lists no sources allows all of them.
  func wakes(by source: UInt32) -> Bool {
    standbyRequest.wakeupSources == 0 || standbyRequest.wakeupSources & source != 0
  }

  private mutating func handleFault(at now: Instant) {
    switch faults.removeNext() {
    case .signalLost:
      guard phase == .running, player == nil else { return }
      acquisition.stop(at: now)
      acquisition.start(at: now)
    case .configurationLost:
      configuration.clearBatteryBacked()
      configuration.sentenceSettings.restoreFactorySettings()
      guard isSupplied, player == nil else { return }
      line.truncate(at: now)
      boot(at: now)
    case .garbage(let count):
      guard !isDeviceAbsent else { return }
      frame.removeAll()
      for i in 0..<count {
        frame.append(UInt8(truncatingIfNeeded: faultRandom.next() >> 56))
        if i + 1 == count || frame.count == FrameBuffer.capacity {
          line.send(frame.span, at: now, speed: activeConfiguration.speed)
          frame.removeAll()
        }
      }
    case .deviceRemoved:
      isDeviceAbsent = true
      if isSupplied { losePower(at: now) }
      // Unread bytes are lost with the device.
      line.discardArrived(by: now)
    case .deviceReturned:
      isDeviceAbsent = false
      if supplySwitch { boot(at: now) }
    }
  }
}

// Receivers that are controlled by sentences. The sentences are parsed independently of the product's decoder, so
// that the drivers' output is checked by separate code.

extension SimulatedReceiver {
  /// Processes bytes that have arrived at a receiver that is controlled by sentences.
  private mutating func receiveSentences(_ arrived: IncomingBytes, at now: Instant) {
    if phase == .standby, parameters.family != .airoha {
      // The bytes that wake the receiver are lost.
      boot(at: now)
      return
    }
    let canReceive = phase == .running || phase == .standby
    guard canReceive, arrived.speed == activeConfiguration.speed else { return }
    if faults.plan.commandLoss > 0, faultRandom.uniform() < faults.plan.commandLoss { return }
    for byte in arrived.bytes {
      if byte == UInt8(ascii: "$") { partialSentence.removeAll() }
      partialSentence.append(byte)
      guard byte == 0x0A else { continue }
      if let fields = SimulatedReceiver.fields(of: partialSentence) {
        pendingCommands.append(
          PendingCommand(due: now + parameters.commandLatency, command: .sentence(fields)))
      }
      partialSentence.removeAll()
    }
  }

  /// Returns the fields of a sentence; nil if its checksum is wrong.
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

  /// Executes a sentence and answers it.
  private mutating func execute(_ fields: [String], at now: Instant) {
    guard let name = fields.first, phase == .running || phase == .standby else { return }
    let values = fields.dropFirst().map { Int($0) }
    switch parameters.family {
    case .mtk: executePMTK(name, values, at: now)
    case .airoha: executePAIR(name, values, at: now)
    case .casic: executePCAS(name, values, at: now)
    case .ubloxM10, .ubloxM8, .streaming: break
    }
  }

  /// Sends the messages that a receiver sends after its start.
  private mutating func sendStartupMessages(at now: Instant) {
    switch parameters.family {
    case .mtk:
      sendSentence("PMTK011,MTKGPS", at: now)
      sendSentence("PMTK010,001", at: now)
    case .casic:
      sendSentence("GPTXT,01,01,02,MA=CASIC", at: now)
      sendSentence("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0", at: now)
    // A request for assistance data.
    case .airoha: sendSentence("PAIR010,1,-1", at: now)
    case .ubloxM10, .ubloxM8, .streaming: break
    }
  }

  // MARK: Families

  private mutating func executePMTK(_ name: String, _ values: [Int?], at now: Instant) {
    let number = UInt16(name.dropFirst(4)) ?? 0
    switch (name, values.count) {
    case ("PMTK000", 0): sendResult(.pmtk, number, .done, at: now)
    // Version: release, build, model, version.
    case ("PMTK605", 0): sendSentence("PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0", at: now)
    case ("PMTK314", 19):
      // GLL, RMC, VTG, GGA, GSA, GSV.
      let rates = values.map { $0 ?? 0 }
      updateSettings(at: now) {
        $0.rates = [rates[3], rates[0], rates[4], rates[5], rates[1], rates[2]]
      }
      sendResult(.pmtk, number, .done, at: now)
    case ("PMTK220", 1):
      guard let period = values[0], (100...10_000).contains(period) else {
        return reject(.pmtk, number, .failed, at: now)
      }
      updateSettings(at: now) { $0.interval = .milliseconds(Int64(period)) }
      sendResult(.pmtk, number, .done, at: now)
    case ("PMTK251", 1):
      guard let speed = values[0], SimulatedReceiver.speeds.contains(speed) else {
        return reject(.pmtk, number, .failed, at: now)
      }
      updateSettings(at: now) { $0.speed = UInt32(speed) }
      sendResult(.pmtk, number, .done, at: now)
    case ("PMTK161", 1):
      sendResult(.pmtk, number, .done, at: now)
      requestStandby(for: 0, at: now)
    case _: reject(.pmtk, number, .unsupported, at: now)
    }
  }

  private mutating func executePAIR(_ name: String, _ values: [Int?], at now: Instant) {
    let number = UInt16(name.dropFirst(4)) ?? 0
    switch (name, values.count) {
    case ("PAIR002", 0):
      sendResult(.pair, number, .done, at: now)
      if phase == .standby { startRunning(at: now) }
    case ("PAIR003", 0):
      sendResult(.pair, number, .done, at: now)
      if phase == .running { requestStandby(for: 0, at: now) }
    // Version: release, followed by fields that no driver reads.
    case ("PAIR020", 0):
      sendResult(.pair, number, .done, at: now)
      sendSentence("PAIR020,AG3335M_V2.5.0.AG3335_20230424,S,N,1a2b3c4,2304241200", at: now)
    case ("PAIR023", 0):
      updateSettings(at: now) { $0.loseRAM() }
      boot(at: now)
    case ("PAIR050", 1):
      guard let period = values[0], (100...1_000).contains(period) else {
        return reject(.pair, number, .invalid, at: now)
      }
      updateSettings(at: now) { $0.interval = .milliseconds(Int64(period)) }
      sendResult(.pair, number, .done, at: now)
    case ("PAIR062", 2):
      guard let kind = values[0], let rate = values[1], (0...5).contains(kind) else {
        return reject(.pair, number, .invalid, at: now)
      }
      updateSettings(at: now) { $0.rates[kind] = rate }
      sendResult(.pair, number, .done, at: now)
    case ("PAIR864", 3):
      guard let speed = values[2], SimulatedReceiver.speeds.contains(speed) else {
        return reject(.pair, number, .invalid, at: now)
      }
      configuration.sentenceSettings.nextSpeed = UInt32(speed)
      sendResult(.pair, number, .done, at: now)
    case _: reject(.pair, number, .unsupported, at: now)
    }
  }

  private mutating func executePCAS(_ name: String, _ values: [Int?], at now: Instant) {
    switch (name, values.count) {
    case ("PCAS01", 1):
      guard let speed = values[0], (0...5).contains(speed) else { break }
      updateSettings(at: now) { $0.speed = SimulatedReceiver.casicSpeeds[speed] }
    case ("PCAS02", 1):
      guard let period = values[0], (100...1_000).contains(period) else { break }
      updateSettings(at: now) { $0.interval = .milliseconds(Int64(period)) }
    case ("PCAS03", 14):
      // An empty field leaves a setting unchanged.
      updateSettings(at: now) { settings in
        for i in 0..<6 { settings.rates[i] = values[i] ?? settings.rates[i] }
      }
    case ("PCAS06", 1): sendSentence("GPTXT,01,01,02,SW=URANUS5,V5.3.0.0", at: now)
    case ("PCAS12", 1):
      if let seconds = values[0], !faults.plan.ignoresUnlimitedStandby {
        requestStandby(for: seconds, at: now)
      }
    case _:
      recordViolation(
        .rejectedByReceiver,
        "the CASIC receiver does not support the command \(name)", at: now)
    }
  }

  private static let speeds = [4_800, 9_600, 19_200, 38_400, 57_600, 115_200]
  private static let casicSpeeds: [UInt32] = [4_800, 9_600, 19_200, 38_400, 57_600, 115_200]

  // MARK: Shared by the families

  private mutating func updateSettings(at now: Instant, _ edit: (inout SentenceSettings) -> Void) {
    let before = activeConfiguration
    edit(&configuration.sentenceSettings)
    activeConfiguration = ActiveConfiguration(parameters, configuration)
    if phase == .running, activeConfiguration.interval != before.interval { planEpochs(from: now) }
  }

  private mutating func requestStandby(for seconds: Int, at now: Instant) {
    standbyRequest = UBXPowerRequest(
      duration_ms: UInt32(clamping: seconds * 1_000), wakeupSources: 0)
    standbyAt = max(now, line.sendingEnd)
    epochDue = .distantFuture
  }

  private mutating func sendResult(
    _ family: CommandResult.Family, _ command: UInt16, _ outcome: CommandResult.Outcome,
    at now: Instant
  ) {
    acknowledgementsSent += 1
    if acknowledgementsSent <= faults.plan.firstAcknowledgementsLost { return }
    let loss = faults.plan.acknowledgementLoss
    if loss > 0, faultRandom.uniform() < loss { return }
    frame.removeAll()
    frame.append(CommandResult(family: family, command: command, outcome: outcome))
    transmit(at: now)
  }

  private mutating func reject(
    _ family: CommandResult.Family, _ command: UInt16, _ outcome: CommandResult.Outcome,
    at now: Instant
  ) {
    recordViolation(
      .rejectedByReceiver,
      "the receiver rejected command \(command): \(outcome)", at: now)
    sendResult(family, command, outcome, at: now)
  }

  private mutating func sendSentence(_ body: String, at now: Instant) {
    let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    frame.removeAll()
    for byte in "$\(body)*\(sum.count < 2 ? "0" : "")\(sum)\r\n".utf8 { frame.append(byte) }
    transmit(at: now)
  }
}
