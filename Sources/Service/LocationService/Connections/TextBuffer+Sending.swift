import Glibc
import TextFormats

extension TextBuffer {
  /// Writes what a socket accepts, and removes it. One system call if the socket accepts everything.
  ///
  /// - Returns: false if the connection has failed.
  mutating func send(to descriptor: Int32) -> Bool {
    while !isEmpty {
      let count = unsafe withUnsafeBytes { bytes in
        unsafe Glibc.send(
          descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count < 0 {
        if errno == EINTR { continue }
        return errno == EAGAIN || errno == EWOULDBLOCK
      }
      removeFirst(count)
    }
    return true
  }
}
