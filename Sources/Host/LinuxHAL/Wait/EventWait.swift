import CLinux
import Glibc
import LocationTypes

/// Waits for descriptors and for a time on the boot clock. Elsewhere the service blocks only during a suspend and in
/// bounded waits, such as a change of the line's speed.
///
/// Board and server share one instance on one thread. Each descriptor is added with a token, by which ``ready(at:)``
/// names it, and is reported as long as it is ready (level-triggered).
///
/// There are two epoll instances: one with all descriptors, one without the receiver's line (`isReceiverInput`). A
/// wait without `wakesOnInput` uses the second, so that switching costs no system call.
///
/// The deadline is the timeout of the wait itself, which costs no further call. The timeout runs on a clock that stops
/// during suspend; a resume therefore ends it, and the remaining time is computed again.
@safe public final class EventWait {
  /// Identifies a descriptor.
  public struct Token: RawRepresentable, Hashable, Sendable {
    /// The number.
    public var rawValue: UInt32

    /// Creates a token; numbers below 16 are reserved for the board.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The receiver's line.
    public static let line = Token(rawValue: 0)
    static let clock = Token(rawValue: 1)
    static let batchPin = Token(rawValue: 2)
    static let motion = Token(rawValue: 3)
    static let lowBattery = Token(rawValue: 4)
    /// The first token that is free for other users than the board.
    public static let firstFree = Token(rawValue: 16)
  }

  /// Conditions of a descriptor: those to wait for, and those found.
  public struct Conditions: OptionSet, Sendable {
    /// Bits as in `CLinux`.
    public let rawValue: UInt32

    /// Creates a set of conditions.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Readable, or closed by the other end.
    public static let readable = Conditions(rawValue: 1)
    /// Writable.
    public static let writable = Conditions(rawValue: 2)
    /// Closed by the other end, or failed; always reported.
    public static let gone = Conditions(rawValue: 4)
    /// Changed, of a file of the kernel that signals its changes; reported together with `gone`.
    public static let changed = Conditions(rawValue: 8)
  }

  /// A ready descriptor.
  public struct Ready: Equatable, Sendable {
    /// Token of the descriptor.
    public var token: Token
    /// Conditions found.
    public var conditions: Conditions
  }

  /// Maximum number of descriptors that one wait reports; the next wait reports the others.
  public static let capacity = 64

  /// Number of descriptors that the last wait found ready.
  public private(set) var readyCount = 0
  /// Number of times that a wait returned after it slept or may have slept: the wakes of the service.
  public private(set) var wakeCount: UInt64 = 0

  /// When the last wait last began to wait: later than its call if a stop of the process interrupted it.
  private(set) var waitStart = Instant.boot
  /// Number of waits.
  public private(set) var waitCount: UInt64 = 0
  /// Deadline that ends a wait but does not wake a suspended board: work that is due then is done at the next wake.
  public var postponableDeadline = Instant.distantFuture
  /// Total time in suspend, on the boot clock, counting only suspends by this service.
  public private(set) var suspendedTime = Interval.zero
  /// Whether input could end the last wait.
  private(set) var wasInputMonitored = true

  private let found: UnsafeMutablePointer<clinux_ready>
  private let epollWithInput: Int32
  private let epollWithoutInput: Int32
  private let clockWatch: Int32
  /// Epoll that holds one of the other two while the board enters suspend; negative before the first time.
  private var suspendBlockingEpoll: Int32 = -1
  /// Whether the board resumed, or its wall clock was set, since the last `consumeClockChange()`.
  private var hasClockChanged = false

  /// Creates a wait without descriptors.
  public init() throws(SystemError) {
    let withInput = try SystemError.check(
      clinux_epoll_open(),
      "creating an epoll descriptor failed")
    let withoutInput = clinux_epoll_open()
    let clockWatch = clinux_clock_watch_open()
    self.epollWithInput = withInput
    self.epollWithoutInput = withoutInput
    self.clockWatch = clockWatch
    unsafe found = .allocate(capacity: EventWait.capacity)
    unsafe found.initialize(repeating: clinux_ready(), count: EventWait.capacity)
    // If this throws, `deinit` closes the descriptors that were opened.
    _ = try SystemError.check(withoutInput, "creating an epoll descriptor failed")
    _ = try SystemError.check(clockWatch, "creating a timer for clock changes failed")
    try add(clockWatch, as: .clock, for: .readable)
  }

  deinit {
    for descriptor in [suspendBlockingEpoll, clockWatch, epollWithoutInput, epollWithInput]
    where descriptor >= 0 {
      close(descriptor)
    }
    unsafe found.deallocate()
  }

  // MARK: Descriptors

  /// Adds a descriptor.
  ///
  /// - Parameters:
  ///   - token: Identifies the descriptor; unique among the current ones.
  ///   - isReceiverInput: Whether the descriptor ends only waits with `wakesOnInput`.
  public func add(
    _ descriptor: Int32, as token: Token, for conditions: Conditions, isReceiverInput: Bool = false
  ) throws(SystemError) {
    try set(CLINUX_ADD, descriptor, token, conditions, in: epollWithInput)
    if !isReceiverInput {
      try set(CLINUX_ADD, descriptor, token, conditions, in: epollWithoutInput)
    }
  }

  /// Changes the conditions of an added descriptor. Two system calls, so call it only on a change.
  public func change(
    _ descriptor: Int32, as token: Token, to conditions: Conditions, isReceiverInput: Bool = false
  ) throws(SystemError) {
    try set(CLINUX_CHANGE, descriptor, token, conditions, in: epollWithInput)
    if !isReceiverInput {
      try set(CLINUX_CHANGE, descriptor, token, conditions, in: epollWithoutInput)
    }
  }

  /// Removes a descriptor. Needed before closing only if the descriptor was duplicated. Results of the last wait stay.
  public func remove(_ descriptor: Int32) {
    _ = clinux_epoll_set(epollWithInput, Int32(CLINUX_REMOVE), descriptor, 0, 0)
    _ = clinux_epoll_set(epollWithoutInput, Int32(CLINUX_REMOVE), descriptor, 0, 0)
  }

  /// Sets whether output is queued: free space in the line's kernel buffer then ends every wait.
  func setOutputPending(_ isOn: Bool, line descriptor: Int32) throws(SystemError) {
    let all: Conditions = isOn ? [.readable, .writable] : .readable
    try set(CLINUX_CHANGE, descriptor, .line, all, in: epollWithInput)
    let change = isOn ? CLINUX_ADD : CLINUX_REMOVE
    try set(change, descriptor, .line, .writable, in: epollWithoutInput)
  }

  private func set(
    _ change: some BinaryInteger, _ descriptor: Int32, _ token: Token, _ conditions: Conditions,
    in epoll: Int32
  ) throws(SystemError) {
    let result = clinux_epoll_set(
      epoll, Int32(change), descriptor, token.rawValue, conditions.rawValue)
    _ = try SystemError.check(result, "waiting for descriptor \(descriptor) failed")
  }

  // MARK: Waiting

  /// Result of the last wait at `index`, which must be below ``readyCount``.
  public func ready(at index: Int) -> Ready {
    precondition(
      index >= 0 && index < readyCount,
      "the index is not below the number of ready descriptors")
    let entry = unsafe found[index]
    return Ready(
      token: Token(rawValue: entry.token), conditions: Conditions(rawValue: entry.events))
  }

  /// Conditions of a descriptor at the end of the last wait.
  public func conditions(of token: Token) -> Conditions {
    for index in 0..<readyCount where ready(at: index).token == token {
      return ready(at: index).conditions
    }
    return []
  }

  /// Waits until a descriptor is ready or the deadline has passed; checks the descriptors at least once.
  ///
  /// One system call.
  ///
  /// - Parameters:
  ///   - deadline: nil for none.
  ///   - wakesOnInput: Whether descriptors that were added as receiver input end the wait.
  ///   - endsOnResume: Whether a resume from suspend ends it, too; see `consumeClockChange()`.
  /// - Returns: Whether a descriptor is ready; if not, the deadline has passed, or the board resumed.
  @discardableResult
  public func wait(
    until deadline: Instant?, wakesOnInput: Bool = true, endsOnResume: Bool = false
  ) -> Bool {
    readyCount = 0
    waitCount += 1
    wasInputMonitored = wakesOnInput
    let deadline = deadline ?? .distantFuture
    if endsOnResume && hasClockChanged { return false }
    while true {
      waitStart = SystemClock().now
      let timeout = EventWait.timeout(until: deadline, from: waitStart)
      let count = unsafe clinux_epoll_wait(
        wakesOnInput ? epollWithInput : epollWithoutInput, found, Int32(EventWait.capacity), timeout
      )
      if timeout != 0 { wakeCount += 1 }
      guard count >= 0 || count == -EINTR else {
        preconditionFailure("waiting for descriptors failed: \(SystemError.reason(-count))")
      }
      readyCount = max(0, Int(count))
      consumeClockWatch()
      if readyCount > 0 { return true }
      if deadline <= SystemClock().now || (endsOnResume && hasClockChanged) { return false }
    }
  }

  /// Whether the board resumed from suspend, or its wall clock was set, since the last call.
  func consumeClockChange() -> Bool {
    defer { hasClockChanged = false }
    return hasClockChanged
  }

  /// Makes, or stops making, every ready descriptor block suspend (`EPOLLWAKEUP`): also one that is no wakeup source
  /// by itself, such as a client's request. Two system calls for each suspend, none otherwise.
  ///
  /// Needs CAP_BLOCK_SUSPEND. Without it, an event between the last check and the suspend waits until the board
  /// resumes, unless it is a wakeup source by itself.
  func blockSuspend(_ isOn: Bool, wakesOnInput: Bool) {
    if suspendBlockingEpoll < 0 { suspendBlockingEpoll = clinux_epoll_open() }
    let blocking = wakesOnInput ? epollWithInput : epollWithoutInput
    let change = isOn ? CLINUX_ADD : CLINUX_REMOVE
    _ = clinux_epoll_set(
      suspendBlockingEpoll, Int32(change), blocking, 0,
      UInt32(CLINUX_READABLE) | UInt32(CLINUX_BLOCKS_SUSPEND))
  }

  /// Records a suspend of that length, which counts as one more wake.
  func recordSuspend(for time: Interval) {
    suspendedTime = suspendedTime + time
    wakeCount += 1
  }

  /// Time left in nanoseconds, at most 31 years; negative without a deadline.
  private static func timeout(until deadline: Instant, from now: Instant) -> Int64 {
    guard deadline < .distantFuture else { return -1 }
    let left = (deadline - now).microseconds
    return min(max(0, left), 1_000_000_000_000_000) * 1_000
  }

  /// Removes the clock-change timer from the ready descriptors and re-arms it. The caller computes the time left again
  /// in any case.
  private func consumeClockWatch() {
    for index in 0..<readyCount where unsafe found[index].token == Token.clock.rawValue {
      watchClock()
      hasClockChanged = true
      readyCount -= 1
      unsafe found[index] = found[readyCount]
      return
    }
  }

  /// Waits for the next clock change. Tests set `real_us` to simulate a change at a time of the wall clock.
  func watchClock(changingAt real_us: Int64 = 0) {
    let result = clinux_clock_watch_set(clockWatch, real_us)
    precondition(
      result == 0,
      "setting the timer for clock changes failed: \(SystemError.reason(-result))")
  }
}
