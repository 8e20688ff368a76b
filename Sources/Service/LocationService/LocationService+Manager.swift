import LinuxHAL
import LocationPolicy
import LocationTypes

// What the service manager asks and is told: reloads, the watchdog, a line of status.

/// What came of reading anew what an administrator may have changed. What is wrong is told to the log by
/// whoever reads it, and leaves in force what was.
public struct Reload: Sendable {
  /// Who may use location from now on; nil to leave it.
  public var policy: AccessPolicy?
  /// The board's profile is another one, which only a new service can follow.
  public var isProfileNew: Bool

  /// Creates a result.
  public init(policy: AccessPolicy?, isProfileNew: Bool) {
    self.policy = policy
    self.isProfileNew = isProfileNew
  }
}

/// What a service manager was told last, so that it is told only what is new.
struct ToldStatus {
  var clients = -1
  var receiver: PlannedReceiver?
  /// When the watchdog was fed.
  var watchdog = Instant.boot
}

extension LocationService {
  /// Takes over what was read anew; says whether a new service is to follow this one.
  mutating func take(_ reload: Reload) -> Bool {
    if let policy = reload.policy {
      loop.clients.adopt(policy)
      // What that asks of the engine is done now, not when something wakes the board.
      loop.look()
    }
    return reload.isProfileNew
  }

  /// Tells the manager that a reload is through.
  mutating func reloaded() {
    notifier.ready()
    told = ToldStatus()
  }

  /// When the watchdog must be fed: at half of its period, where there is one. That is a wake which
  /// nobody else wants.
  var watchdogDue: Instant {
    notifier.watchdogPeriod.map { told.watchdog + $0 / 2 } ?? .distantFuture
  }

  /// Feeds the watchdog when it is due, and tells what is new of the service, which is seldom.
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
