import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes

/// A board with its receiver, on a clock that runs only while somebody waits.
///
/// The receiver turns a ``Track`` into the bytes that a real one would send, or a ``Recording`` is
/// played. Running code takes no time here: the clock moves in ``wait(in:until:)`` alone. The same
/// setup, track and calls give the same run to the byte. What a data sheet forbids is refused and
/// kept in ``violations``.
public struct SimulatedBoard: LocationBoard, ~Copyable {
  /// Now, from 0 at the start of the run.
  public internal(set) var now = Instant.boot
  /// What the board was asked for and must not be; empty after a good run.
  public internal(set) var violations: [Violation] = []

  let setup: SimulationSetup
  var receiver: SimulatedReceiver
  var books: EnergyLedger
  var events: [TimedBoardEvent] = []
  var receiverState = ReceiverPowerState.off
  var motion: SimulatedMotion
  var gauge = GaugeReading()
  /// The battery has nothing left. The board goes on all the same: whoever runs it ends there.
  public internal(set) var isBatteryEmpty = false
  var emptyAt = Instant.distantFuture
  var pinLevel = false
  var pinRose = false
  var wakePin = PinLevel.inactive
  /// The line's device went away or came; the next wait ends with it.
  var lineChanged = false
  var hostSpeed: UInt32
  /// When the host's own bytes have left.
  var outputFreeAt = Instant.boot
  /// How long an epoch takes to come, as the board has learned it.
  var burst = BurstTiming()
  /// Which alarms are early.
  var alarmRandom: SimulationRandom
  /// Requests to come, in order of time.
  var requests: [Instant] = []

  /// Creates a board whose receiver moves along `track`, which begins at boot.
  ///
  /// The receiver has supply from the start, unless the board switches it.
  public init(_ setup: SimulationSetup, track: Track) {
    self.init(setup, SimulatedReceiver(setup, track: track))
  }

  /// Creates a board whose receiver sends what was recorded, whatever it is told.
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

  /// Energy and time up to now.
  public var ledger: EnergyLedger { books.closed(at: now) }

  /// UTC at a moment of the run.
  public func utc(at instant: Instant) -> UTCTime {
    receiver.origin + (instant - .boot)
  }

  /// What the receiver draws power for now.
  public var receiverPowerState: ReceiverPowerState { receiverState }

  /// Messages the receiver did not send because its line was too slow.
  public var messagesDropped: Int { receiver.droppedMessages }

  /// Bytes that came while nobody could take them, or at another speed.
  public var bytesLost: Int { receiver.line.lost }

  /// Wakes the board at `time`, as a client's request does; before now means now.
  public mutating func request(at time: Instant) {
    requests.append(max(time, now))
    requests.sort()
  }

  /// Gives and forgets the events since the last call, if the setup asks to keep them.
  public mutating func takeEvents() -> [TimedBoardEvent] {
    var taken: [TimedBoardEvent] = []
    takeEvents(into: &taken)
    return taken
  }

  /// Replaces what is in `taken` by the events since the last call; of two arrays that are handed to
  /// and fro neither needs new memory.
  public mutating func takeEvents(into taken: inout [TimedBoardEvent]) {
    if !taken.isEmpty { taken.removeAll(keepingCapacity: true) }
    swap(&taken, &events)
  }

  /// Gives and forgets the bytes the receiver sent since the last call, if the setup asks to keep
  /// them.
  public mutating func takeSentBytes() -> [UInt8] {
    if receiver.sentBytes.isEmpty { return [] }
    defer { receiver.sentBytes.removeAll(keepingCapacity: true) }
    return receiver.sentBytes
  }

  // MARK: Books

  mutating func record(_ event: BoardEvent, at time: Instant) {
    books.add(event, at: time)
    if setup.recordsEvents { events.append(TimedBoardEvent(time: time, event: event)) }
  }

  mutating func violate(_ kind: Violation.Kind, _ text: String) {
    violations.append(Violation(time: now, kind: kind, text: text))
  }

  /// Takes over what changed in the receiver at `time`.
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

  /// Lets one thing happen in the receiver.
  mutating func step(at time: Instant) {
    let wasGone = receiver.isGone
    receiver.handle(at: time)
    if receiver.isGone && !wasGone { lineChanged = true }
    look(at: time)
  }

  /// Lets everything happen up to `time`.
  mutating func advance(to time: Instant) {
    while true {
      let next = receiver.nextEvent
      if next > time { return }
      step(at: next)
    }
  }
}

extension SimulatedBoard {
  /// Queues `bytes` for the receiver, all or nothing.
  ///
  /// To a receiver without supply nothing is written, and it is a violation.
  ///
  /// - Throws: `LineFault.gone`; `LineFault.full` with more than 4,096 bytes waiting.
  public mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    try mustBeThere()
    guard receiver.isSupplied else {
      return violate(
        .wroteWithoutSupply, "\(bytes.count) bytes were written to a receiver without supply")
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

  /// The next bytes that have arrived, at most 256; empty when there are none. O(bytes).
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func read() throws(LineFault) -> ByteChunk {
    var chunk = ByteChunk()
    try read(into: &chunk)
    return chunk
  }

  /// The same, in place of what is in `chunk`.
  public mutating func read(into chunk: inout ByteChunk) throws(LineFault) {
    try mustBeThere()
    receiver.line.read(into: &chunk, at: now, speed: hostSpeed)
  }

  /// Sets the line's speed in baud; what came at another speed and was not read is lost.
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    precondition(baud > 0, "a line has a speed")
    try mustBeThere()
    receiver.line.loseGarbled(by: now, speed: hostSpeed)
    hostSpeed = baud
    burst = BurstTiming()
    burst.wrote(at: now)
  }

  /// Who had the device open before it went and came back has to open it anew: is told so once.
  private mutating func mustBeThere() throws(LineFault) {
    guard receiver.isGone || lineChanged else { return }
    lineChanged = false
    throw .gone
  }

  /// Drives a pin.
  ///
  /// - Throws: `PinFault.notWired`; `PinFault.lineLost` while the supply switch is stuck.
  public mutating func set(_ command: PinCommand) throws(PinFault) {
    switch command.pin {
    case .receiverWake:
      guard setup.receiver.hasWakePin else { throw .notWired }
      guard command.level != wakePin else { return }
      wakePin = command.level
      if !receiver.isSupplied {
        // Where there is no receiver at all, none is driven.
        guard command.level == .active, !receiver.isGone else { return }
        return violate(.droveWithoutSupply, "a pin was driven into a receiver without supply")
      }
      receiver.wakeEdge(at: now)
    case .receiverSupply:
      guard setup.receiver.hasSupplySwitch else { throw .notWired }
      if setup.faults.supplySwitchStuck.contains(where: { $0.contains(now) }) { throw .lineLost }
      if command.level == .inactive, receiver.isSupplied {
        if receiver.isStandbyPending {
          violate(.cutBeforeStandby, "the supply was cut before the receiver was in standby")
        }
        if wakePin == .active {
          violate(.droveWithoutSupply, "the supply was cut with a pin driven into the receiver")
        }
      }
      receiver.setSupply(command.level == .active, at: now)
    }
    look(at: now)
  }
}

extension SimulatedBoard {
  /// Waits in `state` until `deadline`, bytes, an edge or a request, and moves the clock there.
  ///
  /// See `BoardSleep.wait(in:until:listening:)`. In suspend, and while the board comes back from it,
  /// bytes are lost; elsewhere they gather, up to 4,096. After the wait the board is awake for the
  /// state's resume time and for the processor time of a wake; the wait itself is never spent awake,
  /// unless it is shorter than coming back from idle takes. O(receiver events) until then.
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

  /// Bytes the board keeps for who does not listen.
  private static let inputBuffer = 4_096

  /// What already ends a wait; a deep sleep is not begun with bytes unread.
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

  /// The sleep that can be entered: the one asked for, or a lighter one.
  private mutating func enterable(_ wanted: BoardState, until deadline: Instant) -> BoardState {
    var state = max(wanted, .idle)
    while state > .idle {
      if let figures = setup.board.sleep(state) {
        if deadline - now > figures.minimum { return state }
        violate(
          .alarmTooNear,
          "\(state) was asked for with an alarm \((deadline - now).seconds) s away")
      } else {
        violate(.noSuchSleep, "\(state) was asked for, which the board does not have")
      }
      state = state == .off ? .suspended : .idle
    }
    return state
  }

  /// Lets the rest of an epoch gather after its first bytes, where the board does that.
  private mutating func gather(until deadline: Instant) {
    guard setup.board.gathersEpochs, !lineChanged else { return }
    switch burst.woke(at: now) {
    case .handOn: break
    case .hold(let end):
      _ = sleep(in: .idle, until: min(end, deadline), false)
      burst.held(until: now)
    case .watch:
      // What the receiver has given the line is the epoch; it ends with a silence.
      let last = max(receiver.line.freeAt, now)
      let quiet = last + BurstTiming.silence
      _ = sleep(in: .idle, until: min(quiet, deadline), false)
      burst.watched(until: now >= quiet ? last : nil, at: now)
    }
  }

  /// Sleeps, and comes back; says what for.
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
    // Too short to be worth it: the processor waits for the moment itself.
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

  /// The first whole multiple of `resolution` not before `deadline`; where alarms may be early, every
  /// other one out of a deep sleep comes less than that before it.
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

  /// Lets time pass until one of `sources` ends the wait; says when and which.
  private mutating func pass(
    _ sources: WakeSources, isDeep: Bool, alarm: Instant
  ) -> (end: Instant, reason: WakeReason) {
    var limit = now + SimulatedBoard.longestSleep
    let begin = now
    while true {
      // However long a recording is silent: what follows ends the sleep.
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
          violate(.sleepWithoutEnd, "the board slept for 30 days and nothing woke it")
        }
        return (end, reason)
      }
      step(at: next)
      if isDeep, !sources.contains(.bytes) { receiver.line.loseArrived(by: next) }
      if lineChanged, sources.contains(.bytes) { return (next, .bytes) }
      if pinRose, sources.contains(.batchPin) { return (next, .batchPin) }
    }
  }

  /// A board that sleeps longer was forgotten.
  private static let longestSleep = Interval.seconds(30 * 86_400)
}
