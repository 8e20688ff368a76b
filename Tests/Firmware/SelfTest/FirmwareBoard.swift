import LocationHAL
import LocationTypes

/// The least board there can be: a clock, a line on which a receiver talks, a supply switch and a
/// motion sensor. A firmware's own board has the same shape.
struct FirmwareBoard: ~Copyable {
  /// Boot, for what the receiver says; far enough from it to need more than 32 bits.
  static let start = Instant.boot + .seconds(100 * 86_400)
  /// From supply to the first fix.
  static let search: Int64 = 3

  private(set) var time = FirmwareBoard.start
  /// How often the supply was switched, on or off.
  private(set) var switches: Int64 = 0
  /// How often the board woke.
  private(set) var wakes: Int64 = 0

  private let sentences: Sentences
  private let drive: Range<Int64>
  private let end: Instant
  private var isSupplied = false
  private var second: Int64 = 0
  private var epoch: EpochBytes?
  private var offset = 0
  private var motion: PinLevel?

  init(_ sentences: Sentences, drive: Range<Int64>, until end: Int64) {
    self.sentences = sentences
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
  private var nextArrival: Instant { isSupplied ? arrival(of: second) : .distantFuture }

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
    let bytes = listening ? nextArrival : .distantFuture
    time = max(time, min(min(deadline, bytes), min(nextEdge, end)))
    var waking = Waking(reason: .alarm, batchPinRose: false)
    if nextArrival <= time {
      waking.reason = .bytes
      epoch = EpochBytes(sentences, at: second, Wearer(at: second, drive: drive))
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
    guard let chunk = epoch?.chunk(from: offset) else { return ByteChunk() }
    offset += chunk.count
    if chunk.count == 0 { epoch = nil }
    return chunk
  }

  mutating func write(_ bytes: Span<UInt8>) throws(LineFault) { throw .gone }

  mutating func setSpeed(_ baud: UInt32) {}

  mutating func set(_ command: PinCommand) throws(PinFault) {
    guard command.pin == .receiverSupply else { throw .notWired }
    let isOn = command.level == .active
    guard isOn != isSupplied else { return }
    isSupplied = isOn
    switches += 1
    second = seconds + FirmwareBoard.search
    epoch = nil
  }
}
