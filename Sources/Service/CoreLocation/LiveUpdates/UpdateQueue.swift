import LocationClient
import Synchronization

/// A queue of elements with at most one waiting reader.
///
/// A second reader replaces the first, which gets nil.
final class UpdateQueue<Element: Sendable>: Sendable {
  /// An element; nil at the end or for a cancelled reader; or the error that ended the queue.
  typealias Outcome = Result<Element?, ClientError>
  /// Resumes a reader, which runs code of the program: call it without a lock.
  typealias Wakeup = @Sendable () -> Void
  private typealias Continuation = CheckedContinuation<Outcome, Never>

  /// The result of adding an element.
  struct Addition: Sendable {
    /// Elements that no reader gets, because the queue is full.
    var dropped: [Element] = []
    /// Resumes the reader that gets the element.
    var wakeup: Wakeup?
  }

  private struct State {
    var waiting: [Element] = []
    /// The newest element that was added.
    var newest: Element?
    var reader: (ticket: UInt64, continuation: Continuation)?
    /// Set at the end; `.some(nil)` is an end without an error.
    var end: ClientError??
    var lastTicket: UInt64 = 0
  }

  private let state = Mutex(State())
  private let merge: @Sendable (inout [Element], Element) -> Void
  /// Maximum number of queued elements.
  private let capacity: Int

  /// - Parameter merge: Adds an element to the queued ones, and limits their number.
  init(merge: @escaping @Sendable (inout [Element], Element) -> Void) {
    self.merge = merge
    capacity = .max
  }

  /// Creates a queue that keeps the newest `capacity` elements.
  init(capacity: Int) {
    merge = { waiting, new in waiting.append(new) }
    self.capacity = capacity
  }

  /// Adds an element, and resumes the reader; returns the elements that are dropped.
  @discardableResult
  func put(_ element: Element) -> [Element] {
    let addition = add(element)
    addition.wakeup?()
    return addition.dropped
  }

  /// Adds an element. O(1) except for `merge`.
  func add(_ element: Element) -> Addition {
    addition(of: element) { state in
      guard state.end == nil else { return [element] }
      merge(&state.waiting, element)
      return state.waiting.count > capacity ? [state.waiting.removeFirst()] : []
    }
  }

  /// Adds an element that was read, and not handled, before the queued ones, also after the end.
  func putBack(_ element: Element) -> Addition {
    addition(of: element) { state in
      guard state.waiting.count < capacity else { return [element] }
      state.waiting.insert(element, at: 0)
      return []
    }
  }

  /// Gives an element to the reader, or else queues it; `queue` returns the elements that are dropped.
  private func addition(of element: Element, else queue: (inout State) -> [Element]) -> Addition {
    state.withLock { state in
      state.newest = element
      guard let reader = state.reader?.continuation else {
        return Addition(dropped: queue(&state))
      }
      state.reader = nil
      return Addition(wakeup: { reader.resume(returning: .success(element)) })
    }
  }

  /// Ends the queue, and resumes the reader.
  func finish(_ error: ClientError? = nil) { end(error)?() }

  /// Ends the queue; only the first call has an effect. Queued elements can still be read.
  func end(_ error: ClientError?) -> Wakeup? {
    state.withLock { state in
      guard state.end == nil else { return nil }
      state.end = .some(error)
      guard let reader = state.reader?.continuation else { return nil }
      state.reader = nil
      return { reader.resume(returning: UpdateQueue.outcome(of: error)) }
    }
  }

  /// Queues the newest element again for another loop, if none is queued and no loop reads.
  func repeatNewest() {
    state.withLock { state in
      guard state.waiting.isEmpty, state.reader == nil, state.end == nil else { return }
      if let newest = state.newest { state.waiting = [newest] }
    }
  }

  /// Whether a reader waits.
  var isRead: Bool { state.withLock { $0.reader != nil } }

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

  /// Removes and returns queued elements.
  func removeAll(where shouldRemove: (Element) -> Bool = { _ in true }) -> [Element] {
    state.withLock { state in
      let removed = state.waiting.filter(shouldRemove)
      state.waiting.removeAll(where: shouldRemove)
      return removed
    }
  }

  private func wait(_ ticket: UInt64, _ continuation: Continuation) {
    let (reader, outcome) =
      state.withLock { state -> (Continuation, Outcome)? in
        if Task.isCancelled { return (continuation, .success(nil)) }
        if !state.waiting.isEmpty { return (continuation, .success(state.waiting.removeFirst())) }
        if let end = state.end { return (continuation, UpdateQueue.outcome(of: end)) }
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

  private static func outcome(of error: ClientError?) -> Outcome {
    error.map { .failure($0) } ?? .success(nil)
  }
}
