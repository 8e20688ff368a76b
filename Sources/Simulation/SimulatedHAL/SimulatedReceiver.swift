import BoardHardware
import GNSSProtocols
import LocationTypes

/// The simulated receiver: a track goes in, bytes come out; commands change it.
///
/// Driven by events: ``nextEvent`` says when something happens in it, ``handle(at:)`` lets it happen.
/// Between two events nothing changes but the bytes that travel.
struct SimulatedReceiver: Sendable {
  /// What the receiver does.
  enum Phase: Equatable, Sendable {
    case unpowered
    case booting
    case running
    case standby
  }

  let figures: ReceiverFigures
  /// UTC at boot.
  let origin: UTCTime
  var line = ReceiverLine()

  // Power.
  var phase = Phase.unpowered
  var supplySwitch = false
  var isGone = false
  var bootDone = Instant.distantFuture
  var standbyAt = Instant.distantFuture
  var standbyEnd = Instant.distantFuture
  var standbyRequest = UBXPowerRequest(wakeupSources: 0)

  // Position.
  var reader: TrackReader
  var noise: NoiseProcess
  var acquisition: Acquisition
  var epochDue = Instant.distantFuture
  var epochTime = UTCTime(microseconds: 0)
  var epochCount = 0

  // Configuration, and what follows from it.
  var configuration: ReceiverConfiguration
  var active: ActiveConfiguration
  var batch = ReceiverBatch()
  var sendDue = Instant.distantFuture
  var aiding = AidingExchange()

  // Commands on their way.
  var decoder = UBXCommandDecoder()
  /// What came of a sentence that is not at its end.
  var begunSentence: [UInt8] = []
  var incoming: [IncomingBytes] = []
  var answers: [PendingAnswer] = []

  // Faults.
  var faults: FaultTimeline
  var faultRandom: SimulationRandom
  var acknowledgementsSent = 0

  /// A recording that is played instead of the track.
  var player: RecordingPlayer?

  var frame = FrameBuffer()
  var sentBytes: [UInt8] = []
  let recordsBytes: Bool
  /// What it was asked for and must not be; the board takes it from here.
  var violations: [Violation] = []
  /// Messages that found the output buffer full.
  var droppedMessages = 0

  /// Creates a receiver without supply.
  init(_ setup: SimulationSetup, track: Track, player: RecordingPlayer? = nil) {
    figures = setup.receiver
    origin = track.firstTime
    reader = TrackReader(track)
    noise = NoiseProcess(setup.noise, seed: setup.seed)
    acquisition = Acquisition(setup)
    configuration = ReceiverConfiguration(setup.receiver)
    active = ActiveConfiguration(setup.receiver, configuration)
    faults = FaultTimeline(setup.faults)
    faultRandom = SimulationRandom(seed: setup.seed, stream: 3)
    recordsBytes = setup.recordsBytes
    self.player = player
  }

  /// Whether the receiver has supply.
  var isSupplied: Bool { phase != .unpowered }

  /// What it draws power for.
  var state: ReceiverPowerState {
    switch phase {
    case .unpowered: return figures.hasBackupSupply ? .backup : .off
    case .standby: return .standby
    case .booting: return .acquiring
    case .running: break
    }
    if player != nil { return .tracking }
    if !acquisition.hasFix { return .acquiring }
    if batch.isEnabled && !active.sendsEpochs { return .batching }
    return active.savesPower ? .powersave : .tracking
  }

  /// Whether the batch pin is asserted.
  var isBatchPinActive: Bool {
    active.batchWatermark > 0 && batch.isEnabled && batch.count >= active.batchWatermark
  }

  /// When something happens next; `.distantFuture` for never.
  var nextEvent: Instant {
    var next = min(epochDue, min(sendDue, aiding.due))
    next = min(next, min(bootDone, min(standbyAt, standbyEnd)))
    next = min(next, min(acquisition.fixDue, faults.next))
    if let first = incoming.first { next = min(next, first.due) }
    if let first = answers.first { next = min(next, first.due) }
    if let player { next = min(next, player.next) }
    return next
  }

  /// Lets one thing happen that is due at `now`.
  mutating func handle(at now: Instant) {
    if acquisition.fixDue <= now {
      acquisition.gotFix(at: acquisition.fixDue)
    } else if epochDue <= now {
      epoch(at: now)
    } else if sendDue <= now {
      sendBatch(at: now)
    } else if aiding.due <= now {
      sendEntries(at: now)
    } else if let first = incoming.first, first.due <= now {
      incoming.removeFirst()
      receive(first, at: now)
    } else if let first = answers.first, first.due <= now {
      answers.removeFirst()
      switch first.command {
      case .ubx(let command): carryOut(command, first.bytes, at: now)
      case .sentence(let fields): carryOut(fields, at: now)
      }
    } else if bootDone <= now {
      run(at: now)
    } else if standbyAt <= now {
      enterStandby(at: now)
    } else if standbyEnd <= now {
      boot(at: now)
    } else if faults.next <= now {
      handleFault(at: now)
    } else if player != nil {
      if isSupplied { player?.play(into: &line) } else { player?.skip() }
    }
  }
}

/// Bytes of the host on their way to the receiver.
struct IncomingBytes: Sendable {
  /// When the last one arrives.
  var due: Instant
  var bytes: [UInt8]
  var speed: UInt32
}

/// A command that the receiver works on.
struct PendingAnswer: Sendable {
  /// In which protocol it came.
  enum Command: Sendable {
    case ubx(UBXCommand)
    /// The fields of a sentence.
    case sentence([String])
  }

  var due: Instant
  var command: Command
  /// The bytes of the whole frame, for an entry of its navigation database.
  var bytes: [UInt8] = []
}

/// What follows from the configuration, worked out when it changes.
struct ActiveConfiguration: Equatable, Sendable {
  var interval: Interval
  var speed: UInt32
  /// Every how many epochs, 0 for never: NAV-PVT, and each sentence.
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
  /// Entries at which the pin rises; 0 for never.
  var batchWatermark = 0
  var listensToUBX = false

  /// Whether anything is sent with an epoch.
  var sendsEpochs: Bool { navPVT > 0 || sendsNMEA }
  /// Whether any sentence is sent with an epoch.
  var sendsNMEA: Bool { rmc + gga + gll + gsa + gsv + gst + vtg + zda > 0 }

  init(_ figures: ReceiverFigures, _ values: ReceiverConfiguration) {
    switch figures.family {
    case .streaming:
      interval = figures.interval
      speed = figures.defaultSpeed
      switch figures.output {
      case .ubx: navPVT = 1
      case .nmea: (rmc, gga, gsa, gsv, gst, vtg, zda) = (1, 1, 1, 1, 1, 1, 1)
      }
    case .mtk, .airoha, .casic:
      let told = values.sentences
      interval = told.interval
      speed = told.speed
      (gga, gll, gsa, gsv, rmc, vtg) = (
        told.rates[0], told.rates[1], told.rates[2], told.rates[3], told.rates[4], told.rates[5]
      )
    case .ubloxM10, .ubloxM8:
      let period = Int64(values.value(ConfigurationKey.measurementPeriod))
      let ratio = Int64(values.value(ConfigurationKey.navigationRatio))
      interval = .milliseconds(max(period * ratio, 1))
      speed = UInt32(values.value(ConfigurationKey.lineSpeed))
      listensToUBX = values.isOn(ConfigurationKey.acceptsUBX)
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
