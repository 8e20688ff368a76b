import LocationHAL
import LocationTypes

/// A board that runs Linux: a serial line, pins, the boot clock, and one wait for all of them.
///
/// Its lightest sleep is the wait itself (`BoardState.idle`), during which the kernel idles the processor. A
/// ``BoardSuspender`` suspends it; if that is not possible, it idles instead. The descriptors of
/// `LocationServer` (clients) are in the same ``EventWait``: a wait that ends with one of them ready returns
/// `WakeReason.request`. System calls are in the types that it combines: line, pins, wait, clock, suspender, gauge.
public struct LinuxBoard<Pins: LinuxPins & ~Copyable>: LocationBoard, ~Copyable {
  /// Wait for all descriptors.
  public let events: EventWait
  /// The line to the receiver.
  public private(set) var line: SerialLine
  private var pins: Pins
  private let suspender: BoardSuspender?
  private let clock = SystemClock()
  /// A wait that is shorter began when its bytes had already arrived.
  private static var shortestWait: Interval { .milliseconds(1) }
  /// Offset between the boot clock and the clock of edge timestamps: the latest one, and the one from before the last
  /// suspend.
  private var clockOffset = ClockOffset()
  private var clockOffsetBeforeSuspend = ClockOffset()
  /// Whether the board was suspended in the current wait, by this service or another program.
  private var hasResumedInWait = false
  private var burst = BurstTiming()
  private var gauge: BatteryGauge?
  private var reading = GaugePollLimit()

  /// Creates a board.
  ///
  /// - Parameters:
  ///   - line: The line to the receiver, added to `events`.
  ///   - pins: The pins, each of which may be unwired.
  ///   - gauge: Source of the battery's charge; nil without one.
  ///   - suspender: Suspends the board; nil for a board that is never suspended.
  public init(
    _ events: EventWait, line: consuming SerialLine, pins: consuming Pins,
    gauge: BatteryGauge? = nil, suspender: BoardSuspender? = nil
  ) {
    self.events = events
    self.line = line
    self.pins = pins
    self.gauge = gauge
    self.suspender = suspender
  }

  /// Now, on the boot clock. No system call.
  public var now: Instant { clock.now }

  // MARK: Line and pins

  /// Queues `bytes` for the receiver; see ``SerialLine/write(_:)``.
  public mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    try line.write(bytes)
    burst.didWrite(at: now)
  }

  /// The next received bytes; see ``SerialLine/read()``.
  public mutating func read() throws(LineFault) -> ByteChunk { try line.read() }

  /// Discards received bytes; see ``SerialLine/discardInput()``.
  public mutating func discardInput() { line.discardInput() }

  /// Sets the line's speed; see ``SerialLine/setSpeed(_:)``.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    try line.setSpeed(baud)
    burst = BurstTiming()
    burst.didWrite(at: now)
  }

  /// Sets a pin.
  public mutating func set(_ command: PinCommand) throws(PinFault) { try pins.set(command) }

  /// Sets the light of background sessions, if there is one.
  ///
  /// - Returns: Whether the light was set; true without a light.
  public mutating func setSessionLight(_ isOn: Bool) -> Bool { pins.setSessionLight(isOn) }

  // MARK: Waiting

  /// Waits until `deadline`, input, an edge or a request; idles if `state` cannot be entered.
  ///
  /// If an epoch arrives in parts, the wait ends when its last byte is expected (see `BurstTiming`), unless `deadline`
  /// or a request comes first. After each wait `LocationServer` must check ``EventWait/ready(at:)``, whatever the
  /// reason.
  public mutating func wait(
    in state: BoardState, until deadline: Instant, wakesOnInput: Bool
  ) -> WakeReport {
    // A lost device does not signal its return: poll for it while input is monitored.
    let deadline = wakesOnInput ? min(deadline, line.nextReopenTime ?? deadline) : deadline
    suspender?.beginWait()
    hasResumedInWait = false
    while true {
      let limit = wakesOnInput && line.hasUnreportedInput ? .boot : deadline
      let begin = now
      var hasNewLock = false
      let sleep =
        state >= .suspended ? suspend(until: limit, wakesOnInput: wakesOnInput) : .notSuspended
      if sleep == .notSuspended {
        let retry = state >= .suspended ? suspender?.nextRetry(until: limit) : nil
        // Report a new inhibitor lock immediately, so that fixes are not delayed for it (DEF-28).
        hasNewLock = state >= .suspended && suspender?.consumeNewLock() == true
        events.wait(
          until: hasNewLock ? .boot : min(limit, retry ?? limit, events.postponableDeadline),
          wakesOnInput: wakesOnInput,
          endsOnResume: true)
      }
      if events.conditions(of: .line).contains(.writable) { line.flush() }
      if !wakesOnInput { burst.didBufferInput(from: begin, until: now) }
      var changes = pins.consumeChanges(from: events)
      let hasResumed = wasSuspended(by: sleep)
      if hasResumed {
        hasResumedInWait = true
        burst.didBufferInput(from: begin, until: now)
        if handleResume(&changes, wakesOnInput: wakesOnInput) { return wakeReport(.bytes, changes) }
      }
      if wakesOnInput, line.hasUnreportedInput || isLineReady {
        // Bytes that were there when the wait began have an unknown arrival: the service was busy, or was stopped.
        let hasWaited = now - events.waitStart >= LinuxBoard.shortestWait
        // Read the pulse before the rest of the epoch: a pulse after that belongs to the next epoch.
        let lastPulse = consumePulse()
        let (pulse, start) = hasWaited ? (lastPulse, inputStart) : (nil, nil)
        if !isClientReady && !isLineReportPending { gatherBurst(until: deadline) }
        return wakeReport(.bytes, changes, pulse, start)
      }
      if changes.batchPinRose { return wakeReport(.batchPin, changes) }
      if changes.motion != nil { return wakeReport(.motion, changes) }
      // Not urgent, but the change must reach the service, so the wait ends.
      if changes.isBatteryLow != nil { return wakeReport(.request, changes) }
      if isClientReady || hasNewLock { return wakeReport(.request, changes) }
      if now >= deadline { return wakeReport(.alarm, changes) }
      if now >= events.postponableDeadline { return wakeReport(.request, changes) }
      if hasResumed { suspender?.recordOtherWake(at: now) }
    }
  }

  // MARK: Suspend

  private mutating func suspend(
    until limit: Instant, wakesOnInput: Bool
  ) -> BoardSuspender.SuspendResult {
    guard let suspender, limit > now, suspender.isRetryDue(at: now) else { return .notSuspended }
    pins.prepareForSuspend()
    // Edges up to here are from before the suspend.
    let latest = ClockOffset()
    if !latest.wasSuspended(since: clockOffset) { clockOffset = latest }
    let outcome = suspender.suspend(until: limit, wakesOnInput: wakesOnInput, line: line, events) {
      events.wait(until: .boot, wakesOnInput: wakesOnInput)
    }
    if outcome == .resumed { events.wait(until: .boot, wakesOnInput: wakesOnInput) }
    return outcome
  }

  /// Whether the board was suspended, by this service or another program. The kernel may report this service's own
  /// suspend a second time later.
  private mutating func wasSuspended(by sleep: BoardSuspender.SuspendResult) -> Bool {
    let isOurs = sleep == .resumed
    guard events.consumeClockChange() || isOurs else { return false }
    let latest = ClockOffset()
    let hasOffsetGrown = latest.wasSuspended(since: clockOffset)
    if hasOffsetGrown { (clockOffsetBeforeSuspend, clockOffset) = (clockOffset, latest) }
    return isOurs || hasOffsetGrown
  }

  /// Handles a resume: discards input, whose first bytes are lost, and requests the pins again.
  ///
  /// - Returns: Whether bytes, which are discarded, have woken the board.
  private mutating func handleResume(_ changes: inout PinChanges, wakesOnInput: Bool) -> Bool {
    let isByBytes = wakesOnInput && isLineReady && !isLineReportPending
    line.discardInput()
    pins.rearm()
    changes.merge(pins.consumeChanges(from: events))
    return isByBytes
  }

  // MARK: Result of a wait

  /// Creates the result, with pin changes that an inner wait has found.
  private mutating func wakeReport(
    _ reason: WakeReason, _ first: PinChanges, _ pulse: Instant? = nil, _ start: Instant? = nil
  ) -> WakeReport {
    var changes = first
    changes.merge(pins.consumeChanges(from: events))
    return WakeReport(
      reason: reason, batchPinRose: changes.batchPinRose, motion: changes.motion,
      motionEdge: changes.motionEdge_ns.map {
        min(clockOffset.bootTime(monotonic_ns: $0, before: clockOffsetBeforeSuspend), now)
      },
      battery: batteryCharge(changes.isBatteryLow), pulse: pulse, inputStart: start,
      wasSuspended: hasResumedInWait)
  }

  /// Now, if the bytes that are ready are the first after a silence; nil within an epoch.
  private var inputStart: Instant? {
    let now = self.now
    return burst.isEpochStart(at: now) ? now : nil
  }

  /// Time of the last pulse before the first byte of an epoch, if at most one second before it: an older pulse marks
  /// another second. nil within an epoch, whose pulse was already reported.
  private mutating func consumePulse() -> Instant? {
    let now = self.now
    guard burst.isEpochStart(at: now), let stamp_ns = pins.consumePulses() else { return nil }
    let pulse = min(
      clockOffset.bootTime(monotonic_ns: stamp_ns, before: clockOffsetBeforeSuspend), now)
    return now - pulse <= .seconds(1) ? pulse : nil
  }

  /// Battery charge, if a poll is due and the value has changed; a change of the low-battery line causes an immediate
  /// poll.
  private mutating func batteryCharge(_ isLow: Bool?) -> UInt8? {
    guard gauge != nil else { return nil }
    if let isLow { gauge?.update(isLow: isLow) }
    let now = self.now
    guard isLow != nil || reading.isDue(at: now) else { return nil }
    return reading.update(gauge?.charge, at: now)
  }

  private var isLineReady: Bool {
    !events.conditions(of: .line).isDisjoint(with: [.readable, .gone])
  }

  /// Whether the next read returns fetched input or reports the loss of the device, so that no burst is gathered.
  private var isLineReportPending: Bool {
    line.hasUnreportedInput || events.conditions(of: .line).contains(.gone)
  }

  /// Whether a descriptor of `LocationServer` is ready.
  private var isClientReady: Bool {
    (0..<events.readyCount).contains {
      events.ready(at: $0).token.rawValue >= EventWait.Token.firstFree.rawValue
    }
  }

  // MARK: Epochs as bursts

  private mutating func gatherBurst(until deadline: Instant) {
    switch burst.didWake(at: now) {
    case .deliver:
      return
    case .delay(let end):
      // Input must not end this wait.
      events.wait(until: min(end, deadline), wakesOnInput: false)
      if events.conditions(of: .line).contains(.writable) { line.flush() }
      burst.didDelay(until: now)
    case .measure:
      measureBurst(until: deadline)
    }
  }

  private mutating func measureBurst(until deadline: Instant) {
    let start = now
    var last = start
    while true {
      // The buffer is full, the device is gone, or there was no input: not an epoch to measure.
      if line.gather() == 0 { return burst.didMeasure(until: nil, at: now) }
      last = now
      let quiet = last + BurstTiming.epochGap
      events.wait(until: min(quiet, deadline), wakesOnInput: true)
      if isLineReady, !isClientReady, now - start < BurstTiming.maximumSpan { continue }
      let isWhole = !isLineReady && !isClientReady && now >= quiet
      return burst.didMeasure(until: isWhole ? last : nil, at: now)
    }
  }
}
