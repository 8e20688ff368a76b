import LocationPolicy

/// Requests on their way to the engine, first in, first out.
///
/// Bounded by who fills it: of a connection one buffer is read per wait, and nothing while requests
/// wait.
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
