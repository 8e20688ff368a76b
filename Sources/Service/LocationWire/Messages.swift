// swift-format-ignore-file
// Written by `make methods` from the interface descriptions.

import LocationPolicy
import LocationTypes
import TextFormats

/// A call of a client to the service. ``CallEncoder`` (in clients) and ``CallDecoder`` (in the service) convert it
/// to and from the JSON of Varlink.
public enum WireCall: Equatable, Sendable {
  /// Returns vendor, product, version and the implemented interfaces.
  case getInfo
  /// Returns the description of an interface.
  case getInterfaceDescription(String)
  /// Connects as the client with this name (1 to 64 bytes) of the user at the other end of the socket.
  case connect(name: String, needsExplicitSessions: Bool = false)
  /// Sends every notice of the session until one of the two connections ends.
  case watch(session: Int64)
  /// Starts standard updates; has no effect if they are running.
  case startUpdating
  /// Stops standard updates and ends a deferral.
  case stopUpdating
  /// Changes settings; omitted ones stay unchanged.
  case configure(WireSettings)
  /// Defers delivery of fixes until this distance was travelled or this time has passed; an omitted criterion is unlimited.
  case allowDeferred(distance: Double = LocationLimits.distanceMax, timeout: Double = LocationLimits.timeIntervalMax, slack: Double = 0)
  /// Ends the deferral now.
  case disallowDeferred
  /// Keeps the board from sleeping, for work such as sending fixes: for at most 60 s, until EndHold or the end of the connection.
  case beginHold(seconds: Interval, reason: String)
  /// Ends a hold.
  case endHold(Int64)
  /// Reports a change of the execution state of the process.
  case setExecution(ExecutionState)
  /// Acknowledges the fix with this name and all fixes before it; they are not delivered again.
  case acknowledge(FixName)
  /// Acknowledges the visits and region events up to and including this number; unacknowledged ones are delivered again to the next session.
  case acknowledgeEvents(UInt32)
  /// Requests one fix: the notice report as soon as a sufficiently accurate fix exists, or failure.
  case requestLocation
  /// Starts reports of movements of 500 m or more.
  case startSignificantChange
  /// Stops reports of significant changes.
  case stopSignificantChange
  /// Starts notices of visits.
  case startVisits
  /// Stops notices of visits.
  case stopVisits
  /// Monitors a circular region and replaces one of the same kind and name.
  case addRegion(WireRegion, assuming: MonitorState = .unknown)
  /// Stops monitoring a region.
  case removeRegion(RegionKind, name: String)
  /// Requests the state of a region, which is reported by a RegionEvent with the event determined.
  case requestRegionState(RegionKind, name: String)
  /// Returns the client's regions and conditions, including those of its earlier processes.
  case listRegions
  /// Opens an iterator of live updates; its elements are notices with its number.
  case openLive(LiveConfiguration)
  /// Closes an iterator of live updates.
  case closeLive(Int)
  /// Requests authorization, which an administrator decides.
  case requestAuthorization(WirePermission)
  /// Opens a service session with the requirements of the program.
  case openServiceSession(SessionRequirement, requiresFullAccuracy: Bool = false)
  /// Closes a service session.
  case closeServiceSession(Int)
  /// Opens a background activity session: the client counts as in use while it is in the background.
  case openBackgroundSession
  /// Closes one background session; the background activity ends with the last one.
  case closeBackgroundSession
  /// Returns the newest fix that was delivered to this client.
  case getLocation
  /// Returns the state of the service.
  case getStatus
  /// Returns the current plan for the hardware.
  case getPowerPlan
  /// Returns time and energy since the service started.
  case getEnergy
  /// Returns the metrics of the service in the text format 0.0.4 of Prometheus.
  case getMetrics
  /// Transfers all undelivered fixes of the session as records on this connection, which must be a separate one.
  case drain(session: Int64)
  /// Transfers the undelivered fixes of a client of the caller's user, whether or not a process of it is connected.
  case readBacklog(name: String)
  /// Drains the receiver's buffer and delivers all deferred fixes now; deferrals continue afterwards.
  case flush
  /// Returns all registered clients, and those with a decision by a command.
  case listClients
  /// Authorizes a client to use location.
  case allowClient(WireClientName, WirePermission)
  /// Denies location to a client.
  case denyClient(WireClientName)
  /// Switches a client to reduced or full accuracy.
  case reduceClient(WireClientName, isReduced: Bool)
  /// Removes a client: the decision about it, its services, regions and undelivered fixes.
  case forgetClient(WireClientName)
}

/// A reply of the service. ``ReplyEncoder`` (in the service) and ``ReplyDecoder`` (in clients) convert it to and from
/// the JSON of Varlink.
public enum WireReply: Equatable, Sendable {
  /// Success without parameters.
  case done
  /// To `GetInfo`.
  case info(WireServiceInfo)
  /// To `GetInterfaceDescription`.
  case interfaceDescription(String)
  /// To `Connect`.
  case connected(WireSession)
  /// To `Watch`.
  case notice(WireNotice)
  /// To `BeginHold`.
  case holding(Int64)
  /// To `ListRegions`.
  case regions([WireMonitoredRegion])
  /// To `OpenLive` and `OpenServiceSession`.
  case opened(Int)
  /// To `OpenBackgroundSession`.
  case active(Bool)
  /// To `GetLocation`.
  case location(StoredFix?)
  /// To `GetStatus`.
  case status(WireStatus)
  /// To `GetPowerPlan`.
  case plan(WirePlan)
  /// To `GetEnergy`.
  case energy(WireEnergy)
  /// To `GetMetrics`.
  case metrics(String)
  /// To `Drain` and `ReadBacklog`.
  case drain(count: UInt64, Gap?)
  /// To `ListClients`.
  case clients([WireClient])
  /// To any call that is refused.
  case error(WireError)
}

/// Error reply of the service to a call; the connection stays open.
public enum WireError: Error, Equatable, Sendable {
  /// The interface does not exist.
  case interfaceNotFound(String)
  /// The interface has no such method.
  case methodNotFound(String)
  /// The interface has the method, but this service does not implement it.
  case methodNotImplemented(String)
  /// The parameter is missing, unknown, of a wrong type or out of range.
  case invalidParameter(String)
  /// The caller has no permission.
  case permissionDenied
  /// The method must be called with more.
  case expectedMore
  /// Drain and ReadBacklog must be called with upgrade.
  case expectedUpgrade
  /// The connection has no session; call Connect first.
  case notConnected
  /// The connection already has a session.
  case alreadyConnected
  /// The session does not exist or belongs to another user.
  case unknownSession(Int64)
  /// The client is not authorized to use location.
  case notAuthorized
  /// The limit for one user, or for all users together, is reached.
  case limitExceeded(what: String, limit: Int64)
  /// The client does not exist.
  case unknownClient(WireClientName)
  /// An acknowledgement names a fix that never existed.
  case unknownFix(generation: UInt32, first: UInt64, next: UInt64)
  /// A command cannot decide about this client, because the rule at this line of clients.toml does.
  case decidedByFile(line: Int?)
  /// The board has no source for the requested data.
  case notAvailable(what: String)
  /// An unknown error, by its name; decoded but never sent.
  case other(String)
}

extension WireCall {
  /// Name and properties of the method.
  public var method: WireMethod {
    switch self {
    case .getInfo: WireMethod("org.varlink.service.GetInfo", [])
    case .getInterfaceDescription: WireMethod("org.varlink.service.GetInterfaceDescription", [])
    case .connect: WireMethod("org.torpor.Location.Connect", [.charged])
    case .watch: WireMethod("org.torpor.Location.Watch", [.more])
    case .startUpdating: WireMethod("org.torpor.Location.StartUpdating", [.charged])
    case .stopUpdating: WireMethod("org.torpor.Location.StopUpdating", [.charged])
    case .configure: WireMethod("org.torpor.Location.Configure", [])
    case .allowDeferred: WireMethod("org.torpor.Location.AllowDeferred", [])
    case .disallowDeferred: WireMethod("org.torpor.Location.DisallowDeferred", [])
    case .beginHold: WireMethod("org.torpor.Location.BeginHold", [])
    case .endHold: WireMethod("org.torpor.Location.EndHold", [])
    case .setExecution: WireMethod("org.torpor.Location.SetExecution", [.silent])
    case .acknowledge: WireMethod("org.torpor.Location.Acknowledge", [.durable, .silent])
    case .acknowledgeEvents: WireMethod("org.torpor.Location.AcknowledgeEvents", [.durable, .silent])
    case .requestLocation: WireMethod("org.torpor.Location.RequestLocation", [])
    case .startSignificantChange: WireMethod("org.torpor.Location.StartSignificantChange", [.durable, .charged])
    case .stopSignificantChange: WireMethod("org.torpor.Location.StopSignificantChange", [.durable, .charged])
    case .startVisits: WireMethod("org.torpor.Location.StartVisits", [.durable, .charged])
    case .stopVisits: WireMethod("org.torpor.Location.StopVisits", [.durable, .charged])
    case .addRegion: WireMethod("org.torpor.Location.AddRegion", [.durable, .charged])
    case .removeRegion: WireMethod("org.torpor.Location.RemoveRegion", [.durable, .charged])
    case .requestRegionState: WireMethod("org.torpor.Location.RequestRegionState", [])
    case .listRegions: WireMethod("org.torpor.Location.ListRegions", [])
    case .openLive: WireMethod("org.torpor.Location.OpenLive", [.charged])
    case .closeLive: WireMethod("org.torpor.Location.CloseLive", [])
    case .requestAuthorization: WireMethod("org.torpor.Location.RequestAuthorization", [.charged])
    case .openServiceSession: WireMethod("org.torpor.Location.OpenServiceSession", [.charged])
    case .closeServiceSession: WireMethod("org.torpor.Location.CloseServiceSession", [])
    case .openBackgroundSession: WireMethod("org.torpor.Location.OpenBackgroundSession", [.durable, .charged])
    case .closeBackgroundSession: WireMethod("org.torpor.Location.CloseBackgroundSession", [.durable, .charged])
    case .getLocation: WireMethod("org.torpor.Location.GetLocation", [])
    case .getStatus: WireMethod("org.torpor.Location.GetStatus", [])
    case .getPowerPlan: WireMethod("org.torpor.Location.GetPowerPlan", [])
    case .getEnergy: WireMethod("org.torpor.Location.GetEnergy", [])
    case .getMetrics: WireMethod("org.torpor.Location.GetMetrics", [])
    case .drain: WireMethod("org.torpor.Location.Drain", [.upgrade])
    case .readBacklog: WireMethod("org.torpor.Location.ReadBacklog", [.upgrade])
    case .flush: WireMethod("org.torpor.Location.Flush", [])
    case .listClients: WireMethod("org.torpor.Location.ListClients", [])
    case .allowClient: WireMethod("org.torpor.Location.AllowClient", [.durable])
    case .denyClient: WireMethod("org.torpor.Location.DenyClient", [.durable])
    case .reduceClient: WireMethod("org.torpor.Location.ReduceClient", [.durable])
    case .forgetClient: WireMethod("org.torpor.Location.ForgetClient", [.durable])
    }
  }

  /// Decodes a call from the full name of its method and its parameters; nil if the method is unknown.
  init?(_ name: String, _ fields: inout JSONFields) throws(WireError) {
    switch name {
    case "org.varlink.service.GetInfo": self = .getInfo
    case "org.varlink.service.GetInterfaceDescription": self = .getInterfaceDescription(try fields.read("interface"))
    case "org.torpor.Location.Connect":
      self = .connect(name: try fields.read("name", where: NameValidation.isValidClient), needsExplicitSessions: try fields.read("explicit_sessions", else: false))
    case "org.torpor.Location.Watch": self = .watch(session: try fields.read("session"))
    case "org.torpor.Location.StartUpdating": self = .startUpdating
    case "org.torpor.Location.StopUpdating": self = .stopUpdating
    case "org.torpor.Location.Configure": self = .configure(try WireSettings(&fields))
    case "org.torpor.Location.AllowDeferred":
      self = .allowDeferred(distance: try fields.read("distance_m", else: LocationLimits.distanceMax), timeout: try fields.read("timeout_s", else: LocationLimits.timeIntervalMax), slack: try fields.read("timeout_slack_s", else: 0))
    case "org.torpor.Location.DisallowDeferred": self = .disallowDeferred
    case "org.torpor.Location.BeginHold":
      self = .beginHold(seconds: try fields.read("seconds", where: WireLimits.isValidHold), reason: try fields.read("reason", where: NameValidation.isValidReason))
    case "org.torpor.Location.EndHold": self = .endHold(try fields.read("id"))
    case "org.torpor.Location.SetExecution": self = .setExecution(try fields.read("state"))
    case "org.torpor.Location.Acknowledge": self = .acknowledge(try FixName(&fields))
    case "org.torpor.Location.AcknowledgeEvents": self = .acknowledgeEvents(try fields.read("number"))
    case "org.torpor.Location.RequestLocation": self = .requestLocation
    case "org.torpor.Location.StartSignificantChange": self = .startSignificantChange
    case "org.torpor.Location.StopSignificantChange": self = .stopSignificantChange
    case "org.torpor.Location.StartVisits": self = .startVisits
    case "org.torpor.Location.StopVisits": self = .stopVisits
    case "org.torpor.Location.AddRegion":
      self = .addRegion(try WireRegion(&fields), assuming: try fields.read("assuming", else: .unknown))
    case "org.torpor.Location.RemoveRegion":
      self = .removeRegion(try fields.read("kind"), name: try fields.read("name", where: NameValidation.isValidRegion))
    case "org.torpor.Location.RequestRegionState":
      self = .requestRegionState(try fields.read("kind"), name: try fields.read("name", where: NameValidation.isValidRegion))
    case "org.torpor.Location.ListRegions": self = .listRegions
    case "org.torpor.Location.OpenLive": self = .openLive(try fields.read("configuration", else: .default))
    case "org.torpor.Location.CloseLive":
      self = .closeLive(try fields.read("number", where: (0..<LiveUpdates.capacity).contains))
    case "org.torpor.Location.RequestAuthorization": self = .requestAuthorization(try fields.read("authorization"))
    case "org.torpor.Location.OpenServiceSession":
      self = .openServiceSession(try fields.read("authorization"), requiresFullAccuracy: try fields.read("full_accuracy", else: false))
    case "org.torpor.Location.CloseServiceSession":
      self = .closeServiceSession(try fields.read("number", where: (0..<ClientSessions.capacity).contains))
    case "org.torpor.Location.OpenBackgroundSession": self = .openBackgroundSession
    case "org.torpor.Location.CloseBackgroundSession": self = .closeBackgroundSession
    case "org.torpor.Location.GetLocation": self = .getLocation
    case "org.torpor.Location.GetStatus": self = .getStatus
    case "org.torpor.Location.GetPowerPlan": self = .getPowerPlan
    case "org.torpor.Location.GetEnergy": self = .getEnergy
    case "org.torpor.Location.GetMetrics": self = .getMetrics
    case "org.torpor.Location.Drain": self = .drain(session: try fields.read("session"))
    case "org.torpor.Location.ReadBacklog":
      self = .readBacklog(name: try fields.read("name", where: NameValidation.isValidClient))
    case "org.torpor.Location.Flush": self = .flush
    case "org.torpor.Location.ListClients": self = .listClients
    case "org.torpor.Location.AllowClient":
      self = .allowClient(try WireClientName(&fields), try fields.read("authorization"))
    case "org.torpor.Location.DenyClient": self = .denyClient(try WireClientName(&fields))
    case "org.torpor.Location.ReduceClient":
      self = .reduceClient(try WireClientName(&fields), isReduced: try fields.read("reduced_accuracy"))
    case "org.torpor.Location.ForgetClient": self = .forgetClient(try WireClientName(&fields))
    default: return nil
    }
  }

  /// Encodes the parameters.
  func write(to json: inout JSONOutput) {
    switch self {
    case .getInterfaceDescription(let interface): json.write("interface", interface)
    case .connect(let name, let needsExplicitSessions):
      json.write("name", name)
      json.write("explicit_sessions", needsExplicitSessions, unless: false)
    case .watch(let session): json.write("session", session)
    case .configure(let settings): settings.write(to: &json)
    case .allowDeferred(let distance, let timeout, let slack):
      json.write("distance_m", distance, unless: LocationLimits.distanceMax)
      json.write("timeout_s", timeout, unless: LocationLimits.timeIntervalMax)
      json.write("timeout_slack_s", slack, unless: 0)
    case .beginHold(let seconds, let reason):
      json.write("seconds", seconds)
      json.write("reason", reason)
    case .endHold(let id): json.write("id", id)
    case .setExecution(let state): json.write("state", state)
    case .acknowledge(let fix): fix.write(to: &json)
    case .acknowledgeEvents(let number): json.write("number", number)
    case .addRegion(let region, let assuming):
      region.write(to: &json)
      json.write("assuming", assuming, unless: .unknown)
    case .removeRegion(let kind, let name):
      json.write("kind", kind)
      json.write("name", name)
    case .requestRegionState(let kind, let name):
      json.write("kind", kind)
      json.write("name", name)
    case .openLive(let configuration): json.write("configuration", configuration)
    case .closeLive(let number): json.write("number", number)
    case .requestAuthorization(let authorization): json.write("authorization", authorization)
    case .openServiceSession(let authorization, let requiresFullAccuracy):
      json.write("authorization", authorization)
      json.write("full_accuracy", requiresFullAccuracy, unless: false)
    case .closeServiceSession(let number): json.write("number", number)
    case .drain(let session): json.write("session", session)
    case .readBacklog(let name): json.write("name", name)
    case .allowClient(let client, let authorization):
      client.write(to: &json)
      json.write("authorization", authorization)
    case .denyClient(let client): client.write(to: &json)
    case .reduceClient(let client, let isReduced):
      client.write(to: &json)
      json.write("reduced_accuracy", isReduced)
    case .forgetClient(let client): client.write(to: &json)
    default: break
    }
  }
}

extension WireReply {
  /// Decodes the parameters of the reply to `call`.
  init(to call: WireCall, _ fields: inout JSONFields) throws(WireError) {
    switch call {
    case .getInfo: self = .info(try WireServiceInfo(&fields))
    case .getInterfaceDescription: self = .interfaceDescription(try fields.read("description"))
    case .connect: self = .connected(try WireSession(&fields))
    case .watch: self = .notice(try fields.read("notice"))
    case .beginHold: self = .holding(try fields.read("id"))
    case .listRegions: self = .regions(try fields.read("regions"))
    case .openLive, .openServiceSession: self = .opened(try fields.read("number"))
    case .openBackgroundSession: self = .active(try fields.read("active"))
    case .getLocation: self = .location(try fields.read("fix"))
    case .getStatus: self = .status(try fields.read("status"))
    case .getPowerPlan: self = .plan(try fields.read("plan"))
    case .getEnergy: self = .energy(try fields.read("energy"))
    case .getMetrics: self = .metrics(try fields.read("text"))
    case .drain, .readBacklog: self = .drain(count: try fields.read("count"), try fields.read("gap"))
    case .listClients: self = .clients(try fields.read("clients"))
    default: self = .done
    }
  }

  /// Encodes the parameters.
  func write(to json: inout JSONOutput) {
    switch self {
    case .info(let info): info.write(to: &json)
    case .interfaceDescription(let description): json.write("description", description)
    case .connected(let session): session.write(to: &json)
    case .notice(let notice): json.write("notice", notice)
    case .holding(let id): json.write("id", id)
    case .regions(let regions): json.write("regions", regions)
    case .opened(let number): json.write("number", number)
    case .active(let active): json.write("active", active)
    case .location(let fix): json.write("fix", fix)
    case .status(let status): json.write("status", status)
    case .plan(let plan): json.write("plan", plan)
    case .energy(let energy): json.write("energy", energy)
    case .metrics(let text): json.write("text", text)
    case .drain(let count, let gap):
      json.write("count", count)
      json.write("gap", gap)
    case .clients(let clients): json.write("clients", clients)
    case .error(let error): error.write(to: &json)
    default: break
    }
  }
}

extension WireError {
  /// Full name of the error.
  public var name: String {
    switch self {
    case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
    case .methodNotFound: "org.varlink.service.MethodNotFound"
    case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
    case .invalidParameter: "org.varlink.service.InvalidParameter"
    case .permissionDenied: "org.varlink.service.PermissionDenied"
    case .expectedMore: "org.varlink.service.ExpectedMore"
    case .expectedUpgrade: "org.torpor.Location.ExpectedUpgrade"
    case .notConnected: "org.torpor.Location.NotConnected"
    case .alreadyConnected: "org.torpor.Location.AlreadyConnected"
    case .unknownSession: "org.torpor.Location.UnknownSession"
    case .notAuthorized: "org.torpor.Location.NotAuthorized"
    case .limitExceeded: "org.torpor.Location.LimitExceeded"
    case .unknownClient: "org.torpor.Location.UnknownClient"
    case .unknownFix: "org.torpor.Location.UnknownFix"
    case .decidedByFile: "org.torpor.Location.DecidedByFile"
    case .notAvailable: "org.torpor.Location.NotAvailable"
    case .other(let name): name
    }
  }

  /// Decodes the parameters of an error; nil if its name is unknown.
  init?(_ name: String, _ fields: inout JSONFields) throws(WireError) {
    switch name {
    case "org.varlink.service.InterfaceNotFound": self = .interfaceNotFound(try fields.read("interface"))
    case "org.varlink.service.MethodNotFound": self = .methodNotFound(try fields.read("method"))
    case "org.varlink.service.MethodNotImplemented": self = .methodNotImplemented(try fields.read("method"))
    case "org.varlink.service.InvalidParameter": self = .invalidParameter(try fields.read("parameter"))
    case "org.varlink.service.PermissionDenied": self = .permissionDenied
    case "org.varlink.service.ExpectedMore": self = .expectedMore
    case "org.torpor.Location.ExpectedUpgrade": self = .expectedUpgrade
    case "org.torpor.Location.NotConnected": self = .notConnected
    case "org.torpor.Location.AlreadyConnected": self = .alreadyConnected
    case "org.torpor.Location.UnknownSession": self = .unknownSession(try fields.read("session"))
    case "org.torpor.Location.NotAuthorized": self = .notAuthorized
    case "org.torpor.Location.LimitExceeded":
      self = .limitExceeded(what: try fields.read("what"), limit: try fields.read("limit"))
    case "org.torpor.Location.UnknownClient": self = .unknownClient(try WireClientName(&fields))
    case "org.torpor.Location.UnknownFix":
      self = .unknownFix(generation: try fields.read("generation"), first: try fields.read("first_sequence"), next: try fields.read("next_sequence"))
    case "org.torpor.Location.DecidedByFile": self = .decidedByFile(line: try fields.read("line"))
    case "org.torpor.Location.NotAvailable": self = .notAvailable(what: try fields.read("what"))
    default: return nil
    }
  }

  /// Encodes the parameters.
  func write(to json: inout JSONOutput) {
    switch self {
    case .interfaceNotFound(let interface): json.write("interface", interface)
    case .methodNotFound(let method): json.write("method", method)
    case .methodNotImplemented(let method): json.write("method", method)
    case .invalidParameter(let parameter): json.write("parameter", parameter)
    case .unknownSession(let session): json.write("session", session)
    case .limitExceeded(let what, let limit):
      json.write("what", what)
      json.write("limit", limit)
    case .unknownClient(let client): client.write(to: &json)
    case .unknownFix(let generation, let first, let next):
      json.write("generation", generation)
      json.write("first_sequence", first)
      json.write("next_sequence", next)
    case .decidedByFile(let line): json.write("line", line)
    case .notAvailable(let what): json.write("what", what)
    default: break
    }
  }
}
