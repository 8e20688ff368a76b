import LocationHAL
import LocationTypes

/// A minimal board: a clock, a line with a simulated receiver, a supply switch and a motion sensor.
/// The board of a real firmware has the same structure.
struct FirmwareBoard: ~Copyable {
  /// Time at the start of the run; far enough after boot to need more than 32 bits.
  static let start = Instant.boot + .seconds(100 * 86_400)
  /// Time from power-on to the first fix, seconds.
  static let timeToFix: Int64 = 3

  private(set) var time = FirmwareBoard.start
  /// Number of times the receiver was switched off or on, or put to sleep or woken.
  private(set) var switches: Int64 = 0
  /// Number of wakes of the board.
  private(set) var wakes: Int64 = 0

  private let receiver: FirmwareReceiver
  private let drive: Range<Int64>
  private let end: Instant
  /// Whether the receiver has supply and is not asleep.
  private var isOn: Bool
  /// The receiver's pending reply, and its arrival time.
  private var reply: ReceiverBytes?
  private var replyDue = Instant.distantFuture
  private var second: Int64 = FirmwareBoard.timeToFix
  /// Bytes that have arrived, and the number of those that were read.
  private var arrived: ReceiverBytes?
  private var offset = 0
  private var motion: PinLevel?

  init(_ receiver: FirmwareReceiver, drive: Range<Int64>, until end: Int64) {
    self.receiver = receiver
    switch receiver {
    case .ubx, .nmea: isOn = false
    case .ubloxM10: isOn = true
    }
    self.drive = drive
    self.end = FirmwareBoard.start + .seconds(end)
  }

  /// Seconds since the start of the run.
  var seconds: Int64 { (time - FirmwareBoard.start).microseconds / 1_000_000 }
  /// Whether the run has ended.
  var isOver: Bool { time >= end }

  /// Arrival time of the epoch of `second`: 80 ms after the second.
  private func arrival(of second: Int64) -> Instant {
    FirmwareBoard.start + .seconds(second) + .milliseconds(80)
  }

  /// Arrival time of the next epoch.
  private var nextEpoch: Instant { isOn ? arrival(of: second) : .distantFuture }

  /// Time of the next change of the motion sensor's line.
  private var nextEdge: Instant {
    let begins = FirmwareBoard.start + .seconds(drive.lowerBound)
    let ends = FirmwareBoard.start + .seconds(drive.upperBound)
    return time < begins ? begins : time < ends ? ends : .distantFuture
  }
}

extension FirmwareBoard: LocationBoard {
  var now: Instant { time }

  mutating func wait(in state: BoardState, until deadline: Instant, wakesOnInput: Bool)
    -> WakeReport
  {
    wakes += 1
    let bytes = wakesOnInput ? min(nextEpoch, replyDue) : .distantFuture
    time = max(time, min(min(deadline, bytes), min(nextEdge, end)))
    var report = WakeReport(reason: .alarm, batchPinRose: false)
    if replyDue <= time {
      report.reason = .bytes
      arrived = reply
      offset = 0
      replyDue = .distantFuture
    } else if nextEpoch <= time {
      report.reason = .bytes
      arrived = ReceiverBytes(receiver, at: second, DeviceMotion(at: second, drive: drive))
      offset = 0
      second += 1
    }
    let level: PinLevel = drive.contains(seconds) ? .active : .inactive
    if level != motion {
      report.motion = level
      motion = level
    }
    return report
  }

  mutating func read() -> ByteChunk {
    guard let chunk = arrived?.chunk(from: offset) else { return ByteChunk() }
    offset += chunk.count
    if chunk.count == 0 { arrived = nil }
    return chunk
  }

  mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    switch receiver {
    case .ubx, .nmea: throw .gone
    case .ubloxM10: break
    }
    if !isOn { return turn(on: true) }  // bytes that wake the receiver are lost
    var reply = ReceiverBytes()
    var i = 0
    while i + 8 <= bytes.count && bytes[i] == 0xB5 {
      switch (bytes[i + 2], bytes[i + 3]) {
      case (0x06, 0x8A): reply.acknowledgeSetting()
      case (0x06, 0x8B): reply.rejectPoll()
      case (0x0A, 0x04): reply.writeVersion()
      case (0x02, 0x41): turn(on: false)
      case (_, _): break
      }
      i += 8 + Int(bytes[i + 4]) + 256 * Int(bytes[i + 5])
    }
    guard reply.count > 0 else { return }
    self.reply = reply
    replyDue = time + .milliseconds(50)
  }

  mutating func setSpeed(_ baud: UInt32) {}

  mutating func set(_ command: PinCommand) throws(PinFault) {
    guard command.pin == .receiverSupply else { throw .notWired }
    turn(on: command.level == .active)
  }

  private mutating func turn(on isOn: Bool) {
    guard isOn != self.isOn else { return }
    self.isOn = isOn
    switches += 1
    second = seconds + FirmwareBoard.timeToFix
    arrived = nil
    replyDue = .distantFuture
  }
}
