import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

/// The record of ``LocationServer`` about a known client, with or without a running process.
struct ServedClient {
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
  /// Names of its regions.
  var regionNames = RegionNames()

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
