import CLinux
import Glibc
import LocationHAL
import LocationTypes

/// The serial line to a receiver: a UART, or a USB receiver that appears as one.
///
/// Raw mode, 8N1, locked by this process. Input is read with one `read` of up to 4,096 bytes and returned in chunks;
/// `read` is skipped if the last wait found no input. If the device disappears, the next call throws `LineFault.gone`.
/// Later calls try to open it again, with delays that grow from `initialRetryDelay` to 30 s, and throw
/// `LineFault.gone` until that succeeds.
public struct SerialLine: ByteLine, ~Copyable {
  /// Size of the input buffer in bytes.
  public static let inputCapacity = 4_096
  /// A read of fewer bytes has emptied the kernel's buffer, so that no second read is necessary. A longer one may have
  /// left bytes: the kernel's buffer has a little less than 4,096 bytes, and more may arrive during the read.
  private static let fullReadThreshold = 2_048
  /// Size of the output queue in bytes, for output that the kernel does not accept yet.
  public static let outputCapacity = 4_096
  /// Delay before the first try to open a lost device again.
  public static let initialRetryDelay = Interval.milliseconds(250)

  /// Path of the device.
  public let path: String
  /// Speed in baud.
  public private(set) var speed: UInt32
  private let events: EventWait
  /// Whether a FIFO replaces the device in a test: it has no speed and no settings.
  private let isPipe: Bool
  /// Negative while the device is lost.
  private var descriptor: Int32 = -1
  /// Whether the device was lost and the loss is not reported yet; the next call reports it.
  private var isLossUnreported = false
  private var retry = RetryBackoff(initial: SerialLine.initialRetryDelay, longest: .seconds(30))

  private var input = InlineArray<4_096, UInt8>(repeating: 0)
  private var unread = 0..<0
  private var mayHaveMore = true
  private var lastSeenWait: UInt64 = 0
  /// Number of waits at the time the device was opened.
  private var waitCountAtOpen: UInt64?
  private var output = InlineArray<4_096, UInt8>(repeating: 0)
  /// Number of bytes that wait for free space in the kernel's buffer.
  private(set) var outputCount = 0

  /// Opens a line.
  ///
  /// - Parameters:
  ///   - path: The device.
  ///   - speed: Speed in baud, from 1.
  ///   - events: The wait to which the line is added as `EventWait.Token.line`.
  ///   - isPipe: Whether `path` is a FIFO, for tests without a terminal.
  public init(
    opening path: String, speed: UInt32, in events: EventWait, isPipe: Bool = false
  ) throws(LineOpenError) {
    self.init(lookingFor: path, speed: speed, in: events, isPipe: isPipe)
    try open()
  }

  /// Creates a line whose device may be missing yet: each use tries to open it.
  public init(
    lookingFor path: String, speed: UInt32, in events: EventWait, isPipe: Bool = false
  ) {
    precondition(speed > 0, "a line's speed must be above 0")
    self.isPipe = isPipe
    self.path = path
    self.speed = speed
    self.events = events
  }

  /// Creates the line of a board without a receiver: it never has input, and a write throws `LineFault.gone`.
  public init(noneIn events: EventWait) { self.init(lookingFor: "", speed: 9_600, in: events) }

  deinit { SerialLine.release(descriptor) }

  /// Whether the device is open.
  public var isOpen: Bool { descriptor >= 0 }
  /// Time of the next try to open a lost device; nil while it is open, or for a board without a receiver.
  var nextReopenTime: Instant? { isOpen || path.isEmpty ? nil : retry.nextTime }
  /// Whether input was fetched but not read, or a loss is not reported yet.
  var hasUnreportedInput: Bool { !unread.isEmpty || isLossUnreported }
  /// Whether bytes to the receiver are queued here or in the kernel. One system call.
  var isSending: Bool {
    outputCount > 0 || (descriptor >= 0 && clinux_line_queued(descriptor) > 0)
  }

  // MARK: Device

  private mutating func open() throws(LineOpenError) {
    let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
    let opened = unsafe Glibc.open(path, flags)
    guard opened >= 0 else { throw LineOpenError(errno, path: path, baud: speed) }
    let result = isPipe ? 0 : clinux_line_claim(opened, speed)
    guard result == 0 else {
      close(opened)
      throw LineOpenError(-result, path: path, baud: speed)
    }
    do {
      try events.add(opened, as: .line, for: .readable, isReceiverInput: true)
    } catch {
      SerialLine.release(opened)
      throw .refused(path: path, code: error.code)
    }
    descriptor = opened
    waitCountAtOpen = events.waitCount
    mayHaveMore = true
    retry.reset()
  }

  /// Ends the exclusive use and closes the device; the exclusive flag could otherwise outlive the descriptor.
  private static func release(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    _ = ioctl(descriptor, UInt(TIOCNXCL))
    close(descriptor)
  }

  /// Handles the loss of the device: discards the buffers and sets the time of the next try.
  private mutating func handleLoss() {
    SerialLine.release(descriptor)
    descriptor = -1
    unread = 0..<0
    outputCount = 0
    isLossUnreported = true
    retry.nextTime = SystemClock().now + retry.delay
  }

  private mutating func ensureOpen() throws(LineFault) {
    try reportLoss()
    guard descriptor < 0 else { return }
    guard !path.isEmpty else { throw .gone }
    let now = SystemClock().now
    guard !retry.isWaiting(at: now) else { throw .gone }
    do { try open() } catch {
      retry.recordFailure(at: now)
      throw .gone
    }
  }

  /// Whether an error number means "try again".
  private static func isTransient(_ code: Int32) -> Bool { code == EAGAIN || code == EINTR }

  // MARK: Input

  /// The next received bytes, at most 256; empty if there are none.
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func read() throws(LineFault) -> ByteChunk {
    guard !path.isEmpty else { return ByteChunk() }
    try ensureOpen()
    var chunk = ByteChunk()
    while !chunk.isFull {
      if unread.isEmpty { fetch() }
      let count = min(unread.count, ByteChunk.capacity - chunk.count)
      guard count > 0 else { break }
      let next = unread.lowerBound + count
      chunk.append(input.span.extracting(unread.lowerBound..<next))
      unread = next..<unread.upperBound
    }
    // After the last bytes, the next call reports the loss.
    if chunk.count == 0 { try reportLoss() }
    return chunk
  }

  /// Discards received bytes, here and in the kernel. One system call.
  public mutating func discardInput() {
    unread = 0..<0
    guard descriptor >= 0 else { return }
    guard isPipe else { return clinux_line_discard_input(descriptor) }
    // A FIFO holds 64 KiB, which only reading removes.
    for _ in 0..<16 where readInput(from: 0) <= 0 { break }
  }

  private mutating func reportLoss() throws(LineFault) {
    guard isLossUnreported else { return }
    isLossUnreported = false
    throw .gone
  }

  /// Conditions of the line in the last wait.
  private mutating func lineConditions() -> EventWait.Conditions {
    // A wait before the device was opened has no information about it.
    guard events.waitCount != waitCountAtOpen else { return [] }
    let found = events.conditions(of: .line)
    if lastSeenWait != events.waitCount {
      lastSeenWait = events.waitCount
      if !events.wasInputMonitored || !found.isDisjoint(with: [.readable, .gone]) {
        mayHaveMore = true
      }
    }
    return found
  }

  /// Reads from the kernel if the last wait found input, or more may be buffered.
  private mutating func fetch() {
    let found = lineConditions()
    guard mayHaveMore, descriptor >= 0 else { return }
    let result = readInput(from: 0)
    if result > 0 {
      unread = 0..<result
      mayHaveMore = result >= SerialLine.fullReadThreshold
    } else if result < 0, SerialLine.isTransient(errno), !found.contains(.gone) {
      mayHaveMore = errno == EINTR
    } else {
      handleLoss()
    }
  }

  /// Reads into the buffer from offset `start` on.
  private mutating func readInput(from start: Int) -> Int {
    let descriptor = descriptor
    var span = input.mutableSpan
    return unsafe span.withUnsafeMutableBytes { bytes in
      let destination = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
      return unsafe Glibc.read(descriptor, destination.baseAddress, destination.count)
    }
  }

  /// Appends received bytes to the unread ones while an epoch arrives in parts.
  ///
  /// - Returns: Number of bytes; 0 also if the buffer is full or the device was lost.
  mutating func gather() -> Int {
    guard descriptor >= 0 else { return 0 }
    if unread.isEmpty { unread = 0..<0 }
    let end = unread.upperBound
    guard end < SerialLine.inputCapacity else { return 0 }
    _ = lineConditions()
    let result = readInput(from: end)
    if result > 0 {
      unread = unread.lowerBound..<end + result
      mayHaveMore =
        result >= SerialLine.fullReadThreshold || unread.upperBound == SerialLine.inputCapacity
      return result
    }
    if result == 0 || !SerialLine.isTransient(errno) { handleLoss() }
    return 0
  }

  // MARK: Output

  /// Queues all of `bytes` or none. What the kernel does not accept immediately is sent when it has free space.
  ///
  /// - Throws: `LineFault.gone`; `LineFault.full` if more than ``outputCapacity`` bytes would be queued here.
  public mutating func write(_ bytes: Span<UInt8>) throws(LineFault) {
    try ensureOpen()
    guard bytes.count <= SerialLine.outputCapacity - outputCount else { throw .full }
    guard !bytes.isEmpty else { return }
    let sent = outputCount == 0 ? send(bytes) : 0
    try reportLoss()
    guard sent < bytes.count else { return }
    let wasEmpty = outputCount == 0
    for index in sent..<bytes.count {
      output[outputCount] = bytes[index]
      outputCount += 1
    }
    if wasEmpty { setOutputPending(true) }
    try reportLoss()
  }

  /// Writes to the kernel; returns the number of bytes it accepted.
  private mutating func send(_ bytes: Span<UInt8>) -> Int {
    let result = unsafe bytes.withUnsafeBytes { [descriptor] bytes in
      unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
    if result < 0 && !SerialLine.isTransient(errno) { handleLoss() }
    return max(0, result)
  }

  /// Sends queued bytes as far as the kernel accepts them.
  mutating func flush() {
    guard descriptor >= 0, outputCount > 0 else { return }
    let result = unsafe output.span.extracting(0..<outputCount).withUnsafeBytes {
      [descriptor] bytes in
      unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
    if result < 0 && !SerialLine.isTransient(errno) { return handleLoss() }
    guard result > 0 else { return }
    for index in result..<outputCount { output[index - result] = output[index] }
    outputCount -= result
    if outputCount == 0 { setOutputPending(false) }
  }

  private mutating func setOutputPending(_ isOn: Bool) {
    do { try events.setOutputPending(isOn, line: descriptor) } catch { handleLoss() }
  }

  // MARK: Speed

  /// Sets the speed in baud after all queued bytes were sent; discards unread input.
  ///
  /// Blocks while queued bytes are sent, and at most 0.5 s longer. A port that does not support the speed keeps its
  /// former one, which `ReceiverDriver` handles like any wrong speed.
  ///
  /// - Throws: `LineFault.gone`.
  public mutating func setSpeed(_ baud: UInt32) throws(LineFault) {
    precondition(baud > 0, "a line's speed must be above 0")
    try ensureOpen()
    guard baud != speed else { return }
    drainOutput()
    try reportLoss()
    let result = isPipe ? 0 : clinux_line_set_speed(descriptor, baud, speed)
    switch -result {
    case 0: break
    case EINVAL:
      // The driver set the nearest supported speed, or none: restore the former one.
      _ = clinux_line_set_speed(descriptor, speed, speed)
      return
    default:
      handleLoss()
      return try reportLoss()
    }
    speed = baud
    unread = 0..<0
  }

  /// Waits until the output queue is empty, for a bounded time; then discards what is left.
  private mutating func drainOutput() {
    let clock = SystemClock()
    let bytesTime = Interval(microseconds: Int64(outputCount) * 10_000_000 / Int64(speed))
    let end = clock.now + bytesTime + .milliseconds(500)
    while outputCount > 0, descriptor >= 0 {
      let left = end - clock.now
      guard left > .zero else { break }
      var pollRequest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&pollRequest, 1, Int32(left.microseconds / 1_000 + 1))
      flush()
    }
    guard outputCount > 0, descriptor >= 0 else { return }
    outputCount = 0
    setOutputPending(false)
  }
}
