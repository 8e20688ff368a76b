import BoardHardware
import LocationEngine
import LocationTypes
import LocationWire

/// The state of the receiver, from the engine's reports: state, time of its last change, input received.
struct ReceiverMonitor {
  /// A change to log.
  enum Change: Equatable {
    case nothing
    /// The receiver no longer responds, or never did.
    case lost
    /// The receiver sends fixes but responds to no command.
    case streaming
    /// The receiver responds again.
    case recovered
  }

  /// State, as in the socket interface.
  private(set) var state = WireReceiverState.off
  /// Whether the receiver responds as expected.
  private(set) var isResponding = true
  /// Time of the last change of ``state`` or ``isResponding``.
  private(set) var since = Instant.boot
  /// Same for ``WireReceiverState/coarse`` states, which are reported to users who may not know the location.
  private(set) var coarseSince = Instant.boot
  /// Time of the last input; nil before the first.
  private(set) var lastInput: Instant?
  /// Time of the newest fix; nil before the first.
  private(set) var lastFix: Instant?
  /// Messages decoded from the input.
  private(set) var sentences = MessageCount()
  private(set) var frames = MessageCount()
  /// Time of the last message while the receiver worked normally. Only later input indicates the cause of a fault.
  private(set) var lastWorking = Instant.boot
  private var hasReport = false

  /// Updates the state from a report of the engine.
  ///
  /// - Returns: The new state for the energy ledger, nil if the state has not changed; and the change to log.
  mutating func update(
    _ report: ReceiverReport, hasBackup: Bool, at now: Instant
  ) -> (state: ReceiverPowerState?, Change) {
    lastInput = report.lastByteTime
    lastFix = report.lastFixTime
    sentences.update(report.sentences, at: now)
    frames.update(report.frames, at: now)
    if report.isWorking {
      lastWorking = max(lastWorking, max(sentences.newest ?? .boot, frames.newest ?? .boot))
    }
    let new = ReceiverMonitor.state(report, hasBackup: hasBackup)
    guard new != state || report.isResponding != isResponding || !hasReport else {
      return (nil, .nothing)
    }
    let change = change(to: new, report)
    if new.coarse != state.coarse || report.isResponding != isResponding || !hasReport {
      coarseSince = now
    }
    hasReport = true
    state = new
    isResponding = report.isResponding
    since = now
    return (ReceiverMonitor.power(new), change)
  }

  private func change(to new: WireReceiverState, _ report: ReceiverReport) -> Change {
    if report.isResponding { return isResponding ? .nothing : .recovered }
    if new == .streaming { return .streaming }
    return isResponding || state == .streaming ? .lost : .nothing
  }

  private static func state(_ report: ReceiverReport, hasBackup: Bool) -> WireReceiverState {
    guard report.isResponding else { return report.isStreaming ? .streaming : .lost }
    return switch report.activity {
    case .off: hasBackup ? .backup : .off
    case .standby: .standby
    case .starting: .starting
    case .running: report.isAcquiring ? .acquiring : .tracking
    case .powersave: report.isAcquiring ? .acquiring : .powersave
    case .batching: .batching
    case .lost: .lost
    }
  }

  /// State for the energy ledger. A receiver that starts or is lost counts as acquiring, the highest power.
  private static func power(_ state: WireReceiverState) -> ReceiverPowerState {
    switch state {
    case .off: .off
    case .backup: .backup
    case .standby: .standby
    case .starting, .acquiring, .lost, .on: .acquiring
    case .tracking, .streaming: .tracking
    case .powersave: .powersave
    case .batching: .batching
    }
  }
}

extension WireReceiverState {
  /// State for users who may not know the location: whether the receiver runs, not whether it has a fix.
  var coarse: WireReceiverState {
    switch self {
    case .acquiring, .tracking, .powersave, .batching: .on
    case .streaming: .lost
    case .off, .backup, .standby, .starting, .on, .lost: self
    }
  }
}

extension ReceiverReport {
  /// Whether the receiver works normally, and is not starting, off or lost.
  fileprivate var isWorking: Bool {
    guard isResponding else { return false }
    return switch activity {
    case .standby, .running, .powersave, .batching: true
    case .off, .starting, .lost: false
    }
  }
}
