import CLinux
import Glibc
import LocationTypes

/// The one place where the service waits: for descriptors and for a moment of the boot clock.
///
/// Board and server share it, on one thread. Each descriptor is added with a token, by which
/// ``ready`` names it; it is told for as long as it has something (level-triggered).
///
/// Two epolls are behind it: one holds everything, one all but what was added as `onlyListening`.
/// Which of them is waited on says whether the receiver's line is listened to, so that listening or
/// not costs no system call.
///
/// The moment is the wait's own timeout, which costs no further call. That runs on a clock which stands
/// still in suspend; so whoever suspends the machine, its coming back ends the timeout, and the rest is
/// waited for anew.
@safe public final class EventWait {
  /// Names a descriptor.
  public struct Token: RawRepresentable, Hashable, Sendable {
    /// The number.
    public var rawValue: UInt32

    /// Creates a token; numbers below 16 are the board's.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The receiver's line.
    public static let line = Token(rawValue: 0)
    static let clock = Token(rawValue: 1)
    static let batchPin = Token(rawValue: 2)
    static let motion = Token(rawValue: 3)
    static let lowBattery = Token(rawValue: 4)
    /// The first that is free for others than the board.
    public static let firstFree = Token(rawValue: 16)
  }

  /// What a descriptor is waited for, and what it has.
  public struct Conditions: OptionSet, Sendable {
    /// Bits as in `CLinux`.
    public let rawValue: UInt32

    /// Creates a set of conditions.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// It can be read, or the other end was closed.
    public static let readable = Conditions(rawValue: 1)
    /// It can be written.
    public static let writable = Conditions(rawValue: 2)
    /// The other end is gone; told without being asked for.
    public static let gone = Conditions(rawValue: 4)
    /// A file of the kernel's tells of a change; it is told as gone, too.
    public static let changed = Conditions(rawValue: 8)
  }

  /// A descriptor that has something.
  public struct Ready: Equatable, Sendable {
    /// The token it was added with.
    public var token: Token
    /// What it has.
    public var conditions: Conditions
  }

  /// The most descriptors a wait tells of; the others are told by the next one.
  public static let capacity = 64

  /// How many descriptors the last wait found ready.
  public private(set) var readyCount = 0
  /// How often a wait slept, or might have, and came back: the wakes of the service.
  public private(set) var wakeCount: UInt64 = 0

  /// How many waits there have been.
  public private(set) var waitCount: UInt64 = 0
  /// When a wait is to end though the board may be suspended beyond it: what is due then is done at the next wake.
  public var postponable = Instant.distantFuture
  /// How long the board was suspended by this service, by the boot clock.
  public private(set) var suspended = Interval.zero
  /// Whether the last one listened.
  private(set) var wasListening = true

  private let found: UnsafeMutablePointer<clinux_ready>
  private let everything: Int32
  private let undisturbed: Int32
  private let clockWatch: Int32
  /// Holds one of the two while the board is on its way to sleep; negative before the first time.
  private var guardian: Int32 = -1
  /// The board came back from a suspend, or its wall clock was set, and nobody has asked yet.
  private var hasClockChanged = false

  /// Creates a wait for nothing yet.
  public init() throws(SystemError) {
    let everything = try SystemError.check(clinux_epoll_open(), "an epoll cannot be made")
    let undisturbed = clinux_epoll_open()
    let clockWatch = clinux_clock_watch_open()
    self.everything = everything
    self.undisturbed = undisturbed
    self.clockWatch = clockWatch
    unsafe found = .allocate(capacity: EventWait.capacity)
    unsafe found.initialize(repeating: clinux_ready(), count: EventWait.capacity)
    // What is half made is closed by `deinit`, which runs when this throws.
    _ = try SystemError.check(undisturbed, "an epoll cannot be made")
    _ = try SystemError.check(clockWatch, "the clock cannot be watched")
    try add(clockWatch, as: .clock, for: .readable)
  }

  deinit {
    for descriptor in [guardian, clockWatch, undisturbed, everything] where descriptor >= 0 {
      close(descriptor)
    }
    unsafe found.deallocate()
  }

  // MARK: Descriptors

  /// Adds a descriptor.
  ///
  /// - Parameters:
  ///   - token: By which it is told; one that no other descriptor has now.
  ///   - onlyListening: It ends only those waits that listen.
  public func add(
    _ descriptor: Int32, as token: Token, for conditions: Conditions, onlyListening: Bool = false
  ) throws(SystemError) {
    try set(CLINUX_ADD, descriptor, token, conditions, in: everything)
    if !onlyListening { try set(CLINUX_ADD, descriptor, token, conditions, in: undisturbed) }
  }

  /// Changes what an added descriptor is waited for. Two system calls: only when it changes.
  public func change(
    _ descriptor: Int32, as token: Token, to conditions: Conditions, onlyListening: Bool = false
  ) throws(SystemError) {
    try set(CLINUX_CHANGE, descriptor, token, conditions, in: everything)
    if !onlyListening { try set(CLINUX_CHANGE, descriptor, token, conditions, in: undisturbed) }
  }

  /// Removes a descriptor; before it is closed, if it has been duplicated. Closing alone is enough
  /// otherwise. What the last wait told of it stays told.
  public func remove(_ descriptor: Int32) {
    _ = clinux_epoll_set(everything, Int32(CLINUX_REMOVE), descriptor, 0, 0)
    _ = clinux_epoll_set(undisturbed, Int32(CLINUX_REMOVE), descriptor, 0, 0)
  }

  /// While the line's output queue is not empty, room in it ends every wait.
  func setFlushing(_ isOn: Bool, line descriptor: Int32) throws(SystemError) {
    let all: Conditions = isOn ? [.readable, .writable] : .readable
    try set(CLINUX_CHANGE, descriptor, .line, all, in: everything)
    let change = isOn ? CLINUX_ADD : CLINUX_REMOVE
    try set(change, descriptor, .line, .writable, in: undisturbed)
  }

  private func set(
    _ change: some BinaryInteger, _ descriptor: Int32, _ token: Token, _ conditions: Conditions,
    in epoll: Int32
  ) throws(SystemError) {
    let result = clinux_epoll_set(
      epoll, Int32(change), descriptor, token.rawValue, conditions.rawValue)
    _ = try SystemError.check(result, "descriptor \(descriptor) cannot be waited for")
  }

  // MARK: Waiting

  /// What the last wait found at `index`, which is below ``readyCount``.
  public func ready(at index: Int) -> Ready {
    precondition(index >= 0 && index < readyCount, "so many were not ready")
    let one = unsafe found[index]
    return Ready(
      token: Token(rawValue: one.token), conditions: Conditions(rawValue: one.events))
  }

  /// What a descriptor had at the end of the last wait.
  public func conditions(of token: Token) -> Conditions {
    for index in 0..<readyCount where ready(at: index).token == token {
      return ready(at: index).conditions
    }
    return []
  }

  /// Waits until a descriptor has something or the moment has come; looks at least once.
  ///
  /// One system call.
  ///
  /// - Parameters:
  ///   - deadline: nil for none.
  ///   - listening: Whether what was added as `onlyListening` ends the wait.
  ///   - endsOnResume: Whether coming back from a suspend ends it, too; see ``takeClockChange()``.
  /// - Returns: Whether something is ready; if not, the moment has come.
  @discardableResult
  public func wait(
    until deadline: Instant?, listening: Bool = true, endsOnResume: Bool = false
  ) -> Bool {
    readyCount = 0
    waitCount += 1
    wasListening = listening
    let deadline = deadline ?? .distantFuture
    if endsOnResume && hasClockChanged { return false }
    while true {
      let timeout = EventWait.timeout(until: deadline)
      let count = unsafe clinux_epoll_wait(
        listening ? everything : undisturbed, found, Int32(EventWait.capacity), timeout)
      if timeout != 0 { wakeCount += 1 }
      guard count >= 0 || count == -EINTR else {
        preconditionFailure("an epoll refuses to wait: \(SystemError.reason(-count))")
      }
      readyCount = max(0, Int(count))
      dropClockWatch()
      if readyCount > 0 { return true }
      if deadline <= SystemClock().now || (endsOnResume && hasClockChanged) { return false }
    }
  }

  /// Whether the board came back from a suspend, or its wall clock was set, since the last call.
  func takeClockChange() -> Bool {
    defer { hasClockChanged = false }
    return hasClockChanged
  }

  /// From now on, or no more, the kernel takes whatever would end a wait for something that keeps the board
  /// awake: also what is no wake-up by itself, such as a program's request. Two system calls a sleep, and
  /// none at any other time.
  ///
  /// Needs CAP_BLOCK_SUSPEND; without it what comes between the last look and the sleep waits until the
  /// board is back, unless it is a wake-up by itself.
  func guardAgainstSleep(_ isOn: Bool, listening: Bool) {
    if guardian < 0 { guardian = clinux_epoll_open() }
    let guarded = listening ? everything : undisturbed
    let change = isOn ? CLINUX_ADD : CLINUX_REMOVE
    _ = clinux_epoll_set(
      guardian, Int32(change), guarded, 0, UInt32(CLINUX_READABLE) | UInt32(CLINUX_KEEPS_AWAKE))
  }

  /// The board was suspended for so long, which was one more wake.
  func noteSuspend(for time: Interval) {
    suspended = suspended + time
    wakeCount += 1
  }

  /// The time left in nanoseconds, at most 31 years; negative for ever.
  private static func timeout(until deadline: Instant) -> Int64 {
    guard deadline < .distantFuture else { return -1 }
    let left = (deadline - SystemClock().now).microseconds
    return min(max(0, left), 1_000_000_000_000_000) * 1_000
  }

  /// Takes the clock's watch out of what is ready: the time left is looked at anew in any case.
  private func dropClockWatch() {
    for index in 0..<readyCount where unsafe found[index].token == Token.clock.rawValue {
      watchClock()
      hasClockChanged = true
      readyCount -= 1
      unsafe found[index] = found[readyCount]
      return
    }
  }

  /// Waits for the next change of the clock; for tests, says that there is one at a moment.
  func watchClock(changingAt real_us: Int64 = 0) {
    let result = clinux_clock_watch_set(clockWatch, real_us)
    precondition(result == 0, "the clock cannot be watched: \(SystemError.reason(-result))")
  }
}
