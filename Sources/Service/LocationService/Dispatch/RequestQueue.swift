import LocationPolicy

/// FIFO queue of requests for the engine.
///
/// Bounded by its producer: one buffer is read per connection and wait, and nothing while requests are pending.
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
