import CLinux
import Glibc
import LinuxHAL
import LocationTypes
import LocationWire

/// Credentials of a connection's peer, as recorded by the kernel (AUT-2).
public struct Peer: Equatable, Sendable {
  /// User ID, the trusted identity.
  public var user: UInt32
  /// Process that connected, for the log and to detect that it is frozen. No proof of identity: it may have passed the
  /// connection to another process.
  public var process: Int32

  /// Creates credentials.
  public init(user: UInt32, process: Int32) {
    self.user = user
    self.process = process
  }
}

/// A received call that is held until its user's rate permits it.
enum HeldCall {
  case call(IncomingCall)
  /// A call that is refused without being handled.
  case refused(WireError, isOneway: Bool)
}

/// One connection: its input, its unsent output, and its purpose. See ``LocationServer`` for its states.
///
/// Bounded: one frame of ``WireLimits/callFrame`` and one read buffer of input; output up to ``highWater``, plus the
/// longest reply. A class, because each turn inspects many connections and must not copy them.
final class Connection {
  /// Bytes of output above which nothing is delivered and no call of the connection is handled.
  static let highWater = 64 * 1_024
  /// Bytes of output above which no call of a user without permission is handled.
  static let unpermittedHighWater = 16 * 1_024
  /// Bytes of output above which the connection is closed. The marks above normally prevent that.
  static let outputLimit = 2 * WireLimits.replyFrame
  /// Time limit for the first call, and for the remainder of a call that has begun.
  static let callTimeout = Interval.seconds(10)
  /// Capacity in bytes that empty output of a user without permission retains.
  static let unpermittedKeptCapacity = 1_024
  /// Same with permission, on a connection with notices or a drain: one full batch of fixes.
  static let batchKeptCapacity = 2 * highWater
  /// Same with permission, on other connections.
  static let plainKeptCapacity = JSONOutput.defaultRetainedCapacity
  /// Size of the kernel's send buffer for a user without permission, for setsockopt(2), which doubles it.
  static let unpermittedSendBuffer: Int32 = 16 * 1_024

  /// Purpose of a connection.
  enum Purpose: Equatable {
    /// None yet: no call, or only calls that any program may make.
    case open
    /// Controls a client's session.
    case control(client: Int)
    /// Receives a client's notices.
    case watch(client: Int)
    /// Transfers a client's backlog as records and is then closed.
    case drain(client: Int)
  }

  let descriptor: Int32
  let peer: Peer
  /// Login user that its user is counted as.
  var account: UInt32
  /// Cached standing of its user; nil to look it up.
  var standing: Standing?
  var purpose = Purpose.open { didSet { heldCharge = nil } }
  var splitter = FrameSplitter()
  var output = JSONOutput()
  /// A call that is held because of its user's rate.
  var heldCall: HeldCall?
  /// Charge of that call: computed once, and again after permissions or the set of clients have changed.
  var heldCharge: CallCharge?
  /// Bulk transfer; nil without one.
  var drain: Drain?
  /// Monitor of the client's process, to detect that it is frozen.
  var program: ProgramFreezeMonitor?
  /// Conditions registered with epoll.
  var interest = EventWait.Conditions.readable
  /// Whether input is neither read nor handled for now.
  var isPaused = false
  /// Time until which held calls are handled after the peer has hung up; nil before.
  var lingersUntil: Instant?
  /// Input that is not handled yet: at most one buffer (``LocationServer/readSize``).
  var input: [UInt8] = []
  /// Maximum total size of the pending answers in bytes.
  var expectedAnswerBytes = 0
  /// Time at which the connection is closed unless a call is complete.
  var deadline: Instant
  /// Whether it has made a call.
  var hasMadeCall = false
  /// Whether reading has ended; the connection is closed after its output was offered once.
  var isEnding = false
  /// Number of the wait in which it was accepted.
  let acceptedWait: UInt64
  /// Time at which it was accepted.
  let acceptedAt: Instant

  /// Sets the capacity that empty output retains, by purpose and standing.
  func keepCapacity(for standing: Standing) {
    switch (standing, purpose) {
    case (.unpermitted, _): output.retainedCapacity = Connection.unpermittedKeptCapacity
    case (_, .watch), (_, .drain): output.retainedCapacity = Connection.batchKeptCapacity
    case (_, .open), (_, .control): output.retainedCapacity = Connection.plainKeptCapacity
    }
    if output.isEmpty { output.removeAll() }
  }

  /// - Parameter account: Login user that the peer's user is counted as.
  init(
    _ descriptor: Int32, _ peer: Peer, of account: UInt32, since wait: UInt64, at now: Instant
  ) {
    self.descriptor = descriptor
    self.peer = peer
    self.account = account
    acceptedWait = wait
    acceptedAt = now
    deadline = now + Connection.callTimeout
  }

  /// Whether output is below the high-water mark.
  var hasOutputCapacity: Bool { output.count < Connection.highWater }

  /// Whether its received calls are handled even if the peer does not read the answers.
  var carriesCalls: Bool {
    switch purpose {
    case .open, .control: true
    case .watch, .drain: false
    }
  }

  /// Consumes bytes up to the end of a frame.
  func nextFrame(
    _ bytes: [UInt8], upTo count: Int, _ offset: inout Int
  ) -> FrameSplitter.Outcome {
    splitter.next(in: bytes.span.extracting(first: count), at: &offset)
  }

  /// Writes what the socket accepts. One system call if it accepts everything.
  ///
  /// - Returns: false if the connection has failed.
  func send() -> Bool {
    while !output.isEmpty {
      let count = unsafe output.withUnsafeBytes { bytes in
        unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        return errno == EAGAIN || errno == EWOULDBLOCK
      }
      output.removeFirst(count)
    }
    return true
  }
}
