import LocationHAL
import LocationTypes

/// A board that runs Linux: a serial line, pins, the boot clock, and one wait for all of them.
///
/// Its deepest sleep is the wait itself (`BoardState.idle`), in which the kernel idles the processor;
/// deeper ones are replaced by it. The server's descriptors are added to the same ``EventWait``: a
/// wait that ends with one of them ready says `WakeReason.request`.
public struct LinuxBoard<Pins: LinuxPins & ~Copyable>: LocationBoard, ~Copyable {
  /// Where everything is waited for.
  public let events: EventWait
  /// The line to the receiver.
  public private(set) var line: SerialLine
  private var pins: Pins
  private let clock = SystemClock()
  private var burst = BurstTiming()
  private var gauge: BatteryGauge?
  private var reading = GaugeReading()

  /// Creates a board.
  ///
  /// - Parameters:
  ///   - line: The line to the receiver, added to `events`.
  ///   - pins: The pins, none of which need be wired.
  ///   - gauge: What knows of the battery; nil where nothing does.
  public init(
    _ events: EventWait, line: consuming SerialLine, pins: consuming Pins,
    gauge: BatteryGauge? = nil
  ) {
    self.events = events
    self.line = line
    self.pins = pins
    self.gauge = gauge
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
  public mutating func showSession(_ isOn: Bool) { pins.showSession(isOn) }

  // MARK: Waiting

  /// Waits until `deadline`, bytes, an edge or a request; `state` is at most idled in.
  ///
  /// Bytes of an epoch that comes in pieces end the wait when the last of them should be there (see
  /// `BurstTiming`), `deadline` or a request permitting. The server looks at ``EventWait/ready(at:)``
  /// whatever the reason was.
  public mutating func wait(
    in state: BoardState, until deadline: Instant, listening: Bool
  ) -> Waking {
    // A device that went away tells nobody that it is back: who listens looks for it.
    let deadline = listening ? min(deadline, line.nextLook ?? deadline) : deadline
    while true {
      let limit = listening && line.hasNews ? .boot : deadline
      let begin = now
      events.wait(until: limit, listening: listening)
      if events.conditions(of: .line).contains(.writable) { line.flush() }
      if !listening { burst.wasDeaf(from: begin, until: now) }
      let news = pins.takeNews(from: events)
      if listening, line.hasNews || isHeard {
        if !isAsked && !isLost { gather(until: deadline) }
        return waking(.bytes, news)
      }
      if news.batchPinRose { return waking(.batchPin, news) }
      if news.motion != nil { return waking(.motion, news) }
      // Not a thing to react to at once, but news all the same.
      if news.isBatteryLow != nil { return waking(.request, news) }
      if isAsked { return waking(.request, news) }
      if now >= deadline { return waking(.alarm, news) }
    }
  }

  /// A wait inside a wait finds descriptors of its own; pins may have changed meanwhile.
  private mutating func waking(_ reason: WakeReason, _ first: PinNews) -> Waking {
    var news = pins.takeNews(from: events)
    news.batchPinRose = news.batchPinRose || first.batchPinRose
    return Waking(
      reason: reason, batchPinRose: news.batchPinRose, motion: news.motion ?? first.motion,
      battery: battery(news.isBatteryLow ?? first.isBatteryLow))
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
