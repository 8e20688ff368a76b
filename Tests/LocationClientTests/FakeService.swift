import Foundation
import Glibc
import LocationWire
import Synchronization
import TestSupport

/// A service of one thread that answers as a test says.
final class FakeService: Sendable {
  /// What becomes of a call: bytes to write, and whether the connection ends behind them.
  typealias Answer = @Sendable (WireCall) -> (bytes: [UInt8], ends: Bool)

  let path: String
  private let folder = TestFolder()
  private let listener: Int32
  private let answer: Answer
  private let heard = Mutex<[WireCall]>([])

  /// What it was asked.
  var calls: [WireCall] { heard.withLock { $0 } }

  init(_ answer: @escaping Answer) {
    path = folder.file("socket")
    self.answer = answer
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
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

  /// Ends it; its socket stays behind, as after a crash.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// The frame of a reply.
  static func frame(_ reply: WireReply, continues: Bool = false) -> [UInt8] {
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
          close(connections[i].descriptor)
          connections.remove(at: i)
        }
      }
      guard waiting[0].revents != 0 else { continue }
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
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
      heard.withLock { $0.append(call) }
      let (bytes, ends) = answer(call)
      _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      if ends { return false }
    }
    return true
  }
}
