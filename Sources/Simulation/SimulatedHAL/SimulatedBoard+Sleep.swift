import LocationHAL
import LocationTypes

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
