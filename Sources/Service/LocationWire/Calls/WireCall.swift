import LocationPolicy
import LocationTypes

// Calls as values, without I/O, and the types of their parameters. ``CallEncoder`` (in clients) and ``CallDecoder`` (in
// the service) convert them to and from the JSON of Varlink.

/// The methods of the interface `org.torpor.Location`, with their names.
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

/// A call of a client to the service, one case per method.
public enum WireCall: Equatable, Sendable {
  /// `org.varlink.service.GetInfo`.
  case getInfo
  /// `org.varlink.service.GetInterfaceDescription`, with the name of the interface.
  case getInterfaceDescription(String)
  /// Connects as the client with this name; the end of the connection counts as the end of the process (AUT-2). With
  /// explicit sessions, no service session is implied (BKG-15).
  case connect(name: String, needsExplicitSessions: Bool = false)
  /// Subscribes this connection to all notices of the session, until either ends.
  case watch(session: Int64)
  /// ``Request/startUpdating``.
  case startUpdating
  /// ``Request/stopUpdating``.
  case stopUpdating
  /// Changes one or several settings.
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
  /// Acknowledges the visits and region events up to and including this number.
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
  /// Lists the client's regions and conditions, each with its last acknowledged event (REG-11).
  case listRegions
  /// ``Request/openLive(_:)``.
  case openLive(LiveConfiguration)
  /// ``Request/closeLive(_:)``, 0 to 3.
  case closeLive(Int)
  /// Returns the newest fix that was delivered to the client (STD-8).
  case getLocation
  /// Returns the state of the service.
  case getStatus
  /// Returns the current plan for the hardware.
  case getPowerPlan
  /// Returns time and energy since the start of the service.
  case getEnergy
  /// Transfers all undelivered fixes of the session as records (``FixRecord``) on this connection.
  case drain(session: Int64)
  /// Transfers the undelivered fixes of a client of the caller's user as records. They stay undelivered for the client.
  case readBacklog(name: String)
  /// Lists all clients; for administrators.
  case listClients
  /// Authorizes a client to use location; for administrators.
  case allowClient(WireClientName, WirePermission)
  /// Denies location to a client; for administrators.
  case denyClient(WireClientName)
  /// Switches a client to reduced or full accuracy; for administrators.
  case reduceClient(WireClientName, isReduced: Bool)
  /// Removes a client and the decision about it; for administrators.
  case forgetClient(WireClientName)
  /// Delivers all deferred fixes now; deferrals continue. For administrators.
  case flush
  /// `requestWhenInUseAuthorization()` or `requestAlwaysAuthorization()` (AUT-4).
  case requestAuthorization(WirePermission)
  /// `CLServiceSession(authorization:fullAccuracyPurposeKey:)` (BKG-12).
  case openServiceSession(SessionRequirement, requiresFullAccuracy: Bool)
  /// Invalidates the service session with this number.
  case closeServiceSession(Int)
  /// `CLBackgroundActivitySession()` (BKG-8).
  case openBackgroundSession
  /// `invalidate()` of a `CLBackgroundActivitySession` (BKG-10).
  case closeBackgroundSession

  /// The corresponding request to the policy, if the call is exactly one request without further data. Regions first
  /// need a number; settings may be several requests (``WireSettings/requests``).
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

  /// The method in `org.torpor.Location`; nil for methods of `org.varlink.service`.
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

  /// Whether records follow the reply, after which the connection no longer uses Varlink.
  public var isUpgrade: Bool { method == .drain || method == .readBacklog }
}

/// The reply mode that a call requests.
@frozen public enum WireReplyMode: UInt8, Sendable {
  /// One reply.
  case once = 0
  /// No reply.
  case oneway = 1
  /// Any number of replies.
  case more = 2
  /// One reply, after which the connection no longer uses Varlink.
  case upgrade = 3
}

/// A call with the reply mode of its frame.
public struct IncomingCall: Equatable, Sendable {
  /// The decoded call.
  public var call: WireCall
  /// Requested reply mode.
  public var mode: WireReplyMode

  /// Creates a call.
  public init(_ call: WireCall, _ mode: WireReplyMode = .once) {
    self.call = call
    self.mode = mode
  }
}

/// The settings that a call of `Configure` changes; nil leaves a setting unchanged.
public struct WireSettings: Equatable, Sendable {
  /// ``Request/setDesiredAccuracy(_:)``.
  public var desiredAccuracy: Double?
  /// ``Request/setDistanceFilter(_:)``.
  public var distanceFilter: Double?
  /// ``Request/setPausesAutomatically(_:)``.
  public var pausesAutomatically: Bool?
  /// ``Request/setActivity(_:)``.
  public var activity: ActivityType?
  /// `allowsBackgroundLocationUpdates` (BKG-18); not a request to the policy.
  public var allowsBackground: Bool?

  /// Creates settings that change nothing.
  public init() {}

  /// The corresponding requests to the policy, at most four.
  public var requests: [Request] {
    var all: [Request] = []
    if let desiredAccuracy { all.append(.setDesiredAccuracy(desiredAccuracy)) }
    if let distanceFilter { all.append(.setDistanceFilter(distanceFilter)) }
    if let pausesAutomatically { all.append(.setPausesAutomatically(pausesAutomatically)) }
    if let activity { all.append(.setActivity(activity)) }
    return all
  }
}

/// A circular region with its client's name for it; the service maps each name to a number.
public struct WireRegion: Equatable, Sendable {
  /// Whether it is a region or a condition.
  public var kind: RegionKind
  /// The client's name for the region (``NameValidation/isValidRegion(_:)``).
  public var name: String
  /// Center of the circle; a valid coordinate.
  public var center: Coordinate
  /// Radius in metres; the policy checks whether it can be monitored (REG-3).
  public var radius: Double
  /// Whether `didEnterRegion` is requested (REG-9).
  public var notifyOnEntry = true
  /// Whether `didExitRegion` is requested (REG-9).
  public var notifyOnExit = true

  /// Creates a circle with notices for both entry and exit.
  public init(_ kind: RegionKind, name: String, center: Coordinate, radius: Double) {
    self.kind = kind
    self.name = name
    self.center = center
    self.radius = radius
  }

  /// The region of the policy, with the service's number for the name.
  public func region(numbered number: UInt32) -> Region {
    Region(
      RegionIdentifier(kind, number), center: center, radius: radius,
      notifyOnEntry: notifyOnEntry, notifyOnExit: notifyOnExit)
  }
}

/// A monitored region, as reported to its client (REG-11).
public struct WireMonitoredRegion: Equatable, Sendable {
  /// The monitored circle.
  public var region: WireRegion
  /// Current state; the assumed state if the region is added again (REG-12).
  public var state: MonitorState
  /// Last acknowledged event; nil if there was none since the region was added (REG-13).
  public var lastEvent: WireRegionEvent?

  /// Creates a description.
  public init(_ region: WireRegion, state: MonitorState, lastEvent: WireRegionEvent?) {
    self.region = region
    self.state = state
    self.lastEvent = lastEvent
  }
}

/// Identity of a client: the authenticated user, and the name that distinguishes the user's programs (AUT-2).
public struct WireClientName: Hashable, Sendable {
  /// User ID of the socket's peer.
  public var user: UInt32
  /// Name that the program chose (``NameValidation/isValidClient(_:)``).
  public var name: String

  /// Creates the identity of a client.
  public init(user: UInt32, name: String) {
    self.user = user
    self.name = name
  }
}

extension WireClientName {
  /// The shell command with which an administrator authorizes the client, quoted where the shell requires it.
  ///
  /// - Parameter userName: Name of the user; nil to use the user ID.
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
    // For each quotation mark, end the quoted text, add an escaped mark, and start quoted text again.
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

/// An authorization that an administrator can grant.
public enum WirePermission: UInt8, Sendable {
  /// ``Authorization/always``.
  case always = 0
  /// ``Authorization/whenInUse``.
  case whenInUse = 1

  /// The corresponding authorization.
  public var authorization: Authorization {
    switch self {
    case .always: .always
    case .whenInUse: .whenInUse
    }
  }
}

extension WirePermission: WireEnum {
  static let wireWords: [(WirePermission, StaticString)] = [
    (.always, "always"), (.whenInUse, "when_in_use"),
  ]
}
