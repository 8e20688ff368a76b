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
