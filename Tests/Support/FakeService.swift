import Foundation
import Glibc
import LocationWire
import Synchronization

/// A service of one thread that answers as a test says.
public final class FakeService: Sendable {
  /// What becomes of a call: bytes to write, and whether the connection ends behind them.
  public typealias Answer = @Sendable (WireCall) -> (bytes: [UInt8], ends: Bool)

  /// Where it listens.
  public let path: String
  private let folder = TestFolder()
  private let listener: Int32
  private let answer: Answer
  private let heard = Mutex<[WireCall]>([])
  /// Connections that have called `Watch`.
  private let watchers = Mutex<[Int32]>([])
  /// What nobody was there to hear.
  private let untold = Mutex<[UInt8]>([])

  /// What it was asked.
  public var calls: [WireCall] { heard.withLock { $0 } }

  /// Answers each call as `answer` says.
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
    precondition(result == 0 && listen(listener, 8) == 0, "a test may listen")
    let thread = Thread { [self] in serve() }
    thread.start()
  }

  /// Says something to whoever watches, and where nobody does yet, to who comes first: a call on one
  /// connection may be read before `Watch` on the other.
  public func tell(_ notice: WireNotice) {
    let bytes = FakeService.frame(.notice(notice), continues: true)
    watchers.withLock { watchers in
      if watchers.isEmpty { return untold.withLock { $0 += bytes } }
      for descriptor in watchers {
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      }
    }
  }

  private func watch(_ descriptor: Int32) {
    watchers.withLock { watchers in
      watchers.append(descriptor)
      let bytes = untold.withLock { untold in
        defer { untold = [] }
        return untold
      }
      if !bytes.isEmpty {
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      }
    }
  }

  /// Ends it; its socket stays behind, as after a crash.
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
          let gone = connections.remove(at: i).descriptor
          watchers.withLock { $0.removeAll { $0 == gone } }
          close(gone)
        }
      }
      guard waiting[0].revents != 0 else { continue }
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      // Programs that other tests start meanwhile would keep it open.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      connections.append((descriptor, FrameSplitter()))
    }
    for connection in connections { close(connection.descriptor) }
    close(listener)
  }

  /// Answers what has come; false at the connection's end.
  private func read(_ descriptor: Int32, _ splitter: inout FrameSplitter) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    var place = 0
    while splitter.next(in: buffer.span.extracting(first: count), at: &place) == .frame {
      guard let call = try? CallDecoder.decode(splitter.frame).call else { return false }
      if case .watch = call { watch(descriptor) }
      heard.withLock { $0.append(call) }
      let (bytes, ends) = answer(call)
      _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      if ends { return false }
    }
    return true
  }
}
