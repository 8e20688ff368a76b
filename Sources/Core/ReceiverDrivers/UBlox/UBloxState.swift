import GNSSProtocols
import LocationTypes

extension UBloxDriver {
  /// What the driver is doing. Of each command one is in flight; the others wait for the next state.
  enum State: UInt8, CommandedState {
    /// No goal yet.
    case idle = 0
    /// Supply cut.
    case unpowered = 1
    /// Supply on, the receiver starts.
    case powering = 2
    /// The wake pin is driven.
    case pulsing = 3
    /// Woken, the receiver starts.
    case waking = 4
    /// MON-VER polled at the line's own speed.
    case probing = 5
    /// MON-VER polled at the speed of an unconfigured receiver.
    case probingDefault = 6
    /// The receiver was told the line's speed.
    case changingSpeed = 7
    /// Configuration written.
    case configuring = 8
    /// Awake, live epochs.
    case tracking = 9
    /// Batching was switched on.
    case enabling = 10
    /// Live output was switched off.
    case muting = 11
    /// Awake and silent, epochs go into the receiver's buffer.
    case batching = 12
    /// Another watermark was written.
    case changingWatermark = 13
    /// The buffer is being emptied; batching goes on.
    case draining = 14
    /// Live output was switched on again, to leave batching.
    case unmuting = 15
    /// The buffer is being emptied while live epochs come, to leave batching.
    case leaving = 16
    /// Batching was switched off.
    case disabling = 17
    /// Standby was asked for.
    case fallingAsleep = 18
    /// Asleep.
    case standby = 19
    /// Does not answer; waits before the next try.
    case lost = 20
    /// Awake, live epochs; its own duty cycle was switched on or off.
    case changingPower = 21
    /// Awake and about to be cut off: what it knows of the sky is being read out.
    case saving = 22
    /// Awake, live epochs: what it knew of the sky before it was cut off is being given back.
    case restoring = 23
  }

  /// Whether the receiver puts epochs into its buffer, as far as is known.
  enum Batch: UInt8, Sendable {
    case off, unknown, on
  }

  /// What is known of the receiver's buffer and its power; decides what comes next, beside the goal and
  /// what the link knows.
  struct Facts: Sendable {
    /// Live output is off.
    var isMuted = false
    /// Whether it batches.
    var batch: Batch
    /// The buffer was found empty since live output is on.
    var isDrained = false
    /// Batching was refused; not tried again before the next goal, or a loss of the receiver.
    var refusesBatching = false
    /// How it spends its power while awake, as far as it was told.
    var powerMode = UBloxPower.full
    /// Its duty cycle was refused; not tried again before the next goal of it, or a loss of the receiver.
    var refusesPowerSave = false
    /// The watermark it has.
    var watermark: UInt16 = 0
    /// It may hold epochs that were not handed on.
    var mayHold = false
  }

  /// How a drain goes.
  struct Drain: Sendable {
    /// Retrievals sent so far.
    var rounds: UInt8 = 0
    /// Entries still to come of this retrieval; nil before its MON-BATCH.
    var remaining: UInt16?
    /// When this retrieval must be over.
    var end = Instant.distantFuture
    /// Anything was heard.
    var isAnswered = false
    /// msgCnt of the next entry; nil when not known.
    var expected: UInt16?
    /// Of the newest entry handed on: UTC, and when it came.
    var newest_utc: UTCTime?
    var newest_arrival: Instant?
    /// When the buffer was last known to be empty.
    var emptied = Instant.boot
  }
}

extension UBloxDriver {
  /// Retrievals in one drain; a receiver that fills faster than the line drains ends here.
  static let drainRounds: UInt8 = 64
  /// Length of a LOG-BATCH frame.
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
    case .saving, .restoring: .aside
    case .tracking, .batching, .standby: .settled
    case .fallingAsleep: .fallingAsleep
    case .lost: .lost
    }
  }
}
