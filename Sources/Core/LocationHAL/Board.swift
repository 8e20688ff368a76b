import LocationTypes

// The hardware as `LocationLoop` (`LocationRuntime`) uses it: protocols and their values, without system calls and
// heap. `LinuxBoard` (`LinuxHAL`) and `SimulatedBoard` (`SimulatedHAL`) implement them; the engine does not use them.
// "Never" in a comment marks a call that breaks a rule of the hardware (PWR-5): the simulated board records it as a
// violation, with which `torpor simulate` fails.

/// A failure of the serial line.
public enum LineFault: Error, Equatable, Sendable {
  /// The device disappeared (USB unplugged, driver unbound). Opening it again may succeed.
  case gone
  /// The output queue is full because the receiver accepts no bytes. Nothing was written.
  case full
}

/// A failure to set a pin.
public enum PinFault: Error, Equatable, Sendable {
  /// The profile has no such line.
  case notWired
  /// Another process holds the line; its level is unknown.
  case lineLost
}

/// The serial line to the receiver: data only.
///
/// Bytes that arrive while the board is ``BoardState/suspended`` are lost, and so are bytes sent at a speed other than
/// the line's.
public protocol ByteLine: ~Copyable {
  /// Queues all of `bytes` for the receiver, or none.
  ///
  /// Never call it while the receiver has no supply: current would flow into the receiver through the pin.
  ///
  /// - Throws: ``LineFault``.
  mutating func write(_ bytes: Span<UInt8>) throws(LineFault)

  /// Reads the next bytes from the input buffer, at most 256; fewer if no more have arrived, empty if none have.
  ///
  /// - Throws: ``LineFault/gone``.
  mutating func read() throws(LineFault) -> ByteChunk

  /// Reads the next bytes into `chunk` and replaces its content. Avoids a copy on a line that is read often.
  ///
  /// - Throws: ``LineFault/gone``; the content of `chunk` is then undefined.
  mutating func read(into chunk: inout ByteChunk) throws(LineFault)

  /// Sets the line's speed, baud, after all queued bytes are sent.
  ///
  /// - Throws: ``LineFault/gone``.
  mutating func setSpeed(_ baud: UInt32) throws(LineFault)

  /// Discards the input buffer. Use it after a time without reading, when the age of the bytes is unknown.
  mutating func discardInput()
}

extension ByteLine where Self: ~Copyable {
  /// Copies the result of ``read()``.
  public mutating func read(into chunk: inout ByteChunk) throws(LineFault) { chunk = try read() }

  /// Reads until the input buffer is empty.
  public mutating func discardInput() {
    do { while try read().count > 0 {} } catch {}
  }
}

/// The pins between board and receiver: control only.
public protocol PinBank: ~Copyable {
  /// Drives `command.pin` to `command.level`; does nothing if it has that level already.
  ///
  /// Never switch the supply off while a standby command waits for its acknowledgement (PWR-5).
  ///
  /// - Throws: ``PinFault``.
  mutating func set(_ command: PinCommand) throws(PinFault)
}

/// The boot clock: monotonic, includes suspended time, never overflows or fails (CLOCK_BOOTTIME on Linux).
public protocol BootClock: ~Copyable {
  /// The present time.
  var now: Instant { get }
}

/// The result of a wait.
public struct WakeReport: Equatable, Sendable {
  /// The first event that ended the wait, or that was pending before it.
  public var reason: WakeReason
  /// Whether the batch pin rose since the last wait.
  public var batchPinRose: Bool
  /// Level of the motion sensor's line if it differs from the last reported one; the first wait reports it. Always nil
  /// on a board without such a line.
  public var motion: PinLevel?
  /// Kernel timestamp of the edge to that level; nil if unknown, for example for an edge during a suspend.
  public var motionEdge: Instant?
  /// Charge from the battery's gauge, percent, if it has changed: see ``GaugePollLimit``. Always nil on a board without
  /// a gauge.
  public var battery: UInt8?
  /// Time of the receiver's last pulse per second before the first of the bytes that ended the wait, at which UTC was
  /// a whole second. Nil if there was none since the last reported one, and on a board without its line.
  public var pulse: Instant?
  /// Arrival of the first of the bytes that ended the wait, if they follow a silence, so that an epoch begins with it.
  /// Nil for other bytes, and where it is not measured.
  public var inputStart: Instant?
  /// Whether the board was suspended in this wait, so that input was lost. False if it could only idle.
  public var wasSuspended: Bool

  /// Creates a wake report.
  public init(
    reason: WakeReason, batchPinRose: Bool, motion: PinLevel? = nil, motionEdge: Instant? = nil,
    battery: UInt8? = nil, pulse: Instant? = nil, inputStart: Instant? = nil,
    wasSuspended: Bool = false
  ) {
    self.inputStart = inputStart
    self.wasSuspended = wasSuspended
    self.reason = reason
    self.batchPinRose = batchPinRose
    self.motion = motion
    self.motionEdge = motionEdge
    self.battery = battery
    self.pulse = pulse
  }
}

/// A rate limit for reading the battery's gauge, for `LinuxBoard` and `SimulatedBoard`.
///
/// The gauge never wakes the board. It is read when a wait ends for another reason and the last reading is at least
/// ``GaugePollLimit/minimumInterval`` old; only a changed charge is reported.
public struct GaugePollLimit: Equatable, Sendable {
  /// Shortest time between two readings: each takes a bus transfer, and the charge changes slowly.
  public static let minimumInterval = Interval.seconds(60)

  private var lastReported: UInt8?
  private var due = Instant.boot

  /// Creates a state without readings.
  public init() {}

  /// Whether to read the gauge at the end of a wait.
  public func isDue(at now: Instant) -> Bool { now >= due }

  /// Records a reading.
  ///
  /// - Parameter charge: The charge, percent; nil if the reading failed.
  /// - Returns: The charge if it differs from the last reported one, else nil.
  public mutating func update(_ charge: UInt8?, at now: Instant) -> UInt8? {
    due = now + GaugePollLimit.minimumInterval
    guard let charge, charge != lastReported else { return nil }
    lastReported = charge
    return charge
  }
}

/// Control of the board's sleep.
public protocol BoardSleep: ~Copyable {
  /// Waits in `state` until `deadline`, received bytes, an edge or a request. Returns immediately if one of them is
  /// pending.
  ///
  /// If `deadline` has passed it returns immediately without sleep. A state that cannot be entered (because the alarm
  /// is too near, PWR-9) is replaced by a lighter one. The lightest is `BoardState.idle`; `.awake` has the same effect
  /// here, because waiting code does not run.
  ///
  /// - Parameters:
  ///   - deadline: Latest wake time; `.distantFuture` for no alarm.
  ///   - wakesOnInput: Whether received bytes end the wait. If false they stay in the input buffer, which holds at
  ///     least 4,096 bytes; further bytes are lost.
  mutating func wait(in state: BoardState, until deadline: Instant, wakesOnInput: Bool)
    -> WakeReport
}

/// The complete hardware interface of a board.
public protocol LocationBoard: ByteLine, PinBank, BootClock, BoardSleep, ~Copyable {}
