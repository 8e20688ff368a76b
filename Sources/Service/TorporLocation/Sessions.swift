import LocationClient
import LocationPolicy
import LocationWire
import Synchronization

/// Declares what this program needs, for the lifetime of the session (`CLServiceSession`, BKG-12).
public final class ServiceSession: Sendable {
  private let link: ServiceLink
  private let mailbox = Mailbox<SessionDiagnostics> { waiting, new in waiting = [new] }
  private let handle = ServiceHandle()

  /// Starts a session; it ends with ``invalidate()``, or on deinitialisation.
  ///
  /// - Parameters:
  ///   - authorization: Required authorization.
  ///   - requiresFullAccuracy: Whether precise locations are required.
  public init(
    authorization: SessionRequirement, requiresFullAccuracy: Bool = false,
    of center: LocationCenter = .shared
  ) {
    link = center.connection
    let mailbox = mailbox
    link.open(handle, for: mailbox) { state throws(ClientError) in
      try state.openServiceSession(authorization, requiresFullAccuracy: requiresFullAccuracy)
    } note: {
      $0.diagnostics[$1] = mailbox
    }
  }

  deinit { invalidate() }

  /// Ends the session.
  public func invalidate() {
    mailbox.finish()
    link.close(handle) { state, number in
      state.diagnostics[number] = nil
      _ = try? state.call(.closeServiceSession(number))
    }
  }

  /// What the session lacks: the current state immediately, then each change (BKG-17). One loop at a time.
  public var diagnostics: Diagnostics { Diagnostics(session: self) }

  /// What a session lacks.
  public struct Diagnostic: Equatable, Sendable {
    /// The corresponding live update.
    public let update: LocationUpdate
    /// Whether full accuracy was required, but accuracy is reduced.
    public let fullAccuracyDenied: Bool
    /// Whether `always` was required, but is not granted.
    public let alwaysAuthorizationDenied: Bool

    init(_ diagnostics: SessionDiagnostics) {
      update = LocationUpdate(
        LiveElement(
          iterator: 0, location: nil, flags: diagnostics.flags, isStationary: false, dropped: 0))
      fullAccuracyDenied = diagnostics.fullAccuracyDenied
      alwaysAuthorizationDenied = diagnostics.alwaysAuthorizationDenied
    }
  }

  /// The sequence of diagnostics.
  public struct Diagnostics: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// A diagnostic.
    public typealias Element = Diagnostic
    /// Error that ends a loop early.
    public typealias Failure = ClientError

    let session: ServiceSession

    /// Returns itself.
    public func makeAsyncIterator() -> Diagnostics { self }

    /// The next diagnostic; nil if the session has ended or the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ClientError) -> Diagnostic? {
      try await session.mailbox.next().map { Diagnostic($0) }
    }
  }
}

/// Keeps the program in use while it is in the background (`CLBackgroundActivitySession`).
///
/// Creation always succeeds. The session is active only if the program is authorized, and is in the foreground, or has
/// just started and resumes a session of its last process (BKG-8, BKG-9).
public final class BackgroundActivitySession: Sendable {
  private let link: ServiceLink
  /// 1 if the session is active, 0 if it is open and inactive.
  private let handle = ServiceHandle()

  /// Starts a session; it ends with ``invalidate()``, or on deinitialisation, but not with the process (BKG-10).
  public init(of center: LocationCenter = .shared) {
    link = center.connection
    let handle = handle
    link.submit { state in
      if let isActive = try? state.openBackgroundSession() { handle.number = isActive ? 1 : 0 }
    }
  }

  deinit { invalidate() }

  /// Whether the session is active.
  public var isActive: Bool {
    get async throws(ClientError) {
      let handle = handle
      return try await link.perform { _ throws(ClientError) in handle.number == 1 }
    }
  }

  /// Ends the session permanently.
  public func invalidate() {
    link.close(handle) { state, _ in _ = try? state.call(.closeBackgroundSession) }
  }
}
