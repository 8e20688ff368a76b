import LocationPolicy

/// FIFO queue of requests from ``LocationServer`` to the engine, which takes one at a time.
///
/// It has no limit of its own. It stays short because the server reads the next connection only when the queue is
/// empty: one buffer, or up to ``ConnectionTable/readsAfterHangUp`` if the peer has hung up. Its heap memory is kept for
/// reuse.
struct RequestQueue {
  private var waiting: [(ClientID, Request)] = []
  private var first = 0

  var isEmpty: Bool { first == waiting.count }

  mutating func append(_ request: (ClientID, Request)) { waiting.append(request) }

  mutating func popFirst() -> (ClientID, Request)? {
    guard first < waiting.count else { return nil }
    let next = waiting[first]
    first += 1
    if first == waiting.count {
      waiting.removeAll(keepingCapacity: true)
      first = 0
    }
    return next
  }
}
