import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

// The status of an ``Engine``, for `LocationServer`, `LocationLoop` and the command: everything here only reads.

/// Status of the receiver. Made by ``Engine/receiverReport(at:)``, used by `LocationServer`.
public struct ReceiverReport: Equatable, Sendable {
  /// Present activity.
  public var activity: ReceiverActivity
  /// Whether it is awake and has no fix, either not yet or no longer.
  public var isAcquiring: Bool
  /// Whether it responds as expected: false if the driver has lost it, or if it should send and is silent.
  public var isResponding: Bool
  /// Whether it answers no command but sends fixes (PWR-12).
  public var isStreaming = false
  /// Time at which bytes were last received; nil if never.
  public var lastByteTime: Instant?
  /// Measurement time of its newest fix, stored or not; nil before the first one since the engine's start.
  public var lastFixTime: Instant?
  /// Number of NMEA sentences received with a valid checksum; stops at the largest value.
  public var sentences: UInt32 = 0
  /// Number of UBX frames received with a valid checksum; stops at the largest value.
  public var frames: UInt32 = 0
}

/// The demands of one client that keep board and receiver awake. Made by ``Engine/usage(of:at:)``, used by
/// `LocationServer`.
public struct ClientUsage: Equatable, Sendable {
  /// Its continuous demand.
  public var demand: Demand
  /// Time at which its services need the next single fix; `.distantFuture` for none.
  public var due: Instant
  /// Time until which the board stays awake for its acknowledgement (RNG-8); nil if none is expected.
  public var acknowledgementDeadline: Instant?
}

/// The reason why the plan does not suspend the board, apart from single clients. Made by ``Engine/sleepObstacle(_:)``,
/// used by `LocationServer`.
public enum SleepObstacle: Equatable, Sendable {
  /// A sleep inhibitor is active (DEF-28).
  case inhibited
  /// The receiver sends data that is needed, and bytes do not wake a suspended board.
  case receiverSends
  /// The receiver sends data that no client needs, because it cannot be put to sleep.
  case receiverCannotSleep
  /// A command, a drain or an epoch is in progress.
  case receiverBusy
  /// The receiver collects fixes, and its pin does not wake a suspended board.
  case receiverCannotWake
  /// The next wake is so near that suspending does not pay.
  case wakeTooSoon
}

extension Engine {
  // MARK: Ring

  /// The fix with a sequence number; nil if the ring no longer has it. The service reads the fixes of a batch with it
  /// (RNG-5). O(1).
  public func stored(at sequence: UInt64) -> StoredFix? { fixes.ring.stored(at: sequence) }

  /// The first fix of a range of sequence numbers that the ring still has; see `FixRing.nextFix(from:before:)`.
  public func nextFix(from sequence: UInt64, before end: UInt64) -> StoredFix? {
    fixes.ring.nextFix(from: sequence, before: end)
  }

  /// Whether a fix may have had that name; see `FixRing.mayHaveAssigned(_:)`. O(1).
  public func mayHaveNamed(_ name: FixName) -> Bool { fixes.ring.mayHaveAssigned(name) }

  /// The last fix appended to the ring, with the accuracy before any reduction; nil before the first one. O(1).
  public var newestStored: StoredFix? { fixes.newest }

  /// The generation of new fixes (RNG-2).
  public var generation: UInt32 { fixes.ring.generation }
  /// The part of the ring's memory that is not durable yet; see `FixRing.unsynced`.
  public var unsynced: UnsyncedBytes { fixes.ring.unsynced }
  /// Random number of the ring; 0 if it has none (RNG-2).
  public var ringID: UInt64 { fixes.ring.id }
  /// The ring's size in fixes, R.
  public var capacity: Int { fixes.ring.capacity }
  /// The sequence number of the first fix since the start of the service, existing or future.
  public var generationStart: UInt64 { fixes.ring.start }
  /// The sequence number of the next fix.
  public var head: UInt64 { fixes.ring.head }
  /// Number of ring slots in use, starting at the oldest readable fix.
  public var fixesInRing: Int { Int(fixes.ring.head - fixes.ring.tail) }

  // MARK: Clients

  /// A client's position in the ring, for durable storage and ``restore(_:from:startingAt:)``. O(1).
  public func bookmark(of client: ClientID) -> ClientBookmark {
    clients.withClient(client.index) { $0.bookmark(in: fixes.ring) }
  }

  /// The undelivered fixes of a client at this time. O(1).
  public func backlog(of client: ClientID) -> Backlog {
    clients[client.index].backlog(in: fixes.ring)
  }

  /// A region of a client for durable storage, for ``Request/addRegion(_:assuming:)`` (BKG-20); nil if `slot`,
  /// below `RegionMonitor.capacity`, is empty. O(1).
  public func regionRecord(
    of client: ClientID, at slot: Int
  ) -> (region: Region, assuming: MonitorState)? {
    clients[client.index].services.regions.record(at: slot)
  }

  /// The client's `location` in Core Location's sense: the newest fix that was delivered to it (STD-8).
  public func location(of client: ClientID) -> StoredFix? {
    clients.withClient(client.index) { $0.location(in: fixes.ring) }
  }

  /// A client's demands on the hardware at `now`. O(regions of the client).
  public func usage(of client: ClientID, at now: Instant) -> ClientUsage {
    let i = client.index
    let need = clients[i].fixNeed(
      at: now, speed: fixes.plausibleSpeed, line: motionLine)
    return ClientUsage(
      demand: clients[i].demand(at: now), due: need.due,
      acknowledgementDeadline: clients[i].acknowledgementDeadline)
  }

  // MARK: Receiver

  /// Mode that was last commanded to the receiver; nil before the first plan.
  public var receiverMode: ReceiverMode? { receiver.mode }

  /// Whether the receiver should be acquiring or tracking.
  public var isReceiverAwake: Bool { receiver.isAwake }

  /// Whether no fix is expected on the receiver's line: the receiver is off, asleep, or records fixes itself.
  public var isReceiverQuiet: Bool { !receiver.isAwake || receiver.mayHoldFixes }

  /// Whether no command is in progress between board and receiver.
  public var isDriverIdle: Bool { receiver.isQuiescent }

  /// Whether the receiver may hold fixes that are not in the ring yet.
  public var mayReceiverHoldFixes: Bool { receiver.mayHoldFixes }

  /// Whether the receiver can be put to sleep or switched off.
  public var canReceiverSleep: Bool {
    receiver.isPresent && (setup.parameters.canStandby || setup.parameters.canSwitchOff)
  }

  /// `deferredLocationUpdatesAvailable()`: the board has a receiver and a low-power caching state (DEF-7).
  public var isDeferralAvailable: Bool { receiver.isPresent && setup.parameters.hasCachingState }

  /// Counters of the decoder.
  public var decoderCounters: DecoderCounters { input.decoder.counters }
  /// Counters of the driver.
  public var driverCounters: DriverCounters {
    receiver.isPresent ? receiver.driver.counters : DriverCounters()
  }

  /// Writes of the configuration to the receiver's flash, for durable storage and the next engine's
  /// ``ReceiverSetup/flash``. O(1).
  public var flashRecord: FlashRecord { receiver.driver.flashRecord }

  /// Times of the newest live fix with a date, stored or not; nil before the first one. O(1).
  public var epochTime: EpochTime? { fixes.epochTime }

  /// Status of the receiver; nil on a board without one. O(1).
  public func receiverReport(at now: Instant) -> ReceiverReport? {
    guard receiver.isPresent else { return nil }
    let activity = receiver.driver.status.activity
    let counters = input.decoder.counters
    // Streaming as of the last step, as in the clients' context; the rest as of `now`.
    return ReceiverReport(
      activity: activity, isAcquiring: receiver.isWithoutFix(input, at: now),
      isResponding: activity != .lost && !receiver.isLost && !receiver.isSilent(input, at: now),
      isStreaming: receiver.isStreaming(at: self.now),
      lastByteTime: input.lastByteTime > .boot ? input.lastByteTime : nil,
      lastFixTime: fixes.newestTime > .boot ? fixes.newestTime : nil,
      sentences: counters.sentences, frames: counters.frames)
  }

  /// The newest satellites in view and dilutions of precision; nil if they are not watched
  /// (``Event/watchSatellites(_:)``), if the receiver has not sent them since, or if they are older than 10 s and two
  /// reports of the receiver. O(satellites).
  public func satellites(at now: Instant) -> SatelliteView? { input.satelliteView(at: now) }

  /// Whether satellites in view are read from the receiver.
  public var isWatchingSatellites: Bool { input.isWatchingSatellites }

  // MARK: Board

  /// Last battery charge, percent; nil on a board without a gauge.
  public var batteryCharge: UInt8? { battery.charge }
  /// Service levels that are shed because of the battery's charge (PWR-10).
  public var shed: ServiceLevelSet { battery.shed }
  /// Whether the motion sensor's line is used.
  public var usesMotionLine: Bool { setup.parameters.usesMotionLine }
  /// Whether a sleep inhibitor is active (DEF-28).
  public var isSleepInhibited: Bool { isInhibited }
  /// Whether the board's profile has a suspended state.
  public var canSuspend: Bool { setup.parameters.deep != nil }

  /// The reason why the board is not suspended by the last step's `plan`; nil if it is. On a board without a suspended
  /// state, only reasons other than `receiverCannotWake` and `wakeTooSoon`. O(1).
  public func sleepObstacle(_ plan: Effects) -> SleepObstacle? {
    guard plan.board < .suspended else { return nil }
    if isInhibited { return .inhibited }
    switch receiver.mode {
    case .tracking, .powersave:
      return isReceiverUnneeded ? .receiverCannotSleep : .receiverSends
    case .off, .standby, .batching, nil: break
    }
    if isBusy { return .receiverBusy }
    guard let deep = setup.parameters.deep else { return nil }
    if case .batching = receiver.mode, setup.parameters.batch?.hasPin == true, !deep.wakesOnPin {
      return .receiverCannotWake
    }
    return .wakeTooSoon
  }
}
