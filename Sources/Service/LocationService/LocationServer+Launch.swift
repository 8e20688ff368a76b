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

/// The next start of a client's program: sooner or later until it comes and stays.
struct PendingLaunch {
  /// How long is waited for a program before it is started again; twice as long each time. One that ends
  /// sooner did not stay.
  static let patience = Interval.seconds(60)
  /// How often it is started for the same.
  static let attempts = 8

  /// What for; nil where nothing waits for it.
  private(set) var reason: LaunchReason?
  /// What the process that runs was started for.
  private(set) var told: LaunchReason?
  /// When it is started next.
  private(set) var next: Instant?
  /// Starts for what waits for it now, and in a row since it stayed.
  private var tries = 0
  private var count = 0
  private var notBefore = Instant.boot
  private var cameAt = Instant.boot

  /// Something waits for the program.
  mutating func wish(_ reason: LaunchReason, at time: Instant) {
    guard next == nil else { return }
    self.reason = reason
    tries = 0
    next = max(time, notBefore)
  }

  /// It was started. After the last of its tries it is started for what comes later.
  mutating func start(at now: Instant) {
    tries += 1
    count = min(count + 1, PendingLaunch.attempts)
    let delay = Interval(microseconds: PendingLaunch.patience.microseconds << Int64(count - 1))
    notBefore = now + delay
    next = tries < PendingLaunch.attempts ? notBefore : nil
  }

  /// The program is there; whether it was started for something.
  mutating func finish(at now: Instant) -> Bool {
    told = tries > 0 ? reason : nil
    cameAt = now
    cancel()
    return told != nil
  }

  /// The program is gone.
  mutating func end(at now: Instant) {
    guard now - cameAt >= PendingLaunch.patience else { return }
    count = 0
    notBefore = .boot
  }

  /// It is not to be started.
  mutating func cancel() {
    reason = nil
    next = nil
    tries = 0
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
      guard let next = clients[i].launch.next, next <= now, let reason = clients[i].launch.reason
      else { continue }
      guard let how = clients[i].access.relaunch, clients[i].access.authorization.isGranted else {
        clients[i].launch.cancel()
        continue
      }
      clients[i].launch.start(at: now)
      let name = clients[i].name
      let what = "'\(name.name)' of user \(name.user) for \(reason.rawValue)"
      if let trouble = starter(Launch(client: name, how: how, reason: reason)) {
        logLine(of: name.user, .error, "cannot start \(what): \(trouble)")
      } else {
        logLine(of: name.user, .info, "started \(what)")
      }
    }
  }
}
