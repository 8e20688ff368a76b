import CLinux
import Glibc
import LinuxHAL

/// The socket that clients connect to: a file that is removed with the last reference.
public final class Listener {
  let descriptor: Int32
  private let path: String
  /// Accepts a connection: its descriptor, or less than 0 and `-errno`. Tests put a failure in its place.
  var accept: () -> Int32
  /// Who is at the other end of one. Tests put other users in its place.
  var peer: (Int32) -> Peer? = Listener.peer(of:)

  /// Listens at `path`; everybody may connect, for who may know what is decided by who it is (AUT-2).
  ///
  /// A socket that another service left behind is replaced, one that is served is not.
  public init(path: String) throws(SystemError) {
    var address = sockaddr_un()
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < room, !path.isEmpty else {
      throw SystemError(
        "the socket's path '\(path)' has over \(room - 1) bytes", code: ENAMETOOLONG)
    }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      unsafe bytes.copyBytes(from: Array(path.utf8))
    }
    var found = stat()
    if unsafe lstat(path, &found) == 0, found.st_mode & S_IFMT != S_IFSOCK {
      throw SystemError(
        "'\(path)' is there and is no socket; give this service another --socket", code: EEXIST)
    }
    if Listener.isServed(address) {
      throw SystemError(
        "another service answers at '\(path)'; stop it, or give this one another --socket",
        code: EADDRINUSE)
    }
    _ = unsafe unlink(path)
    let descriptor = socket(
      AF_UNIX,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("a socket cannot be made", code: errno) }
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, unsafe chmod(path, 0o666) == 0, listen(descriptor, 64) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw SystemError(
        "the socket '\(path)' cannot be made; its folder must be there and writable", code: code)
    }
    self.descriptor = descriptor
    self.path = path
    accept = { clinux_accept(descriptor) }
  }

  private static func peer(of descriptor: Int32) -> Peer? {
    var found = clinux_peer()
    guard unsafe clinux_peer_of(descriptor, &found) == 0 else { return nil }
    return Peer(user: found.uid, process: found.pid)
  }

  deinit {
    _ = unsafe unlink(path)
    Glibc.close(descriptor)
  }

  private static func isServed(_ address: sockaddr_un) -> Bool {
    var address = address
    let descriptor = socket(
      AF_UNIX,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        // One whose queue is full is there.
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
          || errno == EAGAIN
      }
    }
  }
}
