import LocationTypes

// The result of ``Planner``, and three parts of its parameters: sleep states, the receiver's fix buffer, times to fix.

/// The state of receiver and board until the next event.
public struct Plan: Equatable, Sendable {
  /// Mode of the receiver.
  public var receiver: ReceiverMode
  /// Deepest sleep state that is allowed; at least ``BoardState/idle``, because no code runs while the service waits.
  public var board: BoardState
  /// Time at which the board must be awake at the latest; `.distantFuture` for no alarm.
  public var wake: Instant
  /// Whether bytes from the receiver end the sleep. If false they stay in the input buffer until ``wake``.
  public var wakesOnInput: Bool

  /// Creates a plan.
  public init(receiver: ReceiverMode, board: BoardState, wake: Instant, wakesOnInput: Bool) {
    self.receiver = receiver
    self.board = board
    self.wake = wake
    self.wakesOnInput = wakesOnInput
  }
}

/// Timing and wake sources of one sleep state of the board.
public struct SleepParameters: Equatable, Sendable {
  /// The sleep state.
  public var state: BoardState
  /// Time from the wake event to running code.
  public var resumeTime: Interval
  /// Resolution of the alarm, which may fire late by this much.
  public var alarmResolution: Interval
  /// Shortest sleep for which entering the state pays.
  public var minimumDuration: Interval
  /// Whether the receiver's batch pin wakes the board.
  public var wakesOnPin: Bool
  /// Whether bytes from the receiver wake the board. Those that arrive during a suspend and its resume are lost.
  public var wakesOnBytes: Bool
  /// Whether the motion sensor's line wakes the board.
  public var wakesOnMotion = true

  /// Creates the parameters of a sleep state.
  public init(
    state: BoardState, resumeTime: Interval, alarmResolution: Interval, minimumDuration: Interval,
    wakesOnPin: Bool, wakesOnBytes: Bool
  ) {
    self.state = state
    self.resumeTime = resumeTime
    self.alarmResolution = alarmResolution
    self.minimumDuration = minimumDuration
    self.wakesOnPin = wakesOnPin
    self.wakesOnBytes = wakesOnBytes
  }

  /// How long before a due time the alarm must be set (DEF-18).
  var alarmLead: Interval { resumeTime + alarmResolution }
}

/// Size and watermark of a receiver's own fix buffer.
public struct BatchParameters: Equatable, Sendable {
  /// Number of fixes that the buffer holds.
  public var capacity: UInt16
  /// W: number of fixes after which the buffer is drained; below ``capacity`` (DEF-33).
  public var watermark: UInt16
  /// Whether a pin signals that the watermark is reached.
  public var hasPin: Bool

  /// Creates the parameters of a buffer.
  ///
  /// - Precondition: 0 < watermark < capacity.
  public init(capacity: UInt16, watermark: UInt16, hasPin: Bool) {
    precondition(
      watermark > 0 && watermark < capacity,
      "DEF-33: the watermark must be above 0 and below the capacity")
    self.capacity = capacity
    self.watermark = watermark
    self.hasPin = hasPin
  }
}

/// Time to first fix as a function of the time off, from a profile.
public struct TimeToFixTable: Sendable {
  /// Largest number of points.
  public static let capacity = 8

  struct Point: Sendable {
    var off: Interval
    var fix: Interval
  }
  private(set) var points = InlineArray<8, Point>(repeating: Point(off: .zero, fix: .zero))
  /// Number of points.
  public private(set) var count = 0
  /// Time to fix of a cold start: after a power-off, or if the time off is unknown.
  public var cold: Interval

  /// Creates a table without points, which always gives the cold start.
  public init(cold: Interval) { self.cold = cold }

  /// Adds the point "after `off` in backup, the first fix takes `fix`", in ascending order of `off`. Two points with
  /// the same `off` form a step, at which the first one applies.
  ///
  /// - Precondition: `count < capacity`, and `off` is not below that of the previous point.
  public mutating func append(off: Interval, fix: Interval) {
    precondition(count < TimeToFixTable.capacity, "a table holds at most 8 points")
    precondition(
      count == 0 || points[count - 1].off <= off,
      "the points must be in ascending order of time off")
    points[count] = Point(off: off, fix: fix)
    count += 1
  }

  /// The time to first fix after `off` in backup: linear interpolation between the points, the last value beyond the
  /// last point. ``cold`` if the time off is nil. O(points).
  public func expected(after off: Interval?) -> Interval {
    guard let off, count > 0 else { return cold }
    if off <= points[0].off { return points[0].fix }
    for i in 1..<max(count, 1) where off <= points[i].off {
      let (a, b) = (points[i - 1], points[i])
      let part = (off - a.off).seconds / (b.off - a.off).seconds
      return Interval(seconds: a.fix.seconds + part * (b.fix.seconds - a.fix.seconds))
    }
    return points[count - 1].fix
  }
}
