import CLinux
import Glibc
import TestSupport
import Testing

@testable import LocationService

/// Real sockets of the loopback addresses: what `torpor-gpsd` does with a connection.
@Suite("Users of TCP connections", .serialized, .tags(.process))
struct GPSDHelperTests {
  private static let hasIPv6: Bool = {
    let listener = clinux_tcp_listen(1, 0)
    if listener >= 0 { close(listener) }
    return listener >= 0
  }()

  /// The port of a socket.
  private func port(of descriptor: Int32) -> UInt16 {
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &size)
      }
    }
    precondition(result == 0, "the socket has an address")
    return UInt16(bigEndian: address.sin6_port)
  }

  /// Connects to a port of the loopback address.
  private func connectTo(_ port: UInt16, isIPv6: Bool, from source: Int32? = nil) -> Int32 {
    let client =
      source
      ?? socket(
        isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var result: Int32
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      result = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(client, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      result = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    precondition(result == 0, "the listener accepts")
    return client
  }

  @Test("the user of a connection is found, by IPv4 and IPv6", arguments: [false, true])
  func found(_ isIPv6: Bool) throws {
    guard Self.hasIPv6 || !isIPv6 else { return }
    let list = clinux_socket_list_open()
    let listener = clinux_tcp_listen(isIPv6 ? 1 : 0, 0)
    defer { for descriptor in [list, listener] { close(descriptor) } }
    #expect(clinux_socket_list_check(list, listener) == 0)
    let client = connectTo(port(of: listener), isIPv6: isIPv6)
    let accepted = clinux_accept(listener)
    defer { close(accepted) }
    var user = UInt32.max
    #expect(unsafe clinux_tcp_peer_user(list, accepted, &user) == 0)
    #expect(user == getuid())
    close(client)
    #expect(unsafe clinux_tcp_peer_user(list, accepted, &user) != 0, "its program has ended")
  }

  @Test("a socket that does not listen is not in the list, as with a kernel without lists")
  func unlisted() {
    let list = clinux_socket_list_open()
    let listener = clinux_tcp_listen(0, 0)
    let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { for descriptor in [list, listener, other] { close(descriptor) } }
    #expect(clinux_socket_list_check(list, other) == -ENOENT)
  }

  @Test("without the connection, a program that listens on its port is not taken for its user")
  func listening() throws {
    let list = clinux_socket_list_open()
    let listener = clinux_tcp_listen(0, 0)
    // The peer's port, on which a program listens after the peer is gone.
    let client = connectTo(port(of: listener), isIPv6: false)
    let accepted = clinux_accept(listener)
    let source = port(of: client)
    // The kernel forgets the closed end of the peer after this many seconds.
    var seconds: Int32 = 1
    unsafe setsockopt(
      client, Int32(IPPROTO_TCP), TCP_LINGER2, &seconds, socklen_t(MemoryLayout<Int32>.size))
    close(client)
    var other = clinux_tcp_listen(0, source)
    for _ in 0..<300 where other < 0 {
      usleep(10_000)
      other = clinux_tcp_listen(0, source)
    }
    try #require(other >= 0)
    defer { for descriptor in [list, listener, accepted, other] { close(descriptor) } }
    var user = UInt32.max
    for _ in 0..<200 {
      #expect(unsafe clinux_tcp_peer_user(list, accepted, &user) != 0)
      usleep(10_000)
    }
    #expect(user == .max)
  }
}
