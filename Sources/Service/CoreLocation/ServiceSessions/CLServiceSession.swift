import Foundation
import LocationClient
import LocationPolicy
import LocationWire

/// Declares the authorization that a process needs, for the lifetime of the session (BKG-12).
///
/// Source: Apple's documentation of `CLServiceSession`.
public final class CLServiceSession: Sendable {
  /// The authorization that is required (BKG-12).
  public enum AuthorizationRequirement: Int, Sendable {
    /// None.
    case none = 0
    /// While the process is in use.
    case whenInUse = 1
    /// At any time.
    case always = 2
  }

  private let session: LocationSession
  fileprivate let core: ServiceSessionCore

  /// Starts a session; it ends with ``invalidate()``, or when it is deallocated.
  public convenience init(authorization: AuthorizationRequirement) {
    self.init(authorization, requiresFullAccuracy: false, of: .shared)
  }

  /// Starts a session that requires precise locations too.
  ///
  /// - Parameter fullAccuracyPurposeKey: Key of the purpose in `Info.plist`; without effect.
  public convenience init(
    authorization: AuthorizationRequirement, fullAccuracyPurposeKey: String
  ) {
    self.init(authorization, requiresFullAccuracy: true, of: .shared)
  }

  init(
    _ authorization: AuthorizationRequirement, requiresFullAccuracy: Bool,
    of session: LocationSession
  ) {
    self.session = session
    core = ServiceSessionCore(
      SessionRequirement(rawValue: UInt8(authorization.rawValue)) ?? .none, requiresFullAccuracy)
    session.open(core)
  }

  deinit { invalidate() }

  /// Ends the session.
  public func invalidate() {
    core.queue.finish()
    session.close(core)
  }

  /// What the session lacks: the current state immediately, then each change (BKG-17). One loop at a time.
  public var diagnostics: Diagnostics { Diagnostics(of: self, core.queue) }

  /// The sequence of diagnostics. It ends with the session.
  public typealias Diagnostics = SessionDiagnosticSequence<Diagnostic>

  /// What a session lacks.
  public struct Diagnostic: Sendable {
    private let stored: SessionDiagnostics

    init(_ diagnostics: SessionDiagnostics) { stored = diagnostics }

    /// Whether `always` was required, and is not granted.
    public var alwaysAuthorizationDenied: Bool { stored.alwaysAuthorizationDenied }
    /// Whether full accuracy was required, and accuracy is reduced.
    public var fullAccuracyDenied: Bool { stored.fullAccuracyDenied }
    /// Whether the process may not use location.
    public var authorizationDenied: Bool { stored.flags.containsAny(of: .authorizationDenied) }
    /// Whether no process may use location.
    public var authorizationDeniedGlobally: Bool {
      stored.flags.containsAny(of: .authorizationDeniedGlobally)
    }
    /// Whether the process may neither use location nor request permission.
    public var authorizationRestricted: Bool {
      stored.flags.containsAny(of: .authorizationRestricted)
    }
    /// Whether an administrator's decision is pending.
    public var authorizationRequestInProgress: Bool {
      stored.flags.containsAny(of: .authorizationRequestInProgress)
    }
    /// Whether the session was created while the process was not in use (BKG-13).
    public var insufficientlyInUse: Bool { stored.flags.containsAny(of: .insufficientlyInUse) }
    /// Whether a session is required (BKG-15).
    public var serviceSessionRequired: Bool {
      stored.flags.containsAny(of: .serviceSessionRequired)
    }
  }
}

/// The part of a service session that the location session keeps.
private final class ServiceSessionCore: ServiceObject {
  private let requirement: SessionRequirement
  private let requiresFullAccuracy: Bool
  let queue = UpdateQueue<CLServiceSession.Diagnostic> { waiting, new in waiting = [new] }

  init(_ requirement: SessionRequirement, _ requiresFullAccuracy: Bool) {
    self.requirement = requirement
    self.requiresFullAccuracy = requiresFullAccuracy
  }

  var openingCall: WireCall {
    .openServiceSession(requirement, requiresFullAccuracy: requiresFullAccuracy)
  }

  func closingCall(_ number: Int) -> WireCall? { .closeServiceSession(number) }

  func opened(_ reply: WireReply) -> Int? {
    if case .opened(let number) = reply { number } else { nil }
  }

  func receive(_ notice: WireNotice) -> (@Sendable () -> Void)? {
    if case .session(_, let diagnostics) = notice {
      queue.add(.init(diagnostics)).wakeup
    } else {
      nil
    }
  }

  func fail(_ error: ClientError) { queue.finish(error) }
}
