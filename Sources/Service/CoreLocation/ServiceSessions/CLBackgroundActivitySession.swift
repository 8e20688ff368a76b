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
  public var diagnostics: Diagnostics { Diagnostics(session: self) }

  fileprivate func next() async throws(ClientError) -> Diagnostic? {
    try await core.queue.next().map { Diagnostic(flags: $0) }
  }

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

  /// The sequence of diagnostics. It ends with the session.
  public struct Diagnostics: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// A diagnostic.
    public typealias Element = Diagnostic
    /// Error that ends a loop early.
    public typealias Failure = any Error

    let session: CLBackgroundActivitySession

    /// Returns itself; the loop starts with the current state (BKG-17).
    public func makeAsyncIterator() -> Diagnostics {
      session.core.queue.repeatNewest()
      return self
    }

    /// The next diagnostic; nil if the session has ended or the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(any Error) -> Diagnostic? {
      try await session.next()
    }
  }
}

/// The part of a background session that the location session keeps.
private final class BackgroundSessionCore: ServiceObject {
  private weak let session: LocationSession?
  let queue = UpdateQueue<LiveFlags> { waiting, new in waiting = [new] }
  /// Whether the service has the session: it is active, or becomes so with the first permission.
  private let isOpen = Mutex(true)

  init(_ session: LocationSession) { self.session = session }

  var openingCall: WireCall { .openBackgroundSession }

  /// The call closes the background session of the client, which may be another object of this process.
  func closingCall(_ number: Int) -> WireCall? {
    isOpen.withLock { $0 } ? .closeBackgroundSession : nil
  }

  func opened(_ reply: WireReply) -> Int? {
    guard case .active(let isActive) = reply else { return nil }
    let authorization = session?.read { $0.demand.authorization } ?? .notDetermined
    isOpen.withLock { $0 = isActive || authorization == .notDetermined }
    queue.put(isActive ? .empty : BackgroundSessionCore.flags(of: authorization))
    return 0
  }

  /// Why a session is not active.
  private static func flags(of authorization: Authorization) -> LiveFlags {
    switch authorization {
    case .notDetermined: .authorizationRequestInProgress
    case .denied: .authorizationDenied
    case .restricted: .authorizationRestricted
    case .always, .whenInUse: .insufficientlyInUse
    }
  }

  func receive(_ notice: WireNotice) -> (@Sendable () -> Void)? { nil }

  func connectionLost() {}

  func fail(_ error: ClientError) { queue.finish(error) }
}
