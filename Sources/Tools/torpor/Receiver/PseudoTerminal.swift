import CLinux
import Glibc
import LinuxHAL

/// The end of a line at which a receiver would be: the other one is a terminal that programs open.
final class PseudoTerminal {
  /// Readable when the other end has written.
  let descriptor: Int32
  /// What the other end is called.
  let path: String
  // As long as it is ours to take away.
  private var link: String?

  /// Makes one, raw, at a speed, with a second name if one is given.
  ///
  /// - Throws: ``CommandError`` with code 74, or 73 where the name cannot be given.
  init(link: String?, baud: Int) throws(CommandError) {
    var master: Int32 = -1
    var slave: Int32 = -1
    var name = [CChar](repeating: 0, count: 128)
    guard unsafe openpty(&master, &slave, &name, nil, nil) == 0 else {
      throw CommandError(.io, "no terminal can be made: \(POSIX.reason(errno))")
    }
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    descriptor = master
    // Whoever opens it may want it for itself.
    close(slave)
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    if let link {
      if try PseudoTerminal.isLeftOver(link) { _ = unsafe unlink(link) }
      guard unsafe symlink(path, link) == 0 else {
        let reason =
          errno == EEXIST
          ? "is there already, and is no link to a pseudo-terminal: name another with --link, or move it away"
          : "cannot be made: \(POSIX.reason(errno))"
        throw CommandError(.cannotCreate, "'\(link)' \(reason)")
      }
    }
    self.link = link
    var line = termios()
    _ = unsafe tcgetattr(descriptor, &line)
    unsafe cfmakeraw(&line)
    if let code = NamedSpeed.code(of: baud) {
      unsafe cfsetispeed(&line, code)
      unsafe cfsetospeed(&line, code)
    }
    _ = unsafe tcsetattr(descriptor, TCSANOW, &line)
  }

  /// Whether a name is a link of a process that was killed: to a pseudo-terminal that no torpor plays on. Its number
  /// may be that of another program's terminal by now.
  ///
  /// - Throws: ``CommandError`` with code 73 where another torpor plays there.
  private static func isLeftOver(_ link: String) throws(CommandError) -> Bool {
    guard let target = SystemFiles.link(link), target.hasPrefix("/dev/pts/"),
      let number = Int(target.dropFirst("/dev/pts/".count))
    else { return false }
    for process in SystemFiles.names(in: "/proc").compactMap({ Int32($0) }) {
      guard SystemFiles.text(of: "/proc/\(process)/comm") == "torpor" else { continue }
      let folder = "/proc/\(process)/fdinfo"
      let isPlayed = SystemFiles.names(in: folder).contains { name in
        // Of a terminal's other end the kernel says which it is.
        let lines = SystemFiles.text(of: "\(folder)/\(name)")?.split(separator: "\n") ?? []
        return lines.contains { line in
          let words = line.split { $0 == " " || $0 == "\t" }
          return words.first == "tty-index:" && words.last.flatMap { Int($0) } == number
        }
      }
      guard !isPlayed else {
        throw CommandError(
          .cannotCreate,
          "'\(link)' leads to the receiver that process \(process) plays: name another with --link, or end that one"
        )
      }
    }
    return true
  }

  deinit {
    if let link, SystemFiles.link(link) == path { _ = unsafe unlink(link) }
    close(descriptor)
  }

  /// Whether somebody has opened the other end.
  var isOpen: Bool {
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&state, 1, 0) == 0
  }

  /// What the other end has said; nothing where it has not.
  func read() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    return Array(bytes[..<max(count, 0)])
  }

  /// Says something; what nobody takes is lost, as on a line.
  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { part in
        unsafe Glibc.write(descriptor, part.baseAddress, part.count)
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// The speed to which the other end has set the line; nil where that cannot be told.
  ///
  /// As a number: a program that sets it as one, as torpord does, leaves no name for it.
  var speed: Int? {
    let baud = clinux_line_speed(descriptor)
    return baud > 0 ? Int(baud) : nil
  }
}
