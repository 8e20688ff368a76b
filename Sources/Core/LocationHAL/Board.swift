import LocationTypes

// What a board offers the loop. Two implementations exist: Linux and simulation. Each says what must
// never happen; the simulated one enforces it and fails the run.

/// Why a byte line could not do its work.
public enum LineFault: Error, Equatable, Sendable {
  /// The device went away (USB unplugged, driver unbound). Opening it again may help.
  case gone
  /// The line's output queue is full; the receiver does not take bytes. Nothing was written.
  case full
}

/// Why a pin could not be set.
public enum PinFault: Error, Equatable, Sendable {
  /// The profile names no such line.
  case notWired
  /// Another process took the line; its level is now unknown.
  case lineLost
}

/// The serial line to the receiver: data only.
///
/// Bytes that arrive while the board is ``BoardState/suspended`` are lost, and so is what the
/// receiver sends at another speed than the line's.
public protocol ByteLine: ~Copyable {
  /// Queues `bytes` for the receiver, all or nothing.
  ///
  /// Must never be called while the receiver is without supply: current would flow through the pin.
  ///
  /// - Throws: ``LineFault``.
  mutating func write(_ bytes: Span<UInt8>) throws(LineFault)

  /// The next bytes that have arrived, at most 256; fewer when that is all, empty when there are none.
  ///
  /// - Throws: ``LineFault/gone``.
  mutating func read() throws(LineFault) -> ByteChunk

  /// The same, in place of what is in `chunk`: for a line that is read so often that a copy counts.
  ///
  /// - Throws: ``LineFault/gone``; then what is in `chunk` means nothing.
  mutating func read(into chunk: inout ByteChunk) throws(LineFault)

  /// Sets the line's speed in baud, once all queued bytes have left.
  ///
  /// - Throws: ``LineFault/gone``.
  mutating func setSpeed(_ baud: UInt32) throws(LineFault)

  /// Throws away what has arrived and was not read: nobody listened, and how old it is nobody knows.
  mutating func discardInput()
}

extension ByteLine where Self: ~Copyable {
  /// Copies what ``read()`` gives.
  public mutating func read(into chunk: inout ByteChunk) throws(LineFault) { chunk = try read() }

  /// Reads to the end.
  public mutating func discardInput() {
    do { while try read().count > 0 {} } catch {}
  }
}

/// The pins between board and receiver: control only.
public protocol PinBank: ~Copyable {
  /// Drives `command.pin` to `command.level`; does nothing if it is there already.
  ///
  /// The supply must never be cut while a standby command waits for its acknowledgement (PWR-5).
  ///
  /// - Throws: ``PinFault``.
  mutating func set(_ command: PinCommand) throws(PinFault)
}

/// The boot clock: monotonic, counts sleep, never overflows, never fails.
public protocol BootClock: ~Copyable {
  /// Now.
  var now: Instant { get }
}

/// What ended a wait.
public struct Waking: Equatable, Sendable {
  /// The first thing that woke the board, or that it found when it did not sleep at all.
  public var reason: WakeReason
  /// The batch pin rose since the last wait.
  public var batchPinRose: Bool
  /// What the motion sensor's line says now, if that is not what was told before; the first wait
  /// tells it. Always nil on a board without one.
  public var motion: PinLevel?
  /// When the motion sensor's line came to that level, by the kernel's own stamp of its edge; nil where
  /// none tells, as for an edge that was lost in a suspend.
  public var motionEdge: Instant?
  /// What the battery's gauge says, percent, if that is news: see ``GaugeReading``. Always nil on a
  /// board without one.
  public var battery: UInt8?
  /// The receiver's last pulse per second before the first of the bytes that ended the wait: UTC was a whole
  /// second then. nil where none came since the one told before; always, on a board without its line.
  public var pulse: Instant?

  /// Creates a report.
  public init(
    reason: WakeReason, batchPinRose: Bool, motion: PinLevel? = nil, motionEdge: Instant? = nil,
    battery: UInt8? = nil, pulse: Instant? = nil
  ) {
    self.reason = reason
    self.batchPinRose = batchPinRose
    self.motion = motion
    self.motionEdge = motionEdge
    self.battery = battery
    self.pulse = pulse
  }
}

/// When a board reads its battery's gauge, and what of that it tells.
///
/// A gauge costs no wake: whenever a wait ends for another reason, and the last reading is at least
/// ``GaugeReading/period`` old, it is read and told if it says something new.
public struct GaugeReading: Equatable, Sendable {
  /// The time between two readings, at the least: reading takes a bus transfer, and a charge changes
  /// slowly.
  public static let period = Interval.seconds(60)

  private var told: UInt8?
  private var due = Instant.boot

  /// Nothing was read yet.
  public init() {}

  /// Whether the gauge is to be read at the end of a wait.
  public func isDue(at now: Instant) -> Bool { now >= due }

  /// It was read.
  ///
  /// - Parameter charge: What it says, percent; nil if it could not be read, which is no news.
  /// - Returns: The charge, if that is not what was told before.
  public mutating func take(_ charge: UInt8?, at now: Instant) -> UInt8? {
    due = now + GaugeReading.period
    guard let charge, charge != told else { return nil }
    told = charge
    return charge
  }
}

/// Control over the board's own sleep.
public protocol BoardSleep: ~Copyable {
  /// Waits in `state` until `deadline`, bytes, an edge or a request; returns at once if there is
  /// something already.
  ///
  /// A deadline that has passed returns at once without sleeping. A state that cannot be entered
  /// (an alarm too near, PWR-9) is replaced by a lighter one; the lightest is `BoardState.idle`, which
  /// `.awake` means here too, because code that waits does not run.
  ///
  /// - Parameters:
  ///   - deadline: When to wake at the latest; `.distantFuture` for no alarm.
  ///   - listening: Whether bytes end the wait. When not, they gather in the line's buffer, which
  ///     holds at least 4,096; what comes beyond that is lost.
  mutating func wait(in state: BoardState, until deadline: Instant, listening: Bool) -> Waking
}

/// All a board offers.
public protocol LocationBoard: ByteLine, PinBank, BootClock, BoardSleep, ~Copyable {}
