import BoardHardware
import LocationEngine
import LocationTypes
import LocationWire

/// Tracks the state of the receiver as reported by the engine: state, time of the last change, input received.
struct ReceiverWatch {
  /// A change to log.
  enum Change: Equatable {
    case nothing
    /// The receiver no longer responds, or never did.
    case lost
    /// The receiver sends fixes but responds to no command.
    case streaming
    /// The receiver responds again.
    case found
  }

  /// State, as in the socket interface.
  private(set) var state = WireReceiverState.off
  /// Whether the receiver responds as expected.
  private(set) var answers = true
  /// Time since which both have not changed.
  private(set) var since = Instant.boot
  /// Same for ``coarse`` states, which are reported to users who may not know the location.
  private(set) var coarseSince = Instant.boot
  /// Time of the last input; nil before the first.
  private(set) var heard: Instant?
  /// Time of the newest fix; nil before the first.
  private(set) var fixed: Instant?
  /// Messages decoded from the input.
  private(set) var sentences = MessageCount()
  private(set) var frames = MessageCount()
  /// Time of the last message while the receiver worked normally. Only later input indicates the cause of a fault.
  private(set) var worked = Instant.boot
  private var isBegun = false

  /// Updates the state from a report of the engine.
  mutating func take(
    _ report: ReceiverReport, hasBackup: Bool, at now: Instant
  ) -> (state: ReceiverPowerState?, Change) {
    heard = report.heard
    fixed = report.fixed
    sentences.take(report.sentences, at: now)
    frames.take(report.frames, at: now)
    if report.isWorking {
      worked = max(worked, max(sentences.newest ?? .boot, frames.newest ?? .boot))
    }
    let new = ReceiverWatch.state(report, hasBackup: hasBackup)
    guard new != state || report.answers != answers || !isBegun else { return (nil, .nothing) }
    let change = change(to: new, report)
    if new.coarse != state.coarse || report.answers != answers || !isBegun { coarseSince = now }
    isBegun = true
    state = new
    answers = report.answers
    since = now
    return (ReceiverWatch.power(new), change)
  }

  private func change(to new: WireReceiverState, _ report: ReceiverReport) -> Change {
    if report.answers { return answers ? .nothing : .found }
    if new == .streaming { return .streaming }
    return answers || state == .streaming ? .lost : .nothing
  }

  private static func state(_ report: ReceiverReport, hasBackup: Bool) -> WireReceiverState {
    guard report.answers else { return report.isStreaming ? .streaming : .lost }
    return switch report.activity {
    case .off: hasBackup ? .backup : .off
    case .standby: .standby
    case .starting: .starting
    case .running: report.isSearching ? .acquiring : .tracking
    case .saving: report.isSearching ? .acquiring : .powersave
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
  /// State for users who may not know the location: whether the receiver runs, not what it finds.
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
    guard answers else { return false }
    return switch activity {
    case .standby, .running, .saving, .batching: true
    case .off, .starting, .lost: false
    }
  }
}
