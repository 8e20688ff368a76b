import Foundation
import Glibc
import Synchronization

/// An HTTP server in a thread, for one connection at a time, which it keeps open between requests.
final class FakeHTTPServer: Sendable {
  /// A request of the client.
  struct Request: Sendable, Equatable {
    /// Number of the connection, from 0.
    var connection: Int
    /// The first line, as "POST /path HTTP/1.1".
    var line: String
    /// The other lines before the body, in lower case.
    var headers: [String]
    var body: [UInt8]
  }

  /// Its port of the loopback interface.
  let port: Int
  private let listener: Int32
  private let status: Int
  private let answer: String
  private let received = Mutex<[Request]>([])

  /// Requests received so far.
  var requests: [Request] { received.withLock { $0 } }

  /// - Parameters:
  ///   - status: Status code of each answer.
  ///   - answer: Body of each answer.
  init(status: Int = 200, answer: String = #"{"result":"ok"}"#) {
    (self.status, self.answer) = (status, answer)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = self.listener
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size) | listen(listener, 8) | getsockname(listener, $0, &size)
      }
    }
    precondition(result == 0, "a port of the loopback interface is free")
    port = Int(UInt16(bigEndian: address.sin_port))
    let thread = Thread { [self] in serve() }
    thread.start()
  }

  /// Stops it.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func serve() {
    var connection = 0
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      while let request = FakeHTTPServer.request(from: descriptor, connection) {
        received.withLock { $0.append(request) }
        let text =
          "HTTP/1.1 \(status) Status\r\nContent-Length: \(answer.utf8.count)\r\n\r\n" + answer
        _ = unsafe send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
      }
      close(descriptor)
      connection += 1
    }
    close(listener)
  }

  /// The next request; nil at the end of the connection.
  private static func request(from descriptor: Int32, _ connection: Int) -> Request? {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard let byte = bytes(1, from: descriptor)?.first, head.count < 65_536 else { return nil }
      head.append(byte)
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    let headers = lines.dropFirst().filter { !$0.isEmpty }.map { $0.lowercased() }
    let length = headers.first { $0.hasPrefix("content-length: ") }?.dropFirst(16)
    guard let body = bytes(length.flatMap { Int($0) } ?? 0, from: descriptor) else { return nil }
    return Request(connection: connection, line: lines[0], headers: headers, body: body)
  }

  private static func bytes(_ count: Int, from descriptor: Int32) -> [UInt8]? {
    guard count > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: count)
    let received = unsafe recv(descriptor, &buffer, count, Int32(MSG_WAITALL))
    return received == count ? buffer : nil
  }
}
