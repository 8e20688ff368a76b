import Glibc

/// chronyd's end of a reference clock: a datagram socket that stores what it receives.
public final class FakeChrony {
  /// Path of the socket.
  public let path: String
  private var descriptor: Int32

  /// Binds a new socket, as chronyd does at its start: an existing file is removed.
  public init(_ path: String, mode: mode_t = 0o600) {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    _ = unsafe unlink(path)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) {
      unsafe $0.copyBytes(from: Array(path.utf8))
    }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    precondition(result == 0, "the socket can be bound")
    precondition(unsafe chmod(path, mode) == 0)
  }

  deinit { kill() }

  /// Ends without removing the file, as after SIGKILL.
  public func kill() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  /// The messages received since the last call.
  public var messages: [[UInt8]] {
    var all: [[UInt8]] = []
    var bytes = [UInt8](repeating: 0, count: 128)
    while true {
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return all }
      all.append(Array(bytes[..<count]))
    }
  }
}
