import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

/// The record of ``LocationServer`` about a known client, with or without a running process.
struct ServedClient {
  /// Maximum number of remembered region names: twice the number of monitored regions, so that a late event of a
  /// removed region still finds its name.
  static let namesLimit = 2 * RegionMonitor.capacity

  /// A region name given by the client.
  struct RegionName {
    var identifier: RegionIdentifier
    var name: String
    /// Whether the region was removed or refused. Late events still find its name.
    var isRemoved = false
    /// Whether the durable state contains the region.
    var isStored = false
  }

  let name: WireClientName
  /// Number in the durable state; 0 for a vacant slot.
  let number: ClientNumber
  /// Login user that its user is counted as.
  var account: UInt32
  /// Effective rights and their source.
  var access: ClientAccess
  /// Execution state reported by the process. While ``isDeliveryPaused`` is set, the engine treats the client as
  /// suspended instead.
  var execution = ExecutionState.foreground
  /// Index of its control connection; nil without a process.
  var control: Int?
  /// Index of its notice connection; nil without one.
  var watch: Int?
  /// Session number, with which the process opens its notice connection; 0 without a process.
  var session: Int64 = 0
  /// Whether the process is frozen.
  var isFrozen = false
  /// Whether nothing is delivered because the process is frozen, has no notice connection, or does not read it fast
  /// enough (BKG-2).
  var isDeliveryPaused = false
  /// Unsent notices and unacknowledged visits and region events.
  var notices = NoticeQueue()
  /// Numbers of the open live iterators, one bit each.
  var liveIterators: UInt8 = 0
  /// Sessions, and whether the client is in use.
  var sessions = ClientSessions()
  /// The use that was last passed to the engine.
  var use = ClientUse()
  /// Requested permission that is still undecided (AUT-4).
  var requestedPermission: WirePermission?
  /// Pending start of its program (BKG-19).
  var launch = PendingLaunch()
  /// Region of the enter or exit event just queued; its state notice follows.
  var crossedRegion: RegionIdentifier?
  /// Newest significant-change fix while no process was running (SLC-8).
  var pendingReport: StoredFix?
  /// Services started by this process, which determine the pending events it may receive (BKG-6).
  var startedServices = StartedServices()
  /// Dirty flag: whether the durable rows may be out of date.
  var isDirty = false
  /// Whether acknowledgements are not in the durable row yet. Separate from the dirty flag, because they come with
  /// every fix; they are saved when an answer requires it, and with each sync.
  var hasUnsavedAcknowledgement = false
  /// Whether updates have ended, but the receiver may still hold undelivered fixes: the ring position then changes
  /// without a request.
  var awaitsReceiverDrain = false
  /// Whether fixes of the client may have been lost, and the gap was not reported yet.
  var mayHaveLostFixes = false
  /// Time at which a process last connected.
  var lastConnected = Instant.boot
  private var regions: [RegionName] = []
  private var nextNumber: UInt32 = 0

  /// - Parameter account: Login user that the name's user is counted as.
  init(
    _ name: WireClientName, of account: UInt32, number: ClientNumber, _ access: ClientAccess
  ) {
    self.name = name
    self.account = account
    self.number = number
    self.access = access
  }

  /// A vacant slot.
  static func vacant(_ access: ClientAccess) -> ServedClient {
    ServedClient(WireClientName(user: .max, name: ""), of: .max, number: 0, access)
  }

  /// Whether the slot is vacant.
  var isVacant: Bool { number == 0 }

  /// Whether the process runs and has a notice connection.
  var receivesNotices: Bool {
    control != nil && watch != nil && !isFrozen && execution != .suspended
  }

  /// Adds a region name restored from disk.
  mutating func restore(_ identifier: RegionIdentifier, named name: String) {
    regions.append(RegionName(identifier: identifier, name: name, isStored: true))
    nextNumber = max(nextNumber, identifier.number &+ 1)
  }

  /// The identifier of a region name. A new name gets a new number; in a full table it replaces the first removed name.
  /// Nil if the table is full and no name in it is removed.
  mutating func identifier(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    if let index = regionIndex(kind, named: name) {
      regions[index].isRemoved = false
      return regions[index].identifier
    }
    if regions.count == ServedClient.namesLimit {
      guard let removed = regions.firstIndex(where: \.isRemoved) else { return nil }
      regions.remove(at: removed)
    }
    let identifier = RegionIdentifier(kind, nextNumber)
    nextNumber &+= 1
    regions.append(RegionName(identifier: identifier, name: name))
    return identifier
  }

  /// The identifier of a known region name; nil if it is unknown.
  func knownIdentifier(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    regionIndex(kind, named: name).map { regions[$0].identifier }
  }

  /// Marks a region name as removed and returns its identifier; nil if it is unknown.
  mutating func remove(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    guard let index = regionIndex(kind, named: name) else { return nil }
    regions[index].isRemoved = true
    return regions[index].identifier
  }

  private func regionIndex(_ kind: RegionKind, named name: String) -> Int? {
    regions.firstIndex { $0.identifier.kind == kind && $0.name == name }
  }

  /// Updates which regions are monitored and durable. All others count as removed.
  mutating func setMonitored(_ monitored: Set<RegionIdentifier>) {
    for i in regions.indices {
      regions[i].isStored = monitored.contains(regions[i].identifier)
      regions[i].isRemoved = !regions[i].isStored
    }
  }

  /// Whether the client has regions, requested or in the durable state.
  var hasRegions: Bool { regions.contains { !$0.isRemoved || $0.isStored } }

  /// Whether the client monitors conditions.
  var hasConditions: Bool { regions.contains { $0.identifier.kind == .condition && !$0.isRemoved } }

  /// The name of a region; empty if unknown.
  func name(of identifier: RegionIdentifier) -> String {
    regions.last { $0.identifier == identifier }?.name ?? ""
  }
}

/// Services that the current process has started. It receives no pending events of other services (BKG-6).
struct StartedServices {
  var updates = false
  /// Whether the gap of a possible loss was sent or queued.
  var isLossQueued = false
  var visits = false
  var significantChange = false

  /// Whether an event may be sent to the process. Region events may always; condition events require that the client
  /// may receive live updates (BKG-14).
  func includes(_ notice: WireNotice, _ use: ClientUse) -> Bool {
    switch notice {
    case .visit: visits
    case .region(let event, _): event.kind == .region || !use.flags.containsAny(of: .withholding)
    default: true
    }
  }
}
