import GNSSProtocols
import LocationTypes

/// Power supply and operating phase of the simulated receiver.
///
/// ```
/// UNPOWERED --- switch on, device present ------------> BOOTING(until)
/// BOOTING   --- boot time has passed -----------------> RUNNING
/// BOOTING   --- start of a replay (6) ----------------> RUNNING
/// RUNNING   --- standby command (1) ------------------> STOPPING(request, at)
/// STOPPING  --- the output queued at the request is sent -> STANDBY(until, wake-up sources)
/// STANDBY   --- end of standby (2), input (3), edge (4) -> BOOTING
/// STANDBY   --- PAIR002 (Airoha only) ----------------> RUNNING
/// powered   --- configuration lost, reboot command (5) -> BOOTING
/// powered   --- switch off, or device removed --------> UNPOWERED
/// ```
///
/// 1. UBX-RXM-PMREQ, `$PMTK161`, `$PAIR003`, `$PCAS12`. In STOPPING the receiver still runs; a further command replaces
///    the request.
/// 2. Only if the command has a duration.
/// 3. u-blox: if the request lists the UART as a wake-up source, or none. MediaTek, CASIC: always. Airoha: never; it
///    executes sentences in standby. The bytes that wake the receiver are lost.
/// 4. If the request lists EXTINT0 as a wake-up source, or none.
/// 5. PAIR023: in RUNNING, STOPPING and STANDBY. Lost configuration: in every phase with power ("powered"), but not
///    while a recording is replayed.
/// 6. Without a supply switch, at the start of the simulation, before the boot time has passed. With one, a replay
///    boots as any receiver.
///
/// Invariants:
/// - Owner: ``SimulatedReceiver``, which carries out what a change of the phase requires: only it calls the functions
///   that change the phase.
/// - The receiver is UNPOWERED exactly if the switch is off or the device is absent. ``setSwitch(_:)`` and
///   ``setDevice(isPresent:)`` return the change of the phase that this requires; the owner carries it out in the same
///   step.
/// - In STOPPING the receiver sends the output that was queued at the request, and no further epochs.
struct SimulatedPower: Equatable, Sendable {
  /// Operating phase with its data.
  enum Phase: Equatable, Sendable {
    case unpowered
    case booting(until: Instant)
    case running
    /// Running until the output queued at the request is sent; then in standby.
    case stopping(StandbyRequest, at: Instant)
    /// `until` is `.distantFuture` without an end time.
    case standby(until: Instant, wakeupSources: UInt32)
  }

  /// A request for standby.
  struct StandbyRequest: Equatable, Sendable {
    /// Duration, ms; 0 for standby without an end time.
    var duration_ms: UInt32
    /// Wake-up sources as in UBX-RXM-PMREQ; 0 for all.
    var wakeupSources: UInt32 = 0
  }

  /// A change of the supply that the phase does not reflect yet.
  enum SupplyChange: Equatable {
    case applied
    case removed
  }

  private(set) var phase = Phase.unpowered
  private var isSwitchOn = false
  private(set) var isDeviceAbsent = false

  /// Whether the receiver has power.
  var isSupplied: Bool { phase != .unpowered }

  /// Whether it runs, also if a standby request waits for queued output.
  var isRunning: Bool {
    switch phase {
    case .running, .stopping: true
    case .unpowered, .booting, .standby: false
    }
  }

  /// Whether it is in standby.
  var isStandby: Bool { if case .standby = phase { true } else { false } }

  /// Whether a standby request waits for queued output.
  var isStopping: Bool { if case .stopping = phase { true } else { false } }

  /// Time at which the phase ends by itself; `.distantFuture` for never.
  var due: Instant {
    switch phase {
    case .unpowered, .running: .distantFuture
    case .booting(let end), .stopping(_, let end), .standby(let end, _): end
    }
  }

  /// Whether `source` ends the standby. A request that lists no sources allows all of them.
  func wakes(by source: UInt32) -> Bool {
    guard case .standby(_, let sources) = phase else { return false }
    return sources == 0 || sources & source != 0
  }

  // MARK: Supply

  /// Sets the board's supply switch.
  mutating func setSwitch(_ isOn: Bool) -> SupplyChange? {
    isSwitchOn = isOn
    return supplyChange
  }

  /// Sets whether the receiver's device exists.
  mutating func setDevice(isPresent: Bool) -> SupplyChange? {
    isDeviceAbsent = !isPresent
    return supplyChange
  }

  private var supplyChange: SupplyChange? {
    switch (isSwitchOn && !isDeviceAbsent, isSupplied) {
    case (true, false): .applied
    case (false, true): .removed
    case (true, true), (false, false): nil
    }
  }

  // MARK: Phase

  /// Starts booting, from any phase. The caller guarantees that the switch is on and the device is present.
  mutating func boot(until end: Instant) { phase = .booting(until: end) }

  /// Starts running.
  ///
  /// - Precondition: The receiver is booting or in standby.
  mutating func run() {
    switch phase {
    case .booting, .standby: phase = .running
    case .unpowered, .running, .stopping:
      preconditionFailure("a receiver starts running after booting or standby")
    }
  }

  /// Accepts a standby request, which is executed at `time`.
  ///
  /// - Precondition: The receiver runs.
  mutating func requestStandby(_ request: StandbyRequest, at time: Instant) {
    precondition(isRunning, "only a running receiver accepts a standby request")
    phase = .stopping(request, at: time)
  }

  /// Executes the standby request.
  mutating func enterStandby(at now: Instant) {
    guard case .stopping(let request, _) = phase else {
      preconditionFailure("standby follows a request")
    }
    let duration = Interval.milliseconds(Int64(request.duration_ms))
    phase = .standby(
      until: duration > .zero ? now + duration : .distantFuture,
      wakeupSources: request.wakeupSources)
  }

  /// Records the loss of power.
  mutating func losePower() { phase = .unpowered }
}
