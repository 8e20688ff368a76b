import CLinux
import Glibc
import LinuxHAL

/// The listening Unix socket. Its file is removed with the last reference.
public final class Listener {
  let descriptor: Int32
  private let path: String
  /// Accepts a connection. Returns its descriptor, or `-errno`. Replaced by tests to inject failures.
  var accept: () -> Int32
  /// Reads the peer credentials of a connection; nil if it has none. Replaced by tests to inject other users.
  var peer: (Int32) -> Peer? = Listener.peer(of:)

  /// Listens at `path`. Any user may connect; rights depend on the peer's credentials (AUT-2).
  ///
  /// Replaces the socket of a service that has ended, but not that of a running one.
  public init(path: String) throws(SystemError) {
    var address = sockaddr_un()
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity, !path.isEmpty else {
      throw SystemError(
        "the socket's path '\(path)' has over \(capacity - 1) bytes", code: ENAMETOOLONG)
    }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      unsafe bytes.copyBytes(from: Array(path.utf8))
    }
    var status = stat()
    if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      throw SystemError(
        "'\(path)' exists and is not a socket; start this service with another "
          + "--socket", code: EEXIST)
    }
    if Listener.isServed(path) {
      throw SystemError(
        "another service answers at '\(path)'; stop it, or start this one with another --socket",
        code: EADDRINUSE)
    }
    _ = unsafe unlink(path)
    let descriptor = Listener.makeSocket()
    guard descriptor >= 0 else { throw SystemError("cannot create a socket", code: errno) }
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, unsafe chmod(path, 0o666) == 0, listen(descriptor, 64) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw SystemError(
        "cannot create the socket '\(path)'; check that its folder exists and is "
          + "writable", code: code)
    }
    self.descriptor = descriptor
    self.path = path
    accept = { clinux_accept(descriptor) }
  }

  private static func peer(of descriptor: Int32) -> Peer? {
    var credentials = clinux_peer()
    guard unsafe clinux_peer_of(descriptor, &credentials) == 0 else { return nil }
    return Peer(user: credentials.uid, process: credentials.pid)
  }

  deinit {
    _ = unsafe unlink(path)
    Glibc.close(descriptor)
  }

  /// Creates a Unix socket; -1 with `errno` on failure.
  private static func makeSocket() -> Int32 {
    socket(
      AF_UNIX,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        | Int32(SOCK_NONBLOCK.rawValue), 0)
  }

  private static func isServed(_ path: String) -> Bool {
    let descriptor = makeSocket()
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    let result = unsafe clinux_path_connect(descriptor, path)
    // EAGAIN: the queue of a running service is full.
    return result == 0 || result == -EAGAIN
  }
}
