import LocationTypes
import LocationWire

/// A pending answer. Each connection receives its answers in the order of its calls.
struct PendingAnswer {
  /// When an answer may be sent.
  enum Answer {
    /// At the end of this turn.
    case ready(WireReply)
    /// After the next flush.
    case durable(WireReply)
    /// After the next flush, as an answer to an acknowledgement; an error if that fix never existed.
    case acknowledged(FixName)
    /// Read from the engine, after it has handled the preceding requests.
    case fromEngine(IncomingCall)
  }

  let connection: Int
  let answer: Answer
}

extension LocationServer {
  /// Whether an answer waits for a flush.
  var hasDurableAnswer: Bool {
    answers.contains {
      switch $0.answer {
      case .durable, .acknowledged: true
      case .ready, .fromEngine: false
      }
    }
  }
}

extension WireCall {
  /// Whether the effect of the call outlives the service, so that its answer waits for a flush.
  var isDurable: Bool {
    switch self {
    case .acknowledge, .acknowledgeEvents, .startSignificantChange, .stopSignificantChange,
      .startVisits, .stopVisits, .addRegion, .removeRegion, .allowClient, .denyClient,
      .reduceClient, .forgetClient, .openBackgroundSession, .closeBackgroundSession:
      true
    case .getInfo, .getInterfaceDescription, .connect, .watch, .startUpdating, .stopUpdating,
      .configure, .allowDeferred, .disallowDeferred, .setExecution, .requestLocation,
      .requestRegionState, .openLive, .closeLive, .getLocation, .getStatus, .getPowerPlan,
      .getEnergy, .drain, .readBacklog, .listClients, .requestAuthorization, .openServiceSession,
      .closeServiceSession, .flush, .listRegions:
      false
    }
  }
}

extension WireReply {
  /// The answer if the flush has failed.
  var notDurable: WireReply {
    switch self {
    case .error: self
    default: .error(.notAvailable(what: "the disk: this holds until the service ends"))
    }
  }
}
