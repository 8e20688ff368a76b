import CLinux
import Glibc
import LinuxHAL

/// A pseudo-terminal whose master side stands for the receiver; programs open the slave side as a serial line.
final class PseudoTerminal {
  /// Descriptor of the master side; readable when the slave side has written.
  let descriptor: Int32
  /// Path of the slave side.
  let path: String
  /// Path of the symbolic link to remove at the end; nil for none.
  private var link: String?

  /// Creates a pseudo-terminal in raw mode.
  ///
  /// - Parameters:
  ///   - link: Path of a symbolic link to the slave side, removed at the end; nil for none.
  ///   - baud: Initial speed of the line.
  /// - Throws: ``CommandError`` with code 74 if no pseudo-terminal can be created, 73 if the link cannot.
  init(link: String?, baud: Int) throws(CommandError) {
    var master: Int32 = -1
    var slave: Int32 = -1
    var name = [CChar](repeating: 0, count: 128)
    guard unsafe openpty(&master, &slave, &name, nil, nil) == 0 else {
      throw CommandError(.io, "cannot create a pseudo-terminal: \(POSIX.reason(errno))")
    }
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    descriptor = master
    // A program may open the slave side exclusively (TIOCEXCL).
    close(slave)
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    if let link {
      if try PseudoTerminal.isStaleLink(link) { _ = unsafe unlink(link) }
      guard unsafe symlink(path, link) == 0 else {
        let reason =
          errno == EEXIST
          ? "exists already and is not a link to a pseudo-terminal: move it, or give another path with --link"
          : "cannot be created: \(POSIX.reason(errno))"
        throw CommandError(.cannotCreate, "'\(link)' \(reason)")
      }
    }
    self.link = link
    _ = clinux_line_configure(descriptor, UInt32(baud))
  }

  /// Whether `link` is a stale link that a killed process left: a link to a pseudo-terminal whose master side no
  /// `torpor` process has open. A terminal of another program may have the same number now.
  ///
  /// - Throws: ``CommandError`` with code 73 if a running `torpor` process uses the link.
  private static func isStaleLink(_ link: String) throws(CommandError) -> Bool {
    guard let target = SystemFiles.linkTarget(link), target.hasPrefix("/dev/pts/"),
      let number = Int(target.dropFirst("/dev/pts/".count))
    else { return false }
    for process in SystemFiles.names(in: "/proc").compactMap({ Int32($0) }) {
      guard SystemFiles.text(of: "/proc/\(process)/comm") == "torpor" else { continue }
      let folder = "/proc/\(process)/fdinfo"
      let isInUse = SystemFiles.names(in: folder).contains { name in
        // For the master side of a pseudo-terminal, fdinfo has the number of the slave side.
        let lines = SystemFiles.text(of: "\(folder)/\(name)")?.split(separator: "\n") ?? []
        return lines.contains { line in
          let words = line.split { $0 == " " || $0 == "\t" }
          return words.first == "tty-index:" && words.last.flatMap { Int($0) } == number
        }
      }
      guard !isInUse else {
        throw CommandError(
          .cannotCreate,
          "'\(link)' is used by the emulated receiver of process \(process): stop it, or give another path with --link"
        )
      }
    }
    return true
  }

  deinit {
    if let link, SystemFiles.linkTarget(link) == path { _ = unsafe unlink(link) }
    close(descriptor)
  }

  /// Whether a program has the slave side open.
  var isOpen: Bool {
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&state, 1, 0) == 0
  }

  /// Bytes written to the slave side, at most 4096; empty if there are none.
  func read() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    return Array(bytes[..<max(count, 0)])
  }

  /// Sends bytes to the slave side; bytes beyond the kernel's buffer are lost, as on a serial line.
  func write(_ bytes: [UInt8]) {
    var remaining = bytes[...]
    while !remaining.isEmpty {
      let count = unsafe remaining.withUnsafeBytes { part in
        unsafe Glibc.write(descriptor, part.baseAddress, part.count)
      }
      guard count > 0 else { return }
      remaining = remaining.dropFirst(count)
    }
  }

  /// Speed that the slave side has set, baud; nil if it cannot be read.
  ///
  /// Read as a number (termios2): a program that sets a number, as torpord does, uses no termios speed constant.
  var speed: Int? {
    let baud = clinux_line_speed(descriptor)
    return baud > 0 ? Int(baud) : nil
  }
}
