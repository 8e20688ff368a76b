import AccessPolicy
import LocationPolicy
import LocationTypes
import LocationWire

// Programs that are started again for what they wait for (BKG-19).

/// A program that is to be started.
public struct Launch: Equatable, Sendable {
  /// Whose program.
  public var client: WireClientName
  /// How, as the administrator's file says.
  public var how: Relaunch
  /// What for.
  public var reason: LaunchReason
}

/// The next start of a client's program: sooner or later until it comes.
struct PendingLaunch {
  /// How long is waited for a program before it is started again; twice as long each time.
  static let patience = Interval.seconds(60)
  /// How often it is started for the same.
  static let attempts = 8

  /// What for; nil where nothing waits for it.
  private(set) var reason: LaunchReason?
  /// What the process that runs was started for.
  private(set) var told: LaunchReason?
  private(set) var next: Instant?
  private var count = 0

  /// Something waits for the program.
  mutating func wish(_ reason: LaunchReason, at time: Instant) {
    guard self.reason == nil else { return }
    self.reason = reason
    next = time
    count = 0
  }

  /// It was started.
  mutating func start(at now: Instant) {
    count += 1
    let delay = Interval(microseconds: PendingLaunch.patience.microseconds << Int64(count - 1))
    next = count < PendingLaunch.attempts ? now + delay : nil
    // What comes later is a new reason, and a new try.
    if next == nil { reason = nil }
  }

  /// The program is there; whether it was started for something.
  mutating func finish() -> Bool {
    told = count > 0 ? reason : nil
    let isLaunched = told != nil
    reason = nil
    next = nil
    count = 0
    return isLaunched
  }
}

extension LocationServer {
  /// Has a client's program started, if it is not there and there is a way to.
  mutating func wish(_ reason: LaunchReason, _ client: Int, after delay: Interval = .zero) {
    guard clients[client].control == nil, clients[client].access.relaunch != nil,
      clients[client].access.authorization.isGranted
    else { return }
    clients[client].launch.wish(reason, at: now + delay)
  }

  /// Starts the programs whose time has come. What they come for is on the disk by then.
  mutating func startPrograms() {
    for i in clients.indices where clients[i].control == nil {
      guard let next = clients[i].launch.next, next <= now, let reason = clients[i].launch.reason,
        let how = clients[i].access.relaunch
      else { continue }
      clients[i].launch.start(at: now)
      let name = clients[i].name
      let what = "'\(name.name)' of user \(name.user) for \(reason.rawValue)"
      if let trouble = starter(Launch(client: name, how: how, reason: reason)) {
        log.write(.error, "cannot start \(what): \(trouble)")
      } else {
        log.write(.info, "started \(what)")
      }
    }
  }
}
