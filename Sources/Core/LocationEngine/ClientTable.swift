import DeferralCache
import LocationPolicy
import LocationTypes

/// The client records, in memory that the engine's caller owns. ``Engine`` is its only user.
@safe struct ClientTable: ~Copyable {
  private let storage: UnsafeMutableBufferPointer<Client>
  /// Upper bound of the client indices in use: no client at or above it was ever connected. The memory above it is not
  /// initialised, so the kernel need not provide its pages.
  private var used = 0
  private let head: UInt64
  /// Position of ``nextNotice(in:hold:)``.
  private var noticeIndex = 0

  /// Creates a table in `storage`, whose memory is not initialised and must outlive the table.
  ///
  /// - Parameter head: The ring's head, at which the cursors of new clients start.
  @unsafe init(_ storage: UnsafeMutableBufferPointer<Client>, head: UInt64) {
    unsafe self.storage = storage
    self.head = head
  }

  /// Number of clients for which there is memory.
  var capacity: Int { unsafe storage.count }

  /// The indices in use.
  var indices: Range<Int> { 0..<used }

  /// Initialises the clients up to `index`.
  ///
  /// - Precondition: `index` is 0 to `capacity - 1`.
  mutating func activate(_ index: Int) {
    precondition(index >= 0 && index < capacity, "no such client")
    while used <= index {
      unsafe (storage.baseAddress.unsafelyUnwrapped + used).initialize(to: Client(at: head))
      used += 1
    }
  }

  /// Calls `body` with a client's record, or with a new one if it was never connected.
  func withClient<Result>(_ index: Int, _ body: (borrowing Client) -> Result) -> Result {
    precondition(index >= 0 && index < capacity, "no such client")
    return index < used ? body(self[index]) : body(Client(at: head))
  }

  // MARK: All clients

  /// The next notice of a client; nil when all are reported.
  mutating func nextNotice(in ring: borrowing FixRing, hold: Instant) -> ClientNotice? {
    while noticeIndex < used {
      if self[noticeIndex].hasNotices,
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
  var hasNotices: Bool {
    for i in indices where self[i].hasNotices { return true }
    return false
  }

  /// Time until which the board is not suspended, because a delivery waits for its acknowledgement (RNG-8); nil if no
  /// delivery does.
  func acknowledgementDeadline(at now: Instant) -> Instant? {
    var due: Instant?
    for i in indices {
      guard let hold = self[i].acknowledgementDeadline, hold > now else { continue }
      due = max(due ?? hold, hold)
    }
    return due
  }

  /// First sequence number that a client needs in the ring; `head` if none needs an older one.
  func neededFrom(head: UInt64) -> UInt64 {
    var first = head
    for i in indices { first = min(first, self[i].neededFrom) }
    return first
  }

  /// Advances the cursors that the head is about to pass; they record the lost fixes as a gap (RNG-4).
  func prepareOverwrite(in ring: borrowing FixRing) {
    for i in indices { self[i].prepareOverwrite(in: ring) }
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
