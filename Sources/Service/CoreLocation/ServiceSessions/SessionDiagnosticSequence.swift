import LocationClient

/// The diagnostics of a session: the current state immediately, then each change (BKG-17). It ends with the session.
///
/// One loop at a time. The type of `CLServiceSession.Diagnostics` and `CLBackgroundActivitySession.Diagnostics`.
public struct SessionDiagnosticSequence<Element: Sendable>: AsyncSequence, AsyncIteratorProtocol,
  Sendable
{
  /// Error that ends a loop early.
  public typealias Failure = any Error

  /// The session, which a loop over its diagnostics keeps open.
  private let session: any AnyObject & Sendable
  private let queue: UpdateQueue<Element>

  init(of session: any AnyObject & Sendable, _ queue: UpdateQueue<Element>) {
    self.session = session
    self.queue = queue
  }

  /// Returns itself; the loop starts with the current state (BKG-17).
  public func makeAsyncIterator() -> SessionDiagnosticSequence {
    queue.repeatNewest()
    return self
  }

  /// The next diagnostic; nil if the session has ended or the task was cancelled.
  public mutating func next(
    isolation actor: isolated (any Actor)? = #isolation
  ) async throws(any Error) -> Element? {
    try await queue.next()
  }
}
