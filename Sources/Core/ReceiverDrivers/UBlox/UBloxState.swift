import GNSSProtocols
import LocationTypes

extension UBloxDriver {
  /// State of ``UBloxDriver``; diagram there. At most one command is in flight in each state.
  enum State: UInt8, CommandedState {
    /// No goal yet.
    case idle = 0
    /// Powered off.
    case unpowered = 1
    /// Powered on, starting.
    case powering = 2
    /// The wake pin is active.
    case pulsing = 3
    /// Waiting for the receiver to wake up.
    case waking = 4
    /// Polling the configuration or MON-VER at the line's baud rate.
    case probing = 5
    /// Polling MON-VER at the baud rate of an unconfigured receiver.
    case probingDefault = 6
    /// Setting the receiver's baud rate.
    case changingSpeed = 7
    /// Writing the configuration.
    case configuring = 8
    /// Awake with live output.
    case tracking = 9
    /// Enabling batching.
    case enabling = 10
    /// Switching live output off.
    case muting = 11
    /// Awake without live output; the receiver stores epochs in its batch buffer.
    case batching = 12
    /// Writing another watermark.
    case changingWatermark = 13
    /// Draining the batch buffer; batching continues afterwards.
    case draining = 14
    /// Switching live output on, to leave batching.
    case unmuting = 15
    /// Draining the batch buffer with live output on, to leave batching.
    case leaving = 16
    /// Disabling batching.
    case disabling = 17
    /// Standby requested; waiting for silence.
    case fallingAsleep = 18
    /// Asleep.
    case standby = 19
    /// Not answering; waiting for the next attempt.
    case lost = 20
    /// Awake with live output; switching the receiver's duty cycle on or off.
    case changingPower = 21
    /// Awake; reading out the navigation database before power-off.
    case saving = 22
    /// Awake with live output; sending back the navigation database after power-on.
    case restoring = 23
    /// Awake with live output; switching the satellites in view on or off.
    case switchingSatellites = 24
  }

  /// Whether the receiver stores epochs in its batch buffer, as far as known.
  enum BatchMode: UInt8, Sendable {
    case off, unknown, on
  }

  /// Whether the receiver answers the poll of its configuration, as far as known.
  enum PollSupport: UInt8, Sendable {
    /// Assumed until the opposite is known.
    case assumed
    /// Three polls were not answered. Until the next answer, standby, power-off or loss.
    case unanswered
    /// Rejected. Until the next loss, or until the receiver rejects the power mode keys, which the poll contains.
    case rejected
  }

  /// Known state of the receiver's batching and power mode. Together with the goal and the link it determines the next
  /// state.
  struct KnownState: Sendable {
    /// Whether live output is off.
    var isMuted = false
    /// Whether batching is enabled.
    var batch: BatchMode
    /// Whether the batch buffer was drained, so that batching may be disabled or enabled again.
    var isDrained = false
    /// Whether the receiver has rejected batching. Cleared by the next goal, by standby or power-off, and by a loss.
    var isBatchingRejected = false
    /// Power mode that was last acknowledged.
    var powerMode = UBloxPowerMode.full
    /// Whether the receiver has rejected its power mode keys. Cleared by the next powersave goal and by a loss.
    var isPowerSaveRejected = false
    /// Whether the configuration can be polled.
    var poll = PollSupport.assumed
    /// Watermark that was last acknowledged.
    var watermark: UInt16 = 0
    /// Whether the batch buffer may contain epochs that were not delivered.
    var mayBufferFixes = false
  }

  /// Progress of a drain.
  struct DrainProgress: Sendable {
    /// Number of retrievals sent in this drain.
    var retrievals: UInt8 = 0
    /// Number of entries still to arrive in this retrieval; nil before its MON-BATCH.
    var remainingEntries: UInt16?
    /// Deadline of this retrieval.
    var deadline = Instant.distantFuture
    /// Whether the receiver has sent a status or an entry in this drain.
    var isAnswered = false
    /// Expected `msgCnt` of the next entry; nil if unknown.
    var expectedCount: UInt16?
    /// UTC and arrival time of the newest received entry.
    var newest_utc: UTCTime?
    var newestArrival: Instant?
    /// Time at which the last drain ended or batching was enabled.
    var emptiedAt = Instant.boot
  }
}

extension UBloxDriver {
  /// Maximum number of retrievals per drain, for a receiver that fills its buffer faster than the line drains it.
  static let maximumRetrievals: UInt8 = 64
  /// Length of a LOG-BATCH frame in bytes.
  static let batchEntryBytes: Int64 = 108
}

extension UBloxDriver.State {
  var stage: DriverStage {
    switch self {
    case .idle: .idle
    case .unpowered: .unpowered
    case .powering: .powering
    case .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .enabling, .muting, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling:
      .busy
    case .saving, .restoring, .switchingSatellites: .preemptible
    case .tracking, .batching, .standby: .steady
    case .fallingAsleep: .fallingAsleep
    case .lost: .lost
    }
  }
}
