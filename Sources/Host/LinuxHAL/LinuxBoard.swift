import LocationHAL
import LocationTypes

/// A board that runs Linux: a serial line, pins, the boot clock, and one wait for all of them.
///
/// Its lightest sleep is the wait itself (`BoardState.idle`), during which the kernel idles the processor. A
/// ``BoardSuspender`` suspends it; if that is not possible, it idles instead. The server's descriptors are in the same
/// ``EventWait``: a wait that ends with one of them ready returns `WakeReason.request`.
public struct LinuxBoard<Pins: LinuxPins & ~Copyable>: LocationBoard, ~Copyable {
  /// Wait for all descriptors.
  public let events: EventWait
  /// The line to the receiver.
  public private(set) var line: SerialLine
  private var pins: Pins
  private let suspender: BoardSuspender?
  private let clock = SystemClock()
  /// Latest clock reading, and the one from before the last suspend.
  private var clocks = BootClocks()
  private var clocksBefore = BootClocks()
  private var burst = BurstTiming()
  private var gauge: BatteryGauge?
  private var reading = GaugeReading()

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
    burst.wrote(at: now)
  }

  /// The next received bytes; see ``SerialLine/read()``.
  public mutating func read() throws(LineFault) -> ByteChunk { try line.read() }

  /// Discards received bytes; see ``SerialLine/discardInput()``.
  public mutating func discardInput() { line.discardInput() }

  /// Sets the line's speed; see ``SerialLine/setSpeed(_:)``.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    try line.setSpeed(baud)
    burst = BurstTiming()
    burst.wrote(at: now)
  }

  /// Sets a pin.
  public mutating func set(_ command: PinCommand) throws(PinFault) { try pins.set(command) }

  /// Sets the light of background sessions, if there is one.
  ///
  /// - Returns: Whether the light was set; true without a light.
  public mutating func showSession(_ isOn: Bool) -> Bool { pins.showSession(isOn) }

  // MARK: Waiting

  /// Waits until `deadline`, input, an edge or a request; idles if `state` cannot be entered.
  ///
  /// If an epoch arrives in parts, the wait ends when its last byte is expected (see `BurstTiming`), unless `deadline`
  /// or a request comes first. After each wait the server must check ``EventWait/ready(at:)``, whatever the reason.
  public mutating func wait(
    in state: BoardState, until deadline: Instant, listening: Bool
  ) -> Waking {
    // A lost device does not signal its return: poll for it while input is monitored.
    let deadline = listening ? min(deadline, line.nextLook ?? deadline) : deadline
    suspender?.beginWait()
    while true {
      let limit = listening && line.hasNews ? .boot : deadline
      let begin = now
      var meetsLock = false
      let sleep = state >= .suspended ? suspend(until: limit, listening: listening) : .stayed
      if sleep == .stayed {
        let retry = state >= .suspended ? suspender?.nextTry(until: limit) : nil
        // Report a new inhibitor lock immediately, so that fixes are not delayed for it (DEF-28).
        meetsLock = state >= .suspended && suspender?.takeLock() == true
        events.wait(
          until: meetsLock ? .boot : min(limit, retry ?? limit, events.postponable),
          listening: listening,
          endsOnResume: true)
      }
      if events.conditions(of: .line).contains(.writable) { line.flush() }
      if !listening { burst.wasDeaf(from: begin, until: now) }
      var news = pins.takeNews(from: events)
      let isBack = wasSuspended(by: sleep)
      if isBack {
        burst.wasDeaf(from: begin, until: now)
        if comeBack(&news, listening: listening) { return waking(.bytes, news) }
      }
      if listening, line.hasNews || isHeard {
        // Read the pulse before the rest of the epoch: a pulse after that belongs to the next epoch.
        let pulse = takePulse()
        if !isAsked && !isLost { gather(until: deadline) }
        return waking(.bytes, news, pulse)
      }
      if news.batchPinRose { return waking(.batchPin, news) }
      if news.motion != nil { return waking(.motion, news) }
      // Not urgent, but the change must reach the service, so the wait ends.
      if news.isBatteryLow != nil { return waking(.request, news) }
      if isAsked || meetsLock { return waking(.request, news) }
      if now >= deadline { return waking(.alarm, news) }
      if now >= events.postponable { return waking(.request, news) }
      if isBack { suspender?.wokenByOther(at: now) }
    }
  }

  // MARK: Suspend

  private mutating func suspend(
    until limit: Instant, listening: Bool
  ) -> BoardSuspender.Outcome {
    guard let suspender, limit > now, suspender.isTryDue(at: now) else { return .stayed }
    pins.prepareForSuspend()
    // Edges up to here are from before the suspend.
    let read = BootClocks()
    if !read.isBehind(clocks) { clocks = read }
    let outcome = suspender.suspend(until: limit, listening: listening, line: line, events) {
      events.wait(until: .boot, listening: listening)
    }
    if outcome == .resumed { events.wait(until: .boot, listening: listening) }
    return outcome
  }

  /// Whether the board was suspended, by this service or another program. The kernel may report this service's own
  /// suspend a second time later.
  private mutating func wasSuspended(by sleep: BoardSuspender.Outcome) -> Bool {
    let isOurs = sleep == .resumed
    guard events.takeClockChange() || isOurs else { return false }
    let read = BootClocks()
    let isBehind = read.isBehind(clocks)
    if isBehind { (clocksBefore, clocks) = (clocks, read) }
    return isOurs || isBehind
  }

  /// Handles a resume: discards input, whose first bytes are lost, and requests the pins again.
  ///
  /// - Returns: Whether bytes, which are discarded, have woken the board.
  private mutating func comeBack(_ news: inout PinNews, listening: Bool) -> Bool {
    let isByBytes = listening && isHeard && !isLost
    line.discardInput()
    pins.rearm()
    news.add(pins.takeNews(from: events))
    return isByBytes
  }

  // MARK: Result of a wait

  /// Creates the result, with pin changes that an inner wait has found.
  private mutating func waking(
    _ reason: WakeReason, _ first: PinNews, _ pulse: Instant? = nil
  ) -> Waking {
    var news = first
    news.add(pins.takeNews(from: events))
    return Waking(
      reason: reason, batchPinRose: news.batchPinRose, motion: news.motion,
      motionEdge: news.motionEdge_ns.map {
        min(clocks.moment(monotonic_ns: $0, before: clocksBefore), now)
      },
      battery: battery(news.isBatteryLow), pulse: pulse)
  }

  /// Time of the last pulse before the first byte of an epoch, if at most one second before it: an older pulse marks
  /// another second. nil within an epoch, whose pulse was already reported.
  private mutating func takePulse() -> Instant? {
    let now = self.now
    guard burst.isNew(at: now), let stamp_ns = pins.takePulse() else { return nil }
    let pulse = min(clocks.moment(monotonic_ns: stamp_ns, before: clocksBefore), now)
    return now - pulse <= .seconds(1) ? pulse : nil
  }

  /// Battery charge, if a poll is due and the value has changed; a change of the low-battery line causes an immediate
  /// poll.
  private mutating func battery(_ isLow: Bool?) -> UInt8? {
    guard gauge != nil else { return nil }
    if let isLow { gauge?.hear(isLow: isLow) }
    let now = self.now
    guard isLow != nil || reading.isDue(at: now) else { return nil }
    return reading.take(gauge?.charge, at: now)
  }

  private var isHeard: Bool {
    !events.conditions(of: .line).isDisjoint(with: [.readable, .gone])
  }

  /// Whether the loss of the device is about to be reported, so that no more input follows.
  private var isLost: Bool { line.hasNews || events.conditions(of: .line).contains(.gone) }

  /// Whether a descriptor of the server is ready.
  private var isAsked: Bool {
    for index in 0..<events.readyCount where events.ready(at: index).token >= .firstFree {
      return true
    }
    return false
  }

  // MARK: Epochs as bursts

  private mutating func gather(until deadline: Instant) {
    switch burst.woke(at: now) {
    case .handOn:
      return
    case .hold(let end):
      // Input must not end this wait.
      events.wait(until: min(end, deadline), listening: false)
      if events.conditions(of: .line).contains(.writable) { line.flush() }
      burst.held(until: now)
    case .watch:
      watch(until: deadline)
    }
  }

  private mutating func watch(until deadline: Instant) {
    let first = now
    var last = first
    while true {
      // The buffer is full, the device is gone, or there was no input: not an epoch to measure.
      if line.gather() == 0 { return burst.watched(until: nil, at: now) }
      last = now
      let quiet = last + BurstTiming.silence
      events.wait(until: min(quiet, deadline), listening: true)
      if isHeard, !isAsked, now - first < BurstTiming.longest { continue }
      let isWhole = !isHeard && !isAsked && now >= quiet
      return burst.watched(until: isWhole ? last : nil, at: now)
    }
  }
}

extension EventWait.Token: Comparable {
  /// Whether `a` has the smaller number.
  public static func < (a: EventWait.Token, b: EventWait.Token) -> Bool { a.rawValue < b.rawValue }
}
