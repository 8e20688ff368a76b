import BoardHardware
import Glibc
import LinuxHAL
import LocationTypes
import TestSupport

@testable import BoardDoctor

/// A board made of plain files, and a pseudo-terminal where its serial line would be.
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

  /// Makes a folder and those above it.
  func make(_ path: String) {
    var place = folder.path
    for name in path.split(separator: "/") {
      place += "/\(name)"
      _ = unsafe mkdir(place, 0o755)
    }
  }

  /// Writes a file, in a folder that is made for it.
  func write(_ text: String, to path: String) {
    make(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    folder.write(Array(text.utf8), to: path)
  }

  /// Writes a file of bytes.
  func write(_ bytes: [UInt8], to path: String) { folder.write(bytes, to: path) }

  /// What a file holds.
  func bytes(_ path: String) -> [UInt8] {
    let descriptor = unsafe open(files.fullPath(path), O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  /// Removes a file.
  func remove(_ path: String) { _ = unsafe unlink(files.fullPath(path)) }

  /// Makes a link, in a folder that is made for it.
  func link(_ path: String, to target: String) {
    make(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    precondition(unsafe symlink(target, files.fullPath(path)) == 0, "a link can be made")
  }

  /// A process that has a file open.
  func process(_ number: Int, _ name: String, holding path: String? = nil) {
    write("\(name)\n", to: "/proc/\(number)/comm")
    make("/proc/\(number)/fd")
    if let path { link("/proc/\(number)/fd/7", to: path) }
  }

  /// Looks at it without a chip, and without waiting long for what does not come.
  func findings(_ options: Doctor.Options, pins: GPIOAccess = .none) -> [Finding] {
    examined(options, pins: pins).findings
  }

  func examined(_ options: Doctor.Options, pins: GPIOAccess = .none) -> Doctor {
    var options = options
    options.state = "/var/lib/torpor"
    let pace = ReceiverScan.Timeouts(
      expected: .milliseconds(40), other: .milliseconds(10), response: .milliseconds(40))
    var doctor = Doctor(options, files: files, gpio: pins, timeouts: pace)
    doctor.examine()
    return doctor
  }
}

extension GPIOAccess {
  /// A board without a chip.
  static var none: GPIOAccess {
    GPIOAccess(
      chips: { [] }, check: { chip throws(GPIOFault) in throw .noChip(path: chip) },
      holder: { line throws(GPIOFault) in throw .noLine(line) },
      request: { line, _ throws(GPIOFault) in throw .noLine(line) })
  }

  /// One chip, with what is the matter with each line.
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
  /// The finding of that name.
  subscript(_ name: String) -> Finding? { first { $0.name == name } }
}

/// A receiver's end of a pseudo-terminal that somebody answers on.
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
    // The first speed that is tried: what is sent before the line is opened is then not thrown away.
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

  /// What was said to the receiver.
  var received: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// How the line is set: flags and speed.
  var settings: [UInt32] {
    var line = termios()
    precondition(unsafe tcgetattr(descriptor, &line) == 0, "a terminal has settings")
    return [
      line.c_iflag, line.c_oflag, line.c_cflag, line.c_lflag, unsafe cfgetospeed(&line),
      unsafe cfgetispeed(&line),
    ]
  }

  /// Sets it as a terminal for people at another speed: nothing like a receiver's.
  func makeCooked() {
    var line = termios()
    _ = unsafe tcgetattr(descriptor, &line)
    line.c_iflag |= tcflag_t(ICRNL | IXON)
    line.c_lflag |= tcflag_t(ICANON)
    line.c_cflag |= tcflag_t(CSTOPB)
    _ = unsafe cfsetspeed(&line, speed_t(B57600))
    precondition(unsafe tcsetattr(descriptor, TCSANOW, &line) == 0, "a terminal can be set")
  }

  /// Whether a process has claimed it for itself.
  var isExclusive: Bool {
    let slave = unsafe open(path, O_RDWR | O_NOCTTY)
    guard slave >= 0 else { return errno == EBUSY }
    defer { close(slave) }
    var claimed: Int32 = 0
    // TIOCGEXCL, which Glibc's module lacks.
    precondition(unsafe ioctl(slave, 0x8004_5440, &claimed) == 0, "a terminal says it")
    return claimed != 0
  }
}
