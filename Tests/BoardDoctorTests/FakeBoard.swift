import GPIOLines
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

  /// Makes a link, in a folder that is made for it.
  func link(_ path: String, to target: String) {
    make(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    precondition(unsafe symlink(target, files.place(path)) == 0, "a link can be made")
  }

  /// A process that has a file open.
  func process(_ number: Int, _ name: String, holding path: String? = nil) {
    write("\(name)\n", to: "/proc/\(number)/comm")
    make("/proc/\(number)/fd")
    if let path { link("/proc/\(number)/fd/7", to: path) }
  }

  /// Looks at it without a chip, and without waiting long for what does not come.
  func findings(_ options: Doctor.Options, pins: LinePins = .none) -> [Finding] {
    examined(options, pins: pins).findings
  }

  func examined(_ options: Doctor.Options, pins: LinePins = .none) -> Doctor {
    var options = options
    options.state = "/var/lib/torpor"
    let pace = ReceiverHunt.Pace(
      expected: .milliseconds(40), other: .milliseconds(10), answer: .milliseconds(40))
    var doctor = Doctor(options, files: files, pins: pins, pace: pace)
    doctor.examine()
    return doctor
  }
}

extension LinePins {
  /// A board without a chip.
  static var none: LinePins {
    LinePins(
      chips: { [] }, check: { chip throws(GPIOFault) in throw .noChip(path: chip) },
      holder: { line throws(GPIOFault) in throw .noLine(line) },
      take: { line, _ throws(GPIOFault) in throw .noLine(line) })
  }

  /// One chip, with what is the matter with each line.
  static func chip(
    fault: GPIOFault? = nil, _ holder: @escaping (GPIOLine) throws(GPIOFault) -> String?
  ) -> LinePins {
    LinePins(
      chips: { ["gpiochip0"] },
      check: { _ throws(GPIOFault) in if let fault { throw fault } },
      holder: holder,
      take: { line, _ throws(GPIOFault) in throw .noLine(line) })
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
    _ = unsafe tcsetattr(slave, TCSANOW, &line)
    close(slave)
    descriptor = master
  }

  deinit { close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
  }
}
