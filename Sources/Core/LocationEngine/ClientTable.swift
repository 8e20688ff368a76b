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
      stir(used - 1)
    }
  }

  /// A client as it stands, in use or not.
  func client(at index: Int) -> Client {
    precondition(index >= 0 && index < capacity, "no such client")
    return index < used ? self[index] : Client(at: head)
  }

  /// All clients that a step must look at lie there, since ``lookForAwake(at:)``; those of them that rest
  /// all the same, ``isAwake(_:at:)`` tells.
  private(set) var awake = 0..<0
  /// When the first of those has to be looked at that lie outside of it.
  private var nextOutside = Instant.distantFuture
  /// The rest of one outside of it was ended: who is to be looked at must be found anew.
  private var isAstray = false

  /// All clients, for what may end the rest of any: from here on this step looks at all of them.
  mutating func stirred() -> Range<Int> {
    awake = 0..<used
    nextOutside = .distantFuture
    isAstray = false
    return awake
  }

  /// One whose rest may have been ended: from here on this step looks at it.
  mutating func stir(_ index: Int) {
    guard !awake.contains(index) else { return }
    let (first, end) = awake.isEmpty ? (index, index) : (awake.lowerBound, awake.upperBound)
    awake = min(first, index)..<max(end, index + 1)
    isAstray = true
  }

  /// Whether a step at `now` must look at it.
  func isAwake(_ index: Int, at now: Instant) -> Bool { restsUntil(index) <= now }

  /// Whether nobody is stirred whom the step did not look at, and the time of the others is known; for
  /// assertions, O(clients in use).
  func hasNobodyMissed(at now: Instant) -> Bool {
    var next = Instant.distantFuture
    for i in 0..<used where !awake.contains(i) { next = min(next, restsUntil(i)) }
    return next > now && (isAstray || next == nextOutside)
  }

  /// Finds out who rests; gives the first time at which one of those has to be looked at. O(clients in
  /// use) where somebody outside of ``awake`` was stirred or has his time, else O(those in it).
  mutating func lookForAwake(at now: Instant) -> Instant {
    if isAstray || nextOutside <= now { _ = stirred() }
    var (first, end) = (awake.lowerBound, awake.upperBound)
    while first < end, !isAwake(first, at: now) {
      nextOutside = min(nextOutside, restsUntil(first))
      first += 1
    }
    while first < end, !isAwake(end - 1, at: now) {
      nextOutside = min(nextOutside, restsUntil(end - 1))
      end -= 1
    }
    awake = first..<end
    // Between the first and the last, which are awake.
    var next = nextOutside
    var i = first + 1
    while i < end - 1 {
      if !isAwake(i, at: now) { next = min(next, restsUntil(i)) }
      i += 1
    }
    return next
  }

  private func restsUntil(_ index: Int) -> Instant {
    // All who ask go through clients in use; checked, this would be half of what it costs.
    assert(index >= 0 && index < used, "no such client")
    return unsafe storage.baseAddress.unsafelyUnwrapped[index].restsUntil
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
