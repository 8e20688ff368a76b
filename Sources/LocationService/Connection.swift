import CLinux
import Glibc
import LinuxHAL
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

/// One program's connection: what came of it, what it has not taken yet, and what it is for.
///
/// Bounded: a frame of ``WireLimits/callFrame`` in, and out what one client is told before it is held
/// back (``Connection/highWater``) and once more the longest reply. A class, for each step looks at many
/// of them, and a look at one must not copy it.
final class Connection {
  /// So many bytes may wait for a client; while there are more it is told nothing new.
  static let highWater = 64 * 1_024
  /// A client that does not take its own replies, and goes on asking, is let go here.
  static let limit = 2 * WireLimits.replyFrame

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
  var peer: Peer
  var purpose = Purpose.open
  var splitter = FrameSplitter()
  var output = JSONOutput()
  /// What it still has to carry in bulk.
  var drain: Drain?
  /// Tells whether the program that speaks for a client is frozen.
  var program: ProgramWatch?
  /// Room to write in is waited for.
  var waitsForRoom = false
  /// It has asked something.
  var hasAsked = false
  /// Nothing more is read; it is closed once it was offered what waits.
  var isEnding = false
  /// The wait by which it was found.
  let since: UInt64

  init(_ descriptor: Int32, _ peer: Peer, since wait: UInt64) {
    self.descriptor = descriptor
    self.peer = peer
    since = wait
  }

  /// Whether it takes more notices.
  var hasRoom: Bool { output.count < Connection.highWater }

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
