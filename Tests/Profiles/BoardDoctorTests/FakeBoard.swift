import BoardHardware
import Glibc
import LinuxHAL
import LocationTypes
import TestSupport

@testable import BoardDoctor

/// A board simulated with plain files, and a pseudo-terminal as its serial line.
final class FakeBoard {
  private let folder = TestFolder()
  var files: BoardFiles { BoardFiles(root: folder.path) }

  init() {
    write("11111111-2222-3333-4444-555555555555\n", to: "/proc/sys/kernel/random/boot_id")
    write("6.1.0\n", to: "/proc/sys/kernel/osrelease")
    write("console=tty1 root=/dev/mmcblk0p2", to: "/proc/cmdline")
    write("tty1\n", to: "/sys/class/tty/console/active")
    make("/dev")
    make("/var/lib")
  }

  /// Creates a folder and its parents.
  func make(_ path: String) {
    var parent = folder.path
    for name in path.split(separator: "/") {
      parent += "/\(name)"
      _ = unsafe mkdir(parent, 0o755)
    }
  }

  /// Writes a text file and creates its folder.
  func write(_ text: String, to path: String) {
    make(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    folder.write(Array(text.utf8), to: path)
  }

  /// Writes a binary file.
  func write(_ bytes: [UInt8], to path: String) { folder.write(bytes, to: path) }

  /// The content of a file.
  func bytes(_ path: String) -> [UInt8] {
    let descriptor = unsafe open(files.fullPath(path), O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  /// Removes a file.
  func remove(_ path: String) { _ = unsafe unlink(files.fullPath(path)) }

  /// Creates a symbolic link and its folder.
  func link(_ path: String, to target: String) {
    make(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    precondition(unsafe symlink(target, files.fullPath(path)) == 0, "a link can be made")
  }

  /// Adds a process that has a file open.
  func process(_ number: Int, _ name: String, holding path: String? = nil) {
    write("\(name)\n", to: "/proc/\(number)/comm")
    make("/proc/\(number)/fd")
    if let path { link("/proc/\(number)/fd/7", to: path) }
  }

  /// Findings on this board, by default without a GPIO chip, with short timeouts.
  func findings(_ options: Doctor.Options, pins: GPIOAccess = .none) -> [Finding] {
    examined(options, pins: pins).findings
  }

  func examined(_ options: Doctor.Options, pins: GPIOAccess = .none) -> Doctor {
    var options = options
    options.state = "/var/lib/torpor"
    let timeouts = ReceiverScan.Timeouts(
      expected: .milliseconds(40), other: .milliseconds(10), response: .milliseconds(40))
    var doctor = Doctor(options, files: files, gpio: pins, timeouts: timeouts)
    doctor.examine()
    return doctor
  }
}

extension GPIOAccess {
  /// A board without a GPIO chip.
  static var none: GPIOAccess {
    GPIOAccess(
      chips: { [] }, check: { chip throws(GPIOFault) in throw .noChip(path: chip) },
      holder: { line throws(GPIOFault) in throw .noLine(line) },
      request: { line, _ throws(GPIOFault) in throw .noLine(line) })
  }

  /// One chip, with the error of the chip and the holder of each line.
  static func chip(
    fault: GPIOFault? = nil, _ holder: @escaping (GPIOLine) throws(GPIOFault) -> String?
  ) -> GPIOAccess {
    GPIOAccess(
      chips: { ["gpiochip0"] },
      check: { _ throws(GPIOFault) in if let fault { throw fault } },
      holder: holder,
      request: { line, _ throws(GPIOFault) in throw .noLine(line) })
  }
}

extension [Finding] {
  /// The first finding with that name.
  subscript(_ name: String) -> Finding? { first { $0.name == name } }
}

/// The receiver's end of a pseudo-terminal, which a test reads and writes.
final class FakeLine {
  let path: String
  private let descriptor: Int32

  init() {
    var master: Int32 = -1
    var slave: Int32 = -1
    var name = [CChar](repeating: 0, count: 128)
    precondition(unsafe openpty(&master, &slave, &name, nil, nil) == 0, "no pseudo-terminal")
    path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    var line = termios()
    _ = unsafe tcgetattr(slave, &line)
    unsafe cfmakeraw(&line)
    // The first speed that is tried, so that bytes sent before the open are not discarded.
    _ = unsafe cfsetspeed(&line, speed_t(B9600))
    _ = unsafe tcsetattr(slave, TCSANOW, &line)
    close(slave)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    descriptor = master
  }

  deinit { close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
  }

  /// The bytes sent to the receiver.
  var received: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// The line's flags and speed.
  var settings: [UInt32] {
    var line = termios()
    precondition(unsafe tcgetattr(descriptor, &line) == 0, "a terminal has settings")
    return [
      line.c_iflag, line.c_oflag, line.c_cflag, line.c_lflag, unsafe cfgetospeed(&line),
      unsafe cfgetispeed(&line),
    ]
  }

  /// Sets canonical mode and another speed, unlike the settings for a receiver.
  func makeCooked() {
    var line = termios()
    _ = unsafe tcgetattr(descriptor, &line)
    line.c_iflag |= tcflag_t(ICRNL | IXON)
    line.c_lflag |= tcflag_t(ICANON)
    line.c_cflag |= tcflag_t(CSTOPB)
    _ = unsafe cfsetspeed(&line, speed_t(B57600))
    precondition(unsafe tcsetattr(descriptor, TCSANOW, &line) == 0, "a terminal can be set")
  }

  /// Whether a process has set exclusive mode (TIOCEXCL).
  var isExclusive: Bool {
    let slave = unsafe open(path, O_RDWR | O_NOCTTY)
    guard slave >= 0 else { return errno == EBUSY }
    defer { close(slave) }
    var exclusive: Int32 = 0
    // TIOCGEXCL, which the Glibc module does not export.
    precondition(unsafe ioctl(slave, 0x8004_5440, &exclusive) == 0, "the terminal reports its mode")
    return exclusive != 0
  }
}
