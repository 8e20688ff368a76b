import CLinux
import Glibc
import LocationHAL
import LocationTypes

/// A serial line to a receiver: a UART, or a receiver on USB that looks like one.
///
/// Raw, of eight bits without parity, for this process alone. What has arrived is fetched with one
/// `read` of up to 4,096 bytes and handed out in chunks; none is made when the last wait says that
/// nothing came. A device that goes away is told once as `LineFault.gone` and then opened anew when
/// it is asked for something, after pauses that grow from ``firstPause`` to ``longestPause``.
public struct SerialLine: ByteLine, ~Copyable {
  /// Bytes fetched at once.
  public static let inputCapacity = 4_096
  /// A read of so many may have left some: the kernel holds a little less than a full buffer, and
  /// what lies behind that follows. One of fewer has fetched all.
  private static let muchInput = 2_048
  /// Bytes that wait here when the kernel takes no more.
  public static let outputCapacity = 4_096
  /// The time before a device that went away is looked for the first time.
  public static let firstPause = Interval.milliseconds(250)
  /// The longest time between two such looks.
  public static let longestPause = Interval.seconds(30)

  /// The device.
  public let path: String
  /// The speed in baud.
  public private(set) var speed: UInt32
  private let events: EventWait
  /// A FIFO stands in for the device: it has no speed, and nothing of it is set.
  private let isPipe: Bool
  /// Negative while the device is away.
  private var descriptor: Int32 = -1
  /// It went away while nobody asked; the next call says so.
  private var isLossUntold = false
  private var pause = SerialLine.firstPause
  private var nextTry = Instant.boot

  private var input = InlineArray<4_096, UInt8>(repeating: 0)
  private var unread = 0..<0
  private var mayHaveMore = true
  private var seenWait: UInt64 = 0
  /// How many waits there had been when the device was opened.
  private var openedWait: UInt64?
  private var output = InlineArray<4_096, UInt8>(repeating: 0)
  private var outputCount = 0

  /// Opens a line.
  ///
  /// - Parameters:
  ///   - path: The device.
  ///   - speed: In baud, from 1.
  ///   - events: Where it is waited for, as `EventWait.Token.line`.
  ///   - isPipe: `path` is a FIFO, for tests where no terminal can be opened.
  public init(
    opening path: String, speed: UInt32, in events: EventWait, isPipe: Bool = false
  ) throws(LineOpenError) {
    self.init(lookingFor: path, speed: speed, in: events, isPipe: isPipe)
    try open()
  }

  /// Creates a line whose device need not be there yet: it is opened when it is asked for something.
  public init(
    lookingFor path: String, speed: UInt32, in events: EventWait, isPipe: Bool = false
  ) {
    precondition(speed > 0, "a line has a speed")
    self.isPipe = isPipe
    self.path = path
    self.speed = speed
    self.events = events
  }

  /// The line of a board without a receiver: nothing ever comes, and what is written is refused as
  /// `LineFault.gone`.
  public init(noneIn events: EventWait) { self.init(lookingFor: "", speed: 9_600, in: events) }

  deinit { SerialLine.release(descriptor) }

  /// Whether the device is open.
  public var isOpen: Bool { descriptor >= 0 }
  /// When a device that went away is worth another look; nil while it is there, or none is wanted.
  var nextLook: Instant? { isOpen || path.isEmpty ? nil : nextTry }
  /// Whether bytes were fetched and not read yet, or a loss not told yet.
  var hasNews: Bool { !unread.isEmpty || isLossUntold }
  /// Whether bytes are on their way to the receiver, here or in the kernel. One system call.
  var isSending: Bool {
    outputCount > 0 || (descriptor >= 0 && clinux_line_queued(descriptor) > 0)
  }
  /// Bytes that wait for room in the kernel.
  var queuedCount: Int { outputCount }

  // MARK: The device

  private mutating func open() throws(LineOpenError) {
    let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
    let opened = unsafe path.withCString { unsafe Glibc.open($0, flags) }
    guard opened >= 0 else { throw LineOpenError(errno, path: path, baud: speed) }
    let result = isPipe ? 0 : clinux_line_take(opened, speed)
    guard result == 0 else {
      close(opened)
      throw LineOpenError(-result, path: path, baud: speed)
    }
    do {
      try events.add(opened, as: .line, for: .readable, onlyListening: true)
    } catch {
      SerialLine.release(opened)
      throw .refused(path: path, code: error.code)
    }
    descriptor = opened
    openedWait = events.waitCount
    mayHaveMore = true
    pause = SerialLine.firstPause
  }

  /// Makes it everybody's again, also where the device outlives its being open.
  private static func release(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    _ = ioctl(descriptor, UInt(TIOCNXCL))
    close(descriptor)
  }

  /// The device went away: forgets what was queued, and when to look for it again.
  private mutating func lose() {
    SerialLine.release(descriptor)
    descriptor = -1
    unread = 0..<0
    outputCount = 0
    isLossUntold = true
    nextTry = SystemClock().now + pause
  }

  private mutating func mustBeOpen() throws(LineFault) {
    if isLossUntold {
      isLossUntold = false
      throw .gone
    }
    guard descriptor < 0 else { return }
    guard !path.isEmpty else { throw .gone }
    let now = SystemClock().now
    guard now >= nextTry else { throw .gone }
    do { try open() } catch {
      nextTry = now + pause
      pause = min(pause * 2, SerialLine.longestPause)
      throw .gone
    }
  }

  /// Whether an error number says no more than "not now".
  private static func isPassing(_ code: Int32) -> Bool { code == EAGAIN || code == EINTR }

  // MARK: In

  /// The next bytes that have arrived, at most 256; empty when there are none.
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func read() throws(LineFault) -> ByteChunk {
    guard !path.isEmpty else { return ByteChunk() }
    try mustBeOpen()
    var chunk = ByteChunk()
    while !chunk.isFull {
      if unread.isEmpty { fetch() }
      let count = min(unread.count, ByteChunk.capacity - chunk.count)
      guard count > 0 else { break }
      let next = unread.lowerBound + count
      chunk.append(input.span.extracting(unread.lowerBound..<next))
      unread = next..<unread.upperBound
    }
    // A loss behind the last bytes is told by the next call.
    if chunk.count == 0 { try tellLoss() }
    return chunk
  }

  /// Throws away what has arrived, here and in the kernel. One system call.
  public mutating func discardInput() {
    unread = 0..<0
    guard descriptor >= 0 else { return }
    guard isPipe else { return clinux_line_forget_input(descriptor) }
    // A FIFO holds 64 KiB, and nothing empties it but reading.
    for _ in 0..<16 where take(from: 0) <= 0 { break }
  }

  private mutating func tellLoss() throws(LineFault) {
    guard isLossUntold else { return }
    isLossUntold = false
    throw .gone
  }

  /// Looks what the last wait said of the line.
  private mutating func lookAtWait() -> EventWait.Conditions {
    // What was ready before the device was opened was another one.
    guard events.waitCount != openedWait else { return [] }
    let found = events.conditions(of: .line)
    if seenWait != events.waitCount {
      seenWait = events.waitCount
      if !events.wasListening || !found.isDisjoint(with: [.readable, .gone]) { mayHaveMore = true }
    }
    return found
  }

  /// Fetches what there is behind what has been read.
  private mutating func fetch() {
    let found = lookAtWait()
    guard mayHaveMore, descriptor >= 0 else { return }
    let result = take(from: 0)
    if result > 0 {
      unread = 0..<result
      mayHaveMore = result >= SerialLine.muchInput
    } else if result < 0, SerialLine.isPassing(errno), !found.contains(.gone) {
      mayHaveMore = errno == EINTR
    } else {
      lose()
    }
  }

  /// Reads into the buffer from `start` on.
  private mutating func take(from start: Int) -> Int {
    let descriptor = descriptor
    var span = input.mutableSpan
    return unsafe span.withUnsafeMutableBytes { bytes in
      let place = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
      return unsafe Glibc.read(descriptor, place.baseAddress, place.count)
    }
  }

  /// Adds what has arrived to what was fetched and not read yet, while an epoch comes in pieces.
  ///
  /// - Returns: How many bytes; 0 too where there is no room left, or the device went away.
  mutating func gather() -> Int {
    guard descriptor >= 0 else { return 0 }
    if unread.isEmpty { unread = 0..<0 }
    let end = unread.upperBound
    guard end < SerialLine.inputCapacity else { return 0 }
    _ = lookAtWait()
    let result = take(from: end)
    if result > 0 {
      unread = unread.lowerBound..<end + result
      mayHaveMore = result >= SerialLine.muchInput || unread.upperBound == SerialLine.inputCapacity
      return result
    }
    if result == 0 || !SerialLine.isPassing(errno) { lose() }
    return 0
  }

  // MARK: Out

  /// Queues `bytes`, all or nothing: what the kernel does not take at once follows when it has room.
  ///
  /// - Throws: `LineFault.gone`; `LineFault.full` when more than ``outputCapacity`` bytes would wait
  ///   here.
  public mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    try mustBeOpen()
    guard bytes.count <= SerialLine.outputCapacity - outputCount else { throw .full }
    guard !bytes.isEmpty else { return }
    let taken = outputCount == 0 ? send(bytes) : 0
    try tellLoss()
    guard taken < bytes.count else { return }
    let wasEmpty = outputCount == 0
    for index in taken..<bytes.count {
      output[outputCount] = bytes[index]
      outputCount += 1
    }
    if wasEmpty { setFlushing(true) }
    try tellLoss()
  }

  /// Gives the kernel what it takes; says how much that was.
  private mutating func send(_ bytes: Span<UInt8>) -> Int {
    let result = unsafe bytes.withUnsafeBytes { [descriptor] bytes in
      unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
    if result < 0 && !SerialLine.isPassing(errno) { lose() }
    return max(0, result)
  }

  /// Sends what waits, as far as there is room.
  mutating func flush() {
    guard descriptor >= 0, outputCount > 0 else { return }
    let result = unsafe output.span.extracting(0..<outputCount).withUnsafeBytes {
      [descriptor] bytes in
      unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
    if result < 0 && !SerialLine.isPassing(errno) { return lose() }
    guard result > 0 else { return }
    for index in result..<outputCount { output[index - result] = output[index] }
    outputCount -= result
    if outputCount == 0 { setFlushing(false) }
  }

  private mutating func setFlushing(_ isOn: Bool) {
    do { try events.setFlushing(isOn, line: descriptor) } catch { lose() }
  }

  // MARK: Speed

  /// Sets the speed in baud, once all queued bytes have left; what has come and was not read is lost.
  ///
  /// Blocks for as long as the queued bytes take, and half a second at most beyond that. A port that
  /// cannot do the speed stays at the one it has: to the receiver's driver that is a wrong speed like
  /// any other.
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    precondition(baud > 0, "a line has a speed")
    try mustBeOpen()
    guard baud != speed else { return }
    flushAll()
    try tellLoss()
    let result = isPipe ? 0 : clinux_line_set_speed(descriptor, baud, speed)
    switch -result {
    case 0: break
    case EINVAL:
      // The driver took the nearest it can, or nothing: back to what it was.
      _ = clinux_line_set_speed(descriptor, speed, speed)
      return
    default:
      lose()
      return try tellLoss()
    }
    speed = baud
    unread = 0..<0
  }

  /// Waits until nothing is queued here any more; bounded, and then forgets the rest.
  private mutating func flushAll() {
    let clock = SystemClock()
    let bytesTime = Interval(microseconds: Int64(outputCount) * 10_000_000 / Int64(speed))
    let end = clock.now + bytesTime + .milliseconds(500)
    while outputCount > 0, descriptor >= 0 {
      let left = end - clock.now
      guard left > .zero else { break }
      var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&room, 1, Int32(left.microseconds / 1_000 + 1))
      flush()
    }
    guard outputCount > 0, descriptor >= 0 else { return }
    outputCount = 0
    setFlushing(false)
  }
}
