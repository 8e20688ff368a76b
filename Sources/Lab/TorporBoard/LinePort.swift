import CLinux
import Glibc
import TextFormats

/// A Unix socket of QEMU that transfers lines in both directions.
final class LinePort {
  let descriptor: Int32
  private(set) var isOpen = true
  private var bytes: [UInt8] = []
  /// Lines received and not yet consumed.
  var lines: [String] = []

  /// Connects; retries until QEMU has created the socket.
  init(path: String, within timeout: Double) throws {
    let end = HostClock.now + timeout
    while true {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { throw Failure("no socket: errno \(errno)") }
      if unsafe clinux_path_connect(descriptor, path) == 0 {
        self.descriptor = descriptor
        return
      }
      close(descriptor)
      guard HostClock.now < end else { throw Failure("QEMU does not open '\(path)'") }
      usleep(10_000)
    }
  }

  deinit { close(descriptor) }

  /// Reads the available input.
  func read() {
    var part = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe recv(descriptor, &part, part.count, Int32(MSG_DONTWAIT))
    if count == 0 { isOpen = false }
    for byte in part[..<max(count, 0)] {
      if byte == 0x0A {
        lines.append(String(decoding: bytes.filter { $0 != 0x0D }, as: UTF8.self))
        bytes.removeAll(keepingCapacity: true)
      } else {
        bytes.append(byte)
      }
    }
  }

  func write(_ text: String) {
    if TextFile.write(Array(text.utf8), to: descriptor) != 0 { isOpen = false }
  }

  /// Discards the received input.
  func clear() {
    lines.removeAll()
    bytes.removeAll()
  }
}

/// Failure of a scenario.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The host's clocks.
enum HostClock {
  /// Monotonic time in seconds.
  static var now: Double { Double(clinux_monotonic_us()) / 1e6 }
  /// UTC in seconds since 1970.
  static var wall: Double { Double(clinux_wall_us()) / 1e6 }
}
