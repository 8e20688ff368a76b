import GPSDProtocol
import LinuxHAL
import LocationTypes
import TextFormats

/// One connection of a program that uses gpsd's protocol: its policy, its input that is not handled yet, and its unsent
/// output.
///
/// # States
///
///     OPEN ──`?WATCH` with `enable`, or `?POLL` after it──▶ ATTACHED(client) ──`enable` is false──▶ OPEN
///       │                                                      │
///       └── end of input, an HTTP request, a failure ──────────┴──▶ ENDING ──output offered once──▶ closed
///
/// # Invariants
///
/// - Owner: ``GPSDConnections``. No bytes are read while input is not handled yet: the kernel then blocks the peer.
///
/// # Bounds
///
/// One buffer of input (``GPSDConnections/readSize``) and one request. Output up to ``highWater`` and the longest
/// answer or burst: reports that do not fit are dropped for this connection, so a program that does not read delays no
/// other, and needs no fixes.
/// A class, because each turn inspects all connections and must not copy them.
final class GPSDConnection {
  /// Bytes of output above which no request is handled and no report is added.
  static let highWater = 32_768
  /// Capacity in bytes that empty output retains.
  static let keptCapacity = 2_048

  let descriptor: Int32
  /// User of the program.
  let user: UInt32
  /// Number of the wait in which it was accepted.
  let acceptedWait: UInt64
  private(set) var parser = GPSDRequestParser()
  private(set) var policy = GPSDPolicy()
  private(set) var output = JSONOutput()
  /// Input that is not handled yet.
  private(set) var pending: [UInt8] = []
  /// The client that it belongs to; nil if it requests no data.
  private(set) var client: Int?
  /// Whether it is closed at the end of the turn.
  private(set) var isEnding = false
  /// Conditions registered with epoll.
  private(set) var interest = EventWait.Conditions.readable
  /// Time of its last request for one report; nil before the first.
  private(set) var lastPoll: Instant?
  /// Measurement time of the newest fix sent; nil before the first.
  private(set) var newestSent: Instant?
  /// Whether the report of a refusal was sent since its last request.
  private(set) var isRefusalSent = false

  init(_ descriptor: Int32, of user: UInt32, since wait: UInt64) {
    self.descriptor = descriptor
    self.user = user
    acceptedWait = wait
    output.text.retainedCapacity = GPSDConnection.keptCapacity
  }

  // MARK: Input

  /// Whether more input may be read.
  var isReading: Bool { pending.isEmpty && !isEnding }

  /// Adds input, which is handled at the end of the turn.
  func receive(_ bytes: ArraySlice<UInt8>) { pending.append(contentsOf: bytes) }

  /// The next request of the input; nil if it contains no further one. An HTTP request ends the connection.
  func nextRequest() -> GPSDRequest? {
    var offset = 0
    let input = pending
    let outcome = parser.next(in: input.span, at: &offset)
    pending = offset == input.count ? [] : Array(input[offset...])
    switch outcome {
    case .needsMore: return nil
    case .request(let request): return request
    case .webRequest:
      pending = []
      discardOutput()
      return nil
    }
  }

  /// Ends the connection; remaining output is offered once.
  func end() { isEnding = true }

  // MARK: Policy

  /// Applies a request.
  func apply(_ watch: GPSDWatch) {
    policy.apply(watch)
    isRefusalSent = false
    if !policy.enable { lastPoll = nil }
  }

  /// Attaches it to a client; nil detaches it.
  func attach(to client: Int?) { self.client = client }

  /// Records a request for one report.
  func notePoll(at now: Instant) { lastPoll = now }

  /// Records that a fix was sent.
  func noteSent(_ acquired: Instant) { newestSent = acquired }

  /// Records that the refusal was reported.
  func noteRefusalSent() { isRefusalSent = true }

  // MARK: Output

  /// Whether output is below the high-water mark.
  var hasOutputCapacity: Bool { output.text.count < GPSDConnection.highWater }

  /// Adds a text to the output.
  func append(_ text: borrowing TextBuffer) { output.text.add(text) }

  /// Discards unsent output, which may begin in the middle of a line, and ends the connection.
  func discardOutput() {
    output.removeAll()
    isEnding = true
  }

  /// Adds output.
  func write(_ body: (inout JSONOutput) -> Void) { body(&output) }

  /// Sets the conditions registered with epoll.
  func setInterest(_ interest: EventWait.Conditions) { self.interest = interest }

  /// Writes what the socket accepts. One system call if it accepts everything.
  ///
  /// - Returns: false if the connection has failed.
  func send() -> Bool { output.text.send(to: descriptor) }
}
