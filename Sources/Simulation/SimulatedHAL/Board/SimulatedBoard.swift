import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes

/// A board with its receiver on a virtual clock that advances only during waits: the simulated counterpart of
/// `LinuxBoard`.
///
/// The engine and its loop (`LocationRuntime`) use it through the protocols of `LocationHAL`, so they run unchanged.
/// This module depends on neither of the two.
///
/// - **Receiver.** ``SimulatedReceiver`` converts a ``Track`` into the bytes that a real receiver would send, or a
///   ``Recording`` is replayed.
/// - **Time.** Code takes no time. Only ``wait(in:until:wakesOnInput:)`` advances the clock; it executes the
///   receiver's events on the way and adds the state's resume time and the processor time per wake.
/// - **Energy.** Each change of a power state is entered in the ledger, and recorded as a ``BoardEvent`` on request.
/// - **Determinism.** The same setup, track and calls give the same run, byte for byte.
/// - **Violations.** Operations that a data sheet forbids are rejected and recorded in ``violations``.
public struct SimulatedBoard: LocationBoard, ~Copyable {
  /// Current time; 0 at the start of the run.
  public internal(set) var now = Instant.boot
  /// Forbidden or unsupported requests; empty in a correct run.
  public internal(set) var violations: [Violation] = []

  let setup: SimulationSetup
  var receiver: SimulatedReceiver
  var openLedger: EnergyLedger
  var events: [TimedBoardEvent] = []
  var receiverState = ReceiverPowerState.off
  var motion: SimulatedMotionLine
  var gauge = GaugePollLimit()
  /// Whether the battery is empty. The board continues to run; the caller ends the run.
  public internal(set) var isBatteryEmpty = false
  var batteryEmptyTime = Instant.distantFuture
  var batchPinLevel = false
  var batchPinRose = false
  var wakePinLevel = PinLevel.inactive
  /// Whether the line's device has disappeared since a call last threw; ends the next wait.
  var deviceChanged = false
  var hostSpeed: UInt32
  /// Time at which all bytes written by the host have been sent.
  var outputEnd = Instant.boot
  /// Measured duration of an epoch's transmission.
  var burstTiming = BurstTiming()
  /// Selects the alarms that occur early.
  var alarmRandom: SimulationRandom
  /// Times of future requests, ascending.
  var requestTimes: [Instant] = []
  /// Whether the board was suspended in the last wait.
  var wasSuspended = false

  /// Creates a board whose receiver follows `track`, which begins at boot.
  ///
  /// The receiver has power from the start, unless the board can switch it.
  public init(_ setup: SimulationSetup, track: Track) {
    self.init(setup, SimulatedReceiver(setup, track: track))
  }

  /// Creates a board whose receiver sends a recording, regardless of commands.
  public init(_ setup: SimulationSetup, replaying recording: Recording) {
    let emptyTrack = Track(
      start: UTCTime(microseconds: 0),
      points: [
        TrackPoint(offset: .zero, coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
      ])
    let player = RecordingPlayer(recording, speed: setup.receiver.defaultSpeed)
    self.init(setup, SimulatedReceiver(setup, track: emptyTrack, player: player))
  }

  private init(_ setup: SimulationSetup, _ receiver: SimulatedReceiver) {
    self.setup = setup
    self.receiver = receiver
    alarmRandom = SimulationRandom(seed: setup.seed, stream: 4)
    motion = SimulatedMotionLine(setup.motionPeriods)
    openLedger = EnergyLedger()
    hostSpeed = setup.receiver.defaultSpeed
    if !setup.receiver.hasSupplySwitch {
      self.receiver.setSupply(true, at: .boot)
      if self.receiver.player != nil { self.receiver.startRunning(at: .boot) }
    }
    receiverState = self.receiver.state
    record(.receiver(receiverState, mW: setup.receiver.power.mW(in: receiverState)), at: .boot)
    record(.board(.awake, mW: setup.board.awake_mW), at: .boot)
  }

  /// Energy and time per state up to now.
  public var ledger: EnergyLedger { openLedger.closed(at: now) }

  /// Returns UTC at `instant`.
  public func utc(at instant: Instant) -> UTCTime {
    receiver.origin + (instant - .boot)
  }

  /// Present power state of the receiver.
  public var receiverPowerState: ReceiverPowerState { receiverState }

  /// Number of epochs not sent because the line was too slow.
  public var droppedEpochs: Int { receiver.droppedEpochs }

  /// Number of bytes lost because the board slept, its input buffer was full, the device disappeared, or the line
  /// speed was wrong.
  public var lostBytes: Int { receiver.line.lostBytes }

  /// Schedules a client's request that wakes the board at `time`; a past time counts as now.
  public mutating func request(at time: Instant) {
    requestTimes.append(max(time, now))
    requestTimes.sort()
  }

  /// Replaces the contents of `removed` by the events since the last call; there are none unless the setup records
  /// events. The two arrays are swapped, so that neither is reallocated.
  public mutating func removeEvents(into removed: inout [TimedBoardEvent]) {
    if !removed.isEmpty { removed.removeAll(keepingCapacity: true) }
    swap(&removed, &events)
  }

  /// Removes and returns the bytes that the receiver sent since the last call; empty unless the setup records bytes.
  public mutating func removeSentBytes() -> [UInt8] {
    receiver.removeSentBytes()
  }

  // MARK: Ledger

  mutating func record(_ event: BoardEvent, at time: Instant) {
    openLedger.add(event, at: time)
    if setup.recordsEvents { events.append(TimedBoardEvent(time: time, event: event)) }
  }

  mutating func recordViolation(_ kind: Violation.Kind, _ text: String) {
    violations.append(Violation(time: now, kind: kind, text: text))
  }

  /// Applies the receiver's changes at `time`: its power state, its batch pin and its violations.
  mutating func applyReceiverState(at time: Instant) {
    let state = receiver.state
    if state != receiverState {
      receiverState = state
      record(.receiver(state, mW: setup.receiver.power.mW(in: state)), at: time)
    }
    let level = setup.receiver.hasBatchPin && receiver.isBatchPinActive
    if level && !batchPinLevel { batchPinRose = true }
    batchPinLevel = level
    violations += receiver.removeViolations()
  }

  /// Executes one event of the receiver.
  mutating func executeReceiverEvent(at time: Instant) {
    let wasAbsent = receiver.isDeviceAbsent
    receiver.handle(at: time)
    if receiver.isDeviceAbsent && !wasAbsent { deviceChanged = true }
    applyReceiverState(at: time)
  }

  /// Executes all events of the receiver up to `time`.
  mutating func advance(to time: Instant) {
    while true {
      let next = receiver.nextEvent
      if next > time { return }
      executeReceiverEvent(at: next)
    }
  }
}

extension SimulatedBoard {
  /// Queues `bytes` for transmission to the receiver, all or none.
  ///
  /// If the receiver has no power, nothing is written and a violation is recorded.
  ///
  /// - Throws: `LineFault.gone` if the device does not exist; `LineFault.full` if more than 4,096 bytes would be
  ///   queued.
  public mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    try checkDevice()
    guard receiver.isSupplied else {
      return recordViolation(
        .wroteWithoutSupply, "\(bytes.count) bytes were written to a receiver without power")
    }
    let start = max(now, outputEnd)
    let waiting = (start - now).microseconds * Int64(hostSpeed) / 10_000_000
    if waiting + Int64(bytes.count) > 4_096 { throw .full }
    guard !bytes.isEmpty else { return }
    let time = (Int64(bytes.count) * 10_000_000 + Int64(hostSpeed) - 1) / Int64(hostSpeed)
    outputEnd = start + Interval(microseconds: time)
    burstTiming.didWrite(at: now)
    receiver.accept(bytes, due: outputEnd, speed: hostSpeed)
  }

  /// Returns up to 256 bytes that have arrived; empty if there are none. O(bytes).
  ///
  /// - Throws: `LineFault.gone` if the device does not exist.
  public mutating func read() throws(LineFault) -> ByteChunk {
    var chunk = ByteChunk()
    try read(into: &chunk)
    return chunk
  }

  /// Replaces the contents of `chunk` by up to 256 bytes that have arrived.
  ///
  /// - Throws: `LineFault.gone` if the device does not exist.
  public mutating func read(into chunk: inout ByteChunk) throws(LineFault) {
    try checkDevice()
    receiver.read(into: &chunk, at: now, speed: hostSpeed)
  }

  /// Sets the line speed in baud. Unread bytes that were sent at another speed are lost.
  ///
  /// - Throws: `LineFault.gone` if the device does not exist.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    precondition(baud > 0, "the line speed is positive")
    try checkDevice()
    receiver.discardArrived(by: now, keeping: hostSpeed)
    hostSpeed = baud
    burstTiming = BurstTiming()
    burstTiming.didWrite(at: now)
  }

  /// Throws while the device does not exist. If no call has thrown during its absence, throws once after its return,
  /// because the host must reopen it.
  private mutating func checkDevice() throws(LineFault) {
    guard receiver.isDeviceAbsent || deviceChanged else { return }
    deviceChanged = false
    throw .gone
  }

  /// Drives a pin.
  ///
  /// - Throws: `PinFault.notWired` if the board does not have the pin; `PinFault.lineLost` while the power switch is
  ///   stuck.
  public mutating func set(_ command: PinCommand) throws(PinFault) {
    switch command.pin {
    case .receiverWake:
      guard setup.receiver.hasWakePin else { throw .notWired }
      guard command.level != wakePinLevel else { return }
      wakePinLevel = command.level
      if !receiver.isSupplied {
        // While the receiver's device does not exist, the pin has no effect.
        guard command.level == .active, !receiver.isDeviceAbsent else { return }
        return recordViolation(
          .drovePinWithoutSupply,
          "a pin was driven while the receiver had no power")
      }
      receiver.wakeEdge(at: now)
    case .receiverSupply:
      guard setup.receiver.hasSupplySwitch else { throw .notWired }
      if setup.faults.supplySwitchStuck.contains(where: { $0.contains(now) }) { throw .lineLost }
      if command.level == .inactive, receiver.isSupplied {
        if receiver.isStandbyPending {
          recordViolation(
            .poweredOffBeforeStandby,
            "the receiver was powered off before it had entered standby")
        }
        if wakePinLevel == .active {
          recordViolation(
            .drovePinWithoutSupply,
            "the receiver was powered off while a pin to it was driven")
        }
      }
      receiver.setSupply(command.level == .active, at: now)
    }
    applyReceiverState(at: now)
  }
}

extension SimulatedBoard {
  /// Waits in `state` until `deadline`, input, an edge or a request, and advances the clock to that time.
  ///
  /// See `BoardSleep.wait(in:until:wakesOnInput:)`. Bytes that arrive in a deep sleep, or while the board resumes
  /// from it, are lost. In other states up to 4,096 bytes are buffered. After the wait the board is awake for the
  /// resume time of the state and the processor time per wake. The wait itself counts as awake only if it is not
  /// longer than the sum of resume time and alarm resolution of the idle state. In ``BoardState/off`` the receiver has no
  /// supply but its backup supply; the program that ran on the board is gone, which is up to the caller. O(receiver
  /// events until then).
  public mutating func wait(
    in state: BoardState, until deadline: Instant, wakesOnInput: Bool
  ) -> WakeReport {
    wasSuspended = false
    advance(to: now)
    if let reason = immediateWakeReason(wakesOnInput) {
      if reason == .bytes { delayRead(until: deadline) }
      return wakeReport(reason)
    }
    if deadline <= now { return wakeReport(.alarm) }
    defer { receiver.discardExcess(over: SimulatedBoard.inputBufferSize, by: now) }
    let begin = now
    let entered = enterableState(state, until: deadline)
    let reason = sleep(in: entered, until: deadline, wakesOnInput)
    wasSuspended = entered >= .suspended
    if !wakesOnInput || entered >= .suspended {
      burstTiming.didBufferInput(from: begin, until: now)
    } else if reason == .bytes {
      delayRead(until: deadline)
    }
    return wakeReport(reason)
  }

  /// Size of the input buffer while the board does not wake on input, bytes.
  private static let inputBufferSize = 4_096

  /// Returns the reason that ends the wait before it begins; nil if there is none. With `wakesOnInput`, unread bytes
  /// end it also if a deep sleep was requested.
  private mutating func immediateWakeReason(_ wakesOnInput: Bool) -> WakeReason? {
    if wakesOnInput, deviceChanged || isReadable { return .bytes }
    if batchPinRose { return .batchPin }
    if motion.hasChanged(at: now) { return .motion }
    if let first = requestTimes.first, first <= now { return .request }
    return nil
  }

  private var isReadable: Bool { nextDeliveryTime.map { $0 <= now } ?? false }

  private var nextDeliveryTime: Instant? {
    receiver.line.nextDeliveryTime(of: setup.board.fifoTriggerLevel)
  }

  private mutating func wakeReport(_ reason: WakeReason) -> WakeReport {
    defer { batchPinRose = false }
    while let first = requestTimes.first, first <= now { requestTimes.removeFirst() }
    checkBattery()
    return WakeReport(
      reason: reason, batchPinRose: batchPinRose, motion: motion.consumeChange(at: now),
      battery: readGauge(), wasSuspended: wasSuspended)
  }

  /// Returns the deepest state that can be entered: the requested one or a lighter one.
  private mutating func enterableState(
    _ requested: BoardState, until deadline: Instant
  ) -> BoardState {
    var state = max(requested, .idle)
    while state > .idle {
      if let figures = setup.board.sleepState(state) {
        if deadline - now >= figures.minimumDuration { return state }
        recordViolation(
          .alarmTooNear,
          "state \(state) was requested with an alarm in \((deadline - now).seconds) s, which is too near"
        )
      } else {
        recordViolation(
          .unsupportedSleepState,
          "state \(state) was requested, which the board does not have")
      }
      state = state == .off ? .suspended : .idle
    }
    return state
  }

  /// Waits for the rest of an epoch after its first bytes, if the board delays reads.
  private mutating func delayRead(until deadline: Instant) {
    guard setup.board.delaysReads, !deviceChanged else { return }
    switch burstTiming.didWake(at: now) {
    case .deliver: break
    case .delay(let end):
      _ = sleep(in: .idle, until: min(end, deadline), false)
      burstTiming.didDelay(until: now)
    case .measure:
      // All bytes queued on the line belong to the epoch, and a gap follows it.
      let last = max(receiver.line.sendingEnd, now)
      let quiet = last + BurstTiming.epochGap
      _ = sleep(in: .idle, until: min(quiet, deadline), false)
      burstTiming.didMeasure(until: now >= quiet ? last : nil, at: now)
    }
  }

  /// Sleeps and resumes; returns the reason that ended the sleep.
  private mutating func sleep(
    in state: BoardState, until deadline: Instant, _ wakesOnInput: Bool
  ) -> WakeReason {
    guard deadline > now else { return .alarm }
    let figures = setup.board.sleepState(state) ?? setup.board.idle
    let isDeep = state >= .suspended
    var sources = figures.wakeSources
    if !wakesOnInput { sources.remove(.bytes) }
    let alarm =
      sources.contains(.alarm)
      ? alarmTime(deadline, figures.alarmResolution, isDeep: isDeep) : .distantFuture
    // Such a wait is too short to enter the idle state and to leave it again, so the processor waits awake.
    let isShort = !isDeep && deadline - now <= figures.resumeTime + figures.alarmResolution
    if state == .off { removeSupply() }
    let mW = isShort ? setup.board.awake_mW : figures.power_mw
    if !isShort { record(.board(state, mW: mW), at: now) }
    let empty = estimatedEmptyTime(board_mW: mW)
    let (end, reason) = runUntilWake(
      sources, isDeep: isDeep, alarm: min(isShort ? deadline : alarm, empty))
    now = end
    if !isShort { record(.board(.awake, mW: setup.board.awake_mW), at: now) }
    record(.wake(reason), at: now)
    if state == .off { restoreSupply() }
    let readyTime = now + (isShort ? .zero : figures.resumeTime) + setup.board.processorTimePerWake
    advance(to: readyTime)
    now = readyTime
    if isDeep { receiver.discardArrived(by: now) }
    return reason
  }

  /// Switches the board off: it supplies the receiver, which keeps only its backup supply.
  private mutating func removeSupply() {
    wakePinLevel = .inactive
    receiver.setSupply(false, at: now)
    applyReceiverState(at: now)
  }

  /// Switches the board on. A receiver without a supply switch starts with it. The line has its first speed again.
  private mutating func restoreSupply() {
    if !setup.receiver.hasSupplySwitch { receiver.setSupply(true, at: now) }
    applyReceiverState(at: now)
    hostSpeed = setup.receiver.defaultSpeed
    outputEnd = now
    burstTiming = BurstTiming()
  }

  /// Returns the first whole multiple of `resolution` at or after `deadline`. If alarms may be early, half of those
  /// from a deep sleep occur earlier than the deadline, by less than the resolution.
  private mutating func alarmTime(
    _ deadline: Instant, _ resolution: Interval, isDeep: Bool
  ) -> Instant {
    guard resolution > .zero, deadline < .distantFuture else { return deadline }
    let step = resolution.microseconds
    if isDeep, setup.faults.alarmsMayBeEarly, alarmRandom.uniform() < 0.5 {
      let lead = Interval(microseconds: Int64(alarmRandom.uniform() * Double(step)))
      return max(deadline - lead, now)
    }
    let count = (deadline.microseconds + step - 1) / step
    return Instant(microseconds: count * step)
  }

  /// Advances the receiver until one of `sources` ends the wait; returns its time and reason.
  private mutating func runUntilWake(
    _ sources: WakeSources, isDeep: Bool, alarm: Instant
  ) -> (end: Instant, reason: WakeReason) {
    var limit = now + SimulatedBoard.maximumSleep
    let begin = now
    while true {
      // A recording may pause for longer than the limit, so the limit counts from its next chunk.
      if let next = receiver.player?.nextTime, next < .distantFuture {
        limit = max(limit, next + SimulatedBoard.maximumSleep)
      }
      var end = min(alarm, limit)
      var reason = WakeReason.alarm
      if sources.contains(.request), let first = requestTimes.first, first < end {
        end = first
        reason = .request
      }
      if sources.contains(.bytes) {
        let ready = isDeep ? receiver.line.firstArrival(after: begin) : nextDeliveryTime
        if let ready, ready < end {
          end = ready
          reason = .bytes
        }
      }
      if sources.contains(.motion), let edge = motion.nextEdge(after: begin), edge < end {
        end = edge
        reason = .motion
      }
      let next = receiver.nextEvent
      if next > end {
        if end == limit && end < alarm {
          recordViolation(
            .sleepWithoutWakeSource,
            "the board slept for 30 days and no event woke it")
        }
        return (end, reason)
      }
      executeReceiverEvent(at: next)
      if isDeep, !sources.contains(.bytes) { receiver.discardArrived(by: next) }
      if deviceChanged, sources.contains(.bytes) { return (next, .bytes) }
      if batchPinRose, sources.contains(.batchPin) { return (next, .batchPin) }
    }
  }

  /// Longest sleep before the board is considered to sleep forever.
  private static let maximumSleep = Interval.seconds(30 * 86_400)
}
