import LocationClient
import LocationPolicy
import LocationWire
import Synchronization

/// What this program needs for as long as it is held (`CLServiceSession`, BKG-12).
public final class ServiceSession: Sendable {
  private let link: ServiceLink
  private let mailbox = Mailbox<SessionDiagnostics> { waiting, new in waiting = [new] }
  private let opened = OpenNumber()

  /// Begins one; it ends with ``invalidate()``, and when nobody holds it any more.
  ///
  /// - Parameters:
  ///   - authorization: What is needed.
  ///   - wantsFullAccuracy: Precise locations are needed.
  public init(
    authorization: SessionRequirement, wantsFullAccuracy: Bool = false,
    of center: LocationCenter = .shared
  ) {
    link = center.connection
    let mailbox = mailbox
    let call = WireCall.openServiceSession(authorization, wantsFullAccuracy: wantsFullAccuracy)
    link.open(call, opened, for: mailbox) { $0.diagnostics[$1] = mailbox }
  }

  deinit { invalidate() }

  /// Ends it.
  public func invalidate() {
    mailbox.finish()
    link.close(opened) { state, number in
      state.diagnostics[number] = nil
      _ = try? state.call(.closeServiceSession(number))
    }
  }

  /// What it lacks: the first at once, then one for each change (BKG-17). One loop at a time.
  public var diagnostics: Diagnostics { Diagnostics(session: self) }

  /// What a session lacks.
  public struct Diagnostic: Equatable, Sendable {
    /// What live updates would say.
    public let update: LocationUpdate
    /// Full accuracy was asked for, and accuracy is reduced.
    public let fullAccuracyDenied: Bool
    /// `always` was asked for, and is not granted.
    public let alwaysAuthorizationDenied: Bool

    init(_ told: SessionDiagnostics) {
      update = LocationUpdate(
        LiveElement(
          iterator: 0, location: nil, flags: told.flags, isStationary: false, dropped: 0))
      fullAccuracyDenied = told.fullAccuracyDenied
      alwaysAuthorizationDenied = told.alwaysAuthorizationDenied
    }
  }

  /// Diagnostics as they come.
  public struct Diagnostics: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// One of them.
    public typealias Element = Diagnostic
    /// Why a loop ends before its time.
    public typealias Failure = ClientError

    let session: ServiceSession

    /// The loop itself.
    public func makeAsyncIterator() -> Diagnostics { self }

    /// The next; nil when the session has ended, and when the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ClientError) -> Diagnostic? {
      try await session.mailbox.next().map { Diagnostic($0) }
    }
  }
}

/// Keeps the program in use while it is in the background (`CLBackgroundActivitySession`).
///
/// There is always one; it is active only if the program is authorized, and in the foreground or soon after a
/// start that one of its last process is resumed in (BKG-8, BKG-9).
public final class BackgroundActivitySession: Sendable {
  private let link: ServiceLink
  /// 1 once it is open, 0 where it is not active.
  private let opened = OpenNumber()

  /// Begins one; it ends with ``invalidate()``, and when nobody holds it any more, but not with the process
  /// (BKG-10).
  public init(of center: LocationCenter = .shared) {
    link = center.connection
    let opened = opened
    link.submit { state in
      guard case .active(let isActive)? = try? state.call(.openBackgroundSession) else { return }
      opened.number = isActive ? 1 : 0
    }
  }

  deinit { invalidate() }

  /// Whether it is active.
  public var isActive: Bool {
    get async throws(ClientError) {
      let opened = opened
      return try await link.ask { _ throws(ClientError) in opened.number == 1 }
    }
  }

  /// Ends it at once and for good.
  public func invalidate() {
    link.close(opened) { state, _ in _ = try? state.call(.closeBackgroundSession) }
  }
}
