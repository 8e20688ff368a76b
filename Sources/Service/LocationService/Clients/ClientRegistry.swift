import LocationPolicy
import LocationTypes
import LocationWire

/// The known clients, and who may have one of their slots.
///
/// # Problem
///
/// The engine has a fixed table of clients. Users are not trusted and may invent any number of names, so slots are
/// shared by quotas, and a client without permission may be displaced; one with permission or with undelivered data is
/// not (RES-1, RES-2). The rules need only the records, the permissions and the durable rows, so they are decided here,
/// and ``LocationServer`` carries out the decision: it closes connections, removes rows and informs the engine.
///
/// # States
///
/// A slot is vacant or has a client: see ``ServedClient``. A vacant slot keeps its index, which is the engine's
/// `ClientID`.
///
/// # Invariants
///
/// - Owner: ``LocationServer``. Slots are added and vacated here only.
/// - No two clients have the same name. A session number is never reused in a run, and 0 is none.
///
/// # Bounds
///
/// ``capacity`` slots, and the quotas below.
struct ClientRegistry {
  /// Maximum number of clients without permission, of all users together.
  static let unpermittedClients = 32
  /// Maximum number of clients without permission of one user.
  static let unpermittedClientsPerUser = 4
  /// Maximum number of clients with permission of one user. Administrators are exempt.
  static let clientsPerUser = 8

  /// Where a new client may be added.
  enum Allocation: Equatable {
    /// In a vacant or further slot.
    case granted
    /// In the slot of that client, which is displaced.
    case displacing(Int)
    case refused(WireError)
  }

  /// Capacity of the engine's client table.
  let capacity: Int
  /// Records by index.
  private(set) var slots: [ServedClient] = []
  private var lastSession: Int64 = 0

  /// Creates a registry without clients.
  init(capacity: Int) { self.capacity = capacity }

  // MARK: Records

  /// The record at an index, to change it. Code that runs for each fix reads ``slots``, which copies nothing.
  subscript(index: Int) -> ServedClient {
    _read { yield slots[index] }
    _modify { yield &slots[index] }
  }

  var indices: Range<Int> { slots.indices }

  /// Number of slots, vacant or not.
  var count: Int { slots.count }

  /// The index of a known client; nil if it has no slot.
  func index(of name: WireClientName) -> Int? { slots.firstIndex { $0.name == name } }

  /// The index of the client with that session, if it belongs to the user.
  func index(of session: Int64, user: UInt32) -> Int? {
    guard session != 0 else { return nil }
    return slots.firstIndex { $0.process?.session == session && $0.name.user == user }
  }

  /// Number of clients with a running process.
  var connectedCount: Int { slots.count { $0.process != nil } }

  /// Whether any client has a background session.
  var hasBackgroundSession: Bool {
    for i in slots.indices where slots[i].sessions.hasBackground { return true }
    return false
  }

  /// Earliest time at which a session expires or a program is to be started.
  var deadline: Instant {
    var deadline = Instant.distantFuture
    for i in slots.indices {
      deadline = min(deadline, min(slots[i].sessions.deadline, slots[i].holds.deadline))
      if slots[i].process == nil, let next = slots[i].launch.nextStart {
        deadline = min(deadline, next)
      }
    }
    return deadline
  }

  /// Login users with at least one permitted client.
  var permittedAccounts: [UInt32] {
    slots.filter { $0.isPermitted && !$0.isVacant }.map(\.account)
  }

  /// Whether any client of a user may use location.
  func hasPermitted(ofUser user: UInt32) -> Bool {
    slots.contains { $0.name.user == user && $0.isPermitted }
  }

  // MARK: Changes

  /// Adds a client in the first vacant slot, or a further one. Returns its index.
  mutating func add(_ client: ServedClient) -> Int {
    guard let vacant = slots.firstIndex(where: \.isVacant) else { return append(client) }
    slots[vacant] = client
    return vacant
  }

  /// Adds a client in a further slot, also if another one is vacant. Returns its index.
  mutating func append(_ client: ServedClient) -> Int {
    slots.append(client)
    return slots.count - 1
  }

  /// Removes a client from its slot.
  ///
  /// - Parameter access: Rights of a vacant slot.
  mutating func vacate(_ index: Int, _ access: ClientAccess) { slots[index] = .vacant(access) }

  /// A new session number.
  mutating func newSession() -> Int64 {
    lastSession += 1
    return lastSession
  }

  /// Recomputes the login users of all clients.
  mutating func updateAccounts(_ permissions: borrowing Permissions) {
    for i in slots.indices { slots[i].setAccount(permissions.account(of: slots[i].name.user)) }
  }

  // MARK: Quotas

  /// Quotas of slots.
  private var quota: ResourceQuota {
    ResourceQuota(
      total: capacity, reserved: capacity / 32, unpermitted: ClientRegistry.unpermittedClients,
      perUser: ClientRegistry.clientsPerUser,
      perUnpermittedUser: ClientRegistry.unpermittedClientsPerUser)
  }

  /// Where a new client of a user may be added.
  ///
  /// A permitted client is never displaced by an unpermitted one. Of the unpermitted clients, the user with the most
  /// loses one: preferably one without a process, else the one that connected least recently. Clients that lost
  /// permission by a new policy, and whose requests are kept (RES-2), do not count against the quota of unpermitted
  /// clients. But once all clients of a user reach the limit of permitted ones, no unpermitted client is added:
  /// otherwise each cycle of removing and restoring such a policy would add some, up to the table's capacity.
  func allocation(
    for user: UInt32, isPermitted: Bool, _ permissions: borrowing Permissions,
    _ persistence: borrowing Persistence
  ) -> Allocation {
    let account = permissions.account(of: user)
    let standing: Standing =
      permissions.isAdministrator(user) ? .administrator : isPermitted ? .permitted : .unpermitted
    let usage = usage(of: account, isPermitted: isPermitted, permissions, persistence)
    var refusal = quota.refusal(standing, usage)
    // Administrators are exempt from the quota of unpermitted users, but their undecided programs must not fill the
    // table.
    let isOverShare = !isPermitted && usage.own >= quota.perUnpermittedUser
    let isFull =
      standing == .unpermitted
      && slots.count { !$0.isVacant && $0.account == account } >= quota.perUser
    if isOverShare || isFull { refusal = .user }
    switch refusal {
    case nil: return .granted
    case .user:
      let limit = isOverShare ? quota.perUnpermittedUser : quota.perUser
      return allocation(
        slotToFree(of: account, isPermitted: isPermitted, persistence),
        orRefuse: "clients of a user", limit)
    case .unpermitted:
      let all = unpermitted(permissions, persistence).filter { !$0.hadPermission }
      return allocation(
        DisplacementCandidate.selectDisplaced(for: account, among: all, includesIdle: true),
        orRefuse: "clients without permission", quota.unpermitted)
    case .total:
      let all = unpermitted(permissions, persistence)
      let index =
        standing == .unpermitted
        ? DisplacementCandidate.selectDisplaced(for: account, among: all, includesIdle: true)
        // The first client that loses nothing if it is removed.
        : DisplacementCandidate.leastUseful(all)
          ?? slots.indices.first { isDisposable($0, persistence) }
      return allocation(index, orRefuse: "clients", capacity)
    }
  }

  private func allocation(
    _ displaced: Int?, orRefuse what: String, _ limit: Int
  ) -> Allocation {
    displaced.map(Allocation.displacing)
      ?? .refused(.limitExceeded(what: what, limit: Int64(limit)))
  }

  /// An unpermitted client above the quotas, which must be displaced; nil if there is none. Clients that lost permission
  /// by a new policy are kept (RES-2).
  func excess(
    _ permissions: borrowing Permissions, _ persistence: borrowing Persistence
  ) -> Int? {
    let users = Dictionary(
      grouping: withoutPermission(persistence).filter { !$0.hadPermission }, by: \.user)
    if let excess = users.values.first(where: { $0.count > quota.perUnpermittedUser }),
      let index = DisplacementCandidate.leastUseful(excess)
    {
      return index
    }
    let all = unpermitted(permissions, persistence).filter { !$0.hadPermission }
    guard all.count > quota.unpermitted else { return nil }
    return DisplacementCandidate.selectDisplaced(for: nil, among: all, includesIdle: true)
      ?? DisplacementCandidate.leastUseful(all)
  }

  private func usage(
    of account: UInt32, isPermitted: Bool, _ permissions: borrowing Permissions,
    _ persistence: borrowing Persistence
  ) -> ResourceQuota.Usage {
    var usage = ResourceQuota.Usage()
    for client in slots where !client.isVacant {
      usage.all += 1
      // A client that lost permission and whose requests are kept does not count (RES-2).
      guard client.isPermitted || !persistence.store.isDurable(client.number) else { continue }
      if !client.isPermitted, !permissions.isAdministrator(client.name.user) {
        usage.unpermitted += 1
      }
      if client.isPermitted == isPermitted, client.account == account { usage.own += 1 }
    }
    return usage
  }

  /// A slot to free for a client with or without permission: that of a client of the same user and kind without a
  /// process, if permitted also without undelivered data; nil if there is none.
  private func slotToFree(
    of account: UInt32, isPermitted: Bool, _ persistence: borrowing Persistence
  ) -> Int? {
    if !isPermitted {
      let own = withoutPermission(persistence).filter { $0.user == account && $0.isIdle }
      return DisplacementCandidate.leastUseful(own.filter { !$0.hadPermission })
    }
    return slots.indices.first {
      slots[$0].isPermitted && slots[$0].account == account && isDisposable($0, persistence)
    }
  }

  /// The unpermitted clients, except those of administrators.
  private func unpermitted(
    _ permissions: borrowing Permissions, _ persistence: borrowing Persistence
  ) -> [DisplacementCandidate] {
    var all = withoutPermission(persistence)
    all.removeAll { permissions.isAdministrator(slots[$0.index].name.user) }
    return all
  }

  /// All unpermitted clients.
  private func withoutPermission(
    _ persistence: borrowing Persistence
  ) -> [DisplacementCandidate] {
    var all: [DisplacementCandidate] = []
    for index in slots.indices where !slots[index].isVacant && !slots[index].isPermitted {
      let client = slots[index]
      all.append(
        DisplacementCandidate(
          index: index, user: client.account,
          hadPermission: persistence.store.isDurable(client.number),
          isIdle: client.process == nil, lastUse: client.lastConnected))
    }
    return all
  }

  /// Whether a client loses nothing if it is removed.
  private func isDisposable(_ index: Int, _ persistence: borrowing Persistence) -> Bool {
    let client = slots[index]
    return !client.isVacant && client.process == nil && client.notices.eventCount == 0
      && !client.regionNames.hasRegions && !client.rows.isDirty && !client.rows.awaitsReceiverDrain
      && persistence.isDisposable(client.number)
  }
}
