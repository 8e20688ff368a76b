import LocationPolicy
import LocationTypes
import ReceiverDrivers

// How things stand, for whoever asks: nothing here changes anything.

/// How the receiver is.
public struct ReceiverReport: Equatable, Sendable {
  /// What it does.
  public var activity: ReceiverActivity
  /// It is awake and has no fix yet.
  public var isSearching: Bool
  /// It says what it should: false when the driver has lost it, and when it should talk and is silent.
  public var answers: Bool
  /// When it said something the last time; nil while it never did.
  public var heard: Instant?
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

extension Engine {
  /// How the receiver was at the last step; nil on a board without one. O(1).
  public func receiverReport(at now: Instant) -> ReceiverReport? {
    guard hasDriver else { return nil }
    let activity = driver.activity
    return ReceiverReport(
      activity: activity, isSearching: isReceiverAwake && search.since != nil,
      answers: !isReceiverLost && activity != .lost && !isSilent(activity, at: now),
      heard: lastByte > .boot ? lastByte : nil)
  }

  /// Whether a receiver that is meant to talk has not, for longer than its line may lie unread.
  private func isSilent(_ activity: ReceiverActivity, at now: Instant) -> Bool {
    switch activity {
    case .off, .standby, .starting, .batching, .lost: return false
    case .running, .saving: break
    }
    guard isReceiverAwake, !receiverBuffers else { return false }
    let since = max(max(lastByte, overlookedAt), search.since ?? .boot)
    let most = max(setup.receiverSilence, setup.figures.fixInterval * 2)
    return now - since > most + setup.figures.longestGather
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
