import LocationClient
import Synchronization

/// What waits for a reader, in the order in which it came, and the reader who waits for it.
///
/// There is one reader at a time: another one that comes takes its place, and the first gets nil.
final class Mailbox<Element: Sendable>: Sendable {
  /// An element; nil at the end, and for who is cancelled; or why there will be none.
  typealias Outcome = Result<Element?, ClientError>
  private typealias Continuation = CheckedContinuation<Outcome, Never>

  private struct State {
    var waiting: [Element] = []
    var reader: (ticket: UInt64, continuation: Continuation)?
    /// Set once nothing comes any more: nil is the end in order.
    var end: ClientError??
    var lastTicket: UInt64 = 0
  }

  private let state = Mutex(State())
  private let merge: @Sendable (inout [Element], Element) -> Void

  /// - Parameter merge: Adds an element to those that wait, and keeps them few.
  init(merge: @escaping @Sendable (inout [Element], Element) -> Void) { self.merge = merge }

  /// Something has come. O(1) but for `merge`.
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

  /// Nothing comes any more; the first call counts. What waits is still read.
  func finish(_ error: ClientError? = nil) {
    let reader = state.withLock { state -> Continuation? in
      guard state.end == nil else { return nil }
      state.end = .some(error)
      defer { state.reader = nil }
      return state.reader?.continuation
    }
    reader?.resume(returning: Mailbox.end(error))
  }

  /// The next element; nil at the end, and when the task is cancelled.
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

  /// Takes all that waits.
  func takeAll() -> [Element] {
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
        if let end = state.end { return (continuation, Mailbox.end(end)) }
        let before = state.reader?.continuation
        state.reader = (ticket, continuation)
        return before.map { ($0, .success(nil)) }
      } ?? (nil, .success(nil))
    reader?.resume(returning: outcome)
    // One that was cancelled before it waited here was not found to be sent away.
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
