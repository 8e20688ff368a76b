import LocationHAL
import LocationTypes

/// A board that runs Linux: a serial line, pins, the boot clock, and one wait for all of them.
///
/// Its lightest sleep is the wait itself (`BoardState.idle`), in which the kernel idles the processor; a
/// ``BoardSuspender`` suspends it, and where that cannot be, it idles instead. The server's descriptors are added to the same ``EventWait``: a
/// wait that ends with one of them ready says `WakeReason.request`.
public struct LinuxBoard<Pins: LinuxPins & ~Copyable>: LocationBoard, ~Copyable {
  /// Where everything is waited for.
  public let events: EventWait
  /// The line to the receiver.
  public private(set) var line: SerialLine
  private var pins: Pins
  private let suspender: BoardSuspender?
  private let clock = SystemClock()
  /// The clocks as they were read last, and before the last suspend.
  private var clocks = BootClocks()
  private var clocksBefore = BootClocks()
  private var burst = BurstTiming()
  private var gauge: BatteryGauge?
  private var reading = GaugeReading()

  /// Creates a board.
  ///
  /// - Parameters:
  ///   - line: The line to the receiver, added to `events`.
  ///   - pins: The pins, none of which need be wired.
  ///   - gauge: What knows of the battery; nil where nothing does.
  ///   - suspender: What suspends the board; nil for one that is never suspended.
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

  /// The next bytes that have arrived; see ``SerialLine/read()``.
  public mutating func read() throws(LineFault) -> ByteChunk { try line.read() }

  /// Throws away what has arrived; see ``SerialLine/discardInput()``.
  public mutating func discardInput() { line.discardInput() }

  /// Sets the line's speed; see ``SerialLine/setSpeed(_:)``.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    try line.setSpeed(baud)
    burst = BurstTiming()
    burst.wrote(at: now)
  }

  /// Drives a pin.
  public mutating func set(_ command: PinCommand) throws(PinFault) { try pins.set(command) }

  /// Switches the light of background sessions, where there is one.
  ///
  /// - Returns: Whether it obeyed; true where there is none.
  public mutating func showSession(_ isOn: Bool) -> Bool { pins.showSession(isOn) }

  // MARK: Waiting

  /// Waits until `deadline`, bytes, an edge or a request; idles where `state` cannot be entered.
  ///
  /// Bytes of an epoch that comes in pieces end the wait when the last of them should be there (see
  /// `BurstTiming`), `deadline` or a request permitting. The server looks at ``EventWait/ready(at:)``
  /// whatever the reason was.
  public mutating func wait(
    in state: BoardState, until deadline: Instant, listening: Bool
  ) -> Waking {
    // A device that went away tells nobody that it is back: who listens looks for it.
    let deadline = listening ? min(deadline, line.nextLook ?? deadline) : deadline
    suspender?.beginWait()
    while true {
      let limit = listening && line.hasNews ? .boot : deadline
      let begin = now
      var meetsLock = false
      let sleep = state >= .suspended ? suspend(until: limit, listening: listening) : .stayed
      if sleep == .stayed {
        let retry = state >= .suspended ? suspender?.nextTry(until: limit) : nil
        // Who has a lock is told at once: fixes are not to stay behind for it (DEF-28).
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
        // Before the rest of an epoch is waited for: what comes meanwhile is of the next one.
        let pulse = takePulse()
        if !isAsked && !isLost { gather(until: deadline) }
        return waking(.bytes, news, pulse)
      }
      if news.batchPinRose { return waking(.batchPin, news) }
      if news.motion != nil { return waking(.motion, news) }
      // Not a thing to react to at once, but news all the same.
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
    // Edges up to here are of before it.
    let read = BootClocks()
    if !read.isBehind(clocks) { clocks = read }
    let outcome = suspender.suspend(until: limit, listening: listening, line: line, events) {
      events.wait(until: .boot, listening: listening)
    }
    if outcome == .resumed { events.wait(until: .boot, listening: listening) }
    return outcome
  }

  /// Whether the board was suspended, by us or another. Of our own the kernel may tell once more, later.
  private mutating func wasSuspended(by sleep: BoardSuspender.Outcome) -> Bool {
    let isOurs = sleep == .resumed
    guard events.takeClockChange() || isOurs else { return false }
    let read = BootClocks()
    let isBehind = read.isBehind(clocks)
    if isBehind { (clocksBefore, clocks) = (clocks, read) }
    return isOurs || isBehind
  }

  /// The board was suspended: what has come on the line is thrown away, for its first bytes are lost, and
  /// edges are heard anew.
  ///
  /// - Returns: Whether bytes have woken it, which are not there any more.
  private mutating func comeBack(_ news: inout PinNews, listening: Bool) -> Bool {
    let isByBytes = listening && isHeard && !isLost
    line.discardInput()
    pins.rearm()
    news.add(pins.takeNews(from: events))
    return isByBytes
  }

  // MARK: What ended it

  /// A wait inside a wait finds descriptors of its own; pins may have changed meanwhile.
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

  /// The last pulse before the bytes that begin to come now, at most a second before them: an older one is of
  /// another second. nil within an epoch, for its first byte's pulse was told.
  private mutating func takePulse() -> Instant? {
    let now = self.now
    guard burst.isNew(at: now), let stamp_ns = pins.takePulse() else { return nil }
    let pulse = min(clocks.moment(monotonic_ns: stamp_ns, before: clocksBefore), now)
    return now - pulse <= .seconds(1) ? pulse : nil
  }

  /// The battery's charge, if it is time to look and it is news; a line that has changed is looked at now.
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

  /// The device is about to be told as gone, and nothing more will come.
  private var isLost: Bool { line.hasNews || events.conditions(of: .line).contains(.gone) }

  /// Somebody else's descriptor is ready.
  private var isAsked: Bool {
    for index in 0..<events.readyCount where events.ready(at: index).token >= .firstFree {
      return true
    }
    return false
  }

  // MARK: An epoch as a whole

  private mutating func gather(until deadline: Instant) {
    switch burst.woke(at: now) {
    case .handOn:
      return
    case .hold(let end):
      // Deaf: the line's bytes do not end it.
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
      // Full, or gone, or nothing there although the wait said so: not an epoch to learn from.
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
  /// Whether `a` is the smaller number.
  public static func < (a: EventWait.Token, b: EventWait.Token) -> Bool { a.rawValue < b.rawValue }
}
