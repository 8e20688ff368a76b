import LinuxHAL
import LocationPolicy
import LocationTypes

/// The service manager (systemd) and what was last reported to it, so that only changes are sent.
///
/// Owner: ``LocationService``. Without a manager nothing is sent.
struct ServiceManager: ~Copyable {
  private let notifier: ServiceNotifier
  /// What the last status line contains; nil before the first, and after a reload.
  private var reported: (clients: Int, receiver: ReceiverMode?)?
  /// Time of the last watchdog notification.
  private var lastWatchdog = Instant.boot

  init(_ notifier: consuming ServiceNotifier) { self.notifier = notifier }

  /// Reports that the service has started, or has finished a reload.
  mutating func ready() {
    notifier.ready()
    reported = nil
    lastWatchdog = .boot
  }

  /// Reports that policy and profile are being read again; ``ready()`` follows.
  func reloading() { notifier.reloading() }

  /// Reports that the service is about to end.
  func stopping() { notifier.stopping() }

  /// Time of the next watchdog notification: half of the watchdog period after the last. This may cost a wake of its
  /// own.
  var watchdogDue: Instant {
    notifier.watchdogPeriod.map { lastWatchdog + $0 / 2 } ?? .distantFuture
  }

  /// Sends the watchdog notification when due, and the status line when it has changed.
  mutating func report(clients: Int, _ receiver: ReceiverMode?, at now: Instant) {
    guard notifier.isConnected else { return }
    if watchdogDue <= now {
      notifier.watchdog()
      lastWatchdog = now
    }
    if let reported, reported == (clients, receiver) { return }
    reported = (clients, receiver)
    notifier.status(
      "\(clients) \(clients == 1 ? "client" : "clients"), receiver \(ServiceManager.text(receiver))"
    )
  }

  private static func text(_ receiver: ReceiverMode?) -> String {
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
