import LocationPolicy
import LocationTypes
import TextFormats

// The types of the parameters of ``WireCall``, and their members.

/// Name and properties of a method.
public struct WireMethod: Sendable {
  /// Properties of a method.
  public struct Traits: OptionSet, Sendable {
    /// Bits of the properties.
    public let rawValue: UInt8

    /// Creates properties from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The effect outlives the service, so the answer waits for a flush.
    public static let durable = Traits(rawValue: 1 << 0)
    /// The call may change durable state, or what administrators are shown, so it counts against its user's rate.
    /// Acknowledgements do not, because they change something only after a new fix or event.
    public static let charged = Traits(rawValue: 1 << 1)
    /// The call does not imply that the calling program is running.
    public static let silent = Traits(rawValue: 1 << 2)
    /// The call requires ``WireReplyMode/more``.
    public static let more = Traits(rawValue: 1 << 3)
    /// The call requires ``WireReplyMode/upgrade``: records follow the reply.
    public static let upgrade = Traits(rawValue: 1 << 4)
  }

  /// Full name of the method.
  public let name: StaticString
  /// Properties of the method.
  public let traits: Traits

  init(_ name: StaticString, _ traits: Traits) {
    self.name = name
    self.traits = traits
  }
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
public struct WireSettings: WireRecord, Equatable, Sendable {
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

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("desired_accuracy_m", &desiredAccuracy)
    try coder.code("distance_filter_m", &distanceFilter)
    try coder.code("pauses_automatically", &pausesAutomatically)
    try coder.code("activity", &activity)
    try coder.code("background_updates", &allowsBackground)
  }

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
public struct WireRegion: WireObject, Equatable, Sendable {
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

  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      try fields.read("kind"), name: try fields.read("name", where: NameValidation.isValidRegion),
      center: try Coordinate(&fields), radius: try fields.read("radius_m"))
    notifyOnEntry = try fields.read("notify_on_entry", else: true)
    notifyOnExit = try fields.read("notify_on_exit", else: true)
  }

  func write(to json: inout JSONOutput) {
    json.write("kind", kind)
    json.write("name", name)
    center.write(to: &json)
    json.write("radius_m", radius)
    json.write("notify_on_entry", notifyOnEntry, unless: true)
    json.write("notify_on_exit", notifyOnExit, unless: true)
  }

  /// The region of the policy, with the service's number for the name.
  public func region(numbered number: UInt32) -> Region {
    Region(
      RegionIdentifier(kind, number), center: center, radius: radius,
      notifyOnEntry: notifyOnEntry, notifyOnExit: notifyOnExit)
  }
}

/// A monitored region, as reported to its client (REG-11).
public struct WireMonitoredRegion: WireObject, Equatable, Sendable {
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

  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      try WireRegion(&fields), state: try fields.read("state"),
      lastEvent: try fields.read("last_event"))
  }

  func write(to json: inout JSONOutput) {
    region.write(to: &json)
    json.write("state", state)
    json.write("last_event", lastEvent)
  }
}

/// Identity of a client: the authenticated user, and the name that distinguishes the user's programs (AUT-2).
public struct WireClientName: WireObject, Hashable, Sendable {
  /// User ID of the socket's peer.
  public var user: UInt32
  /// Name that the program chose (``NameValidation/isValidClient(_:)``).
  public var name: String

  /// Creates the identity of a client.
  public init(user: UInt32, name: String) {
    self.user = user
    self.name = name
  }

  init(_ fields: inout JSONFields) throws(WireError) {
    self.init(
      user: try fields.read("user"),
      name: try fields.read("name", where: NameValidation.isValidClient))
  }

  func write(to json: inout JSONOutput) {
    json.write("user", user)
    json.write("name", name)
  }
}

extension WireClientName {
  /// The shell command with which an administrator authorizes the client, quoted where the shell requires it.
  ///
  /// - Parameters:
  ///   - userName: Name of the user; nil to use the user ID.
  ///   - socket: Path of the service's socket; named only if it is not ``ServiceSocket/standardPath``.
  public func allowCommand(userName: String? = nil, socket: String) -> String {
    WireClientName.allowCommand(for: "\(userName ?? String(user))/\(name)", socket: socket)
  }

  /// The same for `client`, of the form `USER/NAME`.
  public static func allowCommand(for client: String, socket: String) -> String {
    let option = socket == ServiceSocket.standardPath ? "" : "--socket \(quoted(socket)) "
    return "torpor clients allow \(option)\(quoted(client))"
  }

  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+:@".utf8.contains(byte)
      }
    }
    return isPlain ? word : word.shellQuoted
  }
}

/// An authorization that an administrator can grant.
public enum WirePermission: String, WireWord, Sendable {
  /// ``Authorization/always``.
  case always
  /// ``Authorization/whenInUse``.
  case whenInUse = "when_in_use"

  /// The corresponding authorization.
  public var authorization: Authorization {
    switch self {
    case .always: .always
    case .whenInUse: .whenInUse
    }
  }
}
