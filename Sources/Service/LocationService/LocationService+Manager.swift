import LinuxHAL
import LocationPolicy
import LocationTypes

// Service manager (systemd): reload, watchdog, status line.

/// Result of reading policy and profile again, returned by the closure that ``LocationService/run(reload:)`` calls.
/// The closure logs errors; a file with errors changes nothing.
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
struct ReportedStatus {
  var clients = -1
  var receiver: ReceiverMode?
  /// Time of the last watchdog notification.
  var watchdog = Instant.boot
}

extension LocationService {
  /// Applies a reload. Returns whether a new service must replace this one.
  mutating func apply(_ reload: Reload) -> Bool {
    if let policy = reload.policy {
      loop.clients.adopt(policy)
      // Have the engine apply it now, not at the next wake.
      loop.poll()
    }
    return reload.isProfileNew
  }

  /// Reports the end of a reload to the service manager.
  mutating func reportReloaded() {
    notifier.ready()
    reportedStatus = ReportedStatus()
  }

  /// Time of the next watchdog notification: half of the watchdog period after the last. This may cost a wake of its
  /// own.
  var watchdogDue: Instant {
    notifier.watchdogPeriod.map { reportedStatus.watchdog + $0 / 2 } ?? .distantFuture
  }

  /// Sends the watchdog notification when due, and the status line when it has changed.
  mutating func reportStatus() {
    guard notifier.isConnected else { return }
    if watchdogDue <= now {
      notifier.watchdog()
      reportedStatus.watchdog = now
    }
    let clients = loop.clients.connectedCount
    let receiver = loop.engine.receiverMode
    guard clients != reportedStatus.clients || receiver != reportedStatus.receiver else { return }
    reportedStatus.clients = clients
    reportedStatus.receiver = receiver
    notifier.status(
      "\(clients) \(clients == 1 ? "client" : "clients"), receiver \(LocationService.statusText(receiver))"
    )
  }

  private static func statusText(_ receiver: ReceiverMode?) -> String {
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
