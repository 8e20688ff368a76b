import Foundation
import Glibc
import LocationWire
import Synchronization
import TextFormats

/// A service in one thread that answers calls with a test's function.
public final class FakeService: Sendable {
  /// Answer to a call: bytes to write, and whether the connection closes after them.
  public typealias Answer = @Sendable (WireCall) -> (bytes: [UInt8], ends: Bool)

  /// Path of its socket.
  public let path: String
  private let folder = TestFolder()
  private let listener: Int32
  private let answer: Answer
  private let received = Mutex<[WireCall]>([])
  /// Connections that have called `Watch`.
  private let watchers = Mutex<[Int32]>([])
  /// Frames of notices that wait for the first watcher.
  private let pending = Mutex<[UInt8]>([])

  /// Calls received so far.
  public var calls: [WireCall] { received.withLock { $0 } }

  /// Starts the service, which answers each call with `answer`.
  public init(_ answer: @escaping Answer) {
    path = folder.file("socket")
    self.answer = answer
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let listener = self.listener
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    precondition(result == 0 && listen(listener, 8) == 0, "the socket can be created")
    let thread = Thread { [self] in serve() }
    thread.start()
  }

  /// Sends a notice to all watchers; without any, to the first one later: a call on one connection
  /// may be read before `Watch` on another.
  public func notify(_ notice: WireNotice) {
    let bytes = FakeService.frame(.notice(notice), continues: true)
    watchers.withLock { watchers in
      if watchers.isEmpty { return pending.withLock { $0 += bytes } }
      for descriptor in watchers {
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      }
    }
  }

  private func watch(_ descriptor: Int32) {
    watchers.withLock { watchers in
      watchers.append(descriptor)
      let bytes = pending.withLock { pending in
        defer { pending = [] }
        return pending
      }
      if !bytes.isEmpty {
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      }
    }
  }

  /// Stops the service; its socket file remains, as after a crash.
  public func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// The frame of a reply.
  public static func frame(_ reply: WireReply, continues: Bool = false) -> [UInt8] {
    var json = JSONOutput()
    ReplyEncoder.encode(reply, continues: continues, to: &json)
    return json.bytes
  }

  private func serve() {
    var connections: [(descriptor: Int32, splitter: FrameSplitter)] = []
    while true {
      var waiting = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      waiting += connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      guard unsafe poll(&waiting, nfds_t(waiting.count), -1) >= 0 else { continue }
      for i in connections.indices.reversed() where waiting[i + 1].revents != 0 {
        if !read(connections[i].descriptor, &connections[i].splitter) {
          let closed = connections.remove(at: i).descriptor
          watchers.withLock { $0.removeAll { $0 == closed } }
          close(closed)
        }
      }
      guard waiting[0].revents != 0 else { continue }
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      // Programs that other tests start in the meantime must not inherit the descriptor.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      connections.append((descriptor, FrameSplitter()))
    }
    for connection in connections { close(connection.descriptor) }
    close(listener)
  }

  /// Answers received calls. Returns false at the end of the connection.
  private func read(_ descriptor: Int32, _ splitter: inout FrameSplitter) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    var offset = 0
    while splitter.next(in: buffer.span.extracting(first: count), at: &offset) == .frame {
      guard let call = try? CallDecoder.decode(splitter.frame).call else { return false }
      if case .watch = call { watch(descriptor) }
      received.withLock { $0.append(call) }
      let (bytes, ends) = answer(call)
      _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      if ends { return false }
    }
    return true
  }
}
