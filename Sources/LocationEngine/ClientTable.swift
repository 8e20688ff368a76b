import LocationPolicy
import LocationTypes

/// The clients, in memory that the engine's owner handed in and frees.
@safe struct ClientTable: ~Copyable {
  private let storage: UnsafeMutableBufferPointer<Client>
  /// No client at or above this index was ever connected: what a step has to look at. What lies there
  /// is not initialised, and so takes no memory where the kernel gives it page by page.
  private(set) var used = 0
  private let head: UInt64

  /// Creates a table over `storage`, whose memory is not initialised yet and outlives the table.
  @unsafe init(_ storage: UnsafeMutableBufferPointer<Client>, head: UInt64) {
    unsafe self.storage = storage
    self.head = head
  }

  /// How many clients fit.
  var capacity: Int { unsafe storage.count }

  /// Counts the client at `index` among those in use.
  mutating func use(_ index: Int) {
    precondition(index >= 0 && index < capacity, "no such client")
    while used <= index {
      unsafe (storage.baseAddress.unsafelyUnwrapped + used).initialize(to: Client(at: head))
      used += 1
    }
  }

  /// A client as it stands, in use or not.
  func client(at index: Int) -> Client {
    precondition(index >= 0 && index < capacity, "no such client")
    return index < used ? self[index] : Client(at: head)
  }

  /// All clients that a step must look at lie there, since ``lookForAwake(at:)``: nobody outside of
  /// it is stirred in the same step, but by a loop over ``stirred()``.
  private(set) var awake = 0..<0

  /// All clients, for what may end the rest of any: from here on this step looks at all of them.
  mutating func stirred() -> Range<Int> {
    awake = 0..<used
    return awake
  }

  /// Whether nobody is stirred whom the step did not look at; for assertions, O(clients in use).
  func hasNobodyMissed(at now: Instant) -> Bool {
    for i in 0..<used where !awake.contains(i) && self[i].restsUntil <= now { return false }
    return true
  }

  /// Finds out who rests; gives the first time at which one of those has to be looked at.
  mutating func lookForAwake(at now: Instant) -> Instant {
    var first = used
    var end = used
    var next = Instant.distantFuture
    for i in 0..<used {
      // used ≤ capacity; checked, this would be half of what a step with many resting clients costs.
      let until = unsafe storage[i].restsUntil
      if until > now {
        next = min(next, until)
      } else {
        first = min(first, i)
        end = i + 1
      }
    }
    awake = first..<max(first, end)
    return next
  }

  subscript(index: Int) -> Client {
    unsafeAddress {
      precondition(index >= 0 && index < used, "no such client")
      return unsafe UnsafePointer(storage.baseAddress.unsafelyUnwrapped + index)
    }
    nonmutating unsafeMutableAddress {
      precondition(index >= 0 && index < used, "no such client")
      return unsafe storage.baseAddress.unsafelyUnwrapped + index
    }
  }
}
