import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes

/// A board with its receiver on a virtual clock that advances only during waits: the simulated counterpart of
/// `LinuxBoard`.
///
/// The engine and its loop (`LocationRuntime`) use it through the protocols of `LocationHAL`, so they run unchanged.
/// The module depends on neither of them.
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
  var books: EnergyLedger
  var events: [TimedBoardEvent] = []
  var receiverState = ReceiverPowerState.off
  var motion: SimulatedMotion
  var gauge = GaugeReading()
  /// Whether the battery is empty. The board continues to run; the caller ends the run.
  public internal(set) var isBatteryEmpty = false
  var emptyAt = Instant.distantFuture
  var pinLevel = false
  var pinRose = false
  var wakePin = PinLevel.inactive
  /// Whether the line's device disappeared or returned; ends the next wait.
  var lineChanged = false
  var hostSpeed: UInt32
  /// Time at which all bytes written by the host have been sent.
  var outputFreeAt = Instant.boot
  /// Measured duration of an epoch's transmission.
  var burst = BurstTiming()
  /// Selects the alarms that occur early.
  var alarmRandom: SimulationRandom
  /// Times of future requests, ascending.
  var requests: [Instant] = []

  /// Creates a board whose receiver follows `track`, which begins at boot.
  ///
  /// The receiver has power from the start, unless the board can switch it.
  public init(_ setup: SimulationSetup, track: Track) {
    self.init(setup, SimulatedReceiver(setup, track: track))
  }

  /// Creates a board whose receiver sends a recording, regardless of commands.
  public init(_ setup: SimulationSetup, replaying recording: Recording) {
    let nowhere = Track(
      start: UTCTime(microseconds: 0),
      points: [
        TrackPoint(offset: .zero, coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
      ])
    let player = RecordingPlayer(recording, speed: setup.receiver.defaultSpeed)
    self.init(setup, SimulatedReceiver(setup, track: nowhere, player: player))
  }

  private init(_ setup: SimulationSetup, _ receiver: SimulatedReceiver) {
    self.setup = setup
    self.receiver = receiver
    alarmRandom = SimulationRandom(seed: setup.seed, stream: 4)
    motion = SimulatedMotion(setup.motion)
    books = EnergyLedger()
    hostSpeed = setup.receiver.defaultSpeed
    books.tracking_mW = setup.receiver.power.tracking
    if !setup.receiver.hasSupplySwitch {
      self.receiver.setSupply(true, at: .boot)
      if self.receiver.player != nil { self.receiver.run(at: .boot) }
    }
    receiverState = self.receiver.state
    record(.receiver(receiverState, mW: setup.receiver.power.mW(in: receiverState)), at: .boot)
    record(.board(.awake, mW: setup.board.awake_mW), at: .boot)
  }

  /// Energy and time per state up to now.
  public var ledger: EnergyLedger { books.closed(at: now) }

  /// Returns UTC at `instant`.
  public func utc(at instant: Instant) -> UTCTime {
    receiver.origin + (instant - .boot)
  }

  /// Present power state of the receiver.
  public var receiverPowerState: ReceiverPowerState { receiverState }

  /// Number of epochs not sent because the line was too slow.
  public var messagesDropped: Int { receiver.droppedMessages }

  /// Number of bytes lost because the board slept, its input buffer was full, the device disappeared, or the line
  /// speed was wrong.
  public var bytesLost: Int { receiver.line.lost }

  /// Schedules a client's request that wakes the board at `time`; a past time counts as now.
  public mutating func request(at time: Instant) {
    requests.append(max(time, now))
    requests.sort()
  }

  /// Removes and returns the events since the last call; empty unless the setup records events.
  public mutating func takeEvents() -> [TimedBoardEvent] {
    var taken: [TimedBoardEvent] = []
    takeEvents(into: &taken)
    return taken
  }

  /// Replaces the contents of `taken` by the events since the last call. The two arrays are swapped, so that neither
  /// is reallocated.
  public mutating func takeEvents(into taken: inout [TimedBoardEvent]) {
    if !taken.isEmpty { taken.removeAll(keepingCapacity: true) }
    swap(&taken, &events)
  }

  /// Removes and returns the bytes that the receiver sent since the last call; empty unless the setup records bytes.
  public mutating func takeSentBytes() -> [UInt8] {
    if receiver.sentBytes.isEmpty { return [] }
    defer { receiver.sentBytes.removeAll(keepingCapacity: true) }
    return receiver.sentBytes
  }

  // MARK: Ledger

  mutating func record(_ event: BoardEvent, at time: Instant) {
    books.add(event, at: time)
    if setup.recordsEvents { events.append(TimedBoardEvent(time: time, event: event)) }
  }

  mutating func violate(_ kind: Violation.Kind, _ text: String) {
    violations.append(Violation(time: now, kind: kind, text: text))
  }

  /// Applies the receiver's changes at `time`: its power state, its batch pin and its violations.
  mutating func look(at time: Instant) {
    let state = receiver.state
    if state != receiverState {
      receiverState = state
      record(.receiver(state, mW: setup.receiver.power.mW(in: state)), at: time)
    }
    let level = setup.receiver.hasBatchPin && receiver.isBatchPinActive
    if level && !pinLevel { pinRose = true }
    pinLevel = level
    if !receiver.violations.isEmpty {
      violations += receiver.violations
      receiver.violations.removeAll()
    }
  }

  /// Executes one event of the receiver.
  mutating func step(at time: Instant) {
    let wasGone = receiver.isGone
    receiver.handle(at: time)
    if receiver.isGone && !wasGone { lineChanged = true }
    look(at: time)
  }

  /// Executes all events of the receiver up to `time`.
  mutating func advance(to time: Instant) {
    while true {
      let next = receiver.nextEvent
      if next > time { return }
      step(at: next)
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
    try mustBeThere()
    guard receiver.isSupplied else {
      return violate(
        .wroteWithoutSupply, "\(bytes.count) bytes were written to a receiver without power")
    }
    let start = max(now, outputFreeAt)
    let waiting = (start - now).microseconds * Int64(hostSpeed) / 10_000_000
    if waiting + Int64(bytes.count) > 4_096 { throw .full }
    guard !bytes.isEmpty else { return }
    let time = (Int64(bytes.count) * 10_000_000 + Int64(hostSpeed) - 1) / Int64(hostSpeed)
    outputFreeAt = start + Interval(microseconds: time)
    burst.wrote(at: now)
    receiver.accept(bytes, due: outputFreeAt, speed: hostSpeed)
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
    try mustBeThere()
    receiver.line.read(into: &chunk, at: now, speed: hostSpeed)
  }

  /// Sets the line speed in baud. Unread bytes that were sent at another speed are lost.
  ///
  /// - Throws: `LineFault.gone` if the device does not exist.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    precondition(baud > 0, "the line speed is positive")
    try mustBeThere()
    receiver.line.loseGarbled(by: now, speed: hostSpeed)
    hostSpeed = baud
    burst = BurstTiming()
    burst.wrote(at: now)
  }

  /// Throws while the device does not exist, and once after it disappeared and returned, because the host must reopen
  /// it.
  private mutating func mustBeThere() throws(LineFault) {
    guard receiver.isGone || lineChanged else { return }
    lineChanged = false
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
      guard command.level != wakePin else { return }
      wakePin = command.level
      if !receiver.isSupplied {
        // While the receiver's device does not exist, the pin has no effect.
        guard command.level == .active, !receiver.isGone else { return }
        return violate(.droveWithoutSupply, "a pin was driven while the receiver had no power")
      }
      receiver.wakeEdge(at: now)
    case .receiverSupply:
      guard setup.receiver.hasSupplySwitch else { throw .notWired }
      if setup.faults.supplySwitchStuck.contains(where: { $0.contains(now) }) { throw .lineLost }
      if command.level == .inactive, receiver.isSupplied {
        if receiver.isStandbyPending {
          violate(.cutBeforeStandby, "the receiver was powered off before it had entered standby")
        }
        if wakePin == .active {
          violate(.droveWithoutSupply, "the receiver was powered off while a pin to it was driven")
        }
      }
      receiver.setSupply(command.level == .active, at: now)
    }
    look(at: now)
  }
}

extension SimulatedBoard {
  /// Waits in `state` until `deadline`, input, an edge or a request, and advances the clock to that time.
  ///
  /// See `BoardSleep.wait(in:until:wakesOnInput:)`. Bytes that arrive in a deep sleep, or while the board resumes
  /// from it, are lost. In other states up to 4,096 bytes are buffered. After the wait the board is awake for the
  /// resume time of the state and the processor time per wake. The wait itself counts as awake only if it is not
  /// longer than the resume time from idle and the alarm resolution. O(receiver events until then).
  public mutating func wait(
    in state: BoardState, until deadline: Instant, listening: Bool
  ) -> Waking {
    advance(to: now)
    if let reason = present(listening) {
      if reason == .bytes { gather(until: deadline) }
      return waking(reason)
    }
    if deadline <= now { return waking(.alarm) }
    defer { receiver.line.loseExcess(over: SimulatedBoard.inputBuffer, by: now) }
    let begin = now
    let entered = enterable(state, until: deadline)
    let reason = sleep(in: entered, until: deadline, listening)
    if !listening || entered >= .suspended {
      burst.wasDeaf(from: begin, until: now)
    } else if reason == .bytes {
      gather(until: deadline)
    }
    return waking(reason)
  }

  /// Size of the input buffer while the board does not wake on input, bytes.
  private static let inputBuffer = 4_096

  /// Returns a reason that ends the wait immediately. A deep sleep does not begin with unread bytes.
  private mutating func present(_ listening: Bool) -> WakeReason? {
    if listening, lineChanged || isReadable { return .bytes }
    if pinRose { return .batchPin }
    if motion.isNews(at: now) { return .motion }
    if let first = requests.first, first <= now { return .request }
    return nil
  }

  private var isReadable: Bool { firstPiece.map { $0 <= now } ?? false }

  private var firstPiece: Instant? { receiver.line.firstPiece(of: setup.board.bytesPerPiece) }

  private mutating func waking(_ reason: WakeReason) -> Waking {
    defer { pinRose = false }
    while let first = requests.first, first <= now { requests.removeFirst() }
    lookAtBattery()
    return Waking(
      reason: reason, batchPinRose: pinRose, motion: motion.takeNews(at: now),
      battery: readGauge())
  }

  /// Returns the deepest state that can be entered: the requested one or a lighter one.
  private mutating func enterable(_ wanted: BoardState, until deadline: Instant) -> BoardState {
    var state = max(wanted, .idle)
    while state > .idle {
      if let figures = setup.board.sleep(state) {
        if deadline - now > figures.minimum { return state }
        violate(
          .alarmTooNear,
          "state \(state) was requested with an alarm in \((deadline - now).seconds) s, which is too near"
        )
      } else {
        violate(.noSuchSleep, "state \(state) was requested, which the board does not have")
      }
      state = state == .off ? .suspended : .idle
    }
    return state
  }

  /// Waits for the rest of an epoch after its first bytes, if the board delays reads.
  private mutating func gather(until deadline: Instant) {
    guard setup.board.gathersEpochs, !lineChanged else { return }
    switch burst.woke(at: now) {
    case .handOn: break
    case .hold(let end):
      _ = sleep(in: .idle, until: min(end, deadline), false)
      burst.held(until: now)
    case .watch:
      // All bytes queued on the line belong to the epoch, and a gap follows it.
      let last = max(receiver.line.freeAt, now)
      let quiet = last + BurstTiming.silence
      _ = sleep(in: .idle, until: min(quiet, deadline), false)
      burst.watched(until: now >= quiet ? last : nil, at: now)
    }
  }

  /// Sleeps and resumes; returns what ended the sleep.
  private mutating func sleep(
    in state: BoardState, until deadline: Instant, _ listening: Bool
  ) -> WakeReason {
    guard deadline > now else { return .alarm }
    let figures = setup.board.sleep(state) ?? setup.board.idle
    let isDeep = state >= .suspended
    var sources = figures.wakeSources
    if !listening { sources.remove(.bytes) }
    let alarm =
      sources.contains(.alarm)
      ? alarmMoment(deadline, figures.alarmResolution, isDeep: isDeep) : .distantFuture
    // For a wait this short, entering the state does not pay: the processor waits awake.
    let isShort = !isDeep && deadline - now <= figures.resume + figures.alarmResolution
    let mW = isShort ? setup.board.awake_mW : figures.mW
    if !isShort { record(.board(state, mW: mW), at: now) }
    let empty = emptyMoment(board_mW: mW)
    let (end, reason) = pass(
      sources, isDeep: isDeep, alarm: min(isShort ? deadline : alarm, empty))
    now = end
    if !isShort { record(.board(.awake, mW: setup.board.awake_mW), at: now) }
    record(.wake(reason), at: now)
    let running = now + (isShort ? .zero : figures.resume) + setup.board.processorTimePerWake
    advance(to: running)
    now = running
    if isDeep { receiver.line.loseArrived(by: now) }
    return reason
  }

  /// Returns the first whole multiple of `resolution` at or after `deadline`. If alarms may be early, half of those
  /// from a deep sleep occur earlier than the deadline, by less than the resolution.
  private mutating func alarmMoment(
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
  private mutating func pass(
    _ sources: WakeSources, isDeep: Bool, alarm: Instant
  ) -> (end: Instant, reason: WakeReason) {
    var limit = now + SimulatedBoard.longestSleep
    let begin = now
    while true {
      // A recording may pause for longer than the limit; its next chunk ends the sleep.
      if let next = receiver.player?.next, next < .distantFuture {
        limit = max(limit, next + SimulatedBoard.longestSleep)
      }
      var end = min(alarm, limit)
      var reason = WakeReason.alarm
      if sources.contains(.request), let first = requests.first, first < end {
        end = first
        reason = .request
      }
      if sources.contains(.bytes) {
        let ready = isDeep ? receiver.line.firstArrival(after: begin) : firstPiece
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
          violate(.sleepWithoutEnd, "the board slept for 30 days and no event woke it")
        }
        return (end, reason)
      }
      step(at: next)
      if isDeep, !sources.contains(.bytes) { receiver.line.loseArrived(by: next) }
      if lineChanged, sources.contains(.bytes) { return (next, .bytes) }
      if pinRose, sources.contains(.batchPin) { return (next, .batchPin) }
    }
  }

  /// Longest sleep before the board is considered to sleep forever.
  private static let longestSleep = Interval.seconds(30 * 86_400)
}
