import LocationPolicy
import LocationTypes
import LocationWire

/// The services that outlive the process, significant change and visits: which managers use them, and their reports.
///
/// # Problem
///
/// The service runs each of them once for the process. The first manager that uses one starts it and the last one stops
/// it. A stop without a connection must reach the next one, because an earlier process may have started the service; a
/// visit that arrives before a manager uses the service is kept for it. A part of ``MergedDemand``.
struct DurableServices: Sendable {
  /// A service that outlives the process.
  enum Kind: Sendable {
    case significantChange, visits

    var start: WireCall { self == .visits ? .startVisits : .startSignificantChange }
    var stop: WireCall { self == .visits ? .stopVisits : .stopSignificantChange }
  }

  private var users: [Kind: Set<MergedDemand.ManagerID>] = [:]
  /// Services to stop on the next connection, because they were stopped without one.
  private var pendingStops: Set<Kind> = []
  /// Visits that arrived before a manager monitored visits.
  private var unclaimedVisits: [(visit: Visit, number: UInt32)] = []
  /// The newest report of significant change, while a manager monitors it.
  private(set) var report: StoredFix?

  /// The managers that use a service, in the order of their creation.
  func managers(using kind: Kind) -> [MergedDemand.ManagerID] { users[kind]?.sorted() ?? [] }

  /// Whether a manager uses a service.
  func isUsed(_ kind: Kind, by id: MergedDemand.ManagerID) -> Bool {
    users[kind]?.contains(id) == true
  }

  /// Whether a manager uses any service.
  func areUsed(by id: MergedDemand.ManagerID) -> Bool {
    users.values.contains { $0.contains(id) }
  }

  /// Whether any manager uses a service.
  func isUsed(_ kind: Kind) -> Bool { users[kind]?.isEmpty == false }

  /// A manager uses a service from now on; returns the call that starts it, if it does not run.
  mutating func start(_ kind: Kind, for id: MergedDemand.ManagerID) -> WireCall? {
    let wasUsed = isUsed(kind)
    users[kind, default: []].insert(id)
    pendingStops.remove(kind)
    return wasUsed ? nil : kind.start
  }

  /// A manager does not use a service any more; returns the call that stops it, if no manager does.
  ///
  /// Also if no manager used it: an earlier process may have started it.
  mutating func stop(
    _ kind: Kind, for id: MergedDemand.ManagerID, isConnected: Bool
  ) -> WireCall? {
    users[kind]?.remove(id)
    guard !isUsed(kind) else { return nil }
    if kind == .significantChange { report = nil }
    guard !isConnected else { return kind.stop }
    pendingStops.insert(kind)
    return nil
  }

  /// Removes and returns the calls for a new connection.
  mutating func connectionCalls() -> [WireCall] {
    defer { pendingStops = [] }
    return pendingStops.map(\.stop)
      + [Kind.significantChange, .visits].filter { isUsed($0) }.map(\.start)
  }

  /// Keeps a visit that no manager gets yet.
  mutating func keep(_ visit: Visit, number: UInt32) { unclaimedVisits.append((visit, number)) }

  /// Removes and returns the kept visits, oldest first.
  mutating func consumeVisits() -> [(visit: Visit, number: UInt32)] {
    defer { unclaimedVisits = [] }
    return unclaimedVisits
  }

  /// Keeps the newest report of significant change, for a manager that starts later.
  mutating func record(_ stored: StoredFix) {
    if isUsed(.significantChange) { report = stored }
  }

  /// Drops the newest report, because the process lost the right to it (RNG-6).
  mutating func dropReport() { report = nil }
}
