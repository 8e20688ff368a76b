import BoardHardware
import LocationHAL
import LocationTypes

/// Which lines of a board do what; nil for what is not wired.
public struct GPIOWiring: Equatable, Sendable {
  /// Wakes the receiver (EXTINT).
  public var receiverWake: GPIOLine?
  /// Switches the receiver's supply.
  public var receiverSupply: GPIOLine?
  /// On which the receiver gives a pulse at each whole second of UTC.
  public var pulse: GPIOLine?
  /// On which the receiver says that its buffer is full enough.
  public var batch: GPIOLine?
  /// Asserted while the board moves (PAU-4).
  public var motion: GPIOLine?
  /// Asserted while the battery is low (PWR-10).
  public var lowBattery: GPIOLine?
  /// A light that is on during a background session (BKG-11).
  public var sessionLight: GPIOLine?

  /// Nothing is wired.
  public init() {}

  /// The lines that are wired.
  var lines: [GPIOLine] {
    [receiverWake, receiverSupply, pulse, batch, motion, lowBattery, sessionLight].compactMap { $0 }
  }

  /// Makes sure that no line of the board has two uses, under whatever names.
  ///
  /// - Parameter place: Which line of the board a name is.
  /// - Throws: ``GPIOFault/sameLine(_:_:)``, and what `place` throws.
  func checkApart<Place: Hashable>(
    _ place: (GPIOLine) throws(GPIOFault) -> Place
  ) throws(GPIOFault) {
    var known: [Place: GPIOLine] = [:]
    for line in lines {
      let place = try place(line)
      if let first = known[place] { throw .sameLine(first, line) }
      known[place] = line
    }
  }
}

/// The pins of a board, through libgpiod.
///
/// What is driven is requested when it is driven first, so that a service that starts takes nothing from a
/// receiver that runs; from then on it is held, for a line may fall back when it is given back. What is
/// heard is requested at once. That all lines are there and free is made sure of at the start.
public struct GPIOPins: LinuxPins, ~Copyable {
  /// A line that is driven.
  private struct Output {
    var place: GPIOChips.Place
    var request: GPIORequest?
    var isActive = false
  }

  /// A line that is heard.
  private struct Input {
    var place: GPIOChips.Place
    /// nil where the line could not be had again.
    var request: GPIORequest?
    var token: EventWait.Token
    /// What was told last.
    var told: Bool?
    /// It may have changed without an edge that was heard.
    var isUnsure = true
    /// When it is asked for again, and the time between two such tries; while it could not be had.
    var nextTry = Instant.boot
    var pause = GPIOPins.firstPause
  }

  /// The time before a line that could not be had again is asked for the first time, and the longest one.
  private static let firstPause = Interval.seconds(1)
  private static let longestPause = Interval.seconds(300)

  /// Edges that are read of a line at a time; of one that flutters the rest waits for the next look.
  private static let edgesLimit = 64

  private let events: EventWait
  private var wake: Output?
  private var supply: Output?
  private var light: Output?
  private var batch: Input?
  private var motion: Input?
  private var lowBattery: Input?
  private var pulse: PulseLine?

  /// Finds the lines, and begins to hear those that are to be heard.
  public init(_ wiring: GPIOWiring, in events: EventWait) throws {
    try self.init(wiring, GPIOChips(), in: events)
  }

  init(_ wiring: GPIOWiring, _ chips: GPIOChips, in events: EventWait) throws {
    self.events = events
    try wiring.checkApart { line throws(GPIOFault) in try chips.find(line).identity }
    wake = try GPIOPins.output(wiring.receiverWake, chips)
    supply = try GPIOPins.output(wiring.receiverSupply, chips)
    light = try GPIOPins.output(wiring.sessionLight, chips)
    batch = try GPIOPins.input(wiring.batch, .batchPin, chips, events)
    motion = try GPIOPins.input(wiring.motion, .motion, chips, events)
    lowBattery = try GPIOPins.input(wiring.lowBattery, .lowBattery, chips, events)
    pulse = try wiring.pulse.map { line throws(GPIOFault) in try PulseLine(line, chips) }
  }

  private static func output(_ line: GPIOLine?, _ chips: GPIOChips) throws(GPIOFault) -> Output? {
    guard let line else { return nil }
    let place = try chips.find(line)
    if let holder = place.holder { throw .inUse(line, by: holder) }
    return Output(place: place)
  }

  private static func input(
    _ line: GPIOLine?, _ token: EventWait.Token, _ chips: GPIOChips, _ events: EventWait
  ) throws -> Input? {
    guard let line else { return nil }
    let place = try chips.find(line)
    let request = try GPIORequest(place, for: .heard)
    try events.add(request.descriptor, as: token, for: .readable)
    return Input(place: place, request: request, token: token)
  }

  // MARK: Driving

  /// Drives a pin.
  ///
  /// - Throws: `PinFault.notWired`; `PinFault.lineLost` where another program has taken the line, or the
  ///   chip is gone.
  public mutating func set(_ command: PinCommand) throws(PinFault) {
    let isActive = command.level == .active
    switch command.pin {
    case .receiverWake: try GPIOPins.drive(&wake, isActive)
    case .receiverSupply: try GPIOPins.drive(&supply, isActive)
    }
  }

  /// Switches the light of background sessions (BKG-11), where there is one; that it cannot be is no fault.
  ///
  /// - Returns: Whether it obeyed; true where there is none.
  public mutating func showSession(_ isOn: Bool) -> Bool {
    guard light != nil else { return true }
    do throws(PinFault) {
      try GPIOPins.drive(&light, isOn)
      return true
    } catch {
      return false
    }
  }

  private static func drive(
    _ output: inout Output?, _ isActive: Bool
  ) throws(PinFault) {
    guard let place = output?.place else { throw .notWired }
    if let request = output?.request {
      guard output?.isActive != isActive else { return }
      guard request.set(isActive) else {
        // The next try asks the kernel for it anew.
        output?.request = nil
        throw .lineLost
      }
    } else {
      do { output?.request = try GPIORequest(place, for: .driven(isActive)) } catch {
        throw .lineLost
      }
    }
    output?.isActive = isActive
  }

  // MARK: Hearing

  /// What is new on the lines that are heard.
  public mutating func takeNews(from events: EventWait) -> PinNews {
    GPIOPins.prepare(&batch, events)
    GPIOPins.prepare(&motion, events)
    GPIOPins.prepare(&lowBattery, events)
    var news = PinNews()
    if var input = batch,
      events.conditions(of: input.token).contains(.readable) || input.isUnsure
    {
      news.batchPinRose = GPIOPins.hasRisen(&input)
      batch = input
    }
    if let (level, edge_ns) = GPIOPins.level(&motion, events) {
      news.motion = level ? .active : .inactive
      news.motionEdge_ns = edge_ns
    }
    news.isBatteryLow = GPIOPins.level(&lowBattery, events)?.isActive
    return news
  }

  /// When the receiver's last pulse was since the last call; nil where there was none, or none is wired.
  public mutating func takePulse() -> Int64? { pulse?.take() }

  /// Lets go a line whose chip is gone, and asks anew for one that could not be had.
  private static func prepare(_ input: inout Input?, _ events: EventWait) {
    dropIfGone(&input, events)
    guard let nextTry = input?.nextTry, input?.request == nil else { return }
    let now = SystemClock().now
    if now >= nextTry { hear(&input, events, at: now) }
  }

  /// A line whose chip is gone tells nothing but that, for ever: it is waited for no more.
  private static func dropIfGone(_ input: inout Input?, _ events: EventWait) {
    guard let token = input?.token, let request = input?.request,
      events.conditions(of: token).contains(.gone)
    else { return }
    events.remove(request.descriptor)
    input?.request = nil
  }

  /// Whether there was an edge up since the last look; where edges may be lost, whether it is asserted.
  private static func hasRisen(_ input: inout Input) -> Bool {
    defer { input.isUnsure = input.request == nil }
    return takeEdges(input).hasRisen || (input.isUnsure && input.request?.isActive == true)
  }

  /// Reads the edges that there are; says whether one was up, and when the last one was.
  private static func takeEdges(_ input: Input) -> (hasRisen: Bool, last_ns: Int64?) {
    var hasRisen = false
    var last_ns: Int64?
    for _ in 0..<edgesLimit {
      guard let edge = input.request?.nextEdge() else { break }
      if edge.isRising { hasRisen = true }
      last_ns = edge.monotonic_ns
    }
    return (hasRisen, last_ns)
  }

  /// The level as it is now, if it is not what was told last, and since when.
  private static func level(
    _ input: inout Input?, _ events: EventWait
  ) -> (isActive: Bool, edge_ns: Int64?)? {
    guard var line = input,
      line.isUnsure || events.conditions(of: line.token).contains(.readable)
    else { return nil }
    let edge_ns = takeEdges(line).last_ns
    let level = line.request?.isActive
    line.isUnsure = level == nil
    defer { input = line }
    guard let level, level != line.told else { return nil }
    line.told = level
    return (level, edge_ns)
  }

  /// Lets go what is to end no suspend.
  public mutating func prepareForSuspend() { pulse?.release() }

  /// Hears all lines anew after a suspend: edges of meanwhile are lost, and some drivers forget that they
  /// are to tell of others. What has changed is told as if it had just been.
  public mutating func rearm() {
    let now = SystemClock().now
    GPIOPins.hear(&batch, events, at: now)
    GPIOPins.hear(&motion, events, at: now)
    GPIOPins.hear(&lowBattery, events, at: now)
    pulse?.hear()
  }

  /// Asks for a line anew; what it says now is looked at in any case.
  private static func hear(_ input: inout Input?, _ events: EventWait, at now: Instant) {
    guard let place = input?.place, let token = input?.token else { return }
    if let request = input?.request { events.remove(request.descriptor) }
    // It is given back before it is asked for again, for nobody can have it twice.
    input?.request = nil
    input?.isUnsure = true
    guard let request = try? GPIORequest(place, for: .heard),
      (try? events.add(request.descriptor, as: token, for: .readable)) != nil
    else {
      let pause = input?.pause ?? firstPause
      input?.nextTry = now + pause
      input?.pause = min(pause * 2, longestPause)
      return
    }
    input?.request = request
    input?.pause = firstPause
  }
}
