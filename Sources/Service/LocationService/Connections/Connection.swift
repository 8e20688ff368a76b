import CLinux
import Glibc
import LinuxHAL
import LocationTypes
import LocationWire

/// Who is at the other end of a connection, as the kernel knows (AUT-2).
public struct Peer: Equatable, Sendable {
  /// The user that is trusted.
  public var user: UInt32
  /// The process that connected, for people to read; it may have handed the connection on.
  public var process: Int32

  /// Names a peer.
  public init(user: UInt32, process: Int32) {
    self.user = user
    self.process = process
  }
}

/// A call that has come, and may have to wait for its user's rate.
enum HeldCall {
  case call(IncomingCall)
  /// One that is refused as it stands.
  case refused(WireError, isOneway: Bool)
}

/// One program's connection: what came of it, what it has not taken yet, and what it is for.
///
/// Bounded: a frame of ``WireLimits/callFrame`` in, and out what one client is told before it is held
/// back (``Connection/highWater``) and once more the longest reply. A class, for each step looks at many
/// of them, and a look at one must not copy it.
final class Connection {
  /// So many bytes may wait for a client; while there are more it is told nothing new, and none of its calls is
  /// handled.
  static let highWater = 64 * 1_024
  /// The same of a user without permission.
  static let unpermittedHighWater = 16 * 1_024
  /// A connection for which more waits, which the marks above should not let happen, is closed.
  static let limit = 2 * WireLimits.replyFrame
  /// How long a connection may take for its first call, and for the rest of a call that has begun.
  static let callPatience = Interval.seconds(10)
  /// The capacity in bytes that such a user's output keeps while it is empty.
  static let unpermittedKept = 1_024
  /// The same for a user with permission: on a connection with notices or a drain, a full batch of fixes fits.
  static let batchKept = 2 * highWater
  /// The same on other connections.
  static let plainKept = JSONOutput.standardKept
  /// Bytes that the kernel keeps for a user without permission, as setsockopt(2) takes them (it doubles them).
  static let unpermittedSendBuffer: Int32 = 16 * 1_024

  /// What a connection is for.
  enum Purpose: Equatable {
    /// It has said nothing yet, or only asked what anybody may.
    case open
    /// It speaks for the session of that client.
    case control(client: Int)
    /// It hears that client's notices.
    case watch(client: Int)
    /// It carries that client's backlog in bulk, and then ends.
    case drain(client: Int)
  }

  let descriptor: Int32
  let peer: Peer
  /// The login user who answers for its user.
  var account: UInt32
  /// What its user counts as; nil where that is to be looked up.
  var standing: Standing?
  var purpose = Purpose.open { didSet { heldTerms = nil } }
  var splitter = FrameSplitter()
  var output = JSONOutput()
  /// A call that waits for its user's rate.
  var held: HeldCall?
  /// The terms of that call: found once, and again after permissions or the set of clients have changed.
  var heldTerms: CallTerms?
  /// What it still has to carry in bulk.
  var drain: Drain?
  /// Tells whether the program that speaks for a client is frozen.
  var program: ProgramWatch?
  /// What it is waited for.
  var interest = EventWait.Conditions.readable
  /// Its calls are not handled for now, and nothing more is read.
  var isPaused = false
  /// The other end has hung up: until when its calls that wait are carried out; nil before.
  var lingersUntil: Instant?
  /// What was read and is not handled yet: at most one buffer (``LocationServer/readSize``).
  var input: [UInt8] = []
  /// The most bytes that the answers to its calls may have that are not given yet.
  var expected = 0
  /// When it is closed if no whole call has come.
  var deadline: Instant
  /// It has asked something.
  var hasAsked = false
  /// Nothing more is read; it is closed once it was offered what waits.
  var isEnding = false
  /// The wait by which it was found.
  let since: UInt64
  /// When it was found.
  let opened: Instant

  /// Sets how much capacity its output keeps while it is empty, by what the connection is for and what its user may.
  func keepCapacity(for standing: Standing) {
    switch (standing, purpose) {
    case (.unpermitted, _): output.kept = Connection.unpermittedKept
    case (_, .watch), (_, .drain): output.kept = Connection.batchKept
    case (_, .open), (_, .control): output.kept = Connection.plainKept
    }
    if output.isEmpty { output.removeAll() }
  }

  /// - Parameter account: The login user who answers for the peer's user.
  init(
    _ descriptor: Int32, _ peer: Peer, of account: UInt32, since wait: UInt64, at now: Instant
  ) {
    self.descriptor = descriptor
    self.peer = peer
    self.account = account
    since = wait
    opened = now
    deadline = now + Connection.callPatience
  }

  /// Whether it takes more notices.
  var hasRoom: Bool { output.count < Connection.highWater }

  /// Whether it carries calls that are worth something though nobody reads the answers.
  var carriesCalls: Bool {
    switch purpose {
    case .open, .control: true
    case .watch, .drain: false
    }
  }

  /// Takes bytes up to the end of one frame.
  func take(
    _ bytes: [UInt8], upTo count: Int, _ place: inout Int
  ) -> FrameSplitter.Outcome {
    splitter.next(in: bytes.span.extracting(first: count), at: &place)
  }

  /// Writes what it takes now; one system call where it takes all.
  ///
  /// - Returns: false when the other end is gone.
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
