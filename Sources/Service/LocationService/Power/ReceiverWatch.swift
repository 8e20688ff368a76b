import BoardHardware
import LocationEngine
import LocationTypes
import LocationWire

/// What the service has seen of its receiver: since when it is as it is, and what became of it.
struct ReceiverWatch {
  /// What has changed that somebody should know.
  enum Change: Equatable {
    case nothing
    /// It does not answer any more, or never did.
    case lost
    /// It answers no command, and sends fixes.
    case streaming
    /// It answers again.
    case found
  }

  /// What it does, in the words of the socket.
  private(set) var state = WireReceiverState.off
  /// It says what it should.
  private(set) var answers = true
  /// Since when both are so.
  private(set) var since = Instant.boot
  /// Since when it is as who may not know where the board is sees it: running or not, without what it finds.
  private(set) var coarseSince = Instant.boot
  /// When it said something the last time.
  private(set) var heard: Instant?
  /// When its newest fix was made.
  private(set) var fixed: Instant?
  /// What of it was understood.
  private(set) var sentences = MessageCount()
  private(set) var frames = MessageCount()
  /// When the last message came while all was well with it: what it said before tells nothing of a fault.
  private(set) var worked = Instant.boot
  private var isBegun = false

  /// Takes what the engine says of it now.
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

  /// What it draws power for; one that starts or is lost is taken to search, which costs most.
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
  /// The same for who may not know where the board is: of a receiver that runs, no more than that.
  var coarse: WireReceiverState {
    switch self {
    case .acquiring, .tracking, .powersave, .batching: .on
    case .streaming: .lost
    case .off, .backup, .standby, .starting, .on, .lost: self
    }
  }
}

extension ReceiverReport {
  /// It does what it should, and is not only tried.
  fileprivate var isWorking: Bool {
    guard answers else { return false }
    return switch activity {
    case .standby, .running, .saving, .batching: true
    case .off, .starting, .lost: false
    }
  }
}
