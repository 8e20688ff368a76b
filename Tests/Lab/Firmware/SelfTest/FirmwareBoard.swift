import LocationHAL
import LocationTypes

/// The least board there can be: a clock, a line on which a receiver talks, a supply switch and a
/// motion sensor. A firmware's own board has the same shape.
struct FirmwareBoard: ~Copyable {
  /// Boot, for what the receiver says; far enough from it to need more than 32 bits.
  static let start = Instant.boot + .seconds(100 * 86_400)
  /// Seconds from supply to the first fix.
  static let search: Int64 = 3

  private(set) var time = FirmwareBoard.start
  /// How often the receiver was switched off or sent to sleep, or the other way.
  private(set) var switches: Int64 = 0
  /// How often the board woke.
  private(set) var wakes: Int64 = 0

  private let receiver: FirmwareReceiver
  private let drive: Range<Int64>
  private let end: Instant
  /// It is neither without supply nor asleep.
  private var isOn: Bool
  /// The answer to what was written, and when it comes.
  private var answer: ReceiverBytes?
  private var answerDue = Instant.distantFuture
  private var second: Int64 = FirmwareBoard.search
  /// What has arrived, and how much of it was read.
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

  /// Seconds since the board's start.
  var seconds: Int64 { (time - FirmwareBoard.start).microseconds / 1_000_000 }
  /// Nothing happens any more.
  var isOver: Bool { time >= end }

  /// When the receiver has said the epoch of `second`: 80 ms after it was true.
  private func arrival(of second: Int64) -> Instant {
    FirmwareBoard.start + .seconds(second) + .milliseconds(80)
  }

  /// The next one.
  private var nextEpoch: Instant { isOn ? arrival(of: second) : .distantFuture }

  /// When the motion sensor's line changes the next time.
  private var nextEdge: Instant {
    let begins = FirmwareBoard.start + .seconds(drive.lowerBound)
    let ends = FirmwareBoard.start + .seconds(drive.upperBound)
    return time < begins ? begins : time < ends ? ends : .distantFuture
  }
}

extension FirmwareBoard: LocationBoard {
  var now: Instant { time }

  mutating func wait(in state: BoardState, until deadline: Instant, listening: Bool) -> Waking {
    wakes += 1
    let bytes = listening ? min(nextEpoch, answerDue) : .distantFuture
    time = max(time, min(min(deadline, bytes), min(nextEdge, end)))
    var waking = Waking(reason: .alarm, batchPinRose: false)
    if answerDue <= time {
      waking.reason = .bytes
      arrived = answer
      offset = 0
      answerDue = .distantFuture
    } else if nextEpoch <= time {
      waking.reason = .bytes
      arrived = ReceiverBytes(receiver, at: second, Wearer(at: second, drive: drive))
      offset = 0
      second += 1
    }
    let level: PinLevel = drive.contains(seconds) ? .active : .inactive
    if level != motion {
      waking.motion = level
      motion = level
    }
    return waking
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
    if !isOn { return turn(on: true) }  // the bytes that wake it are lost
    var answer = ReceiverBytes()
    var i = 0
    while i + 8 <= bytes.count && bytes[i] == 0xB5 {
      switch (bytes[i + 2], bytes[i + 3]) {
      case (0x06, 0x8A): answer.acknowledgeSetting()
      case (0x0A, 0x04): answer.tellVersion()
      case (0x02, 0x41): turn(on: false)
      case (_, _): break
      }
      i += 8 + Int(bytes[i + 4]) + 256 * Int(bytes[i + 5])
    }
    guard answer.count > 0 else { return }
    self.answer = answer
    answerDue = time + .milliseconds(50)
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
    second = seconds + FirmwareBoard.search
    arrived = nil
    answerDue = .distantFuture
  }
}
