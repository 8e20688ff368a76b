import LocationPolicy
import LocationTypes
import LocationWire

/// The running process of a client, from `Connect` until it ends, disconnects or is taken over.
///
/// # Problem
///
/// Fixes must not be delivered to a process that cannot receive them, or the receiver would run for nothing and the
/// queue would grow (BKG-2). A process reports its own execution state, but it may be frozen by the system, have no
/// notice connection yet, or not read it. Both sources are kept apart here.
///
/// # States
///
///     Connect ──▶ DELIVERY PAUSED ──notice connection open, read and empty queue, not frozen──▶ DELIVERING
///                        ▲                                                                          │
///                        └────────── frozen, notice connection closed or full, queue not empty ─────┘
///
/// While delivery is paused, the engine treats the client as suspended, whatever ``execution`` is.
///
/// Owner: ``ServedClient``, which has no process otherwise, so nothing of a process outlives it.
struct ClientProcess {
  /// Index of its control connection; nil if it is connected by gpsd's protocol.
  let control: Int?
  /// Session number, with which the process opens its notice connection.
  let session: Int64
  /// Index of its notice connection; nil without one.
  private(set) var watch: Int?
  /// Execution state reported by the process.
  private(set) var execution: ExecutionState
  /// Whether the process is frozen.
  private(set) var isFrozen = false
  /// Whether nothing is delivered because the process is frozen, has no notice connection, or does not read it fast
  /// enough.
  private(set) var isDeliveryPaused = true
  /// Numbers of the open live iterators, one bit each.
  private var liveIterators: UInt8 = 0
  /// Services started by this process, which determine the pending events it may receive (BKG-6).
  private(set) var startedServices = StartedServices()
  /// Progress of the report of a possible loss.
  private(set) var lossReport = LossReport.absent

  /// - Parameter execution: State until the process reports one.
  init(control: Int, session: Int64, execution: ExecutionState) {
    self.control = control
    self.session = session
    self.execution = execution
  }

  /// Creates the process of a client that is connected by gpsd's protocol: it is in the foreground, and reports that
  /// its programs do not read are dropped instead of delivered later.
  init(gpsdSession session: Int64) {
    control = nil
    self.session = session
    execution = .foreground
    isDeliveryPaused = false
  }

  /// Whether the programs of the client are connected by gpsd's protocol.
  var usesGPSD: Bool { control == nil }

  /// The notice connection, if the process receives notices: it is neither frozen nor suspended.
  var deliveryConnection: Int? { isFrozen || execution == .suspended ? nil : watch }

  /// Number of open live iterators.
  var liveCount: Int { liveIterators.nonzeroBitCount }

  /// Sets the notice connection; nil if it was closed.
  mutating func setWatch(_ connection: Int?) { watch = connection }

  /// Sets the execution state, as reported by the process or inferred from a call.
  mutating func setExecution(_ state: ExecutionState) { execution = state }

  /// Sets whether the process is frozen. Returns whether that has changed.
  mutating func setFrozen(_ isFrozen: Bool) -> Bool {
    guard isFrozen != self.isFrozen else { return false }
    self.isFrozen = isFrozen
    return true
  }

  /// Changes the started services.
  mutating func updateStarted(_ change: (inout StartedServices) -> Void) {
    change(&startedServices)
  }

  /// Sets the progress of the report of a possible loss.
  mutating func setLossReport(_ report: LossReport) { lossReport = report }

  /// Opens a live iterator with the lowest free number (LIV-9), the same that the engine assigns. Nil if all are open.
  mutating func openLive() -> Int? {
    let number = (~liveIterators).trailingZeroBitCount
    guard number < LiveUpdates.capacity else { return nil }
    liveIterators |= 1 << UInt8(number)
    return number
  }

  /// Closes a live iterator.
  mutating func closeLive(_ number: Int) { liveIterators &= ~(1 << UInt8(number)) }

  /// Whether delivery must be paused.
  ///
  /// - Parameters:
  ///   - hasCapacity: Whether the notice connection is open and below its high-water mark.
  ///   - isQueueEmpty: Whether all notices are sent.
  func mustPauseDelivery(hasCapacity: Bool, isQueueEmpty: Bool) -> Bool {
    isFrozen || !hasCapacity || !isQueueEmpty
  }

  /// Pauses or resumes delivery.
  ///
  /// - Returns: The execution state to submit to the engine; nil if it does not change.
  mutating func setDeliveryPaused(_ isPaused: Bool) -> ExecutionState? {
    isDeliveryPaused = isPaused
    guard execution != .suspended else { return nil }
    return isPaused ? .suspended : execution
  }
}

/// Progress of the report of a possible loss to a process (RNG-4). The report is complete when the process has
/// acknowledged a fix that was sent after the gap: one that ended before has not handled the gap, and the next process
/// receives it again.
enum LossReport: Equatable {
  /// Nothing was queued for the process.
  case absent
  /// The gap is in the queue.
  case queued
  /// The gap was written, and no fix after it.
  case sent
  /// The gap was written, and the fix with this sequence number, or one after it.
  case followed(by: UInt64)
  /// The process has acknowledged a name with such a sequence number. A power cut may have destroyed the fix of that name:
  /// then it was not sent after the gap, and another fix has its number.
  case acknowledged(FixName, followedBy: UInt64)
}

/// Services that the current process has started. It receives no pending events of other services (BKG-6).
struct StartedServices {
  var updates = false
  var visits = false

  /// Whether an event may be sent to the process. Region events may always; condition events require that the client
  /// may receive live updates (BKG-14).
  func includes(_ notice: WireNotice, _ use: ClientUse) -> Bool {
    switch notice {
    case .visit: visits
    case .region(let event, _): event.kind == .region || !use.flags.containsAny(of: .withholding)
    default: true
    }
  }
}
