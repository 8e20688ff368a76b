import LocationTypes
import LocationWire

/// An answer that is on its way: each connection gets its answers in the order of its calls.
struct PendingAnswer {
  /// When an answer may be given.
  enum Answer {
    /// At once.
    case ready(WireReply)
    /// When what was asked is on the disk.
    case durable(WireReply)
    /// The same of an acknowledgement of the fix of that name, if there ever was one.
    case acknowledged(FixName)
    /// Read from the engine, when it is through with what was asked before.
    case fromEngine(IncomingCall)
  }

  let connection: Int
  let answer: Answer
}

extension LocationServer {
  /// Whether an answer waits for the disk.
  var isPromised: Bool {
    answers.contains {
      switch $0.answer {
      case .durable, .acknowledged: true
      case .ready, .fromEngine: false
      }
    }
  }
}

extension WireCall {
  /// Whether its answer is a promise that outlives the service.
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
  /// The same where the disk did not take it.
  var undurable: WireReply {
    switch self {
    case .error: self
    default: .error(.notAvailable(what: "the disk: this holds until the service ends"))
    }
  }
}
