import LocationClient
import Synchronization

/// A queue of elements with at most one waiting reader.
///
/// A second reader replaces the first, which gets nil.
final class UpdateQueue<Element: Sendable>: Sendable {
  /// An element; nil at the end or for a cancelled reader; or the error that ended the queue.
  typealias Outcome = Result<Element?, ClientError>
  private typealias Continuation = CheckedContinuation<Outcome, Never>

  private struct State {
    var waiting: [Element] = []
    var reader: (ticket: UInt64, continuation: Continuation)?
    /// Set at the end; `.some(nil)` is an end without an error.
    var end: ClientError??
    var lastTicket: UInt64 = 0
  }

  private let state = Mutex(State())
  private let merge: @Sendable (inout [Element], Element) -> Void

  /// - Parameter merge: Adds an element to the queued ones, and limits their number.
  init(merge: @escaping @Sendable (inout [Element], Element) -> Void) { self.merge = merge }

  /// Adds an element. O(1) except for `merge`.
  func put(_ element: Element) {
    let reader = state.withLock { state -> Continuation? in
      guard state.end == nil else { return nil }
      guard let reader = state.reader else {
        merge(&state.waiting, element)
        return nil
      }
      state.reader = nil
      return reader.continuation
    }
    reader?.resume(returning: .success(element))
  }

  /// Ends the queue; only the first call has an effect. Queued elements can still be read.
  func finish(_ error: ClientError? = nil) {
    let reader = state.withLock { state -> Continuation? in
      guard state.end == nil else { return nil }
      state.end = .some(error)
      defer { state.reader = nil }
      return state.reader?.continuation
    }
    reader?.resume(returning: UpdateQueue.end(error))
  }

  /// The next element; nil at the end, and if the task is cancelled.
  func next() async throws(ClientError) -> Element? {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { wait(ticket, $0) }
    } onCancel: {
      cancel(ticket)
    }
    return try outcome.get()
  }

  /// Removes and returns all queued elements.
  func removeAll() -> [Element] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private func wait(_ ticket: UInt64, _ continuation: Continuation) {
    let (reader, outcome) =
      state.withLock { state -> (Continuation, Outcome)? in
        if Task.isCancelled { return (continuation, .success(nil)) }
        if !state.waiting.isEmpty { return (continuation, .success(state.waiting.removeFirst())) }
        if let end = state.end { return (continuation, UpdateQueue.end(end)) }
        let replaced = state.reader?.continuation
        state.reader = (ticket, continuation)
        return replaced.map { ($0, .success(nil)) }
      } ?? (nil, .success(nil))
    reader?.resume(returning: outcome)
    // The task was cancelled before its reader was registered, so `cancel` did not find it.
    if Task.isCancelled { cancel(ticket) }
  }

  private func cancel(_ ticket: UInt64) {
    let reader = state.withLock { state -> Continuation? in
      guard let reader = state.reader, reader.ticket == ticket else { return nil }
      state.reader = nil
      return reader.continuation
    }
    reader?.resume(returning: .success(nil))
  }

  private static func end(_ error: ClientError?) -> Outcome {
    error.map { .failure($0) } ?? .success(nil)
  }
}
