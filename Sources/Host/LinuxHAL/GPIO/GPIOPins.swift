import BoardHardware
import LocationHAL
import LocationTypes

/// GPIO lines of a board by function; nil if not wired.
public struct GPIOWiring: Equatable, Sendable {
  /// Output that wakes the receiver (EXTINT).
  public var receiverWake: GPIOLine?
  /// Output that switches the receiver's supply.
  public var receiverSupply: GPIOLine?
  /// Input for the receiver's pulse per second, at each whole second of UTC.
  public var pulse: GPIOLine?
  /// Input by which the receiver reports that its buffer has reached its threshold.
  public var batch: GPIOLine?
  /// Input that is active while the board moves (PAU-4).
  public var motion: GPIOLine?
  /// Input that is active while the battery is low (PWR-10).
  public var lowBattery: GPIOLine?
  /// Output for an indicator light that is on during a background session (BKG-11).
  public var sessionLight: GPIOLine?

  /// Creates a board without wired lines.
  public init() {}

  /// All wired lines.
  var lines: [GPIOLine] {
    [receiverWake, receiverSupply, pulse, batch, motion, lowBattery, sessionLight].compactMap { $0 }
  }

  /// Checks that no line of the board is used twice, also under different names.
  ///
  /// - Parameter identify: Returns the identity of a line on the board.
  /// - Throws: ``GPIOFault/sameLine(_:_:)``, and the errors of `identify`.
  func checkDistinct<Identity: Hashable>(
    _ identify: (GPIOLine) throws(GPIOFault) -> Identity
  ) throws(GPIOFault) {
    var known: [Identity: GPIOLine] = [:]
    for line in lines {
      let identity = try identify(line)
      if let first = known[identity] { throw .sameLine(first, line) }
      known[identity] = line
    }
  }
}

/// The pins of a board, through libgpiod.
///
/// An output is requested when it is first set, so that a starting service does not disturb a running receiver. It
/// then stays requested, because a released line may return to its default level. Inputs are requested at the start,
/// and all lines must exist and be free then.
public struct GPIOPins: LinuxPins, ~Copyable {
  /// An output line.
  private struct Output {
    var resolved: GPIOChips.ResolvedLine
    var request: GPIORequest?
    var isActive = false

    mutating func drive(_ isActive: Bool) throws(PinFault) {
      if let request {
        guard self.isActive != isActive else { return }
        guard request.set(isActive) else {
          // The next call requests the line again.
          self.request = nil
          throw .lineLost
        }
      } else {
        do { request = try GPIORequest(resolved, for: .output(isActive)) } catch {
          throw .lineLost
        }
      }
      self.isActive = isActive
    }
  }

  /// An input line.
  private struct Input {
    /// Maximum number of edges read at a time; further edges of a bouncing line stay queued for the next call.
    private static let edgesLimit = 64

    var resolved: GPIOChips.ResolvedLine
    /// nil while the line is lost and not requested again.
    var request: GPIORequest?
    var token: EventWait.Token
    /// Level that was reported last.
    var reportedLevel: Bool?
    /// Whether the level may have changed without a detected edge, and must be read.
    var needsLevelCheck = true
    var retry = RetryBackoff.lostPin

    /// Releases a line whose chip is gone, and requests a lost line again when its retry is due.
    mutating func recover(_ events: EventWait) {
      if let request, events.conditions(of: token).contains(.gone) {
        // Its descriptor would stay ready forever.
        events.remove(request.descriptor)
        self.request = nil
      }
      guard request == nil else { return }
      let now = SystemClock().now
      if !retry.isWaiting(at: now) { requestEdges(events, at: now) }
    }

    /// Requests the line again, and marks its level to be read.
    mutating func requestEdges(_ events: EventWait, at now: Instant) {
      if let request { events.remove(request.descriptor) }
      // Release first: the kernel refuses a second request for the same line.
      request = nil
      needsLevelCheck = true
      guard let request = try? GPIORequest(resolved, for: .edges),
        (try? events.add(request.descriptor, as: token, for: .readable)) != nil
      else {
        retry.recordFailure(at: now)
        return
      }
      self.request = request
      retry.reset()
    }

    /// Whether edges are queued, or may have been lost.
    private func mayHaveChanged(_ events: EventWait) -> Bool {
      needsLevelCheck || events.conditions(of: token).contains(.readable)
    }

    /// Whether an edge towards active was queued or, if edges may have been lost, whether the line is active.
    mutating func hasRisen(_ events: EventWait) -> Bool {
      guard mayHaveChanged(events) else { return false }
      defer { needsLevelCheck = request == nil }
      return consumeEdges().hasRisen || (needsLevelCheck && request?.isActive == true)
    }

    /// The current level with the time of the last edge, if it differs from the last reported level.
    mutating func levelChange(_ events: EventWait) -> (isActive: Bool, edge_ns: Int64?)? {
      guard mayHaveChanged(events) else { return nil }
      let edge_ns = consumeEdges().last_ns
      let level = request?.isActive
      needsLevelCheck = level == nil
      guard let level, level != reportedLevel else { return nil }
      reportedLevel = level
      return (level, edge_ns)
    }

    /// Reads the queued edges: whether one was towards active, and the time of the last.
    private func consumeEdges() -> (hasRisen: Bool, last_ns: Int64?) {
      var hasRisen = false
      var last_ns: Int64?
      for _ in 0..<Input.edgesLimit {
        guard let edge = request?.nextEdge() else { break }
        if edge.isRising { hasRisen = true }
        last_ns = edge.monotonic_ns
      }
      return (hasRisen, last_ns)
    }
  }

  private let events: EventWait
  private var wake: Output?
  private var supply: Output?
  private var light: Output?
  private var batch: Input?
  private var motion: Input?
  private var lowBattery: Input?
  private var pulse: PulseLine?

  /// Finds all lines, and requests the inputs.
  public init(_ wiring: GPIOWiring, in events: EventWait) throws {
    try self.init(wiring, GPIOChips(), in: events)
  }

  init(_ wiring: GPIOWiring, _ chips: GPIOChips, in events: EventWait) throws {
    self.events = events
    try wiring.checkDistinct { line throws(GPIOFault) in try chips.find(line).identity }
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
    let resolved = try chips.find(line)
    if let holder = resolved.holder { throw .inUse(line, by: holder) }
    return Output(resolved: resolved)
  }

  private static func input(
    _ line: GPIOLine?, _ token: EventWait.Token, _ chips: GPIOChips, _ events: EventWait
  ) throws -> Input? {
    guard let line else { return nil }
    let resolved = try chips.find(line)
    let request = try GPIORequest(resolved, for: .edges)
    try events.add(request.descriptor, as: token, for: .readable)
    return Input(resolved: resolved, request: request, token: token)
  }

  // MARK: Outputs

  /// Sets an output.
  ///
  /// - Throws: `PinFault.notWired`; `PinFault.lineLost` if another program holds the line or the chip is gone.
  public mutating func set(_ command: PinCommand) throws(PinFault) {
    let isActive = command.level == .active
    let driven: Void? =
      switch command.pin {
      case .receiverWake: try wake?.drive(isActive)
      case .receiverSupply: try supply?.drive(isActive)
      }
    guard driven != nil else { throw .notWired }
  }

  /// Sets the light of background sessions (BKG-11), if there is one. A failure is not a fault of the service.
  ///
  /// - Returns: Whether the light was set; true without a light.
  public mutating func setSessionLight(_ isOn: Bool) -> Bool {
    do throws(PinFault) {
      try light?.drive(isOn)
      return true
    } catch {
      return false
    }
  }

  // MARK: Inputs

  /// Reads the changes of the inputs since the last call.
  public mutating func consumeChanges(from events: EventWait) -> PinChanges {
    batch?.recover(events)
    motion?.recover(events)
    lowBattery?.recover(events)
    var changes = PinChanges()
    changes.batchPinRose = batch?.hasRisen(events) ?? false
    if let (level, edge_ns) = motion?.levelChange(events) {
      changes.motion = level ? .active : .inactive
      changes.motionEdge_ns = edge_ns
    }
    changes.isBatteryLow = lowBattery?.levelChange(events)?.isActive
    return changes
  }

  /// Reads the `CLOCK_MONOTONIC` time of the newest pulse since the last call, ns; nil without a pulse or without a
  /// line.
  public mutating func consumePulses() -> Int64? { pulse?.consumePulses() }

  /// Releases the pulse line, whose edges would end a suspend on some boards.
  public mutating func prepareForSuspend() { pulse?.release() }

  /// Requests all inputs again after a suspend: edges during it are lost, and some drivers forget the edge detection.
  /// A changed level is reported as if it had changed now.
  public mutating func rearm() {
    let now = SystemClock().now
    batch?.requestEdges(events, at: now)
    motion?.requestEdges(events, at: now)
    lowBattery?.requestEdges(events, at: now)
    pulse?.requestLine()
  }
}

extension RetryBackoff {
  /// Delays between requests of a lost GPIO line.
  static var lostPin: RetryBackoff { RetryBackoff(initial: .seconds(1), longest: .seconds(300)) }
}
