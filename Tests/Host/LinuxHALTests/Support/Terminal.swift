import CLinux
import Glibc
import LocationTypes

@testable import LinuxHAL

/// The receiver's end of a pseudo-terminal; a ``SerialLine`` opens the other end.
final class Terminal {
  let path: String
  private(set) var descriptor: Int32

  init() {
    var master: Int32 = -1
    var slave: Int32 = -1
    var name = [CChar](repeating: 0, count: 128)
    let result = unsafe openpty(&master, &slave, &name, nil, nil)
    precondition(result == 0, "no pseudo-terminal: \(SystemError.reason(errno))")
    path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    // Raw mode from the start: the terminal must not echo bytes sent before the line is opened.
    var line = termios()
    _ = unsafe tcgetattr(slave, &line)
    unsafe cfmakeraw(&line)
    _ = unsafe tcsetattr(slave, TCSANOW, &line)
    close(slave)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    descriptor = master
  }

  deinit { unplug() }

  /// Removes the device.
  func unplug() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Int { unsafe Glibc.write(descriptor, bytes, bytes.count) }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// All bytes that were sent to the receiver and not read yet.
  func receive() -> [UInt8] {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(descriptor, &piece, piece.count)
      guard count > 0 else { return all }
      all += piece[..<count]
    }
  }

  /// The next `count` bytes for the receiver; waits up to 2 s for the kernel to transfer them.
  func receive(_ count: Int) -> [UInt8] {
    var all = receive()
    let end = soon(2_000)
    while all.count < count, SystemClock().now < end {
      usleep(500)
      all += receive()
    }
    return all
  }

  /// Speed that was set for the line, baud.
  var speed: Int64 { clinux_line_speed(descriptor) }
}

/// Sends pieces with delays from another thread.
final class Sender: Sendable {
  private let thread: pthread_t

  init(_ descriptor: Int32, _ pieces: [(after_ms: UInt32, bytes: [UInt8])]) {
    let work = Work(descriptor, pieces)
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(work).toOpaque())
    precondition(result == 0, "no thread")
    self.thread = thread
  }

  /// Waits until all has been sent.
  func join() { _ = pthread_join(thread, nil) }

  private final class Work {
    let descriptor: Int32
    let pieces: [(after_ms: UInt32, bytes: [UInt8])]

    init(_ descriptor: Int32, _ pieces: [(after_ms: UInt32, bytes: [UInt8])]) {
      self.descriptor = descriptor
      self.pieces = pieces
    }

    func run() {
      for piece in pieces {
        usleep(piece.after_ms * 1_000)
        _ = unsafe Glibc.write(descriptor, piece.bytes, piece.bytes.count)
      }
    }
  }
}

/// The time `milliseconds` from now.
func soon(_ milliseconds: Int64) -> Instant {
  SystemClock().now + .milliseconds(milliseconds)
}

/// The next `count` bytes of a line; waits up to 2 s for the kernel to transfer them.
func read(_ count: Int, from line: inout SerialLine, _ events: EventWait) throws -> [UInt8] {
  var all: [UInt8] = []
  while all.count < count, events.wait(until: soon(2_000)) {
    while true {
      let chunk = try line.read()
      for index in 0..<chunk.count { all.append(chunk[index]) }
      if !chunk.isFull { break }
    }
  }
  return all
}
