import LocationPolicy
import LocationTypes

/// The methods of the interface `org.torpor.Location`, by their names.
public enum WireMethod: String, CaseIterable, Sendable {
  case connect = "Connect"
  case watch = "Watch"
  case startUpdating = "StartUpdating"
  case stopUpdating = "StopUpdating"
  case configure = "Configure"
  case allowDeferred = "AllowDeferred"
  case disallowDeferred = "DisallowDeferred"
  case setExecution = "SetExecution"
  case acknowledge = "Acknowledge"
  case acknowledgeEvents = "AcknowledgeEvents"
  case requestLocation = "RequestLocation"
  case startSignificantChange = "StartSignificantChange"
  case stopSignificantChange = "StopSignificantChange"
  case startVisits = "StartVisits"
  case stopVisits = "StopVisits"
  case addRegion = "AddRegion"
  case removeRegion = "RemoveRegion"
  case requestRegionState = "RequestRegionState"
  case listRegions = "ListRegions"
  case openLive = "OpenLive"
  case closeLive = "CloseLive"
  case getLocation = "GetLocation"
  case getStatus = "GetStatus"
  case getPowerPlan = "GetPowerPlan"
  case getEnergy = "GetEnergy"
  case drain = "Drain"
  case readBacklog = "ReadBacklog"
  case listClients = "ListClients"
  case allowClient = "AllowClient"
  case denyClient = "DenyClient"
  case reduceClient = "ReduceClient"
  case forgetClient = "ForgetClient"
  case flush = "Flush"
  case requestAuthorization = "RequestAuthorization"
  case openServiceSession = "OpenServiceSession"
  case closeServiceSession = "CloseServiceSession"
  case openBackgroundSession = "OpenBackgroundSession"
  case closeBackgroundSession = "CloseBackgroundSession"
}

/// What a client says to the service: one case for each method.
public enum WireCall: Equatable, Sendable {
  /// `org.varlink.service.GetInfo`.
  case getInfo
  /// `org.varlink.service.GetInterfaceDescription`, of the interface of that name.
  case getInterfaceDescription(String)
  /// This connection speaks for the client of that name; its end is the process's end (AUT-2). With
  /// explicit sessions nothing implies one (BKG-15).
  case connect(name: String, needsExplicitSessions: Bool = false)
  /// Sends every notice of the session on this connection, for as long as both live.
  case watch(session: Int64)
  /// ``Request/startUpdating``.
  case startUpdating
  /// ``Request/stopUpdating``.
  case stopUpdating
  /// Up to four settings at once.
  case configure(WireSettings)
  /// ``Request/allowDeferred(distance:timeout:)``; unlimited is ``LocationLimits/distanceMax`` and
  /// ``LocationLimits/timeIntervalMax`` (DEF-22).
  case allowDeferred(distance: Double, timeout: Double)
  /// ``Request/disallowDeferred``.
  case disallowDeferred
  /// ``Request/setExecution(_:)``.
  case setExecution(ExecutionState)
  /// ``Request/acknowledge(_:)``.
  case acknowledge(FixName)
  /// The visits and region events up to this number are handled for good.
  case acknowledgeEvents(UInt32)
  /// ``Request/requestLocation``.
  case requestLocation
  /// ``Request/startSignificantChange``.
  case startSignificantChange
  /// ``Request/stopSignificantChange``.
  case stopSignificantChange
  /// ``Request/startVisits``.
  case startVisits
  /// ``Request/stopVisits``.
  case stopVisits
  /// ``Request/addRegion(_:assuming:)``, with a name instead of a number.
  case addRegion(WireRegion, assuming: MonitorState)
  /// ``Request/removeRegion(_:)``, with a name instead of a number.
  case removeRegion(RegionKind, name: String)
  /// ``Request/requestRegionState(_:)``, with a name instead of a number.
  case requestRegionState(RegionKind, name: String)
  /// The client's regions and conditions, each with the last event of it that was handled (REG-11).
  case listRegions
  /// ``Request/openLive(_:)``.
  case openLive(LiveConfiguration)
  /// ``Request/closeLive(_:)``, 0 to 3.
  case closeLive(Int)
  /// The newest fix that was delivered to the client (STD-8).
  case getLocation
  /// How the service is.
  case getStatus
  /// What the hardware is to do.
  case getPowerPlan
  /// Where time and energy went.
  case getEnergy
  /// All fixes that the session is owed, as records (``FixRecord``) on this connection.
  case drain(session: Int64)
  /// All fixes that the client of that name, of the caller's user, is owed, as records; it is told them
  /// none the less.
  case readBacklog(name: String)
  /// Every client that is known; for administrators.
  case listClients
  /// That client may use location; for administrators.
  case allowClient(WireClientName, WirePermission)
  /// That client may not; for administrators.
  case denyClient(WireClientName)
  /// That client is to know no more than about where it is, or all again; for administrators.
  case reduceClient(WireClientName, isReduced: Bool)
  /// That client is not known any more, nor what was decided about it; for administrators.
  case forgetClient(WireClientName)
  /// All that waits is told now, and deferrals go on; for administrators.
  case flush
  /// `requestWhenInUseAuthorization()` or `requestAlwaysAuthorization()` (AUT-4).
  case requestAuthorization(WirePermission)
  /// `CLServiceSession(authorization:fullAccuracyPurposeKey:)` (BKG-12).
  case openServiceSession(SessionRequirement, wantsFullAccuracy: Bool)
  /// That session is invalidated.
  case closeServiceSession(Int)
  /// `CLBackgroundActivitySession()` (BKG-8).
  case openBackgroundSession
  /// Its `invalidate()` (BKG-10).
  case closeBackgroundSession

  /// What it asks of the policy, where it is one request; regions need a number first, settings may
  /// be several (``WireSettings/requests``).
  public var request: Request? {
    switch self {
    case .startUpdating: .startUpdating
    case .stopUpdating: .stopUpdating
    case .allowDeferred(let distance, let timeout):
      .allowDeferred(distance: distance, timeout: timeout)
    case .disallowDeferred: .disallowDeferred
    case .setExecution(let state): .setExecution(state)
    case .acknowledge(let name): .acknowledge(name)
    case .requestLocation: .requestLocation
    case .startSignificantChange: .startSignificantChange
    case .stopSignificantChange: .stopSignificantChange
    case .startVisits: .startVisits
    case .stopVisits: .stopVisits
    case .openLive(let configuration): .openLive(configuration)
    case .closeLive(let number): .closeLive(number)
    case .getInfo, .getInterfaceDescription, .connect, .watch, .configure, .acknowledgeEvents,
      .addRegion, .removeRegion, .requestRegionState, .listRegions, .getLocation, .getStatus,
      .getPowerPlan,
      .getEnergy, .drain, .readBacklog, .listClients, .allowClient, .denyClient, .reduceClient,
      .forgetClient, .requestAuthorization, .openServiceSession, .closeServiceSession,
      .openBackgroundSession, .closeBackgroundSession,
      .flush:
      nil
    }
  }

  /// Its method in `org.torpor.Location`; nil for those of `org.varlink.service`.
  public var method: WireMethod? {
    switch self {
    case .getInfo, .getInterfaceDescription: nil
    case .connect: .connect
    case .watch: .watch
    case .startUpdating: .startUpdating
    case .stopUpdating: .stopUpdating
    case .configure: .configure
    case .allowDeferred: .allowDeferred
    case .disallowDeferred: .disallowDeferred
    case .setExecution: .setExecution
    case .acknowledge: .acknowledge
    case .acknowledgeEvents: .acknowledgeEvents
    case .requestLocation: .requestLocation
    case .startSignificantChange: .startSignificantChange
    case .stopSignificantChange: .stopSignificantChange
    case .startVisits: .startVisits
    case .stopVisits: .stopVisits
    case .addRegion: .addRegion
    case .removeRegion: .removeRegion
    case .requestRegionState: .requestRegionState
    case .listRegions: .listRegions
    case .openLive: .openLive
    case .closeLive: .closeLive
    case .getLocation: .getLocation
    case .getStatus: .getStatus
    case .getPowerPlan: .getPowerPlan
    case .getEnergy: .getEnergy
    case .drain: .drain
    case .readBacklog: .readBacklog
    case .listClients: .listClients
    case .allowClient: .allowClient
    case .denyClient: .denyClient
    case .reduceClient: .reduceClient
    case .forgetClient: .forgetClient
    case .flush: .flush
    case .requestAuthorization: .requestAuthorization
    case .openServiceSession: .openServiceSession
    case .closeServiceSession: .closeServiceSession
    case .openBackgroundSession: .openBackgroundSession
    case .closeBackgroundSession: .closeBackgroundSession
    }
  }

  /// Whether records follow its answer, on a connection that carries no Varlink from then on.
  public var isUpgrade: Bool { method == .drain || method == .readBacklog }
}

/// How a call wants to be answered.
@frozen public enum WireReplyMode: UInt8, Sendable {
  /// By one reply.
  case once = 0
  /// Not at all.
  case oneway = 1
  /// By as many replies as there are.
  case more = 2
  /// By one reply, after which the connection no longer speaks Varlink.
  case upgrade = 3
}

/// A call with what its frame says about the answer.
public struct IncomingCall: Equatable, Sendable {
  /// What is asked.
  public var call: WireCall
  /// How it is answered.
  public var mode: WireReplyMode

  /// Creates a call.
  public init(_ call: WireCall, _ mode: WireReplyMode = .once) {
    self.call = call
    self.mode = mode
  }
}

/// The settings of a client that a call of `Configure` changes; nil stays as it is.
public struct WireSettings: Equatable, Sendable {
  /// ``Request/setDesiredAccuracy(_:)``.
  public var desiredAccuracy: Double?
  /// ``Request/setDistanceFilter(_:)``.
  public var distanceFilter: Double?
  /// ``Request/setPausesAutomatically(_:)``.
  public var pausesAutomatically: Bool?
  /// ``Request/setActivity(_:)``.
  public var activity: ActivityType?
  /// `allowsBackgroundLocationUpdates` (BKG-18); no request of the policy's.
  public var allowsBackground: Bool?

  /// Changes nothing.
  public init() {}

  /// What it asks of the policy, at most four.
  public var requests: [Request] {
    var all: [Request] = []
    if let desiredAccuracy { all.append(.setDesiredAccuracy(desiredAccuracy)) }
    if let distanceFilter { all.append(.setDistanceFilter(distanceFilter)) }
    if let pausesAutomatically { all.append(.setPausesAutomatically(pausesAutomatically)) }
    if let activity { all.append(.setActivity(activity)) }
    return all
  }
}

/// A circle with the name its client gave it; the service has a number for each name.
public struct WireRegion: Equatable, Sendable {
  /// Region or condition.
  public var kind: RegionKind
  /// The client's name for it (``WireName/isValidRegion(_:)``).
  public var name: String
  /// The middle of the circle; valid.
  public var center: Coordinate
  /// Metres; whether it is a radius that can be monitored is the policy's business (REG-3).
  public var radius: Double
  /// `didEnterRegion` is wanted (REG-9).
  public var notifyOnEntry = true
  /// `didExitRegion` is wanted (REG-9).
  public var notifyOnExit = true

  /// Creates a circle of which both crossings are told.
  public init(_ kind: RegionKind, name: String, center: Coordinate, radius: Double) {
    self.kind = kind
    self.name = name
    self.center = center
    self.radius = radius
  }

  /// The policy's circle, by the service's number for the name.
  public func region(numbered number: UInt32) -> Region {
    Region(
      RegionIdentifier(kind, number), center: center, radius: radius,
      notifyOnEntry: notifyOnEntry, notifyOnExit: notifyOnExit)
  }
}

/// A circle that is monitored, as its client finds it again (REG-11).
public struct WireMonitoredRegion: Equatable, Sendable {
  /// The circle.
  public var region: WireRegion
  /// What is known of it now: what it would be added with again (REG-12).
  public var state: MonitorState
  /// The last event of it that the client has acknowledged; nil where there was none since it was
  /// added (REG-13).
  public var lastEvent: WireRegionEvent?

  /// Creates one.
  public init(_ region: WireRegion, state: MonitorState, lastEvent: WireRegionEvent?) {
    self.region = region
    self.state = state
    self.lastEvent = lastEvent
  }
}

/// A client by the user that is trusted and the name that tells that user's programs apart (AUT-2).
public struct WireClientName: Hashable, Sendable {
  /// The user id of the socket's peer.
  public var user: UInt32
  /// The program's name for itself (``WireName/isValidClient(_:)``).
  public var name: String

  /// Names a client.
  public init(user: UInt32, name: String) {
    self.user = user
    self.name = name
  }
}

extension WireClientName {
  /// The command by which an administrator lets the client use location, for a shell: what a shell would read as more
  /// than a word is quoted.
  ///
  /// - Parameter userName: The name of the user; its number if not given.
  public func allowCommand(userName: String? = nil) -> String {
    "torpor clients allow " + WireClientName.quoted("\(userName ?? String(user))/\(name)")
  }

  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ":"),
        UInt8(ascii: "@"):
        true
      default: false
      }
    }
    if isPlain { return word }
    // A quotation mark ends the quoted text, stands for itself, and begins it again.
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

/// What an administrator may grant.
public enum WirePermission: UInt8, Sendable {
  /// ``Authorization/always``.
  case always = 0
  /// ``Authorization/whenInUse``.
  case whenInUse = 1

  /// The same as an authorization.
  public var authorization: Authorization {
    switch self {
    case .always: .always
    case .whenInUse: .whenInUse
    }
  }
}

extension WirePermission: WireWord {
  static let wireWords: [(WirePermission, StaticString)] = [
    (.always, "always"), (.whenInUse, "when_in_use"),
  ]
}
