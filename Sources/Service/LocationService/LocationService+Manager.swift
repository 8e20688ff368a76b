import LinuxHAL
import LocationPolicy
import LocationTypes

// Service manager (systemd): reload, watchdog, status line.

/// Result of reading policy and profile again. The reader logs errors, and a file with errors changes nothing.
public struct Reload: Sendable {
  /// The new policy; nil to keep the current one.
  public var policy: AccessPolicy?
  /// Whether the board's profile has changed, which requires a new service.
  public var isProfileNew: Bool

  /// Creates a result.
  public init(policy: AccessPolicy?, isProfileNew: Bool) {
    self.policy = policy
    self.isProfileNew = isProfileNew
  }
}

/// What was last reported to the service manager, so that only changes are sent.
struct ToldStatus {
  var clients = -1
  var receiver: PlannedReceiver?
  /// Time of the last watchdog notification.
  var watchdog = Instant.boot
}

extension LocationService {
  /// Applies a reload. Returns whether a new service must replace this one.
  mutating func take(_ reload: Reload) -> Bool {
    if let policy = reload.policy {
      loop.clients.adopt(policy)
      // Have the engine apply it now, not at the next wake.
      loop.look()
    }
    return reload.isProfileNew
  }

  /// Reports the end of a reload to the service manager.
  mutating func reloaded() {
    notifier.ready()
    told = ToldStatus()
  }

  /// Time of the next watchdog notification: half of the watchdog period after the last. This may cost a wake of its
  /// own.
  var watchdogDue: Instant {
    notifier.watchdogPeriod.map { told.watchdog + $0 / 2 } ?? .distantFuture
  }

  /// Sends the watchdog notification when due, and the status line when it has changed.
  mutating func tellManager() {
    guard notifier.isListenedTo else { return }
    if watchdogDue <= now {
      notifier.watchdog()
      told.watchdog = now
    }
    let clients = loop.clients.connectedCount
    let receiver = loop.engine.plannedReceiver
    guard clients != told.clients || receiver != told.receiver else { return }
    told.clients = clients
    told.receiver = receiver
    notifier.status(
      "\(clients) \(clients == 1 ? "client" : "clients"), receiver \(LocationService.word(receiver))"
    )
  }

  private static func word(_ receiver: PlannedReceiver?) -> String {
    switch receiver {
    case nil: "not planned yet"
    case .off: "off"
    case .standby: "in standby"
    case .powersave: "saving power"
    case .tracking: "tracking"
    case .batching: "batching"
    }
  }
}
