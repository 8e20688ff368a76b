import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

// How things stand, for whoever asks: nothing here changes anything.

/// How the receiver is.
public struct ReceiverReport: Equatable, Sendable {
  /// What it does.
  public var activity: ReceiverActivity
  /// It is awake and has no fix: none yet, or none any more.
  public var isSearching: Bool
  /// It says what it should: false when the driver has lost it, and when it should talk and is silent.
  public var answers: Bool
  /// It answers no command, and sends fixes (PWR-12).
  public var isStreaming = false
  /// When it said something the last time; nil while it never did.
  public var heard: Instant?
  /// When its newest fix was made, kept or not; nil before the first one since the engine began.
  public var fixed: Instant?
  /// Sentences with a right checksum that came so far; stays at the largest value.
  public var sentences: UInt32 = 0
  /// UBX frames with a right checksum that came so far; stays at the largest value.
  public var frames: UInt32 = 0
}

/// What a client keeps board and receiver from resting with.
public struct ClientHold: Equatable, Sendable {
  /// What it needs all the time.
  public var demand: Demand
  /// When the next of the single fixes must be there that its services need; `.distantFuture` for none.
  public var due: Instant
  /// Until when the board stays awake for its acknowledgement (RNG-8); nil when none is awaited.
  public var awaitsAcknowledgementUntil: Instant?
}

/// Why the plan lets the board sleep no more deeply than it does, clients aside.
public enum SleepObstacle: Equatable, Sendable {
  /// Something keeps the board from sleeping (DEF-28).
  case inhibited
  /// The receiver is to tell what it finds, and bytes do not wake a suspended board.
  case receiverRuns
  /// The same, although nobody needs it: nothing can put it to rest.
  case receiverCannotRest
  /// Something is on its way between board and receiver.
  case receiverBusy
  /// The receiver gathers fixes, and its pin does not wake a suspended board.
  case receiverCannotWake
  /// Something is due so soon that suspending is not worth it.
  case soon
}

extension Engine {
  /// How the receiver was at the last step; nil on a board without one. O(1).
  public func receiverReport(at now: Instant) -> ReceiverReport? {
    guard hasDriver else { return nil }
    let activity = driver.status.activity
    let counters = decoder.counters
    return ReceiverReport(
      activity: activity, isSearching: isReceiverAwake && isWithoutFix(at: now),
      answers: activity != .lost && !isReceiverLost && !isSilent(activity, at: now),
      isStreaming: isReceiverStreaming,
      heard: lastByte > .boot ? lastByte : nil, fixed: newestMade > .boot ? newestMade : nil,
      sentences: counters.sentences, frames: counters.frames)
  }

  /// Whether it is known that nothing can come of the receiver now: there is none, it is lost, or others wait for what it
  /// says and it says nothing.
  var isReceiverAway: Bool {
    guard hasDriver else { return true }
    if isReceiverLost { return !isReceiverStreaming }
    return (demand.wantsEveryFix || schedule.isOn) && isSilent(driver.status.activity, at: now)
  }

  /// Whether fixes come of a receiver that answers no command.
  var isReceiverStreaming: Bool {
    guard hasDriver, driver.status.isStreaming, let streamedAt else { return false }
    return now - streamedAt <= longestSilence
  }

  /// Whether an awake receiver has no fix: it searches for its first one, was away since its last one, or
  /// has made none for longer than its line may lie unread.
  private func isWithoutFix(at now: Instant) -> Bool {
    if search.since != nil || search.isInterrupted { return true }
    guard let quietSince = search.quietSince, !receiverBuffers else { return false }
    return now - quietSince > longestSilence
  }

  /// Whether a receiver that is meant to talk has not, for longer than its line may lie unread.
  private func isSilent(_ activity: ReceiverActivity, at now: Instant) -> Bool {
    switch activity {
    case .off, .standby, .starting, .batching, .lost: return false
    case .running, .saving: break
    }
    guard isReceiverAwake, !receiverBuffers else { return false }
    return now - silentSince > longestSilence
  }

  /// When an awake receiver said something the last time, or began to be waited for.
  private var silentSince: Instant {
    // Of one that is only listened to, what makes no message counts for nothing.
    let heard = driver.hearsMessages ? lastByte : lastEpoch
    return max(max(heard, overlookedAt), search.since ?? .boot)
  }

  /// When the state of the receiver must be checked, also while all clients are suspended (DEF-43): a lost receiver
  /// is tried again, and one that takes no commands counts as lost after a long silence. `.distantFuture` while no
  /// client needs the receiver.
  func receiverCheck(_ demand: DemandSummary) -> Instant {
    guard hasDriver, demand.wantsEveryFix || schedule.isOn else { return .distantFuture }
    switch driver.status.activity {
    case .lost:
      guard let due = driver.status.deadline, due > now else { return .distantFuture }
      return due
    case .running:
      guard !driver.hearsMessages, !isReceiverLost, isReceiverAwake else { return .distantFuture }
      return silentSince + max(setup.unknownAfter, longestSilence)
    case .off, .standby, .starting, .saving, .batching: return .distantFuture
    }
  }

  /// Whether the board's profile has a state in which it is suspended.
  public var canSuspend: Bool { setup.figures.deep != nil }

  /// What keeps the board out of its deepest sleep, by the last step's `plan`; nil where that is planned,
  /// and on a board that has none. O(1).
  public func sleepObstacle(_ plan: Effects) -> SleepObstacle? {
    guard plan.board < .suspended else { return nil }
    if isInhibited { return .inhibited }
    switch goal {
    case .tracking, .powersave:
      return isUnwanted ? .receiverCannotRest : .receiverRuns
    case .off, .standby, .batching, nil: break
    }
    if isBusy { return .receiverBusy }
    guard let deep = setup.figures.deep else { return nil }
    if case .batching = goal, setup.figures.batch?.hasPin == true, !deep.wakesOnPin {
      return .receiverCannotWake
    }
    return .soon
  }

  /// Whether what the motion sensor's line says is made use of.
  public var usesMotionLine: Bool { setup.figures.usesMotionLine }

  /// Something keeps the board from sleeping (DEF-28).
  public var isSleepInhibited: Bool { isInhibited }

  /// What a client needs of the hardware at `now`. O(its regions).
  public func use(of client: ClientID, at now: Instant) -> ClientHold {
    var copy = clients[client.index]
    copy.takeSparedFix(context)
    let need = copy.need(at: now, fastest: pace.fastest(at: now), line: motionLine)
    return ClientHold(
      demand: copy.demand(at: now), due: need.due,
      awaitsAcknowledgementUntil: copy.awaitsAcknowledgementUntil)
  }
}
