// swift-format-ignore-file
// Written by `make methods` from the interface descriptions.

import LocationPolicy
import LocationTypes
import LocationWire

// Methods whose reply has a value. Others are called by ``LocationCaller/call(_:)``.

extension LocationCaller where Self: ~Copyable {
  /// Returns vendor, product, version and the implemented interfaces.
  public mutating func getInfo() throws(ClientError) -> WireServiceInfo {
    try result(of: .getInfo) { if case .info(let value) = $0 { value } else { nil } }
  }
  /// Returns the description of an interface.
  public mutating func getInterfaceDescription(_ interface: String) throws(ClientError) -> String {
    try result(of: .getInterfaceDescription(interface)) { if case .interfaceDescription(let value) = $0 { value } else { nil } }
  }
  /// Connects as the client with this name (1 to 64 bytes) of the user at the other end of the socket.
  public mutating func connect(name: String, needsExplicitSessions: Bool = false) throws(ClientError) -> WireSession {
    try result(of: .connect(name: name, needsExplicitSessions: needsExplicitSessions)) { if case .connected(let value) = $0 { value } else { nil } }
  }
  /// Keeps the board from sleeping, for work such as sending fixes: for at most 60 s, until EndHold or the end of the connection.
  public mutating func beginHold(seconds: Interval, reason: String) throws(ClientError) -> Int64 {
    try result(of: .beginHold(seconds: seconds, reason: reason)) { if case .holding(let value) = $0 { value } else { nil } }
  }
  /// Returns the client's regions and conditions, including those of its earlier processes.
  public mutating func listRegions() throws(ClientError) -> [WireMonitoredRegion] {
    try result(of: .listRegions) { if case .regions(let value) = $0 { value } else { nil } }
  }
  /// Opens an iterator of live updates; its elements are notices with its number.
  public mutating func openLive(_ configuration: LiveConfiguration = .default) throws(ClientError) -> Int {
    try result(of: .openLive(configuration)) { if case .opened(let value) = $0 { value } else { nil } }
  }
  /// Opens a service session with the requirements of the program.
  public mutating func openServiceSession(_ authorization: SessionRequirement, requiresFullAccuracy: Bool = false) throws(ClientError) -> Int {
    try result(of: .openServiceSession(authorization, requiresFullAccuracy: requiresFullAccuracy)) { if case .opened(let value) = $0 { value } else { nil } }
  }
  /// Opens a background activity session: the client counts as in use while it is in the background.
  public mutating func openBackgroundSession() throws(ClientError) -> Bool {
    try result(of: .openBackgroundSession) { if case .active(let value) = $0 { value } else { nil } }
  }
  /// Returns the newest fix that was delivered to this client.
  public mutating func getLocation() throws(ClientError) -> StoredFix? {
    try result(of: .getLocation) { if case .location(let value) = $0 { value } else { nil } }
  }
  /// Returns the state of the service.
  public mutating func getStatus() throws(ClientError) -> WireStatus {
    try result(of: .getStatus) { if case .status(let value) = $0 { value } else { nil } }
  }
  /// Returns the current plan for the hardware.
  public mutating func getPowerPlan() throws(ClientError) -> WirePlan {
    try result(of: .getPowerPlan) { if case .plan(let value) = $0 { value } else { nil } }
  }
  /// Returns time and energy since the service started.
  public mutating func getEnergy() throws(ClientError) -> WireEnergy {
    try result(of: .getEnergy) { if case .energy(let value) = $0 { value } else { nil } }
  }
  /// Returns the metrics of the service in the text format 0.0.4 of Prometheus.
  public mutating func getMetrics() throws(ClientError) -> String {
    try result(of: .getMetrics) { if case .metrics(let value) = $0 { value } else { nil } }
  }
  /// Returns all registered clients, and those with a decision by a command.
  public mutating func listClients() throws(ClientError) -> [WireClient] {
    try result(of: .listClients) { if case .clients(let value) = $0 { value } else { nil } }
  }
}
