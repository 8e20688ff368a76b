import Foundation
import LocationClient
import LocationPolicy
import LocationWire
import Synchronization

/// Keeps the process in use while it is in the background (BKG-8).
///
/// Creation always succeeds. The session is active only if the process is authorized, and is in the foreground, or has
/// just started and resumes a session of its last process (BKG-9). Source: Apple's documentation of
/// `CLBackgroundActivitySession`.
public final class CLBackgroundActivitySession: Sendable {
  private let session: LocationSession
  fileprivate let core: BackgroundSessionCore

  /// Starts a session; it ends with ``invalidate()``, or when it is deallocated, but not with the process (BKG-10).
  public convenience init() { self.init(of: .shared) }

  init(of session: LocationSession) {
    self.session = session
    core = BackgroundSessionCore(session)
    session.open(core)
  }

  deinit { invalidate() }

  /// Ends the session permanently (BKG-10).
  public func invalidate() {
    core.queue.finish()
    session.close(core)
  }

  /// Why the session is not active: the current state, then each change. One loop at a time.
  public var diagnostics: Diagnostics { Diagnostics(of: self, core.queue) }

  /// The sequence of diagnostics. It ends with the session.
  public typealias Diagnostics = SessionDiagnosticSequence<Diagnostic>

  /// Why a session is not active; all properties are false if it is.
  public struct Diagnostic: Sendable {
    fileprivate let flags: LiveFlags

    /// Whether the process may not use location.
    public var authorizationDenied: Bool { flags.containsAny(of: .authorizationDenied) }
    /// Whether no process may use location.
    public var authorizationDeniedGlobally: Bool {
      flags.containsAny(of: .authorizationDeniedGlobally)
    }
    /// Whether the process may neither use location nor request permission.
    public var authorizationRestricted: Bool { flags.containsAny(of: .authorizationRestricted) }
    /// Whether an administrator's decision is pending.
    public var authorizationRequestInProgress: Bool {
      flags.containsAny(of: .authorizationRequestInProgress)
    }
    /// Whether the session was created while the process was not in use.
    public var insufficientlyInUse: Bool { flags.containsAny(of: .insufficientlyInUse) }
    /// Whether a ``CLServiceSession`` is required (BKG-15).
    public var serviceSessionRequired: Bool { flags.containsAny(of: .serviceSessionRequired) }
  }
}

/// The part of a background session that the location session keeps.
///
/// The service counts the objects that hold the client's background session: those that were active when they were
/// opened, and those that were opened while the client was undecided. A decision ends the latter, a loss of the
/// authorization all of them. `hold` follows that count, because the call that closes an object carries no number: a
/// call for an object that the service does not count would end the session of another one.
private final class BackgroundSessionCore: ServiceObject {
  /// What the service counts for this object.
  private enum Hold: Sendable {
    /// Nothing: the session is not active.
    case none
    /// A session that was opened while the client was undecided (AUT-8).
    case pending
    /// An active session (BKG-8).
    case active
  }

  private weak let session: LocationSession?
  let queue = UpdateQueue<CLBackgroundActivitySession.Diagnostic> { waiting, new in
    waiting = [new]
  }
  private let hold = Mutex(Hold.none)

  init(_ session: LocationSession) { self.session = session }

  var openingCall: WireCall { .openBackgroundSession }

  func closingCall(_ number: Int) -> WireCall? {
    switch hold.withLock({ $0 }) {
    case .none: nil
    case .pending, .active: .closeBackgroundSession
    }
  }

  func opened(_ reply: WireReply) -> Int? {
    guard case .active(let isActive) = reply else { return nil }
    let authorization = session?.read { $0.demand.authorization } ?? .notDetermined
    hold.withLock { hold in
      hold = isActive ? .active : authorization == .notDetermined ? .pending : .none
    }
    // Why the session is not active.
    let reason: LiveFlags = authorization.isGranted ? .insufficientlyInUse : authorization.liveFlags
    let flags: LiveFlags = isActive ? .empty : reason
    let lacksSession = session?.lacksSession ?? false
    queue.put(.init(flags: lacksSession ? flags.union(.serviceSessionRequired) : flags))
    return 0
  }

  func receive(_ notice: WireNotice) -> (@Sendable () -> Void)? { nil }

  func authorizationChanged(_ authorization: Authorization) {
    hold.withLock { hold in
      switch (hold, authorization) {
      case (.pending, .notDetermined), (.active, .always), (.active, .whenInUse), (.none, _): break
      case (.pending, .denied), (.pending, .restricted), (.pending, .always),
        (.pending, .whenInUse), (.active, .notDetermined), (.active, .denied),
        (.active, .restricted):
        hold = .none
      }
    }
  }

  func fail(_ error: ClientError) { queue.finish(error) }
}
