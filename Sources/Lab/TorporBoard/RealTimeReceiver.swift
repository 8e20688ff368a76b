import CLinux
import Glibc
import LocationTypes
import SimulatedHAL

/// A simulated receiver at the other end of the board's second UART, in real time.
///
/// Output to a suspended board is lost, as on hardware; QEMU would buffer it.
final class RealTimeReceiver {
  /// Fault of the line.
  enum LineFault {
    case none
    /// No output, and input is ignored.
    case silent
    /// Frames at the full line speed, all with wrong checksums.
    case badChecksums
  }

  /// Path of the terminal that QEMU opens as serial device.
  let path: String
  let descriptor: Int32
  var fault = LineFault.none { didSet { garbageSentUntil = now } }
  /// Whether the board is suspended, with its UART.
  var isBoardSuspended = false { didSet { hasWokenBoard = false } }
  /// Whether output during a suspend wakes the board.
  var wakesBoard = false
  private(set) var bytesSent = 0
  private(set) var bytesReceived = 0

  private var receiver: VirtualReceiver
  private var startTime = HostClock.now
  private var garbageSentUntil = Instant.boot
  private var hasWokenBoard = false

  init(_ setup: SimulationSetup) throws {
    var master: Int32 = -1
    var slave: Int32 = -1
    var name = [CChar](repeating: 0, count: 128)
    guard unsafe openpty(&master, &slave, &name, nil, nil) == 0 else {
      throw Failure("no pseudo-terminal can be created: errno \(errno)")
    }
    // Keep the other end open, so that a reset of the board does not hang up the line.
    var line = termios()
    _ = unsafe tcgetattr(slave, &line)
    unsafe cfmakeraw(&line)
    _ = unsafe tcsetattr(slave, TCSANOW, &line)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    _ = fcntl(slave, F_SETFD, FD_CLOEXEC)
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    descriptor = master
    receiver = RealTimeReceiver.makeReceiver(setup)
  }

  private static func makeReceiver(_ setup: SimulationSetup) -> VirtualReceiver {
    let drive = Scenario.drive.track(seed: 1, duration: nil)
    let track = Track(
      start: UTCTime(microseconds: Int64(HostClock.wall * 1e6)) - drive.points[0].offset,
      points: drive.points, gapLimit: drive.gapLimit)
    return VirtualReceiver(setup, track: track)
  }

  /// Replaces the receiver by one that was never powered.
  func replace(_ setup: SimulationSetup) {
    receiver = RealTimeReceiver.makeReceiver(setup)
    startTime = HostClock.now
    fault = .none
    isBoardSuspended = false
    wakesBoard = false
    bytesSent = 0
    bytesReceived = 0
  }

  private var now: Instant { .boot + Interval(seconds: HostClock.now - startTime) }

  /// The receiver's state, as in a trace.
  var state: String { receiver.state.name }
  /// Line speed of the receiver in baud.
  var speed: UInt32 { receiver.speed }
  /// Whether the receiver's batch pin is active.
  var isBatchPinActive: Bool { receiver.isBatchPinActive }

  func setSupply(_ isOn: Bool) { receiver.setSupply(isOn, at: now) }
  func wake() { receiver.wake(at: now) }

  /// Seconds until the receiver's next event, 0.005 to 1.
  var timeToNextEvent: Double {
    if fault == .badChecksums { return 0.02 }
    return min(max((receiver.nextEventTime - now).seconds, 0.005), 1)
  }

  /// Advances the receiver to now: passes it the board's output, then writes its own.
  func advance() {
    let speed = lineSpeed ?? receiver.speed
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    if count > 0 {
      bytesReceived += count
      if fault != .silent {
        receiver.write(Array(bytes[..<count]), at: now, speed: speed)
      }
    }
    let output = receiver.read(at: now, speed: speed)
    switch fault {
    case .none: send(output)
    case .silent: break
    case .badChecksums: sendBadFrames(speed)
    }
  }

  /// Writes a single unexpected byte.
  func sendWakeByte() { write([0xFF]) }

  private func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    guard isBoardSuspended else { return write(bytes) }
    if wakesBoard, !hasWokenBoard {
      hasWokenBoard = true
      write([bytes[0]])
    }
  }

  private func write(_ bytes: [UInt8]) {
    bytesSent += bytes.count
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Sentences and frames with wrong checksums, at the full line speed.
  private func sendBadFrames(_ speed: UInt32) {
    let due = Int((now - garbageSentUntil).seconds * Double(speed) / 10)
    garbageSentUntil = now
    var bytes: [UInt8] = []
    while bytes.count < min(due, 8_192) {
      bytes += Array("$GNGGA,120000.00,5231.2,N,01324.0,E,1,12,0.7,40.0,M,40.0,M,,*00\r\n".utf8)
      bytes += [0xB5, 0x62, 0x01, 0x07, 92, 0] + [UInt8](repeating: 0x2A, count: 92) + [1, 2]
    }
    send(bytes)
  }

  /// The line speed that the board has set, baud; nil if it cannot be read.
  private var lineSpeed: UInt32? {
    let baud = clinux_line_speed(descriptor)
    return baud > 0 ? UInt32(baud) : nil
  }
}
