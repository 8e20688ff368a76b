import LocationPolicy
import LocationTypes
import TextFormats

/// Encodes the calls of clients.
public enum CallEncoder {
  /// Appends the frame of a call, with its NUL.
  ///
  /// `watch` is always sent with `more`, and a call that needs `upgrade` with `upgrade`; the service refuses them
  /// otherwise.
  public static func encode(
    _ call: WireCall, oneway: Bool = false, to json: inout JSONOutput
  ) {
    json.frame { json in
      json.member("method", name(of: call))
      if call.method == .watch {
        json.member("more", true)
      } else if call.isUpgrade {
        json.member("upgrade", true)
      } else if oneway {
        json.member("oneway", true)
      }
      json.object("parameters") { parameters(of: call, &$0) }
    }
  }

  /// Full name of the call's method.
  public static func name(of call: WireCall) -> String {
    if let method = call.method { return CallDecoder.interface + "." + method.rawValue }
    return CallDecoder.service + (call == .getInfo ? ".GetInfo" : ".GetInterfaceDescription")
  }

  private static func parameters(of call: WireCall, _ json: inout JSONOutput) {
    switch call {
    case .getInterfaceDescription(let interface): json.member("interface", interface)
    case .connect(let name, let needsExplicit):
      json.member("name", name)
      if needsExplicit { json.member("explicit_sessions", true) }
    case .watch(let session), .drain(let session): json.member("session", session)
    case .readBacklog(let name): json.member("name", name)
    case .configure(let settings): write(settings, &json)
    case .allowDeferred(let distance, let timeout):
      if distance < LocationLimits.distanceMax { json.member("distance_m", distance) }
      if timeout < LocationLimits.timeIntervalMax { json.member("timeout_s", timeout) }
    case .setExecution(let state): json.member("state", word: state.wireWord)
    case .acknowledge(let name): json.members(of: name)
    case .acknowledgeEvents(let number): json.member("number", Int64(number))
    case .addRegion(let region, let assumed): write(region, assumed, &json)
    case .removeRegion(let kind, let name), .requestRegionState(let kind, let name):
      json.member("kind", word: kind.wireWord)
      json.member("name", name)
    case .openLive(let configuration): json.member("configuration", word: configuration.wireWord)
    case .closeLive(let number): json.member("number", Int64(number))
    case .allowClient(let client, let permission):
      write(client, &json)
      json.member("authorization", word: permission.wireWord)
    case .denyClient(let client), .forgetClient(let client): write(client, &json)
    case .reduceClient(let client, let isReduced):
      write(client, &json)
      json.member("reduced_accuracy", isReduced)
    case .requestAuthorization(let permission):
      json.member("authorization", word: permission.wireWord)
    case .openServiceSession(let requirement, let requiresFullAccuracy):
      json.member("authorization", word: requirement.wireWord)
      if requiresFullAccuracy { json.member("full_accuracy", true) }
    case .closeServiceSession(let number): json.member("number", Int64(number))
    case .getInfo, .startUpdating, .stopUpdating, .disallowDeferred, .requestLocation,
      .startSignificantChange, .stopSignificantChange, .startVisits, .stopVisits, .getLocation,
      .getStatus, .getPowerPlan, .getEnergy, .listRegions, .listClients, .openBackgroundSession,
      .closeBackgroundSession, .flush:
      break
    }
  }

  private static func write(_ settings: WireSettings, _ json: inout JSONOutput) {
    if let accuracy = settings.desiredAccuracy { json.member("desired_accuracy_m", accuracy) }
    if let filter = settings.distanceFilter { json.member("distance_filter_m", filter) }
    if let pauses = settings.pausesAutomatically { json.member("pauses_automatically", pauses) }
    if let activity = settings.activity { json.member("activity", word: activity.wireWord) }
    if let allows = settings.allowsBackground { json.member("background_updates", allows) }
  }

  private static func write(_ client: WireClientName, _ json: inout JSONOutput) {
    json.member("user", Int64(client.user))
    json.member("name", client.name)
  }

  private static func write(
    _ region: WireRegion, _ assumed: MonitorState, _ json: inout JSONOutput
  ) {
    json.members(of: region)
    if assumed != .unknown { json.member("assuming", word: assumed.wireWord) }
  }
}

extension JSONOutput {
  mutating func members(of name: FixName) {
    member("generation", Int64(name.generation))
    member("sequence", Int64(clamping: name.sequence))
  }

  mutating func members(of region: WireRegion) {
    member("kind", word: region.kind.wireWord)
    member("name", region.name)
    members(of: region.center)
    member("radius_m", region.radius)
    if !region.notifyOnEntry { member("notify_on_entry", false) }
    if !region.notifyOnExit { member("notify_on_exit", false) }
  }

  mutating func members(of coordinate: Coordinate) {
    member("latitude_deg", coordinate.latitude_e9, scale: 9)
    member("longitude_deg", coordinate.longitude_e9, scale: 9)
  }
}
