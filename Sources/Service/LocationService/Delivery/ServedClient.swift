import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

/// A client the service knows, whether a process of it is there or not.
struct ServedClient {
  /// Names of circles that are remembered, those that were removed too, so that what is told late of
  /// one finds its name: twice what can be monitored.
  static let namesLimit = 2 * RegionMonitor.capacity

  /// A name that the client gave a circle.
  struct RegionName {
    var identifier: RegionIdentifier
    var name: String
    /// It was removed, or refused; what is told late of it still finds its name.
    var isRemoved = false
    /// The durable state has it.
    var isKept = false
  }

  let name: WireClientName
  /// Its number in the durable state; 0 where the place is free.
  let number: ClientNumber
  /// The login user who answers for its user.
  var account: UInt32
  /// What it may, and who says so.
  var access: ClientAccess
  /// What its process said it is; what the engine is told may be less, see ``isHeld``.
  var execution = ExecutionState.foreground
  /// The connection that speaks for it; nil while no process is there.
  var control: Int?
  /// The connection that hears its notices.
  var watch: Int?
  /// By which its process lets another connection hear its notices; 0 without a process.
  var session: Int64 = 0
  /// Its process is frozen.
  var isFrozen = false
  /// It is frozen, nobody hears it, or whoever does takes too little: it is told nothing until that ends (BKG-2).
  var isHeld = false
  /// What it is still to be sent: notices, and the visits and region events that it has not acknowledged.
  var notices = NoticeQueue()
  /// Numbers of live iterators that are in use, one bit each.
  var live: UInt8 = 0
  /// Its sessions, and whether it is in use.
  var sessions = ClientSessions()
  /// What the engine knows of them.
  var use = ClientUse()
  /// What it has asked for, and nobody has decided (AUT-4).
  var asks: WirePermission?
  /// Its next start (BKG-19).
  var launch = PendingLaunch()
  /// The region whose enter or exit was the newest notice: its state comes next.
  var crossed: RegionIdentifier?
  /// Where significant change last brought it while no process was there (SLC-8).
  var report: StoredFix?
  /// What this process has started, and what waits for it may be told (BKG-6).
  var begun = BegunServices()
  /// What is durable of it may not be as it is.
  var isTouched = false
  /// It has acknowledged more than is noted for the disk, which is done when somebody waits for that or
  /// once in a while: it comes with every fix.
  var isBehind = false
  /// Updates have ended, but the receiver may still hold fixes that are owed: its place in the ring
  /// changes without a request.
  var isClosing = false
  /// A power cut may have taken fixes that it was owed, and it was not told.
  var mayHaveLost = false
  /// When a process of it connected last.
  var lastConnected = Instant.boot
  private var regions: [RegionName] = []
  private var nextNumber: UInt32 = 0

  /// - Parameter account: The login user who answers for the name's user.
  init(
    _ name: WireClientName, of account: UInt32, number: ClientNumber, _ access: ClientAccess
  ) {
    self.name = name
    self.account = account
    self.number = number
    self.access = access
  }

  /// A free place.
  static func vacant(_ access: ClientAccess) -> ServedClient {
    ServedClient(WireClientName(user: .max, name: ""), of: .max, number: 0, access)
  }

  /// Whether the place is free.
  var isVacant: Bool { number == 0 }

  /// Whether its program is there, runs, and listens to notices.
  var receivesNotices: Bool {
    control != nil && watch != nil && !isFrozen && execution != .suspended
  }

  /// A name that came back from disk.
  mutating func restore(_ identifier: RegionIdentifier, named name: String) {
    regions.append(RegionName(identifier: identifier, name: name, isKept: true))
    nextNumber = max(nextNumber, identifier.number &+ 1)
  }

  /// The number of a name; a new one if it has none, in the place of the first that was removed. nil
  /// when there are too many.
  mutating func identifier(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    if let place = place(kind, named: name) {
      regions[place].isRemoved = false
      return regions[place].identifier
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

  /// The number of a name, if it has one.
  func known(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    place(kind, named: name).map { regions[$0].identifier }
  }

  /// The number of a name that is removed now; nil if it has none.
  mutating func remove(_ kind: RegionKind, named name: String) -> RegionIdentifier? {
    guard let place = place(kind, named: name) else { return nil }
    regions[place].isRemoved = true
    return regions[place].identifier
  }

  private func place(_ kind: RegionKind, named name: String) -> Int? {
    regions.firstIndex { $0.identifier.kind == kind && $0.name == name }
  }

  /// These are monitored, and the durable state has them; all others were removed, or refused.
  mutating func keep(_ monitored: Set<RegionIdentifier>) {
    for i in regions.indices {
      regions[i].isKept = monitored.contains(regions[i].identifier)
      regions[i].isRemoved = !regions[i].isKept
    }
  }

  /// Whether it has circles: asked for, monitored, or such as the durable state still has.
  var hasRegions: Bool { regions.contains { !$0.isRemoved || $0.isKept } }

  /// Whether it monitors conditions.
  var hasConditions: Bool { regions.contains { $0.identifier.kind == .condition && !$0.isRemoved } }

  /// The name of a number.
  func name(of identifier: RegionIdentifier) -> String {
    regions.last { $0.identifier == identifier }?.name ?? ""
  }
}

/// What a process asked for that began before it: only then is it told what waited (BKG-6).
struct BegunServices {
  var updates = false
  /// It was told, or is about to be, that a power cut may have taken fixes.
  var hearsOfLoss = false
  var visits = false
  var significantChange = false

  /// Whether an event may be told to it. Regions go on by themselves; conditions are for who may have
  /// live updates (BKG-14).
  func includes(_ notice: WireNotice, _ use: ClientUse) -> Bool {
    switch notice {
    case .visit: visits
    case .region(let event, _): event.kind == .region || !use.flags.holdsAny(of: .withholding)
    default: true
    }
  }
}
