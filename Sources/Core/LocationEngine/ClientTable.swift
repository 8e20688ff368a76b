import DeferralCache
import LocationPolicy
import LocationTypes

/// The client records, in memory that the engine's caller owns, and the range of dirty clients.
///
/// Most clients need nothing before a later time or before a distance is travelled. Such a client is dormant until
/// `Client.dormantUntil`, and a step skips it. Any other client is dirty: the step must update it. The table keeps
/// `dirtyRange`, a range of indices that contains every dirty client, and the earliest wake time outside the range.
/// Dormant clients inside the range are recognised by ``isDirty(_:at:)``.
///
/// ``Engine`` is its only user.
@safe struct ClientTable: ~Copyable {
  private let storage: UnsafeMutableBufferPointer<Client>
  /// Upper bound of the client indices in use: no client at or above it was ever connected. The memory above it is not
  /// initialised, so the kernel need not provide its pages.
  private(set) var used = 0
  private let head: UInt64

  /// Creates a table in `storage`, whose memory is not initialised and must outlive the table.
  ///
  /// - Parameter head: The ring's head, at which the cursors of new clients start.
  @unsafe init(_ storage: UnsafeMutableBufferPointer<Client>, head: UInt64) {
    unsafe self.storage = storage
    self.head = head
  }

  /// Number of clients for which there is memory.
  var capacity: Int { unsafe storage.count }

  /// Initialises the clients up to `index`.
  ///
  /// - Precondition: `index` is 0 to `capacity - 1`.
  mutating func activate(_ index: Int) {
    precondition(index >= 0 && index < capacity, "no such client")
    while used <= index {
      unsafe (storage.baseAddress.unsafelyUnwrapped + used).initialize(to: Client(at: head))
      used += 1
      markDirty(used - 1)
    }
  }

  /// Calls `body` with a client's record, or with a new one if it was never connected.
  func withClient<Result>(_ index: Int, _ body: (borrowing Client) -> Result) -> Result {
    precondition(index >= 0 && index < capacity, "no such client")
    return index < used ? body(self[index]) : body(Client(at: head))
  }

  /// Contains every dirty client since ``updateDirtyRange(at:)``, and possibly dormant ones; see ``isDirty(_:at:)``.
  private(set) var dirtyRange = 0..<0
  /// Earliest wake time of the clients outside the range.
  private var earliestWakeOutside = Instant.distantFuture
  /// Whether a client outside the range was marked dirty, so that the range must be recomputed.
  private var isRangeStale = false

  /// Puts all clients into the range and returns it, for a change that may end the dormancy of any: the caller ends the
  /// dormancy of each.
  mutating func markAllDirty() -> Range<Int> {
    dirtyRange = 0..<used
    earliestWakeOutside = .distantFuture
    isRangeStale = false
    return dirtyRange
  }

  /// Extends the range to a client whose dormancy may have ended: this step updates it.
  mutating func markDirty(_ index: Int) {
    guard !dirtyRange.contains(index) else { return }
    let (first, end) =
      dirtyRange.isEmpty ? (index, index) : (dirtyRange.lowerBound, dirtyRange.upperBound)
    dirtyRange = min(first, index)..<max(end, index + 1)
    isRangeStale = true
  }

  /// Whether a step at `now` must update the client.
  func isDirty(_ index: Int, at now: Instant) -> Bool { dormantUntil(index) <= now }

  /// Whether every dirty client is in the range, and the earliest wake time outside it is correct or will be
  /// recomputed; for assertions, O(clients in use).
  func noDirtyClientSkipped(at now: Instant) -> Bool {
    var next = Instant.distantFuture
    for i in 0..<used where !dirtyRange.contains(i) { next = min(next, dormantUntil(i)) }
    return next > now && (isRangeStale || next == earliestWakeOutside)
  }

  /// Shrinks the range to the dirty clients and returns the earliest wake time of the dormant ones.
  ///
  /// O(clients in use) if a client outside the range was marked dirty or its wake time was reached, else O(clients in
  /// the range).
  mutating func updateDirtyRange(at now: Instant) -> Instant {
    if isRangeStale || earliestWakeOutside <= now { _ = markAllDirty() }
    var (first, end) = (dirtyRange.lowerBound, dirtyRange.upperBound)
    while first < end, !isDirty(first, at: now) {
      earliestWakeOutside = min(earliestWakeOutside, dormantUntil(first))
      first += 1
    }
    while first < end, !isDirty(end - 1, at: now) {
      earliestWakeOutside = min(earliestWakeOutside, dormantUntil(end - 1))
      end -= 1
    }
    dirtyRange = first..<end
    // The first and the last client of the range are dirty; check those between them.
    var next = earliestWakeOutside
    var i = first + 1
    while i < end - 1 {
      if !isDirty(i, at: now) { next = min(next, dormantUntil(i)) }
      i += 1
    }
    return next
  }

  // MARK: All clients

  /// Position of ``nextNotice(in:hold:at:)``.
  private var noticeIndex = 0

  /// The next notice of a dirty client; nil when all are reported.
  mutating func nextNotice(
    in ring: borrowing FixRing, hold: Instant, at now: Instant
  ) -> ClientNotice? {
    noticeIndex = max(noticeIndex, dirtyRange.lowerBound)
    while noticeIndex < dirtyRange.upperBound {
      if isDirty(noticeIndex, at: now),
        let notice = self[noticeIndex].nextNotice(in: ring, hold: hold)
      {
        return ClientNotice(client: ClientID(noticeIndex), notice: notice)
      }
      noticeIndex += 1
    }
    noticeIndex = 0
    return nil
  }

  /// Whether a client has a notice.
  func hasNotices(at now: Instant) -> Bool {
    for i in dirtyRange where isDirty(i, at: now) && self[i].hasNotices { return true }
    return false
  }

  /// Time until which the board is not suspended, because a delivery waits for its acknowledgement (RNG-8); nil if no
  /// delivery does.
  func acknowledgementDeadline(at now: Instant) -> Instant? {
    var due: Instant?
    for i in dirtyRange where isDirty(i, at: now) {
      guard let hold = self[i].acknowledgementDeadline, hold > now else { continue }
      due = max(due ?? hold, hold)
    }
    return due
  }

  /// First sequence number that a client needs in the ring; `head` if none needs an older one.
  func neededFrom(head: UInt64) -> UInt64 {
    var first = head
    for i in 0..<used { first = min(first, self[i].neededFrom) }
    return first
  }

  /// Delivers the newest fix to the clients that skipped it.
  func deliverSkippedFixes(_ context: ClientContext) {
    for i in 0..<used where self[i].hasSkippedFix { self[i].deliverSkippedFix(context) }
  }

  /// Delivers skipped fixes and puts all clients into the dirty range; see ``markAllDirty()``.
  @inline(never)
  mutating func markAllDirty(_ context: ClientContext) -> Range<Int> {
    deliverSkippedFixes(context)
    return markAllDirty()
  }

  /// Advances the cursors that the head is about to pass; they record the lost fixes as a gap (RNG-4).
  func prepareOverwrite(in ring: borrowing FixRing, at now: Instant) {
    for i in 0..<used where isDirty(i, at: now) { self[i].prepareOverwrite(in: ring) }
  }

  private func dormantUntil(_ index: Int) -> Instant {
    // All callers iterate over clients in use. A check in release builds would take half of the time of this function.
    assert(index >= 0 && index < used, "no such client")
    return unsafe storage.baseAddress.unsafelyUnwrapped[index].dormantUntil
  }

  subscript(index: Int) -> Client {
    unsafeAddress { unsafe UnsafePointer(address(of: index)) }
    nonmutating unsafeMutableAddress { unsafe address(of: index) }
  }

  private func address(of index: Int) -> UnsafeMutablePointer<Client> {
    // One comparison: a negative index is above `used`, too.
    precondition(UInt(bitPattern: index) < UInt(bitPattern: used), "no such client")
    return unsafe storage.baseAddress.unsafelyUnwrapped + index
  }
}
